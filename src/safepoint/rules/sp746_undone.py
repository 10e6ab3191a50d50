"""The roll-back is done.

Why: A run that was rolled back does not go on.

Fix: Record the run as failed or cancelled; start a new one for new work.
"""

NAME = "undone"
SEVERITY = "info"
SECTION = "guard-compensation"
