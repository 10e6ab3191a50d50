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
        starts = _starts(action)
        for record in action.records:
            evidence, pointer = record.value, "/observedAt"
            if record.kind == "ledger":
                evidence, pointer = record.value.get("evidence") or {}, "/evidence/observedAt"
            number = (record.value.get("attempt") or {}).get("number", record.value.get("attemptNumber"))
            started = starts.get(number)
            if evidence and started is not None and parse_time(evidence["observedAt"]) < started - _SKEW:
                message = "observed before the attempt began, by more than clocks may differ"
                yield Fault("SP421", message, pointer, place=record.place)


def _starts(action: Action) -> dict[int | None, int]:
    """When each attempt began, as far as a record of its beginning says so; under None the earliest."""
    starts: dict[int | None, int] = {}
    for attempt in action.attempts:
        if attempt.started is not None and attempt.opened.value.get("status") == "attempting":
            starts[attempt.number] = attempt.started
            starts[None] = min(attempt.started, starts.get(None, attempt.started))
    return starts
