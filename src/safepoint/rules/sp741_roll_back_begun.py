"""The run is being rolled back.

Why: A run that is half undone never goes forward again.

Fix: Finish the compensations, last effect first.
"""

NAME = "roll-back-begun"
SEVERITY = "warning"
SECTION = "guard-compensation"
