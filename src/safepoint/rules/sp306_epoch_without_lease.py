"""A record names an epoch that was never claimed, or another writer's.

Why: Only the process whose nonce is in the lease may write under its epoch; a holder's name that is
used again proves nothing.

Fix: Write under a lease of your own: claim the next epoch with a fresh nonce, and put that nonce on
every record.
"""

NAME = "epoch-without-lease"
SEVERITY = "error"
SECTION = "epochs"
