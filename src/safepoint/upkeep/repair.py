"""A damaged store to a new place: what is sound as it lies, all else aside, and a report of both (SPEC.md#repair).

Decided here: that nothing is written before all was judged, that nothing is overwritten, and that the report comes
last. Not decided here: what becomes of an object (``triage``).

The store is read twice, first to judge and then to write: to keep all bytes in between would not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Fault, Place
from safepoint.store import ConflictError, Entry, Store
from safepoint.store.copying import absolute, digest_in, keys_of, overlap, put
from safepoint.store.layout import STORE_KEY, order
from safepoint.upkeep.aside import Fate, report, totals
from safepoint.upkeep.triage import Folder, Names, Write, triage_loose, triage_run

_EXAMPLES = 5
"""Objects of a foreign copy that are named; all are counted."""


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What became of a store, or would have."""

    done: bool
    """The copy holds all of it; False: nothing was written, and the faults say why."""
    fates: tuple[Fate, ...]
    """Of every object of the source, in the order of their names."""
    runs: tuple[str, ...]
    """Folders of the runs that lost something in the copy; ``""`` stands for those that lie in loose files."""
    names: Names
    faults: tuple[Fault, ...] = ()
    """SP604: the copy is not what it should be. SP002 and SP006: objects that cannot be read."""

    @property
    def totals(self) -> Mapping[str, int]:
        """How many objects came to what."""
        return totals(self.fates)

    @property
    def set_aside(self) -> tuple[Fate, ...]:
        """What did not simply stay what it was."""
        return tuple(fate for fate in self.fates if fate.fate != "copied")


def repair_store(
    source: Store, target: Store | None, *, leave_unreadable: bool = False, dry_run: bool = False
) -> RepairReport:
    """All that is sound in `source`, and aside from it all the rest, in `target`.

    `source` is never written to; `target` must be empty, or hold a part of this very repair.

    Args:
        source: the store to read. Nobody should write to it meanwhile.
        target: where to write, by put-if-absent only; None with `dry_run`: nowhere.
        leave_unreadable: go on without the objects that cannot be read, and say so in the copy; else nothing is
            written as long as there are any.
        dry_run: only say what would be done.

    Raises:
        UnsupportedError: the source has a layout that this version does not know.
        StoreError: one of the two cannot be listed, the source changes meanwhile, or the copy cannot be written.
    """
    if target is not None and overlap(source.url, target.url):
        apart = Fault("SP604", "the store and its copy lie in each other", place=Place(target.url))
        return RepairReport(done=False, fates=(), runs=(), names=Names.beside(()), faults=(apart,))
    groups = _groups(source.list())
    names = Names.beside(entry.key for _, entries in groups for entry in entries)
    fates: list[Fate] = []
    runs: list[str] = []
    faults: list[Fault] = []
    plan: dict[str | None, tuple[Fate, ...]] = {}
    present = keys_of(target) if target is not None else set()
    there = frozenset(present)
    for segment, folder in _folders(source, groups, names):
        fates += folder.fates
        runs += [segment or ""] if folder.marked else []
        plan[segment] = folder.fates
        if target is not None:
            faults += _contradictions(target, [*folder.writes, *_unfinished(folder)], present)
    fates.sort(key=lambda fate: order(fate.key))
    told = report(absolute(source.url), fates, len(runs))
    last = Write(names.report, told)
    if target is not None:
        faults += _contradictions(target, [last], present)
        faults += _foreign(target, present)
    lost = [_cannot(source, fate) for fate in fates if fate.problem]
    faults += lost if not leave_unreadable else []
    result = RepairReport(
        done=not faults, fates=tuple(fates), runs=tuple(runs), names=names, faults=tuple(faults)
    )
    if faults or dry_run or target is None:
        return result
    for segment, folder in _folders(source, groups, names):
        if folder.fates != plan[segment]:
            raise _changed(source, f"runs/{segment}" if segment else "")
        _write(source, target, folder, there)
    if last.key not in there:
        _put(source, target, last)
    return result


def _groups(entries: Iterable[Entry]) -> list[tuple[str | None, list[Entry]]]:
    """All objects, by the folder of their run; first those of none. Sorted, since not every backend lists so."""
    everything = sorted(entries, key=lambda entry: (_segment(entry.key) or "", order(entry.key)))
    groups = [(segment, list(group)) for segment, group in groupby(everything, lambda e: _segment(e.key))]
    return groups if groups and groups[0][0] is None else [(None, []), *groups]


def _segment(key: str) -> str | None:
    top, _, rest = key.partition("/")
    segment, slash, _ = rest.partition("/")
    return segment if top == "runs" and slash else None


def _folders(
    source: Store, groups: Sequence[tuple[str | None, list[Entry]]], names: Names
) -> Iterator[tuple[str | None, Folder]]:
    beside: list[Fate] = []
    for segment, entries in groups:
        if segment is None:
            folder = triage_loose(source, entries, names)
            # what a store's own description said may have been a demand on everything in it
            beside = [f for f in folder.fates if f.key == STORE_KEY and f.fate != "copied"]
        else:
            folder = triage_run(source, segment, entries, names, beside)
        yield segment, folder


def _contradictions(target: Store, writes: Iterable[Write], present: set[str]) -> Iterator[Fault]:
    """Objects of the copy that are not what this repair writes there; what is, is taken out of `present`."""
    for write in writes:
        if write.key in present:
            present.remove(write.key)
            wanted = write.digest if write.data is None else digest_bytes(write.data)
            if digest_in(target, write.key) != wanted:
                yield _taken(target, write.key)


def _foreign(target: Store, present: Iterable[str]) -> Iterator[Fault]:
    left = sorted(present)
    yield from (_taken(target, key) for key in left[:_EXAMPLES])
    if len(left) > _EXAMPLES:
        message = f"the copy holds {len(left) - _EXAMPLES} more objects that this repair does not write"
        yield Fault("SP604", message, place=Place(target.url))


def _taken(target: Store, key: str) -> Fault:
    message = (
        "the copy already holds this object, and it is not what this repair would write; name an empty place"
    )
    return Fault("SP604", message, place=Place(target.url_of(key), key))


def _cannot(source: Store, fate: Fate) -> Fault:
    return Fault(fate.ranges[0].flaw.code, fate.problem, place=Place(source.url_of(fate.key), fate.key))


def _unfinished(folder: Folder) -> tuple[Write, ...]:
    return (folder.unfinished,) if folder.unfinished else ()


def _write(source: Store, target: Store, folder: Folder, there: frozenset[str]) -> None:
    """All of `folder` that is not `there` yet; a process that is killed in between leaves no copy that looks whole."""
    lacking = [write for write in folder.writes if write.key not in there]
    for write in [*(_unfinished(folder) if lacking else ()), *lacking]:
        _put(source, target, write)
    for write in _unfinished(folder):
        if lacking or write.key in there:
            target.delete(write.key)


def _put(source: Store, target: Store, write: Write) -> None:
    data = write.data
    if data is None:
        # put-if-absent takes an object whole: of those that are not looked into one at a time is held
        data = source.get(write.source)
        if digest_bytes(data) != write.digest:
            raise _changed(source, write.source)
    if not put(target, write.key, data):
        problem = "another writer was here, with other bytes"
        raise ConflictError(
            target.url_of(write.key), problem, write.key, "name a place of its own for the copy"
        )


def _changed(source: Store, key: str) -> ConflictError:
    problem = "the store changed while it was repaired, so that the copy is not whole"
    return ConflictError(source.url_of(key), problem, key, "stop its writers, and repair to a new place")
