"""The action is repeatable, but an older attempt may still land.

Why: A late first write behind later work would undo that work.

Fix: Wait until the time given, or prove that the worker is dead.
"""

NAME = "late-attempt-may-land"
SEVERITY = "warning"
SECTION = "guard-effects"
