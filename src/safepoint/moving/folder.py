"""A run's folder as it will be in the copy, and everything that lies in no run's folder.

Decided here: in which order a run's records are read, what its origin says, and what of it is no content. Not decided
here: what becomes of one object (``fates``), and what is written when (``writing``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from safepoint.core.fault import Fault, Place
from safepoint.core.ident import decode_segment
from safepoint.core.jsonlines import split
from safepoint.core.kind import recognise
from safepoint.migrate.engine import Migrated
from safepoint.model.journal import ENDED
from safepoint.moving.fates import Item, Plan, is_read, left, read, refused, unread
from safepoint.moving.origin import Heads, origin_document
from safepoint.moving.progress import WORKFLOW, is_own
from safepoint.reader import load_run
from safepoint.recorder.sealing import is_claim_to_seal, is_seal_for
from safepoint.rules import severity
from safepoint.store import Entry, Store, StoreError, UnreachableError
from safepoint.store.layout import KeyName, deleted_key, origin_key, parse_key
from safepoint.version import __version__

_Named = tuple[Entry, KeyName | None]
Texts = dict[str, bytes | StoreError]


@dataclass(frozen=True, slots=True)
class Folder:
    """A run's folder as it will be in the copy."""

    items: tuple[Item, ...]
    origin: Item | None
    """The document that is written first; None where there is no record of a run."""
    open: bool = False
    """Whether it has a journal, and no record says that the run came to an end."""
    head: int | None = None
    """The last record of its journal in the source."""


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
    try:
        run_id = decode_segment(segment)
    except ValueError:
        # no reader takes it for a run, and nothing in it for a record
        return Folder(tuple(unread(source, *each) for each in _named(source.list(f"runs/{segment}"))), None)
    named = _named(source.list(f"runs/{segment}"))
    wanted = [entry for entry, name in named if is_read(entry, name)]
    texts: Texts = dict(zip((entry.key for entry in wanted), source.get_many(wanted), strict=True))
    if _is_migration(segment, named, texts):
        return Folder(tuple(left(source, entry) for entry, _ in named), None)
    doubts = _doubts(source, run_id, named)
    content, met = _without_seal(named, texts, run_id, plan, copied), _Met()
    items = list(_items(source, content, texts, plan, met))
    if plan.migrator.payloads is not None and any(item.fate == "asIs" for item in items):
        met = _Met()
        items = _unchanged(items, source, content, texts, plan, met)
    items = [
        item if item.source not in doubts else replace(item, fate="refused", faults=doubts[item.source])
        for item in items
    ]
    head = None if met.before.journal is None else met.before.journal[0]
    # what is left of a deleted run is waste, and is to go
    deleted = any(item.source == deleted_key(run_id) for item in items)
    if deleted or not (met.after.logs or met.after.records):
        return Folder(tuple(items), None, head=head)
    tool = f"safepoint {__version__}"
    data = origin_document(run_id, source=plan.source, tool=tool, before=met.before, after=met.after)
    is_open = head is not None and not met.ended
    return Folder(tuple(items), Item("", "copied", origin_key(run_id), data), is_open, head)


def _is_migration(segment: str, named: Sequence[_Named], texts: Texts) -> bool:
    """Whether it is the run of a migration that made the source, and speaks of that copy alone."""
    first = next((texts[e.key] for e, name in named if name is not None and name.log == "journal"), b"")
    if not is_own(segment) or isinstance(first, StoreError):
        return False
    try:
        value = orjson.loads(first)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("workflow") == WORKFLOW


def _unchanged(
    items: Sequence[Item], source: Store, named: Sequence[_Named], texts: Texts, plan: Plan, met: _Met
) -> list[Item]:
    """The items of a run of which one record cannot be migrated: then no payload in it is.

    A journal of which some records are rewritten, and one in their midst is not, would be a broken chain.
    """
    kept = replace(plan, migrator=replace(plan.migrator, payloads=None))
    found: list[Item] = []
    for before, item in zip(items, _items(source, named, texts, kept, met), strict=True):
        if before.fate == "asIs":
            found.append(replace(item, fate="asIs", faults=before.faults))
        elif before.data != item.data:
            why = "its payload is not migrated, nor what follows it: another record of the run cannot be"
            fault = Fault("SP613", why, place=Place(source.url_of(item.source), item.source))
            found.append(replace(item, fate="asIs", faults=(*item.faults, fault)))
        else:
            found.append(item)
    return found


def read_loose(source: Store, plan: Plan) -> Iterator[Item]:
    """Everything in no run's folder, as it comes.

    Raises:
        StoreError: the source cannot be listed.
    """
    named = _named(source.files())
    wanted = (entry for entry, name in named if is_read(entry, name))
    return _items(source, named, source.get_many(wanted), plan, None)


def _named(entries: Iterable[Entry]) -> list[_Named]:
    """The objects of a folder in the order in which they are read.

    Lines come before objects: where a run has both, the lines are a part of the journal from its beginning.
    """

    def order(each: _Named) -> tuple[bool, str, int, str]:
        (entry, name), lines = each, each[0].key.endswith(".jsonl")
        folder, _, last = entry.key.rpartition("/")
        return not lines, folder, (name.number or 0) if name else 0, last

    return sorted(((entry, parse_key(entry.key)) for entry in entries), key=order)


@dataclass(slots=True)
class _Met:
    """What the records of one run say together."""

    before: Heads = field(default_factory=Heads)
    after: Heads = field(default_factory=Heads)
    ended: bool = False

    def add(self, item: Item, data: bytes, migrated: Migrated) -> None:
        """An object that is in the source, and what becomes of it."""
        if item.source.endswith(".jsonl"):
            self._lines(self.before, data)
            self._lines(self.after, item.data)
        elif migrated.source is not None and migrated.identity is not None:
            kind, result = migrated.identity.kind, migrated.result
            self._record(self.before, kind, migrated.source, data)
            self._record(self.after, kind, migrated.source if result is None else result, item.data)
        elif item.fate == "asIs":
            self.before.add_unread()
            self.after.add_unread()

    def _lines(self, heads: Heads, data: bytes | None) -> None:
        for line in split(data or b""):
            if line.data.strip():
                try:
                    value = orjson.loads(line.data)
                except ValueError:
                    heads.add_unread()
                    continue
                identity, _ = recognise(value)
                if identity is not None:
                    self._record(heads, identity.kind, value, line.data)

    def _record(self, heads: Heads, kind: str, value: Mapping[str, Any], data: bytes | None) -> None:
        if data is None:
            return
        sequence = value.get("sequence")
        heads.add(kind, sequence if type(sequence) is int else None, data)
        if kind == "run" and value.get("status") in ENDED:
            self.ended = True


def _items(
    source: Store,
    named: Sequence[_Named],
    texts: Texts | Iterator[bytes | StoreError],
    plan: Plan,
    met: _Met | None,
) -> Iterator[Item]:
    """What becomes of each; `texts` are the bytes of those that may hold records, by their keys or in their order."""
    names = {entry.key for entry, _ in named}
    journal = plan.migrator.journal()
    for entry, name in named:
        if name is None or not is_read(entry, name):
            yield unread(source, entry, name)
            continue
        data = texts[entry.key] if isinstance(texts, dict) else next(texts)
        if isinstance(data, StoreError):
            yield refused(source, entry, "SP002", data.problem)
            continue
        item, migrated = read(source, entry.key, name, data, plan, journal)
        if item.key and item.key != entry.key and item.key in names:
            why = "another object of the source has the name that this one would get"
            yield refused(source, entry, "SP604", why, item.faults)
            continue
        if met is not None and item.fate != "refused":
            met.add(item, data, migrated)
        yield item


def _doubts(source: Store, run_id: str, named: Sequence[_Named]) -> dict[str, tuple[Fault, ...]]:
    """By key, why a run that is a copy itself may be no whole one, or may have no authority.

    Both documents are left behind, and a copy of what is left would look whole.
    """
    keys = {entry.key for entry, name in named if name is not None and name.log in {"origin", "seal"}}
    found: dict[str, tuple[Fault, ...]] = {}
    if keys:
        scan = load_run(source, run_id)
        for fault in (*scan.faults, *(scan.run.faults if scan.run else ())):
            if fault.place and fault.place.key in keys and severity(fault.code) == "error":
                found[fault.place.key] = (*found.get(fault.place.key, ()), fault)
    return found


def _without_seal(
    named: Sequence[_Named], texts: Texts, run_id: str, plan: Plan, copied: int | None
) -> Sequence[_Named]:
    """`named` without the records by which this very copy got its authority, or was about to.

    Where anything else follows what was copied, the original went on, and all of it is content.
    """
    if copied is None:
        return named
    journal = [(e.key, name.number or 0) for e, name in named if name is not None and name.log == "journal"]
    past = [key for key, number in journal if number > copied]
    successor = {"runId": run_id, **plan.copy}
    for key in past:
        try:
            value = orjson.loads(_bytes(texts[key]))
        except ValueError:
            return named
        if isinstance(value, dict) and is_seal_for(value, successor):
            break  # what settles may follow
        if not isinstance(value, dict) or not is_claim_to_seal(value):
            return named
    return [each for each in named if each[0].key not in past]


def _bytes(text: bytes | StoreError) -> bytes:
    if isinstance(text, UnreachableError):
        raise text  # what it would have said may be that it belongs into no copy
    return b"" if isinstance(text, StoreError) else text
