"""Too much of the fleet is recovering at the moment.

Why: When many runs fail at once the cause is common, and retrying all of them makes it worse.

Fix: Wait until the time given, and look for the common cause.
"""

NAME = "fleet-recovering"
SEVERITY = "warning"
SECTION = "guard-budget"
