"""A member that every record of this kind must have is missing.

Why: Absent, null and empty mean different things. Where the format wants a member, its absence is
never read as a default.

Fix: Have the writer write the member. If its value is not known, the field table says whether null
may stand for that. A record that is stored in a journal stays as it is: a change would break the
chain behind it (SP303).
"""

NAME = "missing-member"
SEVERITY = "error"
SECTION = "records"
