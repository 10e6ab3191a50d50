"""The approval was given for another content.

Why: What would be executed is not what the human saw.

Fix: Ask for an approval of the digest that will be executed.
"""

NAME = "approved-something-else"
SEVERITY = "error"
SECTION = "guard-world"
