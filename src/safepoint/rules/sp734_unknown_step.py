"""The next step does not exist in today's code.

Why: The workflow was changed under the run.

Fix: Run it with the version that has the step, or let a human decide where to go on.
"""

NAME = "unknown-step"
SEVERITY = "error"
SECTION = "guard-compatibility"
