"""Several checkpoints may be the newest, and no order tells which.

Why: Their times tie or are missing, and neither is the other's parent.

Fix: Name the checkpoint to go on from in the request, or write a journal.
"""

NAME = "newest-checkpoint-unclear"
SEVERITY = "error"
SECTION = "guard-integrity"
