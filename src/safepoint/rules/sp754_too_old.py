"""The run has lain still for too long to go on by itself.

Why: After a day the world that it knew has usually moved.

Fix: Let a human decide, or raise automaticResumeSeconds.
"""

NAME = "too-old"
SEVERITY = "warning"
SECTION = "guard-budget"
