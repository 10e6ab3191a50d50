"""Committed effects are to be undone.

Why: The request asks to unwind the run.

Fix: Run the compensations in the order of the plan.
"""

NAME = "to-undo"
SEVERITY = "info"
SECTION = "guard-compensation"
