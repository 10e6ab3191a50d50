"""A ledger record names a status that may not follow the one before.

Why: The ledger is only proof while its transitions are: a failed that follows a committed, or a
second try of something that may have happened, hides an effect.

Fix: Compare with the table of transitions in SPEC.md. A human who knows what happened records it as
evidence.
"""

NAME = "illegal-transition"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ("order", "whole")
ABOUT = "effects"
