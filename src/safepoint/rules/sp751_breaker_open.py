"""The circuit breaker for this workflow is open.

Why: Recoveries of this kind fail more often than not at the moment.

Fix: Wait until the time given, and look for the common cause.
"""

NAME = "breaker-open"
SEVERITY = "warning"
SECTION = "guard-budget"
