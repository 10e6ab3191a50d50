"""An attempt's deadline lies before its start.

Why: Whoever finds the attempt open counts from its deadline until nothing of it can arrive any more. One
that was over from the first moment makes that wait too short.

Fix: Read one clock for both: the deadline is the start plus the time for which the call may take.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.timestamp import parse_time
from safepoint.model.run import Run

NAME = "deadline-before-start"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"


def check(run: Run) -> Iterator[Fault]:
    """Every record that describes such an attempt, the one that begins it and those that repeat it."""
    for action in run.actions.values():
        for record in action.records:
            attempt = record.value.get("attempt")
            if attempt and parse_time(attempt["deadline"]) < parse_time(attempt["startedAt"]):
                message = "the deadline lies before startedAt; both are times of one clock"
                yield Fault("SP420", message, "/attempt/deadline", place=record.place)
