"""A lease was claimed for recovery without naming the decision that allowed it.

Why: Afterwards nobody can tell what was judged, by which facts and which policy, or whether anything
was judged at all.

Fix: Ask the guard, and put the digest of its decision into the claim's authorization.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "claim-without-authorization"
SEVERITY = "warning"
SECTION = "the-lease-record"
NEEDS = ("leases",)
ABOUT = "leases"


def check(run: Run) -> Iterator[Fault]:
    """Every claim for recovery that stands for itself."""
    for lease in run.ownership.leases if run.ownership else ():
        if lease.value.get("purpose") == "recovery" and lease.value.get("authorization") is None:
            message = "claimed for recovery, but authorization does not say by which decision"
            yield Fault("SP317", message, "/authorization", place=lease.place)
