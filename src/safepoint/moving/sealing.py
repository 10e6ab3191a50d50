"""The originals of copied runs are sealed, and each copy gets the proof.

Decided here: that a run is sealed only behind the very record that its copy ends with, and which runs need no seal. Not
decided here: how a run is sealed, and what speaks against it (``recorder.sealing``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from safepoint.core.fault import Fault, Place
from safepoint.core.ident import decode_segment
from safepoint.core.timestamp import format_time
from safepoint.moving.fates import Plan
from safepoint.moving.origin import seal_document
from safepoint.recorder.errors import IllegalRecord, StaleDecision
from safepoint.recorder.sealing import Seal, Sealing, seal_run
from safepoint.store import AbsentError, ConflictError, Store
from safepoint.store.copying import put
from safepoint.store.layout import origin_key, run_prefix, seal_key

_NEEDED = frozenset({Seal.LIVE, Seal.REFUSED, Seal.SEALED_ELSEWHERE})
"""Answers of runs that may go on where they are, although somebody wanted them to go on in the copy."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What became of one original."""

    run_id: str
    outcome: str
    """One of `Seal`, or ``stale``: the original went on after it was copied."""
    fault: Fault | None = None
    """Why it is not sealed, where it should be."""

    def document(self) -> dict[str, Any]:
        """The same for JSON."""
        why = None if self.fault is None else self.fault.message
        return {"runId": self.run_id, "outcome": self.outcome, "message": why}


def seal_original(
    source: Store, target: Store, segment: str, plan: Plan, *, by: str, clock: Callable[[], int]
) -> Sealed | None:
    """Seals the run in ``runs/SEGMENT`` of the source; None where there is no journal that was copied.

    Raises:
        StoreError: one of the two cannot be read or written.
    """
    try:
        run_id = decode_segment(segment)
        origin = orjson.loads(target.get(origin_key(run_id)))
    except (ValueError, AbsentError):
        return None
    head = origin["from"].get("journal")
    if head is None:
        return Sealed(run_id, Seal.UNNUMBERED.value)
    after = (head["sequence"], head["digest"])

    def unsealed(outcome: str, why: str) -> Sealed:
        place = Place(source.url_of(run_prefix(run_id)), run_prefix(run_id))
        return Sealed(run_id, outcome, Fault("SP616", f"the original is not sealed: {why}", place=place))

    seal = partial(
        seal_run, source, run_id, successor_uri=plan.copy, successor_run_id=run_id, by=by, after=after
    )
    try:
        try:
            answer = seal(clock=clock)
        except StaleDecision:  # once more: another process may just have sealed it for this very copy
            answer = seal(clock=clock)
    except StaleDecision as stale:
        return unsealed("stale", str(stale))
    except IllegalRecord as illegal:
        return unsealed(Seal.REFUSED.value, str(illegal))
    if answer.record is not None:
        document = seal_document(run_id, source=plan.source, sealed=answer.record, after=after)
        key = seal_key(run_id)
        if not put(target, key, document):
            problem = "another seal is there"
            raise ConflictError(target.url_of(key), problem, key, "name an empty place for the copy")
    if answer.status in _NEEDED:
        return unsealed(answer.status.value, _why(answer))
    return Sealed(run_id, answer.status.value)


def _why(answer: Sealing) -> str:
    if answer.successor is not None:
        return f"its authority went to {answer.successor['uri']} before"
    why = "; ".join(reason.message for reason in answer.reasons)
    return why if answer.until is None else f"{why}; try again at {format_time(answer.until)}"
