"""A usage counter is lower than at the checkpoint before.

Why: Limits that start again at zero after a resume are no limits.

Fix: Carry seconds, tokens, cost and attempts over from the checkpoint that the run goes on from.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.model.run import Run

NAME = "counter-went-back"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ()
ABOUT = "checkpoints"

_COUNTERS = ("seconds", "tokens", "costMicros", "attempts")


def check(run: Run) -> Iterator[Fault]:
    """Every counter that is lower than when an ancestor knew it last; without a parent, the checkpoint before."""
    shown = {record.place for record in run.checkpoints}
    known: dict[str, Mapping[str, Any]] = {}
    """By checkpointId the last known counters; one that is null or absent says nothing, so the one before holds."""
    before: Mapping[str, Any] = {}
    for record in run.records:
        if record.kind != "checkpoint" or str(record.value["checkpointId"]) in known:
            continue
        # A fork goes on from where it began, not from the newest checkpoint of the branch that it leaves.
        parent = record.value.get("parentCheckpointId")
        was = before if parent is None else known.get(parent, before)
        usage = record.value.get("usage") or {}
        now = {counter: usage[counter] for counter in _COUNTERS if usage.get(counter) is not None}
        known[str(record.value["checkpointId"])] = {**was, **now}
        if record.place not in shown:
            continue  # hidden by a retraction, and still the parent of what was written behind it
        before = known[str(record.value["checkpointId"])]
        for counter, later in now.items():
            if later < was.get(counter, later):
                message = f"{counter} went back from {was[counter]}, as it was last known, to {later}"
                yield Fault("SP503", message, join("usage", counter), place=record.place)
