"""A checkpoint says that nothing was done while an effect was open.

Why: Whether an open effect was applied is not known; false claims to know it. The right value is null.

Fix: Take sideEffectStatus from the ledger: null where an attempt is open.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.pointer import join
from safepoint.model.run import Run
from safepoint.rules.timeline import open_at

NAME = "denies-open-effect"
SEVERITY = "error"
SECTION = "checkpoints"
NEEDS = ("order", "whole")
ABOUT = "checkpoints"

_SPEAKS_OF = {"message": "externalMessageSent", "write": "writePerformed", "payment": "writePerformed"}


def check(run: Run) -> Iterator[Fault]:
    """Every false that only a settled ledger could say; where an effect is proven, it is SP502."""
    doubted = {fault.place for fault in run.faults if fault.code == "SP502"}
    # Most effects settle in the record behind their attempt: no checkpoint can lie between.
    slow = [
        action
        for action in run.actions.values()
        if action.declares.effect in _SPEAKS_OF
        and any(a.open or (a.record.sequence or 0) > (a.opened.sequence or 0) + 1 for a in action.attempts)
    ]
    for record in run.checkpoints if slow else ():
        said, here = record.value.get("sideEffectStatus") or {}, record.sequence or 0
        for member in dict.fromkeys(_SPEAKS_OF.values()):
            if said.get(member) is not False or record.place in doubted:
                continue
            if any(_SPEAKS_OF[a.declares.effect] == member and open_at(a, here) for a in slow):
                message = (
                    f"{member} is false while an effect was open that may have been applied; expected null"
                )
                yield Fault("SP512", message, join("sideEffectStatus", member), place=record.place)
