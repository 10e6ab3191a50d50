"""The run was cancelled, and nothing is open.

Why: Somebody decided that it should stop.

Fix: Start a new run, or ask explicitly with another goal than continue.
"""

NAME = "cancelled"
SEVERITY = "info"
SECTION = "guard-terminal"
