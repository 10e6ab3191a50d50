"""A closed run as two JSON Lines files instead of an object for each record, and the way back.

Decided here: that a line is a record's stored bytes; that one form is removed only once the other was read back and
found equal; and the order of removal and of writing, by which no writer ever takes a part of a journal for the whole:
record 1 is the first to go and the last to come back (SPEC.md#packing). Not decided here: what a closed run is
(``ended``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from safepoint.core.digest import digest_stored
from safepoint.core.fault import Place
from safepoint.core.jsonlines import split
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.reader import Scan
from safepoint.reader.texts import read_object
from safepoint.store import CorruptError, Entry, Store, StoreError
from safepoint.store.copying import put
from safepoint.store.layout import journal_key, parse_key, recovery_key, run_prefix
from safepoint.upkeep.ended import at_work, last_written, why_at_work, why_open, why_unsound
from safepoint.upkeep.runs import Change, load, require_writable, runs_of

MOST = 64 * 2**20
"""Bytes of a packed log: as much as readers hold at once (SPEC.md#packing)."""

_LOGS = ("journal", "recovery")
"""Of a run; what a JSON Lines file is called after."""

_NOWHERE = Place("")


class _RefusedError(Exception):
    """Why a run is left as it is."""


@dataclass(frozen=True, slots=True)
class _Log:
    """One of the two logs of a run, in whatever form it lies."""

    key: str
    """Of the JSON Lines file."""
    records: tuple[Record, ...]
    """All of them, in order."""
    numbers: tuple[str, ...]
    """Of each record the key that it has as an object."""
    objects: frozenset[str]
    """Those of the keys that are there."""
    lines: tuple[bytes, ...] | None
    """Of the file, without their line feeds; None: there is none."""

    @property
    def left(self) -> tuple[str, ...]:
        """The objects that are there, record 1 first."""
        return tuple(key for key in self.numbers if key in self.objects)

    @property
    def whole(self) -> bool:
        """Whether the file holds every record."""
        return self.lines is not None and len(self.lines) == len(self.records)


def pack(
    store: Store,
    *,
    now: int,
    runs: Sequence[str] = (),
    closed_before: int | None = None,
    keep_objects: bool = False,
    dry_run: bool = False,
) -> Iterator[Change]:
    """Lay the records of closed runs down as JSON Lines, and remove the objects.

    A run that was interrupted here is finished the next time; two at once do the same.

    Args:
        store: where they are.
        now: nanoseconds since the Unix epoch.
        runs: which; empty: all.
        closed_before: only runs whose newest record is older than this, in nanoseconds; None: of any age.
        keep_objects: leave the objects, so that the files are a mirror.
        dry_run: only say what would be done.

    Raises:
        AbsentError: one of `runs` is not there; nothing was done.
        UnsupportedError: the store cannot be written to safely.
        StoreError: the storage failed; what is there is whole, and the next time goes on.
    """
    require_writable(store)
    for run_id in runs_of(store, runs):
        try:
            yield _pack(store, run_id, now, closed_before, named=bool(runs), keep=keep_objects, dry=dry_run)
        except _RefusedError as refused:
            yield Change(run_id, "left", str(refused))


def unpack(store: Store, runs: Sequence[str], *, now: int, dry_run: bool = False) -> Iterator[Change]:
    """The way back: every record an object again, byte for byte, and the JSON Lines removed.

    Args:
        store: where they are.
        runs: which; they must have ended.
        now: nanoseconds since the Unix epoch.
        dry_run: only say what would be done.

    Raises:
        As `pack`.
    """
    require_writable(store)
    for run_id in runs_of(store, runs):
        try:
            yield _unpack(store, run_id, now, dry=dry_run)
        except _RefusedError as refused:
            yield Change(run_id, "left", str(refused))


def _pack(
    store: Store, run_id: str, now: int, before: int | None, *, named: bool, keep: bool, dry: bool
) -> Change:
    found = load(store, run_id)
    run = found.run
    if run is not None and run.deleted is not None:
        return Change(run_id, "left" if named else "passed", "it was deleted", brief="deleted")
    if not named and run is not None and (why := why_at_work(run, now)) and not run.unread:
        return Change(run_id, "passed", why, brief=at_work(run))
    if why := why_unsound(found):
        raise _RefusedError(why)
    assert run is not None
    if before is not None and last_written(run) >= before:
        return Change(run_id, "passed", "its newest record is not that old", brief="not that old")
    if why := why_open(run, now):
        raise _RefusedError(why)
    logs = [log for log in _logs(store, found, run) if log.records]
    files = {log.key: _file(log, found) for log in logs}
    counts = {
        "records": sum(len(log.records) for log in logs),
        "objects": 0 if keep else sum(len(log.left) for log in logs),
    }
    if not counts["objects"] and all(log.whole for log in logs):
        return Change(run_id, "already", "its files are there" if keep else "it is packed", counts)
    if dry:
        return Change(run_id, "would", "it would be packed", counts)
    for key, data in reversed(files.items()):
        if not put(store, key, data):
            raise _RefusedError(f"{key} was written by somebody else, and is not what the objects say")
    _require_equal(run, _read_back(store, run, files))
    if not keep:
        for log in logs:
            for key in log.left:
                store.delete(key)
        _require_there(store, files)
    return Change(run_id, "done", "packed beside its objects" if keep else "packed", counts)


def _unpack(store: Store, run_id: str, now: int, *, dry: bool) -> Change:
    found = load(store, run_id)
    run = found.run
    if run is not None and run.deleted is not None:
        raise _RefusedError("it was deleted")
    if run is not None and not any(store.exists(f"{run_prefix(run_id)}{name}.jsonl") for name in _LOGS):
        # whether or not it has ended: there is nothing to do
        return Change(run_id, "already", "it is not packed")
    if why := why_unsound(found):
        raise _RefusedError(why)
    assert run is not None
    if why := why_at_work(run, now):
        raise _RefusedError(why)
    logs = [log for log in _logs(store, found, run) if log.lines is not None]
    objects = {key: line for log in logs for key, line in zip(log.numbers, log.lines or (), strict=False)}
    there = frozenset[str]().union(*(log.objects for log in logs))
    for log in logs:
        if elsewhere := next((key for key in log.numbers if key not in objects and key not in there), None):
            raise _RefusedError(f"{elsewhere} lies neither in {log.key} nor as an object of its own")
    counts = {"records": len(objects), "objects": len(objects.keys() - there)}
    if dry:
        return Change(run_id, "would", "it would be unpacked", counts)
    # record 1 of the journal comes last: until then no writer finds a journal that it could append to
    for log in reversed(logs):
        for key in reversed(log.numbers[: len(log.lines or ())]):
            if not put(store, key, objects[key]) and not _is_same(store, key, objects[key]):
                raise _RefusedError(f"{key} was written by somebody else, and is not what {log.key} says")
    _require_objects(store, objects)
    for log in reversed(logs):
        store.delete(log.key)
    _require_there(store, objects, there={entry.key for entry in store.list(run_prefix(run_id))})
    return Change(run_id, "done", "unpacked", counts)


def _logs(store: Store, found: Scan, run: Run) -> Iterator[_Log]:
    """The journal and then the recovery log, each with what is there of both forms."""
    keys = {place.key for place in found.texts}
    for name, records, key_of in zip(
        _LOGS, (run.records, run.recovery), (journal_key, recovery_key), strict=True
    ):
        file = f"{run_prefix(run.run_id)}{name}.jsonl"
        if any(record.sequence is None for record in records):
            raise _RefusedError(
                f"records of its {name} log are not numbered, and so have no names as objects"
            )
        numbers = tuple(key_of(run.run_id, record.sequence or 0) for record in records)
        lines = None
        if file in keys:
            lines = tuple(line.data for line in split(b"".join(store.pieces(file))))
            digests = [digest_stored(line) for line in lines]
            if digests != [record.digest for record in records[: len(lines)]]:
                raise _RefusedError(f"{file} is not the beginning of the {name} as its objects hold it")
        yield _Log(file, records, numbers, frozenset(numbers) & keys, lines)


def _file(log: _Log, found: Scan) -> bytes:
    """What the JSON Lines file of a log must hold."""
    if log.lines is not None and not log.whole:
        raise _RefusedError(
            f"{log.key} holds {len(log.lines)} of {len(log.records)} records: unpack the run first, then pack it"
        )
    lines = list(log.lines or ())
    if log.lines is None:
        texts = {place.key: data for place, data in found.texts.items()}
        for key in log.numbers:
            if key not in log.objects:
                raise _RefusedError(f"{key} is not there; its record lies in another file")
            line = texts[key].removesuffix(b"\n")
            if b"\n" in line or line.endswith(b"\r"):
                raise _RefusedError(f"{key} holds its record on several lines, so that it cannot be one")
            lines.append(line)
    data = b"".join(line + b"\n" for line in lines)
    if len(data) > MOST:
        raise _RefusedError(f"{log.key} would have {len(data):,} bytes; expected at most {MOST:,}")
    return data


def _read_back(store: Store, run: Run, files: Iterable[str]) -> Run:
    """The run as the written files alone tell it."""
    records: list[Record] = []
    recovery: list[Record] = []
    for key in files:
        for reading in read_object(b"".join(store.pieces(key)), store.url_of(key), key, parse_key(key)):
            if reading.record is None:
                raise CorruptError(store.url_of(key), "what was written cannot be read back", key)
            (recovery if reading.record.kind == "recovery" else records).append(reading.record)
    return fold(run.run_id, records, recovery=recovery)


def _require_equal(run: Run, other: Run) -> None:
    """Raise where two forms of a run do not say the same, wherever they lie."""
    if _placeless(run) != _placeless(other):
        raise _RefusedError("what was read back is not what the objects say; nothing was removed")


def _placeless(run: Run) -> Run:
    """The run folded anew from its records, as if all of them lay in one place."""
    records = [replace(record, place=_NOWHERE) for record in run.records]
    recovery = [replace(record, place=_NOWHERE) for record in run.recovery]
    return fold(run.run_id, records, recovery=recovery)


def _is_same(store: Store, key: str, line: bytes) -> bool:
    """Whether the object holds this record, with the line feed that may follow it."""
    return store.get(key).removesuffix(b"\n") == line


def _require_objects(store: Store, objects: dict[str, bytes]) -> None:
    """Raise where an object cannot be read back as the record that it must hold."""
    entries = [Entry(key, None) for key in objects]
    for entry, data in zip(entries, store.get_many(entries, MOST), strict=True):
        if isinstance(data, StoreError):
            raise data
        if data.removesuffix(b"\n") != objects[entry.key]:
            raise CorruptError(store.url_of(entry.key), "what was written is not what is there", entry.key)


def _require_there(store: Store, objects: dict[str, bytes], there: Iterable[str] = ()) -> None:
    """Make sure, after the last removal, that what was relied on is still there: the other way may have met this one.

    Whoever packs removes objects, and whoever unpacks removes files; where both do it at once, each has the bytes at
    hand, and writes again what the other has taken away.
    """
    for key in objects.keys() - frozenset(there):
        if not put(store, key, objects[key]):
            raise CorruptError(store.url_of(key), "something else bears the name now", key)
