"""Two checkpoints of one branch have the same parent.

Why: Two histories go on from one point, and nobody declared it: usually two workers of one run at
the same time.

Fix: Declare a fork: the claiming lease names forkFrom and a new branch, and the checkpoints behind
it name that branch.
"""

NAME = "undeclared-fork"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("whole",)
ABOUT = "checkpoints"
