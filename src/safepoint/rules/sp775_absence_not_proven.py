"""A probe did not find the effect, which proves nothing yet.

Why: The answer may be stale, the request may still be on its way, and a living worker may still
send.

Fix: Probe again as the decision says: strongly consistent, late enough, with every writer proven
dead.
"""

NAME = "absence-not-proven"
SEVERITY = "warning"
SECTION = "guard-effects"
