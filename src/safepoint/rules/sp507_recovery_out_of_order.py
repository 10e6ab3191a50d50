"""A recovery record names a state that may not follow the one before.

Why: The recovery log answers how often recovery was tried and how it went; a jump in it hides an
attempt.

Fix: Compare with the table of states in SPEC.md; one episode is kept by one process.
"""

NAME = "recovery-out-of-order"
SEVERITY = "error"
SECTION = "recovery"
NEEDS = ("recovery",)
ABOUT = "recovery"
