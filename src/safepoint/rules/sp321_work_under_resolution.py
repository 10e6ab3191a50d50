"""A lease that was claimed to record a human's answer was used to go on with the run.

Why: A claim for resolution counts as no recovery attempt and needs no checkpoint to start from: work
under it escapes the guard's budget and its other questions.

Fix: Give the lease back after the outcome, and resume the run by a recovery of its own.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "work-under-resolution"
SEVERITY = "error"
SECTION = "resolution"
NEEDS = ("leases",)
ABOUT = "takeovers"


def check(run: Run) -> Iterator[Fault]:
    """Every checkpoint and every new attempt under such a lease."""
    leases = run.ownership.leases if run.ownership else ()
    resolving = {lease.epoch for lease in leases if lease.value.get("purpose") == "resolution"}
    if not resolving:
        return
    behind_the_end = {fault.place for fault in run.faults if fault.code == "SP307"}
    for record in run.records:
        works = record.kind == "checkpoint" or (
            record.kind == "ledger" and record.value["status"] in {"planned", "attempting"}
        )
        if works and record.epoch in resolving and record.place not in behind_the_end:
            what = "a checkpoint" if record.kind == "checkpoint" else str(record.value["status"])
            message = f"{what} under a lease for resolution, which only records outcomes"
            yield Fault("SP321", message, "/leaseEpoch", place=record.place)
