"""A usage counter is lower than at the checkpoint before.

Why: Limits that start again at zero after a resume are no limits.

Fix: Carry seconds, tokens, cost and attempts over from the checkpoint that the run goes on from.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.model.record import Record
from safepoint.model.run import Run

NAME = "counter-went-back"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ()
ABOUT = "checkpoints"


def check(run: Run) -> Iterator[Fault]:
    """Every counter that is lower than at the parent, or where none is named at the checkpoint before."""
    by_id: dict[str, Record] = {str(c.value["checkpointId"]): c for c in run.retracted}
    before: Record | None = None
    for record in run.checkpoints:
        value = record.value
        by_id[str(value["checkpointId"])] = record
        parent = value.get("parentCheckpointId")
        # A fork goes on from where it began, not from the newest checkpoint of the branch that it leaves.
        origin = by_id.get(parent, before) if parent is not None else before
        before = record
        now = value.get("usage")
        was = origin.value.get("usage") if now and origin else None
        if now and was:
            for counter in ("seconds", "tokens", "costMicros", "attempts"):
                earlier, later = was.get(counter), now.get(counter)
                if earlier is not None and later is not None and later < earlier:
                    message = f"{counter} went back from {earlier} at the checkpoint before to {later}"
                    yield Fault("SP503", message, join("usage", counter), place=record.place)
