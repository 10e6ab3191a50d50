"""A recovery record names an epoch that its episode did not claim.

Why: What a recovery did is found by its epoch: the attempt would be counted, and its outcome told, of another
owner's work.

Fix: Take leaseEpoch from the lease that the episode claimed, and put the episode's id into that lease.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "epoch-of-another-claim"
SEVERITY = "error"
SECTION = "recovery"
NEEDS = ("leases", "whole")
ABOUT = "recovery"


def check(run: Run) -> Iterator[Fault]:
    """The first record of each episode that names an epoch which belongs to another, or was no recovery's."""
    ownership = run.ownership
    leases = {lease.epoch: lease for lease in (ownership.leases if ownership else ())}
    attempts = {lease.epoch for lease in (ownership.recoveries if ownership else ())}
    owners = {str(lease.value["episodeId"]) for lease in leases.values() if lease.value.get("episodeId")}
    said: set[tuple[str, int]] = set()
    for record in run.recovery:
        episode = str(record.value["episodeId"])
        lease = leases.get(record.epoch)
        # An epoch that nobody claimed is SP319.
        if lease is None or (episode, record.epoch) in said:
            continue
        said.add((episode, record.epoch))
        claimed_for = lease.value.get("episodeId")
        if record.epoch not in attempts:
            message = f"epoch {record.epoch} was not claimed to recover the run"
        elif claimed_for != episode and (claimed_for is not None or episode in owners):
            message = f"the lease of epoch {record.epoch} belongs to another episode, or to none"
        else:
            continue
        yield Fault("SP527", message, "/leaseEpoch", place=record.place)
