"""A precondition has a type that this version does not know.

Why: What cannot be checked cannot be called true.

Fix: Use a version that knows it, or let a human decide.
"""

NAME = "unknown-precondition"
SEVERITY = "error"
SECTION = "guard-world"
