"""The approval was given before the fork.

Why: An approval holds for the history that the human saw.

Fix: Ask again on the new branch.
"""

NAME = "approval-not-carried-over"
SEVERITY = "error"
SECTION = "guard-world"
