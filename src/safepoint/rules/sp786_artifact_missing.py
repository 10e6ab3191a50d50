"""An artifact of the checkpoint is missing.

Why: The run would go on from a state that is not whole.

Fix: Restore it, or go on from a checkpoint that does not need it.
"""

NAME = "artifact-missing"
SEVERITY = "error"
SECTION = "guard-world"
