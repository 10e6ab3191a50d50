"""The money for the run or for its recovery is spent.

Why: Recovering a run must not cost more than it is worth.

Fix: Let a human decide whether to raise the budget.
"""

NAME = "cost-spent"
SEVERITY = "error"
SECTION = "guard-budget"
