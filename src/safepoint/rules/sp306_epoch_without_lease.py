"""A record names an epoch that was never claimed, or another writer's.

Why: Only the process whose nonce is in the lease may write under its epoch; a holder's name that is
used again proves nothing.

Fix: Write under a lease of your own: claim the next epoch with a fresh nonce, and put that nonce on
every record.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "epoch-without-lease"
SEVERITY = "error"
SECTION = "epochs"
NEEDS = ("order", "whole")
ABOUT = "leases"


def check(run: Run) -> Iterator[Fault]:
    """Every lease that is given back before one was ever claimed; the rest is met by the fold."""
    for record in run.records:
        if record.kind == "lease":
            if record.value["event"] == "claimed":
                return
            message = f"releases epoch {record.epoch}, which was not claimed"
            yield Fault("SP306", message, "/leaseEpoch", place=record.place)
