"""A precondition does not hold.

Why: The world is not the one that the run was made for.

Fix: Let a human decide, or start a new run.
"""

NAME = "precondition-broken"
SEVERITY = "error"
SECTION = "guard-world"
