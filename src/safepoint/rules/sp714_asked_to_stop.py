"""Somebody asked the run to stop, and nothing is open.

Why: The wish to stop outlives the worker that should have heard it.

Fix: Nothing; the run can be recorded as cancelled.
"""

NAME = "asked-to-stop"
SEVERITY = "info"
SECTION = "guard-terminal"
