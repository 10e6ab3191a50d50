"""An attempt's number is more than one above the action's highest before it.

Why: Nothing is missing in the journal, so the attempt in between was made without a record: nobody
knows what became of it.

Fix: Record each attempt before its send, with the number that follows the highest one.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.model.run import Run

NAME = "attempt-number-skipped"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ("order", "whole")
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every attempt that leaves a number out."""
    for action in run.actions.values():
        expected = 1
        for attempt in action.attempts:
            # A number that is used again is SP401, and an outcome without an attempt as well.
            if attempt.number > expected and attempt.opened.value.get("status") == "attempting":
                message = f"attempt {attempt.number} where {expected} is next"
                yield Fault("SP414", message, "/attempt/number", place=attempt.opened.place)
            expected = max(expected, attempt.number + 1)
