"""A checkpoint was taken after a step that cost next to nothing.

Why: A checkpoint costs time and space as well. After a short pure step it saves less than it costs:
the step would be done again in no time.

Fix: Take one before and after effects, before waits, and when the work since the last one is worth more
than a checkpoint.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "checkpoint-of-little-worth"
SEVERITY = "warning"
SECTION = "granularity"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"

_SHARE = 100
"""A step is worth a checkpoint from one part in so many of what the run has used."""


def check(run: Run) -> Iterator[Fault]:
    """Every checkpoint between two others, with nothing but pure work around it, that saves less than 1 %."""
    records = run.records
    for before, record, after in zip(records, records[1:], records[2:], strict=False):
        if record.kind != "checkpoint" or before.kind != "checkpoint" or after.kind != "checkpoint":
            continue
        if record.value.get("reason") not in {None, "stepBoundary", "periodic"}:
            continue
        was, now = before.value.get("usage") or {}, record.value.get("usage") or {}
        measured = [
            (was[name], now[name])
            for name in ("seconds", "tokens", "costMicros")
            if was.get(name) is not None and now.get(name)
        ]
        if measured and all(0 <= (later - earlier) * _SHARE < later for earlier, later in measured):
            message = "the step since the checkpoint before cost less than 1 % of what the run has used"
            yield Fault("SP514", message, "/usage", place=record.place)
