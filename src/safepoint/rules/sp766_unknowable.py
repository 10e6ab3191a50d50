"""The action is in doubt, and nothing can tell whether it happened.

Why: Without a key a second send may be a second effect; without a probe nobody can look.

Fix: Find out by hand, and record what was found. Declare a key or a probe for this tool.
"""

NAME = "unknowable"
SEVERITY = "error"
SECTION = "guard-effects"
