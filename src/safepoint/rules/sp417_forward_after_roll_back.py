"""A new owner went forward in a run whose roll-back had begun.

Why: Part of what the run did is undone, so that whatever it does next builds on what is no longer true.

Fix: Finish the compensations and end the run; do the work again in a new run.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "forward-after-roll-back"
SEVERITY = "error"
SECTION = "guard-compensation"
NEEDS = ("leases",)
ABOUT = "takeovers"


def check(run: Run) -> Iterator[Fault]:
    """Every attempt, but of reads and compensations, by an owner who found the run being undone.

    The owner who began to undo may go on: it alone knows what it undid, and what does not depend on that.
    """
    if not run.roll_back_begun:
        return
    begun: int | None = None
    for record in run.records:
        if record.kind != "ledger":
            continue
        status, action = record.value["status"], run.actions[str(record.value["actionId"])]
        if status in {"compensating", "attempting"} and (status == "compensating" or action.compensates):
            begun = begun or record.epoch
        elif status == "attempting" and begun and record.epoch > begun and action.declares.effect != "read":
            message = f"epoch {begun} began to undo this run, and nothing goes forward in it any more"
            yield Fault("SP417", message, "/status", place=record.place)
