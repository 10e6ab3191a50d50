"""An effect was begun after somebody had asked the run to stop.

Why: A writer reads every record before the number that it takes, so it knew of the wish. Whoever
asked must be able to rely on nothing new being done.

Fix: Before each attempt, look for cancelRequested in what was read; settle what is open, undo what is
to be undone, and end the run.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.journal import ENDED
from safepoint.model.run import Run

NAME = "attempt-after-cancel-request"
SEVERITY = "error"
SECTION = "writer"
NEEDS = ("order",)
ABOUT = "wishes"


def check(run: Run) -> Iterator[Fault]:
    """Every attempt behind the wish, but those that undo something."""
    asked: int | None = None
    for record in run.records:
        status = record.value.get("status")
        if record.kind == "run" and status == "cancelRequested":
            asked = asked or record.sequence
        elif record.kind == "run" and status in ENDED:
            return  # what follows the end is SP307
        elif asked and record.kind == "ledger" and status == "attempting":
            action = run.actions.get(str(record.value["actionId"]))
            if action is not None and action.compensates is None:
                message = f"begun after the run was asked to stop (sequence {asked})"
                yield Fault("SP316", message, "/status", place=record.place)
