"""An attempt may still be running.

Why: A long call is not a lost call.

Fix: Wait until the time given.
"""

NAME = "attempt-under-way"
SEVERITY = "info"
SECTION = "guard-effects"
