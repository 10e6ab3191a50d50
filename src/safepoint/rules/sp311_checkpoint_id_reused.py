"""Two different checkpoints have the same checkpointId.

Why: A reference to this id can mean either; resuming from the wrong one repeats or loses work.

Fix: Give every checkpoint an id of its own; a checkpoint is never rewritten.
"""

NAME = "checkpoint-id-reused"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ()
ABOUT = "checkpoints"
