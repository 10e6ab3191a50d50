"""The leaseEpoch does not fit the kind of record.

Why: Epoch 0 means that nobody owns the run. Leases, checkpoints, ledger records and terminal
records need an owner; approvals, evidence, retractions and a wish to cancel must not claim one.

Fix: Write the epoch of the lease that the writer holds, counted from 1, or 0 for the records that
need no owner.
"""

NAME = "bad-epoch"
SEVERITY = "error"
SECTION = "journal-members"
