"""The approval was rejected or revoked.

Why: A human said no.

Fix: Change what is to be done, and ask again.
"""

NAME = "approval-refused"
SEVERITY = "error"
SECTION = "guard-world"
