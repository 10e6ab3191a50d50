"""A part of what the run depends on is not what it was at the checkpoint.

Why: Another workflow, tool, prompt, model or input can read the same saved state in another way.

Fix: Go on with the old part, or let somebody list the change under compatibleWith in the policy.
"""

NAME = "context-moved"
SEVERITY = "error"
SECTION = "guard-compatibility"
