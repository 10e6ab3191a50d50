"""This copy of the run was sealed; another has the authority.

Why: Two copies that both go on would do everything twice.

Fix: Ask about the successor that the sealing record names.
"""

NAME = "sealed"
SEVERITY = "info"
SECTION = "guard-terminal"
