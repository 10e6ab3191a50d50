"""No fact tells whether a precondition holds.

Why: Unknown never counts as yes.

Fix: Give the fact that the decision names.
"""

NAME = "precondition-unknown"
SEVERITY = "warning"
SECTION = "guard-world"
