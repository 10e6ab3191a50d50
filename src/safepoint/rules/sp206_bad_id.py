"""An id is empty, longer than 256 characters, or holds a control character.

Why: Ids become file names, log lines and keys at providers. What cannot be printed or stored
everywhere cannot be compared everywhere.

Fix: Use 1 to 256 characters without U+0000 to U+001F and U+007F to U+009F. Put longer values into a
digest and use that as the id.
"""

NAME = "bad-id"
SEVERITY = "error"
SECTION = "ids"
