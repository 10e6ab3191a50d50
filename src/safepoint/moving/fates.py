"""What becomes of one object: migrated, copied, kept as it was, dropped, left behind, or refused.

Decided here: the fate, and the name in the copy (SPEC.md#stores). Not decided here: how a record migrates
(``migrate``), and what the objects of a folder are together (``folder``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from safepoint.core.fault import Fault, Place
from safepoint.core.version import CURRENT
from safepoint.migrate.engine import JournalMigrator, Migrated, Migrator
from safepoint.moving.origin import RECORDS
from safepoint.reader.texts import read_object
from safepoint.store import Entry, Store
from safepoint.store.layout import KeyName, run_prefix
from safepoint.store.opening import local_path

FateName = Literal["migrated", "copied", "asIs", "dropped", "left", "refused"]
FATES: tuple[FateName, ...] = ("migrated", "copied", "asIs", "dropped", "left")
"""``asIs``: could not be migrated, and is in the copy byte for byte. ``dropped``: only records of kinds that the
version lacks. ``left``: what speaks of the original alone, as its heartbeats do."""

_NOT_A_RECORD = frozenset({"SP003", "SP115", "SP116"})
LOSSES = frozenset({"SP601", "SP605"})
"""Codes of what would be lost on the way down; only `Migrator.allow_loss` lets them pass."""
_LEFT = frozenset({"heartbeat", "origin", "seal"})
_AS_BYTES = frozenset({"artifact", "store", "deleted"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for."""

    migrator: Migrator
    source: str
    """URL of the source as others may open it."""
    copy: Mapping[str, str] = field(default_factory=dict)
    """``uri`` and ``copy`` of a finished copy, as a seal names it."""
    targets: tuple[bytes, ...] = ()
    """The payload schemas that are asked for, as a record has them in its bytes."""

    @property
    def lowers(self) -> bool:
        """Whether journals become loose records."""
        to = self.migrator.to
        return to is not None and to < CURRENT


@dataclass(frozen=True, slots=True)
class Item:
    """What becomes of one object."""

    source: str
    """Its key in the source; empty where the migration itself writes it."""
    fate: FateName
    key: str = ""
    """Its key in the copy; empty where it has none."""
    data: bytes | None = None
    """What is written; None: the source's bytes, which were not looked into."""
    size: int = 0
    """Bytes in the source."""
    faults: tuple[Fault, ...] = ()
    reached: bool = False
    """Whether it names one of the payload schemas that are asked for, now or as before."""


def is_read(entry: Entry, name: KeyName | None) -> bool:
    """Whether the object may hold records, so that its bytes decide."""
    return not entry.problem and name is not None and name.log not in _LEFT and name.log not in _AS_BYTES


def unread(source: Store, entry: Entry, name: KeyName | None) -> Item:
    """What becomes of an object whose bytes do not decide."""
    if entry.problem:
        return refused(source, entry, "SP006", "leads out of the store; not read, so nothing is migrated")
    if name is not None and name.log in _LEFT:
        return left(source, entry)
    size = _size(source, entry)
    if name is not None and name.log == "store" and (unknown := _unknown(source, entry.key, name)):
        return Item(entry.key, "refused", size=size, faults=unknown)
    return Item(entry.key, "copied", entry.key, size=size)


def left(source: Store, entry: Entry) -> Item:
    """An object that speaks of the original alone."""
    return Item(entry.key, "left", size=_size(source, entry))


def _unknown(source: Store, key: str, name: KeyName) -> tuple[Fault, ...]:
    """Why nothing may be written into a store that says this of itself; nothing where it may."""
    [reading] = read_object(source.get(key), source.url_of(key), key, name)
    return () if reading.unread is None else reading.unread.faults


def _size(source: Store, entry: Entry) -> int:
    """The bytes of an object that is not looked into; a listing of a disk does not say."""
    if entry.size is None and (path := local_path(source.url_of(entry.key))) is not None:
        with suppress(OSError):
            return Path(path).stat().st_size
    return entry.size or 0


def read(
    source: Store, key: str, name: KeyName, data: bytes, plan: Plan, journal: JournalMigrator
) -> tuple[Item, Migrated]:
    """What becomes of an object that may hold records.

    Args:
        source: the store.
        key: of the object.
        name: what the key says.
        data: its bytes.
        plan: what was asked for.
        journal: what became of the records before, for one that has its place in a chain.
    """
    lines, in_run, place = key.endswith(".jsonl"), name.run_id is not None, None
    if lines:
        place = Place(source.url_of(key), key)
        result = journal.lines(data, place) if in_run else plan.migrator.lines(data, place)
    elif name.log == "journal" or (in_run and name.name.startswith("journal-")):
        result = journal.record(data)
    else:
        result = plan.migrator.record(data)
    size, faults = len(data), result.faults
    if faults:
        place = place or Place(source.url_of(key), key)
        faults = tuple(fault if fault.place else fault.at(place) for fault in faults)
    fate, written, why = _fate(result, data, plan, lines=lines)
    if why:
        faults = (*faults, Fault("SP613", why, place=place or Place(source.url_of(key), key)))
    if _is_foreign(result):
        faults = ()  # the finding that it is none of ours is no business of a migration
    to = "" if written is None else key
    if fate == "migrated" and name.log == "journal" and name.run_id is not None and plan.lowers:
        # what has no sequence has no place in a journal's folder; the name still shows where it came from
        to = f"{run_prefix(name.run_id)}journal-{name.name}"
    reached = bool(plan.targets) and written is not None and any(name in written for name in plan.targets)
    return Item(key, fate, to, written, size, faults, reached), result


def _fate(result: Migrated, data: bytes, plan: Plan, *, lines: bool) -> tuple[FateName, bytes | None, str]:
    """The fate, what is written of it, and what is said of what was kept as it was."""
    if _is_foreign(result):
        return "copied", data, ""
    if result.data is None:
        codes = {fault.code for fault in result.faults}
        if "SP605" in codes and not lines:
            return "dropped", None, ""
        if plan.migrator.keep_going and codes.isdisjoint(LOSSES):
            return "asIs", data, "not migrated; it is in the copy as it was"
        return "refused", None, ""
    if not result.data and data:  # JSON Lines of which no line is left
        return "dropped", None, ""
    if result.kept:
        return (
            "asIs",
            result.data,
            f"{result.kept} of its lines not migrated; they are in the copy as they were",
        )
    return ("migrated" if result.changed else "copied"), result.data, ""


def _is_foreign(result: Migrated) -> bool:
    """Sound JSON that is no record: documents, and what others keep in the same folder."""
    if result.identity is not None:
        return result.identity.kind not in RECORDS
    return result.data is None and all(fault.code in _NOT_A_RECORD for fault in result.faults)


def refused(source: Store, entry: Entry, code: str, why: str, faults: Iterable[Fault] = ()) -> Item:
    """An object that stands in the way."""
    place = Place(source.url_of(entry.key), entry.key)
    return Item(entry.key, "refused", size=entry.size or 0, faults=(*faults, Fault(code, why, place=place)))
