"""A record that is known elsewhere is not in the log: its tail was cut.

Why: What was cut off may hold an attempt, or the run's end; so may a text that an anchor has seen, that could not be
read, and that is gone.

Fix: Restore the log from a copy that reaches the known head.
"""

NAME = "tail-cut"
SEVERITY = "error"
SECTION = "guard-integrity"
