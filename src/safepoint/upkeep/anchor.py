"""Anchoring: the heads of a store's runs, written down at a place that the store's writers cannot reach.

Decided here: that an anchor says only what is new since the one before, in as many records as that takes; and that what
contradicts earlier anchors is never anchored, unless a human answers for it by name and with a reason that stays
(SPEC.md#anchors). Not decided here: what contradicts them (``reader.comparing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from safepoint import rules
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.fault import Fault
from safepoint.core.finding import Finding
from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT
from safepoint.reader import Scan, Scrutiny, scan
from safepoint.reader.anchors import LOGS, Anchors, Held, anchor_key, read_anchors
from safepoint.reader.comparing import (
    Logs,
    compare,
    compare_document,
    compare_loose,
    damaged,
    logs_of,
    missing,
    unseen,
)
from safepoint.store import AbsentError, ConflictError, Store, UnreadableError
from safepoint.store.copying import put
from safepoint.store.inputs import Input
from safepoint.store.layout import STORE_KEY

PART = 8 << 20
"""Bytes of heads in one anchor, about: half of what a text may have, so that any reader takes it."""

_DIGESTS = 50_000
"""Digests of records without sequence that one anchor holds of one run."""

_ROUNDS = 5
"""How often the store is read again because somebody else anchored it meanwhile."""


class NothingToAcceptError(ValueError):
    """A word was given where none is needed: given by habit, it would one day accept what nobody looked at."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A human's word that what contradicts the anchors is right."""

    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Written:
    """One anchor that was written."""

    sequence: int
    digest: str
    url: str


@dataclass(slots=True)
class Report:
    """What became of an anchoring."""

    findings: tuple[Finding, ...] = ()
    """What contradicts the anchors, or is wrong with them."""
    refused: bool = False
    """Whether nothing was written because of that."""
    written: list[Written] = field(default_factory=list)
    """None where nothing is new."""
    sequence: int = 0
    """The newest anchor now; 0: there is none."""
    digest: str | None = None
    runs: int = 0
    records: int = 0
    changed: int = 0
    """Runs of which there was something new."""
    damaged: int = 0
    """Runs that could not be read whole, and were anchored as far as they could."""


@dataclass(slots=True)
class _Survey:
    """A store as it was just read, against its anchors."""

    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is new, by run."""
    faults: list[Fault] = field(default_factory=list)
    document: str | None = None
    runs: int = 0
    records: int = 0
    damaged: int = 0


def anchor_store(
    store: Store, place: Store, *, now: int, nonce: str, accepted: Acceptance | None = None
) -> Report:
    """Write down the heads of all runs of `store` at `place`.

    Args:
        store: the store.
        place: where its anchors lie; neither lies in the other.
        now: nanoseconds since the Unix epoch.
        nonce: of this process.
        accepted: the word of somebody who answers for what contradicts the anchors; None: it is refused.

    Raises:
        NothingToAcceptError: `accepted` was given, and nothing contradicts the anchors.
        AbsentError: the store holds no run, and never did.
        UnreadableError: a text of the store cannot be read, so that nobody knows how far its run has come.
        StoreError: the store cannot be listed, or the place not be written.
    """
    report = Report()
    for _ in range(_ROUNDS):
        # the anchors first: whatever the store is by then, it holds all that they have seen
        anchors = read_anchors(place)
        wrong = tuple(finding for finding in anchors.findings() if finding.severity == "error")
        if any(finding.code != "SP001" for finding in wrong):
            report.findings, report.refused = wrong, True
            return report
        survey = _survey(store, anchors)
        report.findings = tuple(rules.to_finding(fault, None) for fault in survey.faults)
        report.runs, report.records, report.damaged = survey.runs, survey.records, survey.damaged
        report.sequence, report.digest = anchors.sequence, anchors.digest
        if survey.faults and accepted is None:
            report.refused = True
            return report
        if accepted is not None and not survey.faults and not report.written:
            raise NothingToAcceptError("nothing contradicts the anchors, so that there is nothing to accept")
        if not survey.runs and not anchors.sequence:
            remedy = "name a store, or a folder that holds records"
            raise AbsentError(store.url, "no run was found", remedy=remedy)
        if _write(report, survey, anchors, place, _base(survey, now, nonce, store, accepted)):
            return report
    problem = "others write anchors of this store all the time"
    raise ConflictError(place.url, problem, remedy="let one process anchor it")


def _base(survey: _Survey, now: int, nonce: str, store: Store, accepted: Acceptance | None) -> dict[str, Any]:
    """What all anchors of this round say alike."""
    base: dict[str, Any] = {
        "recordType": "anchor",
        "schemaVersion": str(CURRENT),
        "createdAt": format_time(now),
        "nonce": nonce,
        "store": store.url[:4096],
        "storeDocument": survey.document,
        "counts": {"runs": survey.runs, "records": survey.records},
    }
    if survey.faults and accepted is not None:
        base["accepted"] = {"reason": accepted.reason, "by": accepted.by}
    return base


def _write(report: Report, survey: _Survey, anchors: Anchors, place: Store, base: Mapping[str, Any]) -> bool:
    """Writes what is new; False where somebody else has written meanwhile, so that all is to be judged again."""
    sequence, digest = anchors.sequence, anchors.digest
    parts = list(_parts(survey.entries))
    if not parts and survey.document != anchors.document:
        parts = [{}]
    for runs in parts:
        sequence += 1
        data = encode_record({**base, "sequence": sequence, "previousDigest": digest, "runs": runs})
        key = anchor_key(sequence)
        if not put(place, key, data):
            return False
        digest = digest_stored(data)
        report.written.append(Written(sequence, digest, place.url_of(key)))
        report.sequence, report.digest = sequence, digest
        report.changed += len(runs)
    return True


def _parts(entries: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, dict[str, Any]]]:
    """The entries in as many anchors as they need; each of them is sound by itself."""
    part: dict[str, dict[str, Any]] = {}
    size = 0
    for run_id in sorted(entries):
        for piece in _pieces(entries[run_id]):
            length = len(orjson.dumps({run_id: piece}))
            if part and (size + length > PART or run_id in part):
                yield part
                part, size = {}, 0
            part[run_id] = piece
            size += length
    if part:
        yield part


def _pieces(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    records = entry.get("records", ())
    if len(records) <= _DIGESTS:
        yield entry
        return
    yield {**entry, "records": records[:_DIGESTS]}
    unread = {"unread": entry["unread"]} if "unread" in entry else {}
    for start in range(_DIGESTS, len(records), _DIGESTS):
        yield {"records": records[start : start + _DIGESTS], **unread}


def _survey(store: Store, anchors: Anchors) -> _Survey:
    survey = _Survey()
    fault = compare_document(anchors, store)
    survey.faults += [fault] if fault else []
    survey.document = _document(store)
    seen: set[str] = set()
    loose: list[Scan] = []
    for found in scan(Input(store, None, named=False), Scrutiny(glance=True)):
        _require_seen(found)
        if found.run_id is None:
            continue
        if not found.in_store:
            loose.append(found)
            continue
        seen.add(found.run_id)
        _take(survey, anchors, found, list(compare(anchors, found, store)))
    # a run's own folder decides, whatever copies lie beside it
    loose = [found for found in loose if found.run_id not in seen]
    for index, faults in compare_loose(anchors, loose, store).items():
        seen.add(str(loose[index].run_id))
        _take(survey, anchors, loose[index], faults)
    for run_id, fault in missing(anchors, seen, store):
        survey.faults.append(fault)
        survey.entries[run_id] = {"replaces": True}
    return survey


def _document(store: Store) -> str | None:
    try:
        return digest_stored(store.get(STORE_KEY))
    except AbsentError:
        return None


def _require_seen(found: Scan) -> None:
    """An outage, or a file that may not be read, never looks like a shorter run."""
    fault = unseen(found)
    if found.run_id is None:
        fault = next((fault for fault in found.faults if fault.code == "SP002"), None)
    _require_read(fault)


def _require_read(fault: Fault | None) -> None:
    if fault is not None:
        url = fault.place.url if fault.place else ""
        problem = "it cannot be read, so that nobody knows how far its run has come; nothing was anchored"
        raise UnreadableError(url, problem, remedy=f"make it readable ({fault.message})")


def _take(survey: _Survey, anchors: Anchors, found: Scan, faults: list[Fault]) -> None:
    """One run more: what is new of it, and what contradicts the anchors."""
    _require_read(next((fault for fault in faults if fault.code == "SP002"), None))
    run_id, logs, unread = str(found.run_id), logs_of(found), damaged(found)
    survey.faults += faults
    survey.runs += 1 if logs.journal or logs.recovery or logs.records else 0
    survey.records += len(logs.journal) + len(logs.recovery) + len(logs.records)
    survey.damaged += 1 if unread else 0
    known = Held() if faults else anchors.runs.get(run_id, Held())
    marker = found.run.deleted if found.run is not None else None
    entry: dict[str, Any] = _news(known, logs, unread)
    if marker is not None:
        entry = {"deleted": marker.digest} if known.deleted != marker.digest else {}
    if faults:
        entry["replaces"] = True
    if entry:
        survey.entries[run_id] = entry


def _news(known: Held, logs: Logs, unread: int) -> dict[str, Any]:
    """What an anchor has to say of a run, where earlier ones say `known`."""
    entry: dict[str, Any] = {}
    for log in LOGS:
        head, before = logs.head(log), getattr(known, log)
        if head is not None and (before is None or head.sequence > before.sequence):
            entry[log] = {"sequence": head.sequence, "digest": head.digest}
    if more := logs.records - known.records:
        entry["records"] = sorted(more)
    if unread and (entry or unread != known.unread):
        entry["unread"] = unread
    elif unread != known.unread:
        entry["unread"] = 0
    return entry
