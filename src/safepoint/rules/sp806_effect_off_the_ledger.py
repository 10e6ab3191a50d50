"""The ledger does not hold an effect as it should, or there is no ledger (checklist, point 6).

Why: What was not written down before it was sent may have happened without a trace, and is sent again.

Fix: Write a ledger record before each effect, and one with its outcome and the evidence for it;
run.effect of the recorder does both. Reported as a warning where nobody can tell.
"""

NAME = "effect-off-the-ledger"
SEVERITY = "error"
SECTION = "checklist"
