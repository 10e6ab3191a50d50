"""A run can end, or wait, without a human who decides (checklist, point 10).

Why: Where nobody can know whether an effect happened, only a human can find out. What gives up by
itself leaves the doubt to whoever meets it next.

Fix: Set onBudgetReached to hand_over in the policy, and see that questions are answered (approve,
reject, resolve). Reported as a warning where nobody can tell.
"""

NAME = "no-way-to-a-human"
SEVERITY = "error"
SECTION = "checklist"
