"""The action was not done, and is not begun while the run is being undone.

Why: A run that goes backwards starts nothing new.

Fix: Nothing.
"""

NAME = "not-begun"
SEVERITY = "info"
SECTION = "guard-compensation"
