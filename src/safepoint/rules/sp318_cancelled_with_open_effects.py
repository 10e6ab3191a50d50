"""The run was called cancelled while an effect was still open.

Why: Cancelled says that nothing is left to look after. The open effect may still be applied, and
nobody will ask.

Fix: Settle the effect first, by its answer, a probe or a human; then record cancelled.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run
from safepoint.rules.timeline import open_at

NAME = "cancelled-with-open-effects"
SEVERITY = "error"
SECTION = "writer"
NEEDS = ("order", "whole")
ABOUT = "ends"


def check(run: Run) -> Iterator[Fault]:
    """Each ``cancelled`` of a run, with the effects that were open there; a read leaves nothing to settle."""
    for record in run.records:
        if record.kind == "run" and record.value["status"] == "cancelled":
            here = record.sequence or 0
            names = [a.action_id for a in run.actions.values() if open_at(a, here)]
            if names:
                message = (
                    f"cancelled while {', '.join(names[:3])} {'was' if len(names) == 1 else 'were'} open"
                )
                yield Fault("SP318", message, "/status", place=record.place)
