"""Another worker's lease is still live.

Why: It may be slow rather than dead; two workers would send twice.

Fix: Wait until the time given, or prove that the owner is dead in facts.owners.
"""

NAME = "lease-live"
SEVERITY = "info"
SECTION = "guard-ownership"
