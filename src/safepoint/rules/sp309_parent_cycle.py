"""A checkpoint is among its own ancestors.

Why: A chain that runs in a circle has no beginning, so no order of events can be read from it.

Fix: Set parentCheckpointId to the checkpoint that this one was really made from.
"""

NAME = "parent-cycle"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ()
ABOUT = "checkpoints"
