"""The request names a checkpoint that the run does not have.

Why: Going on from another one than was asked for is a guess.

Fix: Look at the run's checkpoints with safepoint show, and name one of them.
"""

NAME = "no-such-checkpoint"
SEVERITY = "error"
SECTION = "guard-integrity"
