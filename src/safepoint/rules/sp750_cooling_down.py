"""The run is cooling down after a recovery attempt.

Why: Retrying at once what has just failed makes an outage worse.

Fix: Wait until the time given.
"""

NAME = "cooling-down"
SEVERITY = "info"
SECTION = "guard-budget"
