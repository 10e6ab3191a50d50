"""No checkpoint is left on the branch that the newest lease works on.

Why: Going on from another branch, or from the beginning, would be a guess.

Fix: Name the checkpoint to go on from in the request.
"""

NAME = "no-usable-checkpoint"
SEVERITY = "error"
SECTION = "guard-integrity"
