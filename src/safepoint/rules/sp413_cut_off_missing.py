"""The first attempt of a keyed action fixes no sendBefore, although the window is known.

Why: Without a cut-off nobody knows until when the key may be sent again: after a crash the action ends
at a human, although the provider would have dropped the second request.

Fix: Compute sendBefore when the first attempt is recorded.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "cut-off-missing"
SEVERITY = "warning"
SECTION = "cut-off"
NEEDS = ()
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every keyed action with a key, a window and an attempt that says nothing of a cut-off."""
    for action in run.actions.values():
        declares = action.declares
        if declares.idempotency != "keyed" or declares.dedupe_window is None or action.key is None:
            continue
        first = action.attempts[0] if action.attempts else None
        if first and first.send_before is None and first.opened.value.get("attempt"):
            message = "keyed, with a declared window, but this first attempt fixes no sendBefore"
            yield Fault("SP413", message, "/attempt/sendBefore", place=first.opened.place)
