"""A member that every record of this kind must have is missing.

Why: Absent, null and empty mean different things. Where the format wants a member, its absence is
never read as a default.

Fix: Write the member. If its value is not known, the field table says whether null may stand for
that.
"""

NAME = "missing-member"
SEVERITY = "error"
SECTION = "records"
