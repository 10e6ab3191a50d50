"""The requested step is not among those that come next.

Why: Running another step than the checkpoint leads to would skip or repeat work.

Fix: Name one of the checkpoint's next steps, or a checkpoint before the step.
"""

NAME = "step-not-next"
SEVERITY = "error"
SECTION = "guard-compatibility"
