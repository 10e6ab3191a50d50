"""A checkpoint denies an effect that the ledger proves.

Why: Whoever resumes by the checkpoint alone would do that effect a second time.

Fix: Compute sideEffectStatus from the ledger; write null where it is not known.
"""

NAME = "side-effect-status-contradiction"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"
