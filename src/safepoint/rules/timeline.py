"""What rules across records ask of a run's actions and artifacts: when an effect was open, when it was settled.

Decided here: what lay before and behind a number of the journal. Not decided here: whether that was right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from safepoint.core.uri import address_of, path_of
from safepoint.model.action import Action, Attempt
from safepoint.model.record import Record
from safepoint.model.run import Run


def open_at(action: Action, here: int) -> bool:
    """Whether the action was open right before sequence `here`, and may have changed the world; a read never does.

    One attempt that is known to be applied settles the action, whatever the others are.
    """
    if action.declares.effect == "read":
        return False
    doubtful = False
    for attempt in action.attempts:
        if (attempt.opened.sequence or 0) < here:
            settled = _settled(action, attempt)
            if settled is None or settled >= here:
                doubtful = True
            elif attempt.status == "committed":
                return False
    return doubtful


def settled_at(action: Action) -> int | None:
    """The sequence at which the action was done, or given up for good; None while it may still be attempted."""
    if action.status not in {"committed", "compensated", "cancelled", "abandoned", "compensating"}:
        return None
    applied = [_settled(action, attempt) for attempt in action.attempts if attempt.status == "committed"]
    return min((n for n in applied if n is not None), default=action.record.sequence)


def _settled(action: Action, attempt: Attempt) -> int | None:
    """The sequence of the first record that settled the attempt; None while it is open."""
    if attempt.status not in {"committed", "failed"}:
        over = action.status in {"abandoned", "cancelled", "compensated"}
        return action.record.sequence if over else None
    if attempt.record.kind == "ledger" and not any(r.kind == "evidence" for r in action.records):
        return attempt.record.sequence
    # Evidence takes the place of the outcome that it confirms: look for whichever came first.
    said = (r for r in action.records if (r.sequence or 0) > (attempt.opened.sequence or 0))
    return min(
        (r.sequence or 0 for r in said if _speaks_of(r, attempt) and _settles(r)),
        default=attempt.record.sequence,
    )


def _speaks_of(record: Record, attempt: Attempt) -> bool:
    number = (record.value.get("attempt") or {}).get("number", record.value.get("attemptNumber"))
    return number in {None, attempt.number}


def _settles(record: Record) -> bool:
    return record.kind == "evidence" or record.value.get("status") in {"committed", "failed"}


def artifact_references(run: Run) -> Iterator[tuple[Record, str, Mapping[str, Any]]]:
    """Every reference to an artifact: the record, the pointer to it, and what it says."""
    for record in run.records:
        if record.kind == "checkpoint":
            for index, reference in enumerate(record.value.get("artifactRefs") or ()):
                yield record, f"/artifactRefs/{index}", reference
        elif record.kind == "ledger" and record.value.get("resultRef") is not None:
            yield record, "/resultRef", record.value["resultRef"]


def can_be_asked_for(reference: Mapping[str, Any], schemes: Collection[str] = ()) -> bool:
    """Whether the artifact's bytes can be read: in the run's own store by relative URI or digest, or elsewhere.

    Args:
        reference: what a record says of it.
        schemes: of URLs that may be asked as well.
    """
    uri = reference.get("uri")
    if uri is None:
        return reference.get("digest") is not None
    return path_of(uri) is not None or address_of(uri, schemes) is not None
