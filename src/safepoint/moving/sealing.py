"""The originals of copied runs are sealed, and each copy gets the proof.

Decided here: that a run is sealed only behind the very record that its copy ends with, and which runs need no seal. Not
decided here: how a run is sealed, and what speaks against it (``recorder.sealing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from safepoint.core.fault import Fault, Place
from safepoint.core.ident import decode_segment
from safepoint.core.timestamp import SECOND, format_time
from safepoint.moving.fates import Plan
from safepoint.moving.origin import seal_document
from safepoint.moving.progress import is_own
from safepoint.reader import Scan, load_run
from safepoint.recorder.errors import IllegalRecord, StaleDecision
from safepoint.recorder.sealing import Seal, Sealing, seal_run
from safepoint.store import AbsentError, ConflictError, Store
from safepoint.store.copying import put
from safepoint.store.layout import run_prefix, seal_key

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
    source: Store, target: Store, segment: str, plan: Plan, *, kept: bool, by: str, clock: Callable[[], int]
) -> Sealed | None:
    """Seals the run in ``runs/SEGMENT`` of the source; None where there is no record of it that was copied.

    Args:
        source: the original's store.
        target: the copy.
        segment: the run's folder.
        plan: what was asked for.
        kept: whether not all of the run was migrated.
        by: who answers for it.
        clock: nanoseconds since the Unix epoch.

    Raises:
        StoreError: one of the two cannot be read or written.
    """
    try:
        run_id = decode_segment(segment)
    except ValueError:
        return None
    original = _loaded(source, run_id)
    if original is None or original.run is None or is_own(segment):
        return None
    if original.run.deleted is not None:
        return Sealed(run_id, Seal.ENDED.value)

    def unsealed(outcome: str, why: str) -> Sealed:
        key = run_prefix(run_id).removesuffix("/")
        fault = Fault("SP616", f"the original is not sealed: {why}", place=Place(source.url_of(key), key))
        return Sealed(run_id, outcome, fault)

    if kept:
        return unsealed("unmigrated", "not all of it was migrated, and the copy could not go on")
    copy = _loaded(target, run_id)
    if copy is None or copy.run is None or (why := _no_copy(copy, original, plan)):
        return unsealed("notWhole", why if copy and copy.run else "there is no copy of it")
    assert copy.run.origin is not None, "else it is no copy"
    head = copy.run.origin.value["from"].get("journal")
    if head is None:
        return Sealed(run_id, Seal.UNNUMBERED.value)
    after = (head["sequence"], head["digest"])
    seal = partial(
        seal_run,
        source,
        run_id,
        successor_uri=plan.copy["uri"],
        successor_run_id=run_id,
        successor_copy=plan.copy["copy"],
        by=by,
        after=after,
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


def _loaded(store: Store, run_id: str) -> Scan | None:
    try:
        return load_run(store, run_id)
    except AbsentError:
        return None


def _no_copy(copy: Scan, original: Scan, plan: Plan) -> str:
    """Why what lies in the copy could not go on where the original can; nothing where it is a whole copy."""
    run = copy.run
    if run is None or run.deleted is not None:
        return "its copy was deleted"
    known = {fault.code for fault in _faults(original)}
    if new := [fault for fault in _faults(copy) if fault.code not in known]:
        return f"its copy is damaged: {new[0].code}: {new[0].message}"
    if run.origin is None or run.origin.value["source"] != plan.source:
        return "what lies in the copy does not say that it was copied from here"
    return ""


def _faults(scan: Scan) -> Iterator[Fault]:
    yield from scan.faults
    if scan.run is not None:
        yield from scan.run.faults
        for text in scan.run.unread:
            yield from text.faults


def _why(answer: Sealing) -> str:
    if answer.successor is not None:
        return f"its authority went to {answer.successor['uri']} before"
    why = "; ".join(reason.message for reason in answer.reasons)
    # to the whole second behind it: nobody types fractions
    until = None if answer.until is None else -(-answer.until // SECOND) * SECOND
    return why if until is None else f"{why}; try again at {format_time(until)}"
