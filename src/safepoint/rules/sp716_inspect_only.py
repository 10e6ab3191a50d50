"""The request only asks to look.

Why: The goal inspect never gives leave to act.

Fix: Ask with another goal to get a verdict that can be acted on.
"""

NAME = "inspect-only"
SEVERITY = "info"
SECTION = "guard"
