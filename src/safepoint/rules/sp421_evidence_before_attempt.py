"""Evidence was observed before the attempt that it proves had begun.

Why: What was seen before the request can have been left, was caused by something else: another action,
another run, or a search that found too much. Then the effect is taken for done, and was not.

Fix: Look for the effect by its key or its reference, after the attempt, and write down when you looked; where
the clocks of two machines disagree, set them.
"""

from collections.abc import Iterator

from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.model.action import Action
from safepoint.model.record import Record
from safepoint.model.run import Run

NAME = "evidence-before-attempt"
SEVERITY = "warning"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"

_SKEW = 5 * SECOND
"""The default of ``clockSkewSeconds``: a witness may have a clock of its own, and no policy is at hand."""


def check(run: Run) -> Iterator[Fault]:
    """Every piece of evidence that is older than the attempt it names, or without a name than the first one."""
    for action in run.actions.values():
        for record in action.records:
            evidence, pointer = record.value, "/observedAt"
            if record.kind == "ledger":
                evidence, pointer = record.value.get("evidence") or {}, "/evidence/observedAt"
            started = _started(action, record)
            if evidence and started is not None and parse_time(evidence["observedAt"]) < started - _SKEW:
                message = "observed before the attempt began, by more than clocks may differ"
                yield Fault("SP421", message, pointer, place=record.place)


def _started(action: Action, record: Record) -> int | None:
    """When the attempt began that `record` speaks of, as far as a record of its beginning says so."""
    number = (record.value.get("attempt") or {}).get("number", record.value.get("attemptNumber"))
    begun = (
        attempt.started
        for attempt in action.attempts
        if number in {None, attempt.number} and attempt.opened.value.get("status") == "attempting"
    )
    return min((start for start in begun if start is not None), default=None)
