"""A checkpoint names a parent that was never written.

Why: The state that this checkpoint builds on is not there: it was lost, or it belongs to another
run.

Fix: Restore the parent, or resume from a checkpoint whose ancestors are all present.
"""

NAME = "unknown-parent"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"
