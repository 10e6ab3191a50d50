"""Something is there, but its bytes cannot be read.

Permissions or credentials are missing, the storage does not answer, or the name belongs to a folder, a pipe
or a device.

Why: What cannot be read is not absent. Taken for absent it would turn an outage into an empty history, and
a run would start again from scratch.

Fix: Follow the message: it says whether access was denied, nothing answered, or it is no regular file. A
pipe can be given as standard input, with `-`.
"""

NAME = "unreadable-input"
SEVERITY = "error"
SECTION = "inputs"
