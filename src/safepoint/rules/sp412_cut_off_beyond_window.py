"""A sendBefore lies beyond the time for which the provider remembers the key.

Why: Behind its window the provider takes the same key for a new request, and does it again.

Fix: Compute sendBefore from the first attempt's start: a part of dedupeWindowSeconds, less the settle
time and twice the clock skew.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "cut-off-beyond-window"
SEVERITY = "error"
SECTION = "cut-off"
NEEDS = ()
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every first attempt whose cut-off its own declaration does not bear."""
    for action in run.actions.values():
        window = action.declares.dedupe_window
        if action.declares.idempotency != "keyed" or window is None or not action.attempts:
            continue
        first = action.attempts[0]
        if first.send_before is None or first.started is None:
            continue
        latest = first.started + window - action.declares.probe_settle
        if first.send_before > latest:
            message = "sendBefore lies behind the start + dedupeWindowSeconds - probeSettleSeconds"
            yield Fault("SP412", message, "/attempt/sendBefore", place=first.opened.place)
