"""What becomes of the objects of one folder: migrated, copied, left behind, dropped, or refused.

Decided here: the fate of each object and its name in the copy (SPEC.md#stores). Not decided here: how one record
migrates (``migrate``), and what is written when (``migration``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from safepoint.core.fault import Fault, Place
from safepoint.core.ident import decode_segment
from safepoint.core.jsonlines import split
from safepoint.core.kind import recognise
from safepoint.core.version import CURRENT, Version
from safepoint.migrate.engine import JournalMigrator, Migrated, Migrator
from safepoint.model.journal import ENDED
from safepoint.moving.origin import Heads, origin_document
from safepoint.reader import load_run
from safepoint.reader.texts import read_object
from safepoint.recorder.sealing import content_end, is_claim_to_seal
from safepoint.rules import severity
from safepoint.store import Entry, Store, StoreError, UnreachableError
from safepoint.store.layout import KeyName, deleted_key, order, origin_key, parse_key, run_prefix
from safepoint.store.opening import local_path
from safepoint.version import __version__

FateName = Literal["migrated", "copied", "asIs", "dropped", "left", "refused"]
FATES: tuple[FateName, ...] = ("migrated", "copied", "asIs", "dropped", "left")
"""``asIs``: could not be migrated, and is in the copy byte for byte. ``dropped``: only records of kinds that the
version lacks. ``left``: what speaks of the original alone, as its heartbeats do."""

_RECORDS = frozenset({"run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery"})
_NOT_A_RECORD = frozenset({"SP003", "SP116"})
_LOSSES = frozenset({"SP601", "SP605"})
_LEFT = frozenset({"heartbeat", "origin", "seal"})
_AS_BYTES = frozenset({"artifact", "store", "deleted"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for."""

    migrator: Migrator
    source: str
    """URL of the source as others may open it."""
    copy: str
    """URL of the copy, as a seal names it; empty where nothing is to be written."""
    to: Version | None = None
    """None: each record keeps its version."""
    keep_going: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """What becomes of one object."""

    source: str
    """Its key in the source."""
    fate: FateName
    key: str = ""
    """Its key in the copy; empty where it has none."""
    data: bytes | None = None
    """What is written; None: the source's bytes, which were not looked into."""
    size: int = 0
    """Bytes in the source."""
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """A run's folder as it will be in the copy."""

    items: tuple[Item, ...]
    origin: Item | None
    """The document that is written first; None where there is no record of a run."""
    open: bool = False
    """Whether it has a journal, and no record says that the run came to an end."""


def read_run(source: Store, segment: str, plan: Plan, *, copied: int | None = None) -> Folder:
    """The folder ``runs/SEGMENT``; all of its records are held at once.

    Args:
        source: the store.
        segment: the folder's name.
        plan: what was asked for.
        copied: up to which record a finished copy holds the journal; None: nothing was copied yet.

    Raises:
        StoreError: it cannot be listed.
    """
    # Lines before objects: where a run has both, the lines are a part of the journal from its beginning.
    entries = sorted(
        source.list(f"runs/{segment}"), key=lambda e: (not e.key.endswith(".jsonl"), order(e.key))
    )
    met = _Met()
    wanted = _without_seal(source, segment, entries, plan, copied)
    doubts = _doubts(source, segment, entries)
    items = tuple(
        item if item.source not in doubts else replace(item, fate="refused", faults=doubts[item.source])
        for item in _items(source, wanted, plan, met)
    )
    try:
        run_id = decode_segment(segment)
    except ValueError:
        return Folder(items, None)  # no reader takes it for a run
    if not met.after.logs and not met.after.records:
        return Folder(items, None)
    if any(item.source == deleted_key(run_id) for item in items):
        return Folder(items, None)  # what is left of it is waste, and is to go
    tool = f"safepoint {__version__}"
    data = origin_document(run_id, source=plan.source, tool=tool, before=met.before, after=met.after)
    is_open = met.before.journal is not None and not met.ended
    return Folder(items, Item("", "copied", origin_key(run_id), data), is_open)


def _doubts(source: Store, segment: str, entries: Iterable[Entry]) -> dict[str, tuple[Fault, ...]]:
    """By key, why a run that is a copy itself may be no whole one, or may have no authority.

    Both documents are left behind, and a copy of what is left would look whole.
    """
    keys = {e.key for e in entries if (name := parse_key(e.key)) and name.log in {"origin", "seal"}}
    found: dict[str, tuple[Fault, ...]] = {}
    if keys:
        scan = load_run(source, decode_segment(segment))
        for fault in (*scan.faults, *(scan.run.faults if scan.run else ())):
            if fault.place and fault.place.key in keys and severity(fault.code) == "error":
                found[fault.place.key] = (*found.get(fault.place.key, ()), fault)
    return found


@dataclass(slots=True)
class _Met:
    """What the records of one run say together."""

    before: Heads = field(default_factory=Heads)
    after: Heads = field(default_factory=Heads)
    ended: bool = False


def read_loose(source: Store, plan: Plan) -> Iterator[Item]:
    """Everything in no run's folder, as it comes.

    Raises:
        StoreError: the source cannot be listed.
    """
    entries = sorted(source.files(), key=lambda entry: order(entry.key))
    return _items(source, entries, plan, None)


def _without_seal(
    source: Store, segment: str, entries: Sequence[Entry], plan: Plan, copied: int | None
) -> Sequence[Entry]:
    """`entries` without the records by which this very migration sealed the original before, or began to."""
    numbers = {e.key: name.number for e in entries if (name := parse_key(e.key)) and name.log == "journal"}
    behind = [e for e in entries if copied is not None and (numbers.get(e.key) or 0) > copied]
    tail = behind or [e for e in entries if e.key in numbers][-2:]
    if not plan.copy or not tail:
        return entries
    values = []
    for entry in tail:
        try:
            values.append(orjson.loads(source.get(entry.key)))
        except UnreachableError:
            raise  # what it would have said may be that it belongs into no copy
        except (StoreError, ValueError):
            return entries
    end = content_end(values, successor_uri=plan.copy, successor_run_id=decode_segment(segment))
    if end is None and behind and all(is_claim_to_seal(value) for value in values):
        end = copied
    return entries if end is None else [e for e in entries if (numbers.get(e.key) or 0) <= end]


def _items(source: Store, entries: Sequence[Entry], plan: Plan, met: _Met | None) -> Iterator[Item]:
    names = {entry.key for entry in entries}
    journal = plan.migrator.journal()
    wanted = [entry for entry in entries if _is_read(entry)]
    texts = source.get_many(wanted)
    for entry in entries:
        if entry.problem:
            yield _refused(source, entry, "SP006", "leads out of the store; not read, so nothing is migrated")
            continue
        name = parse_key(entry.key)
        if name is not None and name.log in _LEFT:
            yield Item(entry.key, "left", size=_size(source, entry))
        elif name is not None and name.log == "store" and (unknown := _unknown(source, entry.key)):
            yield Item(entry.key, "refused", size=_size(source, entry), faults=unknown)
        elif name is None or name.log in _AS_BYTES:
            yield Item(entry.key, "copied", entry.key, size=_size(source, entry))
        else:
            data = next(texts)
            if isinstance(data, StoreError):
                yield _refused(source, entry, "SP002", data.problem)
                continue
            item = _text(source, entry.key, name, data, plan, journal)
            if item.fate == "migrated" and item.key != entry.key and item.key in names:
                why = "another object of the source has the name that this one would get"
                yield _refused(source, entry, "SP604", why, item.faults)
                continue
            if met is not None and item.fate != "refused":
                for value in _count(met.before, entry.key, data):
                    met.ended = met.ended or (
                        value.get("recordType") == "run" and value.get("status") in ENDED
                    )
                if item.data is not None:
                    list(_count(met.after, item.key, item.data))
            yield item


def _unknown(source: Store, key: str) -> tuple[Fault, ...]:
    """Why nothing may be written into a store that says this of itself; nothing where it may."""
    [reading] = read_object(source.get(key), source.url_of(key), key, parse_key(key))
    return () if reading.unread is None else reading.unread.faults


def _size(source: Store, entry: Entry) -> int:
    """The bytes of an object that is not looked into; a listing of a disk does not say."""
    if entry.size is None and (path := local_path(source.url_of(entry.key))) is not None:
        with suppress(OSError):
            return Path(path).stat().st_size
    return entry.size or 0


def _is_read(entry: Entry) -> bool:
    name = parse_key(entry.key)
    return not entry.problem and name is not None and name.log not in _LEFT | _AS_BYTES


def _text(source: Store, key: str, name: KeyName, data: bytes, plan: Plan, journal: JournalMigrator) -> Item:
    place = Place(source.url_of(key), key)
    lines = key.endswith(".jsonl")
    if lines and name.run_id is not None:
        result = journal.lines(data, place)
    elif lines:
        result = plan.migrator.lines(data, place)
    elif name.log == "journal" or (name.run_id is not None and name.name.startswith("journal-")):
        result = journal.record(data)
    else:
        result = plan.migrator.record(data)
    faults = tuple(fault if fault.place else fault.at(place) for fault in result.faults)
    result = replace(result, faults=faults)

    def item(fate: FateName, key: str = "", data: bytes | None = None, *more: Fault) -> Item:
        return Item(place.key, fate, key, data, size, (*faults, *more))

    size = len(data)
    if _is_foreign(result):
        return Item(key, "copied", key, data, size)
    if result.data is None:
        losses = any(fault.code in _LOSSES for fault in faults)
        if not lines and any(fault.code == "SP605" for fault in faults):
            return item("dropped")
        if plan.keep_going and not losses:
            why = "not migrated; it is in the copy as it was"
            return item("asIs", key, data, Fault("SP613", why, place=place))
        return item("refused")
    if not result.data and data:  # JSON Lines of which no line is left
        return item("dropped")
    if result.kept:
        why = f"{result.kept} of its lines not migrated; they are in the copy as they were"
        return item("asIs", key, result.data, Fault("SP613", why, place=place))
    if not result.changed:
        return item("copied", key, data)
    if name.log == "journal" and name.run_id is not None and plan.to is not None and plan.to < CURRENT:
        # what has no sequence has no place in a journal's folder; the name still shows where it came from
        key = f"{run_prefix(name.run_id)}journal-{name.name}"
    return item("migrated", key, result.data)


def _count(heads: Heads, key: str, data: bytes) -> Iterator[Mapping[str, Any]]:
    """Adds the records in `data` to the heads of their run, and yields them."""
    texts = (line.data for line in split(data)) if key.endswith(".jsonl") else (data,)
    for text in texts:
        if not text.strip():
            continue
        try:
            value = orjson.loads(text)
        except ValueError:
            heads.add_unread()
            continue
        identity, _ = recognise(value)
        if identity is None:
            continue
        sequence = value.get("sequence")
        is_number = isinstance(sequence, int) and not isinstance(sequence, bool)
        heads.add(identity.kind, sequence if is_number else None, text)
        yield value


def _is_foreign(result: Migrated) -> bool:
    """Sound JSON that is no record: documents, and what others keep in the same folder."""
    if result.identity is not None:
        return result.identity.kind not in _RECORDS
    return result.data is None and all(fault.code in _NOT_A_RECORD for fault in result.faults)


def _refused(source: Store, entry: Entry, code: str, why: str, faults: Iterable[Fault] = ()) -> Item:
    place = Place(source.url_of(entry.key), entry.key)
    return Item(entry.key, "refused", size=entry.size or 0, faults=(*faults, Fault(code, why, place=place)))
