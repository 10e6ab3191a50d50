"""A stored payload does not fit the new payload schema.

Why: It is there, whatever the rules say of the two schemas: the code that reads by the new schema cannot go on
from it.

Fix: Write a payload migration, or let the new schema take the old shape. Where the payload is of no use any more,
retract its checkpoint.
"""

NAME = "stored-payload-refused"
SEVERITY = "error"
SECTION = "payload-compatibility"
