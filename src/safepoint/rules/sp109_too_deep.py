"""Arrays and objects are nested more deeply than the limit.

Why: Parsers stop at different depths, some by crashing. A fixed limit (100 levels) means that what one
reader accepts, all of them do.

Fix: Flatten the value, or keep it as an artifact and refer to it. Depth like this mostly comes from a
history that holds itself, or from JSON that was put into JSON once for each retry.
"""

NAME = "too-deep"
SEVERITY = "error"
SECTION = "strict-json"
