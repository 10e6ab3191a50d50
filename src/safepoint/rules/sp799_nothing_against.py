"""Nothing stands against going on.

Why: Every layer was looked at, and none had a reason.

Fix: Nothing.
"""

NAME = "nothing-against"
SEVERITY = "info"
SECTION = "guard"
