"""A record of the log is not the one that is known elsewhere.

Why: The log was replaced or rewritten, or the store was rolled back and written again.

Fix: Find out which history is the true one; restore it.
"""

NAME = "head-differs"
SEVERITY = "error"
SECTION = "guard-integrity"
