"""The approval was used up.

Why: A yes is for one time only.

Fix: Ask again.
"""

NAME = "approval-used-up"
SEVERITY = "error"
SECTION = "guard-world"
