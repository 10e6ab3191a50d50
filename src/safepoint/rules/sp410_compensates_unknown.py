"""A compensation names an action that the ledger does not hold, or another compensation.

Why: Undoing something that was never done is an effect of its own.

Fix: Name the action that is to be undone; compensations themselves are never compensated.
"""

NAME = "compensates-unknown"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ("whole",)
ABOUT = "effects"
