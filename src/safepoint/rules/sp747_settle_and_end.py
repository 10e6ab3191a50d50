"""The run is being undone, and only records are missing.

Why: A run that goes backwards never goes forward again, also where nothing stands against it.

Fix: Record what was found out of the open effects, and end the run.
"""

NAME = "settle-and-end"
SEVERITY = "info"
SECTION = "guard-compensation"
