"""One folder into the copy: compared with what is there, written where nothing is, and read back.

Decided here: that nothing is overwritten, the order in which a run's objects are written, and what counts as the same.
Not decided here: what they are (``folder``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

import orjson

from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Fault, Place
from safepoint.moving.fates import Item, Plan
from safepoint.moving.folder import Folder, read_loose, read_run
from safepoint.moving.tally import Tally, digest_of
from safepoint.store import AbsentError, ConflictError, Entry, Outcome, Store, StoreError, UnreachableError
from safepoint.store.copying import digest_in, put
from safepoint.store.layout import ORIGIN, STORE_KEY, parse_key
from safepoint.upkeep.aside import marker

_BATCH = 256
"""Objects that are written at once."""

_BATCH_BYTES = 8 << 20

UNFINISHED = "unfinished.json"
"""Beside loose files, as long as some of them are not there yet: no guard lets their runs go on."""


@dataclass(slots=True)
class Done:
    """One folder of the source and its copy."""

    tally: Tally = field(default_factory=Tally)
    digest: str = ""
    """Of all that is in the copy's folder."""


def judge_run(source: Store, target: Store | None, segment: str, plan: Plan) -> Done:
    """What would become of one run, and whether what is in the copy's folder is what belongs there."""
    folder = read_run(source, segment, plan)
    done = _judge(source, target, [*_origin(folder), *folder.items], _keys(target, segment))
    return _as_run(done, folder, segment)


def judge_loose(source: Store, target: Store | None, plan: Plan) -> Done:
    """The same for everything in no run's folder."""
    present = _keys(target, None) - {UNFINISHED}
    return _judge(source, target, read_loose(source, plan), present)


def _as_run(done: Done, folder: Folder, segment: str) -> Done:
    done.tally.runs, done.tally.open_runs = 1, int(folder.open)
    if any(item.fate == "asIs" for item in folder.items):
        done.tally.kept.append(segment)
    return done


def _judge(source: Store, target: Store | None, items: Iterable[Item], present: set[str]) -> Done:
    done = Done()
    for item in items:
        if item.source:
            done.tally.add(item)
        if target is not None and item.key in present:
            present.discard(item.key)
            if not _holds(source, target, item):
                done.tally.report([_taken(target, item.key)])
    if target is not None:
        done.tally.report(_taken(target, key) for key in sorted(present) if not _is_later(key))
    return done


def _is_later(key: str) -> bool:
    """What a whole copy may have that its source has not: its store's description, and that an original was sealed."""
    name = parse_key(key)
    return key == STORE_KEY or (name is not None and name.log == "seal")


def compare_run(source: Store, target: Store, segment: str, plan: Plan) -> Done:
    """Whether a copy that was finished still holds what it was given; it may have gone on since."""
    copied = _copied(target, segment)
    folder = read_run(source, segment, plan, copied=copied)
    done = Done()
    for item in folder.items:
        done.tally.add(item)
    if copied is not None and folder.head is not None and folder.head > copied:
        why = (
            f"the original went on behind record {copied}, up to {folder.head}, which the copy does not hold: copy it "
            "again, to a new place"
        )
        done.tally.report(
            [Fault("SP615", why, place=Place(source.url_of(f"runs/{segment}"), f"runs/{segment}"))]
        )
    else:
        items = [*_origin(folder), *folder.items]
        done.tally.report(_changes(source, target, items, _keys(target, segment), together=True))
    return _as_run(done, folder, segment)


def _copied(target: Store, segment: str) -> int | None:
    """Up to which record the copy has the journal of its source."""
    try:
        head = orjson.loads(target.get(f"runs/{segment}/{ORIGIN}"))["from"]["journal"]
        return int(head["sequence"])
    except (AbsentError, ValueError, LookupError, TypeError):
        return None  # no origin, or one that is damaged: then all of the source is content


def compare_loose(source: Store, target: Store, plan: Plan) -> Done:
    """The same for everything in no run's folder."""
    done = Done()
    present = _keys(target, None)
    for item in read_loose(source, plan):
        done.tally.add(item)
        done.tally.report(_changes(source, target, [item], present, together=False))
    return done


def _changes(
    source: Store, target: Store, items: Sequence[Item], present: set[str], *, together: bool
) -> Iterator[Fault]:
    """What a finished copy should hold and does not; `together`: in one fault."""
    keys = [i.key for i in items if i.key and not (i.key in present and _holds(source, target, i))]
    why = "the finished copy does not hold what this migration would write here now"
    if together and len(keys) > 1:
        why += f", nor in {len(keys) - 1} more objects of the run"
    remedy = (
        "it lost something, the source was changed, or the steps were: compare, or migrate to a new place"
    )
    for key in keys[:1] if together else keys:
        yield Fault("SP615", f"{why}; {remedy}", place=Place(target.url_of(key), key))


def write_run(source: Store, target: Store, segment: str, plan: Plan) -> Done:
    """Writes one run: first what it was copied from, last the first record of its journal.

    So that whatever a reader meets before all of it is there says of itself that it is not whole.

    Raises:
        ConflictError: something else is there, or the source can no longer be migrated.
        StoreError: one of the two cannot be read or written.
    """
    folder = read_run(source, segment, plan)
    # Before the origin is written, which could not name what was not read.
    _require_judged(source, folder.items, plan)
    writer = _Writer(source, target, segment, plan)
    writer.write(_origin(folder))
    writer.write(item for item in folder.items if not _begins(item.key))
    writer.write(item for item in folder.items if _begins(item.key))
    return _as_run(writer.finished(), folder, segment)


def _begins(key: str) -> bool:
    """Whether it is the first record of a run's journal."""
    name = parse_key(key)
    return name is not None and name.log == "journal" and name.number == 1


def write_loose(source: Store, target: Store, plan: Plan) -> Done:
    """Writes everything in no run's folder; errors as in `write_run`."""
    # A source that bears this name itself is not whole, and its copy says so anyway.
    marked = any(map(_is_loose, source.files())) and not source.exists(UNFINISHED)
    if marked and not put(target, UNFINISHED, marker(None, ())):
        raise _conflict(target, UNFINISHED)
    writer = _Writer(source, target, None, plan)
    writer.write(read_loose(source, plan))
    done = writer.finished()
    if marked:
        target.delete(UNFINISHED)
    return done


def clear(source: Store, target: Store) -> None:
    """Removes from a whole copy the mark of an unfinished one, which a process may have left that was overtaken."""
    with suppress(AbsentError):
        if not source.exists(UNFINISHED) and target.get(UNFINISHED) == marker(None, ()):
            target.delete(UNFINISHED)


def _is_loose(entry: Entry) -> bool:
    name = parse_key(entry.key)
    return name is not None and name.log in {"loose", "lines"}


def write_description(source: Store, target: Store) -> None:
    """Writes what the source's store says of itself, if it does: nothing may be recorded in the copy before."""
    try:
        data = source.get(STORE_KEY)
    except AbsentError:
        return
    if not put(target, STORE_KEY, data):
        raise _conflict(target, STORE_KEY)


def _origin(folder: Folder) -> list[Item]:
    return [folder.origin] if folder.origin else []


def _keys(target: Store | None, segment: str | None) -> set[str]:
    if target is None:
        return set()
    try:
        return {e.key for e in (target.files() if segment is None else target.list(f"runs/{segment}"))}
    except AbsentError:
        return set()


class _Writer:
    """Writes the objects of one folder, and knows what it wrote."""

    def __init__(self, source: Store, target: Store, segment: str | None, plan: Plan) -> None:
        self._source, self._target, self._segment, self._plan = source, target, segment, plan
        self._present = _keys(target, segment)
        self._done = Done()
        self._digests: dict[str, str] = {}

    def write(self, items: Iterable[Item]) -> None:
        """Puts each object whose name is free, and compares the others."""
        for batch in _batches(items):
            _require_judged(self._source, batch, self._plan)
            new: list[tuple[str, bytes]] = []
            for item in batch:
                if item.source:
                    self._done.tally.add(item)
                if not item.key:
                    continue
                data = self._source.get(item.source) if item.data is None else item.data
                self._digests[item.key] = digest_bytes(data)
                if item.key not in self._present:
                    new.append((item.key, data))
                elif digest_in(self._target, item.key) != self._digests[item.key]:
                    raise _conflict(self._target, item.key)
            for (key, data), outcome in zip(new, self._target.put_many(new), strict=True):
                # what another process wrote, or nobody can tell of, may be the same
                if outcome is not Outcome.WON and not put(self._target, key, data):
                    raise _conflict(self._target, key)

    def finished(self) -> Done:
        """What was written, once it was read back."""
        _read_back(self._target, self._segment, self._digests)
        self._done.digest = digest_of(self._digests)
        return self._done


def _require_judged(source: Store, items: Iterable[Item], plan: Plan) -> None:
    """Raise where something came to be after all was judged that would have stopped everything."""
    for item in items:
        if item.fate == "refused" or (item.fate == "dropped" and not plan.migrator.allow_loss):
            raise _changed(source, item)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """The items, so many at a time that their bytes fit into memory."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += item.size
        if len(batch) >= _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_back(target: Store, segment: str | None, digests: dict[str, str]) -> None:
    """Reads what was written once more, as any reader will.

    Raises:
        StoreError: it is not what was written, or something else lies there.
    """
    missing = dict(digests)
    entries = iter(target.files() if segment is None else target.list(f"runs/{segment}"))
    while batch := list(islice(entries, _BATCH)):
        known = [entry for entry in batch if entry.key in missing]
        for entry, data in zip(known, target.get_many(known), strict=True):
            if isinstance(data, StoreError):
                raise data
            if digest_bytes(data) != missing.pop(entry.key):
                problem = "it was written, and holds something else when it is read back"
                raise UnreachableError(target.url_of(entry.key), problem, entry.key, "look at the storage")
        for entry in batch:
            if entry.key not in digests and not _is_later(entry.key) and entry.key != UNFINISHED:
                raise _conflict(target, entry.key)
    for key in missing:
        problem = "it was written, and is not there when the copy is listed"
        raise UnreachableError(target.url_of(key), problem, key, "look at the storage, and migrate again")


def _holds(source: Store, target: Store, item: Item) -> bool:
    """Whether the copy has under the item's key what belongs there."""
    wanted = digest_in(source, item.source) if item.data is None else digest_bytes(item.data)
    return digest_in(target, item.key) == wanted


def _taken(target: Store, key: str) -> Fault:
    message = "the target already holds this object, and it is not what this migration would write"
    return Fault("SP604", message, place=Place(target.url_of(key), key))


def _conflict(target: Store, key: str) -> ConflictError:
    problem = "something else is there, which this migration would not write; nothing was overwritten"
    return ConflictError(target.url_of(key), problem, key, "name an empty place for the copy")


def _changed(source: Store, item: Item) -> StoreError:
    fault = item.faults[0]
    if fault.code == "SP002":
        return UnreachableError(source.url_of(item.source), fault.message, item.source, "migrate again")
    problem = f"the source has changed since it was looked at: {fault.code}: {fault.message}"
    return ConflictError(
        source.url_of(item.source), problem, item.source, "stop its writers, then migrate again"
    )
