"""The new payload schema has a tighter bound on a number, a length or a count.

Why: Values between the old bound and the new one were accepted when they were stored, and are refused when they
are read.

Fix: Keep the old bound for what is read and check the tighter one where new values are made, or write a payload
migration.
"""

NAME = "payload-bound-tightened"
SEVERITY = "error"
SECTION = "payload-compatibility"
