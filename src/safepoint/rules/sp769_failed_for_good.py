"""The action failed for good.

Why: The run cannot have the effect that it was made for.

Fix: Run the compensations that the plan names, or decide by hand.
"""

NAME = "failed-for-good"
SEVERITY = "error"
SECTION = "guard-effects"
