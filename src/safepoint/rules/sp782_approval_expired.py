"""The approval has expired.

Why: A yes holds for its time only; that it has ended is another answer than that it is pending.

Fix: Ask again.
"""

NAME = "approval-expired"
SEVERITY = "error"
SECTION = "guard-world"
