"""A checkpoint contradicts the ledger: it denies an effect that was done, or claims one that was not.

Why: Whoever resumes by the checkpoint alone would do a denied effect a second time, and never do one that is only
claimed.

Fix: Compute sideEffectStatus from the ledger; write null where it is not known.
"""

NAME = "side-effect-status-contradiction"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"
