"""A record names something that no record of the run bears.

Why: An approval of a checkpoint that does not exist stands before nothing; a retraction of an id that
does not exist erases nothing, although somebody was told that it did; a recovery that begins at a
checkpoint, an epoch or an episode that does not exist cannot be followed.

Fix: Look the id up before writing it; where a record was lost, restore it from a copy.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.model.run import Run
from safepoint.rules.timeline import artifact_references

NAME = "unknown-reference"
SEVERITY = "error"
SECTION = "references"
NEEDS = ("order", "whole", "recovery")
ABOUT = "references"


def check(run: Run) -> Iterator[Fault]:
    """Every name that leads nowhere: of approvals, retractions, leases and the recovery log."""
    checkpoints = {str(c.value["checkpointId"]) for c in (*run.checkpoints, *run.retracted)}
    branches = _branches(run)
    for approval in run.approvals.values():
        if approval.branch not in branches:
            message = "asks for a branch that no lease declared"
            yield Fault("SP319", message, "/branch", place=approval.asked.place)
        if approval.checkpoint_id is not None and approval.checkpoint_id not in checkpoints:
            message = "asks about a checkpoint that was never written"
            yield Fault("SP319", message, "/checkpointId", place=approval.asked.place)
    yield from _retractions(run, checkpoints)
    if run.recovery:
        yield from _recoveries(run, checkpoints)


def _branches(run: Run) -> set[str | None]:
    leases = run.ownership.leases if run.ownership else ()
    return {None, *(lease.value["branch"] for lease in leases if lease.value.get("forkFrom"))}


def _retractions(run: Run, checkpoints: set[str]) -> Iterator[Fault]:
    retractions = [record for record in run.records if record.kind == "retract"]
    known = (
        checkpoints | {str(ref["artifactId"]) for _, _, ref in artifact_references(run)}
        if retractions
        else ()
    )
    for record in retractions:
        for index, target in enumerate(record.value["targets"]):
            if target not in known:
                message = "retracts an id that no checkpoint and no artifact of the run bears"
                yield Fault("SP319", message, join("targets", index), place=record.place)


def _recoveries(run: Run, checkpoints: set[str]) -> Iterator[Fault]:
    leases = run.ownership.leases if run.ownership else ()
    epochs = {lease.epoch for lease in leases}
    for lease in leases:
        episode = lease.value.get("episodeId")
        if episode is not None and episode not in run.episodes:
            message = "names an episode that the recovery log does not hold"
            yield Fault("SP319", message, "/episodeId", place=lease.place)
    said: set[tuple[str, object]] = set()
    for record in run.recovery:
        # An episode repeats what it said before; the fault is where it was said first.
        origin, epoch = record.value.get("fromCheckpointId"), record.value.get("leaseEpoch")
        episode = str(record.value["episodeId"])
        if origin is not None and origin not in checkpoints and (episode, origin) not in said:
            message = "begins at a checkpoint that was never written"
            yield Fault("SP319", message, "/fromCheckpointId", place=record.place)
        if epochs and epoch is not None and epoch not in epochs and (episode, epoch) not in said:
            message = f"names epoch {epoch}, which no lease of the journal claimed"
            yield Fault("SP319", message, "/leaseEpoch", place=record.place)
        said |= {(episode, origin), (episode, epoch)}
