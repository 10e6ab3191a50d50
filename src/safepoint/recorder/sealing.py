"""Sealing a run whose authority goes to a copy of it: the original's last word (SPEC.md#sealing).

Decided here: when a run may be sealed, and that the seal stands right behind the record up to which it was copied: the
claim is the check, so that nothing was done in between which the copy does not know. Not decided here: how a run is
copied (``moving``), and whether an owner may live (``guard``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from safepoint import rules
from safepoint.core.fault import Fault
from safepoint.guard import Reason
from safepoint.model.journal import Level
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.reader.documents import Document, FactsGiven
from safepoint.recorder.answering import (
    WHERE_TO_START,
    Answers,
    Look,
    lease_of,
    look,
    require_filled_in,
)
from safepoint.recorder.errors import IllegalRecord, StaleDecision
from safepoint.recorder.log import Clock, StoreAt, new_nonce
from safepoint.store.copying import overlap

_OVER = frozenset({"completed", "cancelled"})
"""Statuses of a run that nobody goes on with; what is open in one may still be settled, here or in a copy."""


class Seal(StrEnum):
    """What became of the wish to seal a run."""

    SEALED = "sealed"
    ALREADY_SEALED = "alreadySealed"
    """For this very copy, by an earlier call."""
    SEALED_ELSEWHERE = "sealedElsewhere"
    """Its authority went to another copy: this one must never go on."""
    ENDED = "ended"
    """It is completed, cancelled or deleted, and nothing in it is open: there is no authority to give away."""
    LIVE = "live"
    """Somebody may be at work on it."""
    UNNUMBERED = "unnumbered"
    """Its records do not lie as numbered objects, so that nothing can be claimed or sealed."""
    REFUSED = "refused"
    """Something speaks against it that time does not settle; the reasons say what."""


@dataclass(frozen=True, slots=True)
class Sealing:
    """The answer; nothing was written unless it is `Seal.SEALED`."""

    status: Seal
    record: tuple[int, str] | None = None
    """Sequence and digest of the record that seals the run; None: it is not sealed, or only rehearsed."""
    after: tuple[int, str] | None = None
    """The head that the copy was made from, and behind which the seal stands."""
    until: int | None = None
    """Live: from when nobody need wait any more, in nanoseconds; None: nobody knows."""
    reasons: tuple[Reason, ...] = ()
    """Live or refused: what speaks against it."""
    successor: Mapping[str, Any] | None = None
    """Sealed elsewhere: who has the authority."""
    written: tuple[Record, ...] = ()
    """What was recorded, or of a dry run would be."""


def seal_run(
    store: StoreAt,
    run_id: str,
    *,
    successor_uri: str,
    successor_run_id: str,
    successor_copy: str | None = None,
    by: str,
    after: tuple[int, str],
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> Sealing:
    """End the authority of a run, and name the copy of it that has the authority from now on.

    Called again it answers the same. Where an earlier call was killed between its two records, this one goes on, once
    the lease of that call has lapsed.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        successor_uri: URL of the store that holds the copy, as an RFC 3986 reference.
        successor_run_id: the run's id there.
        successor_copy: a digest that tells that copy from any other one at the same place, wherever it is moved to.
        by: who seals it; another call by the same one goes on with what this one left.
        after: sequence and digest of the journal's head that the copy was made from.
        facts: a facts document, or its path or URL: may prove that the run's owner is dead.
        policy: a policy document, or its path or URL; None: the defaults.
        reason: why, for other humans.
        dry_run: check everything, and write nothing.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        StaleDecision: the run went on behind `after`, so that the copy lacks something: copy it again.
        IllegalRecord: no reader would accept the records that seal it. Nothing was written.
        ValueError: a text is still to be filled in, or the successor is the run itself.
        InputRefusedError: facts or policy are not sound.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    require_filled_in(by=by, reason=reason)
    seen = look(store, run_id, facts=facts, policy=policy, clock=clock)
    if successor_run_id == run_id and overlap(successor_uri, seen.store.url):
        raise ValueError(f"run {run_id}: {successor_uri} is where it lies itself, and no copy of it")
    successor = {"uri": successor_uri, "runId": successor_run_id, "sequence": after[0]}
    if successor_copy is not None:
        successor["copy"] = successor_copy
    answer = _answered(seen, after, successor, by)
    if answer is not None:
        return answer
    journal = Answers(seen, nonce=nonce, clock=clock, rehearsed=dry_run)
    lease = lease_of(seen, by)
    end = {
        "recordType": "run",
        "status": "sealed",
        "by": by,
        **({} if reason is None else {"reason": reason}),
        "successor": successor,
    }
    _require_clean(seen.run, journal, lease, end)
    with journal.telling():
        # At the number behind what was judged: whoever appended meanwhile makes the copy stale.
        journal.claim(lease, at=(seen.run.head.sequence or 0) + 1)
        # No release: behind the seal nothing may follow but what settles, and the lease lapses by itself.
        sealed = journal.append_owned(partial(dict, end))
    record = None if dry_run else (sealed.sequence or 0, sealed.digest)
    return Sealing(Seal.SEALED, record, after, written=tuple(journal.written))


def is_seal_for(value: Mapping[str, Any], successor: Mapping[str, Any]) -> bool:
    """Whether a record seals its run for this very copy.

    Args:
        value: the record.
        successor: ``uri``, ``runId`` and, where it is known, ``copy``, which then decides: a copy may be moved, and
            another one may come to lie in its place.
    """
    if value.get("recordType") != "run" or value.get("status") != "sealed":
        return False
    named = value.get("successor") or {}
    told = ("runId", "copy") if successor.get("copy") is not None else ("runId", "uri")
    return all(named.get(name) == successor[name] for name in told)


def _answered(seen: Look, after: tuple[int, str], successor: Mapping[str, Any], by: str) -> Sealing | None:
    """What is to be said without writing anything; None where the run may be sealed.

    Raises:
        StaleDecision: the journal is not what was copied, and what seals it.
    """
    run = seen.run
    if run.deleted is not None:
        return Sealing(Seal.ENDED, after=after)
    if run.level is Level.RECORDS or not run.claimable:
        return Sealing(Seal.UNNUMBERED)
    unsound = _against(seen, "integrity")
    if unsound:
        return Sealing(Seal.REFUSED, reasons=unsound)
    if run.status == "sealed" and run.ended_by is not None:
        if not is_seal_for(run.ended_by.value, successor):
            return Sealing(Seal.SEALED_ELSEWHERE, successor=dict(run.ended_by.value["successor"]))
        last = run.ended_by.sequence or 0
        before = [record for record in run.records if (record.sequence or 0) < last]
        _require_copied(run, after, _content_end(before, after[0], None))
        return Sealing(Seal.ALREADY_SEALED, (run.ended_by.sequence or 0, run.ended_by.digest), after)
    _require_copied(run, after, _content_end(run.records, after[0], by))
    if run.status in _OVER and not seen.case.open_effects:
        return Sealing(Seal.ENDED, after=after)
    owned = _against(seen, "ownership")
    if any(reason.code in {"SP725", "SP726"} for reason in owned):
        return Sealing(Seal.REFUSED, after=after, reasons=owned)
    if owned:
        leased = any(reason.code == "SP721" for reason in owned)
        until = seen.decision.not_before or (seen.case.lease_ends if leased else None)
        return Sealing(Seal.LIVE, after=after, until=until, reasons=owned)
    return None


def _against(seen: Look, layer: str) -> tuple[Reason, ...]:
    """The reasons of a layer that speak against any answer."""
    return tuple(
        reason
        for reason in seen.decision.reasons
        if reason.layer == layer and reason.verdict != "resume" and reason.code not in WHERE_TO_START
    )


def _require_copied(run: Run, after: tuple[int, str], end: int | None) -> None:
    """Raise where the journal's content does not end with the record that the copy ends with."""
    there = next((record.digest for record in run.records if record.sequence == after[0]), None)
    if end == after[0] and there == after[1]:
        return
    if there is None:
        why = f"its journal ends at record {run.head.sequence}, before the record {after[0]} that the copy ends with"
    elif there != after[1]:
        why = f"its record {after[0]} is not the one that the copy ends with"
    else:
        why = f"it went on behind record {after[0]}, up to {end}, which the copy does not hold"
    raise StaleDecision(f"run {run.run_id} cannot be sealed: {why}; copy it again, to a new place")


def _content_end(records: Sequence[Record], after: int, by: str | None) -> int:
    """Where the content ends: at `after`, if nothing follows but claims that calls which were killed have left.

    Only claims for resolution by the same holder (None: by whomever): nothing was done under them, and a seal may come.
    """
    behind = [record.value for record in records if (record.sequence or 0) > after]
    if all(is_claim_to_seal(value) and by in {None, value.get("holder")} for value in behind):
        return after
    return (records[-1].sequence or 0) if records else 0


def is_claim_to_seal(value: Mapping[str, Any]) -> bool:
    """Whether a record may be the claim before a seal: nothing was done under it yet."""
    return (
        value.get("recordType") == "lease"
        and value.get("event") == "claimed"
        and value.get("purpose") == "resolution"
    )


def _require_clean(run: Run, journal: Answers, lease: Mapping[str, Any], end: Mapping[str, Any]) -> None:
    """Raise where the two records would be wrong at their place: before anything is written, and an epoch spent."""
    claim, _ = journal.draft(journal.claiming(lease))
    sealed, _ = journal.draft({"leaseEpoch": journal.next_epoch, **end})
    value = {**sealed.value, "sequence": (claim.sequence or 0) + 1, "previousDigest": claim.digest}
    behind = Record(sealed.kind, sealed.version, value, sealed.place, sealed.digest)
    after = fold(run.run_id, [*run.records, claim, behind], recovery=run.recovery, claimable=run.claimable)
    known = {(fault.code, fault.place, fault.pointer) for fault in rules.check(run)}
    new: list[Fault] = [
        fault
        for fault in rules.check(after)
        if (fault.code, fault.place, fault.pointer) not in known and rules.severity(fault.code) == "error"
    ]
    if new:
        raise IllegalRecord(f"run {run.run_id} would not be sound with this seal", new)
