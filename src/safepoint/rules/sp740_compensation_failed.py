"""A compensation failed.

Why: The effect stands, although the run tried to take it back.

Fix: Undo it by hand and record the evidence, or abandon it.
"""

NAME = "compensation-failed"
SEVERITY = "error"
SECTION = "guard-compensation"
