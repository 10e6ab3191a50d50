"""No checkpoint lies before an effect, or between an effect and what came next.

Why: A run that dies goes on from its newest checkpoint. What was not saved before the effect is done
again, perhaps with another outcome; what was not saved after it has to be put together from the ledger.

Fix: Take a checkpoint before each effect that is not a read, and another one when it is settled.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.journal import ENDED
from safepoint.model.run import Run

NAME = "effect-without-checkpoint"
SEVERITY = "warning"
SECTION = "granularity"
NEEDS = ("order", "whole")
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every first attempt, and every owner's leave, without a checkpoint since the last effect was applied.

    Effects that overlap are one batch, and need one checkpoint. What undoes the run goes back to no checkpoint.
    """
    actions = run.actions
    saved, applied = False, ""
    """Whether there is a checkpoint at all, and the effect that was applied since the last one."""
    begun: set[str] = set()
    open_: set[str] = set()
    for record in run.records:
        kind, value = record.kind, record.value
        if kind == "checkpoint":
            saved, applied = True, ""
        elif kind == "ledger":
            name, status = value["actionId"], value["status"]
            action = actions.get(name)
            if action is None or action.declares.effect == "read" or not action.declares.declared:
                continue
            if status == "compensating" or action.compensates:
                return
            if status == "attempting":
                if name not in begun and not open_ and (applied or not saved):
                    message = (
                        f"no checkpoint since {applied} was applied"
                        if applied
                        else "no checkpoint before this effect"
                    )
                    yield Fault("SP524", message, "/status", place=record.place)
                begun.add(name)
                open_.add(name)
            elif status == "committed":
                open_.discard(name)
                applied = name
            elif status == "failed":
                open_.discard(name)
        elif kind == "evidence":
            open_.discard(value["actionId"])
        elif kind == "run" and value["status"] in ENDED:
            return
        elif applied and (value.get("event") == "released" or value.get("status") == "failed"):
            message = f"no checkpoint since {applied} was applied, and its owner stops here"
            yield Fault("SP524", message, place=record.place)
            applied = ""
