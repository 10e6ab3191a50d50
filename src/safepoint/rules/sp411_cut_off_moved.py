"""A later attempt has another sendBefore than the action's first one.

Why: The provider remembers the key from the first send on. A cut-off that moves with each attempt ends
up behind the time when the key is forgotten, and the request counts as a new one.

Fix: Repeat the first attempt's sendBefore in every attempt.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "cut-off-moved"
SEVERITY = "error"
SECTION = "cut-off"
NEEDS = ()
ABOUT = "retries"


def check(run: Run) -> Iterator[Fault]:
    """Every attempt that did not inherit its cut-off."""
    for action in run.actions.values():
        told = [a for a in action.attempts if a.opened.value.get("attempt")]
        for attempt in told[1:]:
            if attempt.send_before != told[0].send_before:
                message = f"sendBefore is not the one of attempt {told[0].number}, which fixes it"
                yield Fault("SP411", message, "/attempt/sendBefore", place=attempt.opened.place)
