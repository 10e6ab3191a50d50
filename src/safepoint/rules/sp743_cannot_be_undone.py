"""An effect has no declared compensation.

Why: What is irreversible cannot be unwound by a program.

Fix: Decide by hand what to do about it.
"""

NAME = "cannot-be-undone"
SEVERITY = "error"
SECTION = "guard-compensation"
