"""The request asks to unwind, and there is nothing to undo.

Why: No effect was committed.

Fix: Nothing.
"""

NAME = "nothing-to-undo"
SEVERITY = "info"
SECTION = "guard-compensation"
