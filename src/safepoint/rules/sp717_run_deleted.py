"""The run was deleted on purpose, so that there is nothing to resume.

Why: the run had ended, nothing of it was open, and somebody removed its records; ``deleted.json`` says who and when.

Fix: nothing. Whoever needs the run back restores it from a copy, and removes ``deleted.json``.
"""

NAME = "run-deleted"
SEVERITY = "info"
SECTION = "guard-terminal"
