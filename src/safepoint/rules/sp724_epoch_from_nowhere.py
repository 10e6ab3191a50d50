"""The caller names an epoch that the journal does not know.

Why: If the caller is right, the journal has lost the record of that claim, and what came after it.

Fix: Look for the missing records before anything goes on.
"""

NAME = "epoch-from-nowhere"
SEVERITY = "error"
SECTION = "guard-ownership"
