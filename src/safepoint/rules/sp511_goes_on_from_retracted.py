"""A checkpoint or a fork begins at a checkpoint that had been retracted.

Why: What was retracted is hidden from every reader, and its artifacts may be gone: nobody can tell
what the new state was made from.

Fix: Go on from the newest checkpoint that is left, in a fork that the lease declares.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "goes-on-from-retracted"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order",)
ABOUT = "retractions"


def check(run: Run) -> Iterator[Fault]:
    """Every parent and every fork that names what a record before it retracts."""
    hidden: set[str] = set()
    for record in run.records:
        value = record.value
        if record.kind == "retract":
            hidden.update(map(str, value["targets"]))
        elif record.kind == "checkpoint" and value.get("parentCheckpointId") in hidden:
            message = "the parent checkpoint was retracted before"
            yield Fault("SP511", message, "/parentCheckpointId", place=record.place)
        elif record.kind == "lease" and (value.get("forkFrom") or {}).get("checkpointId") in hidden:
            message = "the fork begins at a checkpoint that was retracted before"
            yield Fault("SP511", message, "/forkFrom/checkpointId", place=record.place)
