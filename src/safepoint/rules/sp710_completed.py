"""The run is completed, and nothing is open.

Why: There is nothing to resume.

Fix: Nothing.
"""

NAME = "completed"
SEVERITY = "info"
SECTION = "guard-terminal"
