"""An approval is pending.

Why: The run waits for a human.

Fix: Answer it.
"""

NAME = "approval-pending"
SEVERITY = "info"
SECTION = "guard-world"
