"""An artifact of the checkpoint is not what it was.

Why: Its bytes do not have the recorded digest or size.

Fix: Restore it, or go on from a checkpoint that does not need it.
"""

NAME = "artifact-damaged"
SEVERITY = "error"
SECTION = "guard-world"
