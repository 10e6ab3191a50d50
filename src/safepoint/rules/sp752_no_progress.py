"""Recovery was tried too often without a new checkpoint.

Why: A fourth attempt at the same place rarely goes another way than three before it.

Fix: Look at the step that fails; let a human decide.
"""

NAME = "no-progress"
SEVERITY = "error"
SECTION = "guard-budget"
