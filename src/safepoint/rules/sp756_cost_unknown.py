"""The policy sets a budget, and no checkpoint says what the run has spent.

Why: An unknown sum cannot be within a budget.

Fix: Write usage.costMicros into checkpoints, or let a human decide.
"""

NAME = "cost-unknown"
SEVERITY = "error"
SECTION = "guard-budget"
