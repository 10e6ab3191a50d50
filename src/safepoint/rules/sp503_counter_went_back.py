"""A usage counter is lower than at the checkpoint before.

Why: Limits that start again at zero after a resume are no limits.

Fix: Carry seconds, tokens, cost and attempts over from the checkpoint that the run goes on from.
"""

from collections.abc import Iterator
from itertools import pairwise

from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.model.run import Run

NAME = "counter-went-back"
SEVERITY = "error"
SECTION = "checkpoints"


def check(run: Run) -> Iterator[Fault]:
    """Every counter that is lower than at the checkpoint before, in the order of the records."""
    for before, after in pairwise(run.checkpoints):
        earlier, later = before.value.get("usage") or {}, after.value.get("usage") or {}
        for counter in ("seconds", "tokens", "costMicros", "attempts"):
            was, now = earlier.get(counter), later.get(counter)
            if was is not None and now is not None and now < was:
                message = f"{counter} went back from {was} at the checkpoint before to {now}"
                yield Fault("SP503", message, join("usage", counter), place=after.place)
