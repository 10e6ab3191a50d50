"""The newest checkpoint cannot be read, and the one before is proposed.

Why: What was saved since is lost; what was done since is in the ledger and is not repeated.

Fix: Restore the newest checkpoint if a copy exists, then ask again.
"""

NAME = "older-checkpoint"
SEVERITY = "warning"
SECTION = "guard-integrity"
