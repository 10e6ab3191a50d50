"""Another recovery of this run is being decided.

Why: The recovery that began first goes first.

Fix: Wait until the time given.
"""

NAME = "recovery-under-way"
SEVERITY = "info"
SECTION = "guard-ownership"
