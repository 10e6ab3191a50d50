"""One object of a store to the texts in it, and many of them read ahead where each answer takes long.

Decided here: which errors of a store become which fault, and that what cannot be read may hide a record. Not decided
here: what a text is (``texts``), and which objects are read (``scan``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import tee
from operator import attrgetter

from safepoint.core.fault import Fault, Place
from safepoint.core.kind import resembles_record
from safepoint.core.strictjson import LIMITS
from safepoint.model.journal import Unread
from safepoint.reader.texts import UNKNOWN, Known, Reading, Scrutiny, is_lines, read_object
from safepoint.store import Entry, Store, StoreError, TooLargeError
from safepoint.store.layout import STORE_KEY, KeyName, parse_key

Held = Mapping[str, bytes | StoreError]
"""What was read ahead, by key: bytes, or why they could not be read."""


def foreseen(
    store: Store, entries: Iterable[Entry], below: str = ""
) -> Iterator[tuple[Entry, bytes | StoreError | None]]:
    """Each entry, with its bytes or why they could not be read; None where reading it ahead would gain nothing.

    Only records of a store that is far away are read ahead: not JSON Lines and artifacts, which may be huge.

    Args:
        store: where they lie.
        entries: what a listing met.
        below: the beginning of the keys of which the bytes are wanted.
    """
    if not store.far:
        yield from ((entry, None) for entry in entries)
        return
    entries, again = tee(entries)
    coming = store.get_many((entry for entry in again if _is_record(entry, below)), LIMITS.size + 1)
    for entry in entries:
        yield entry, next(coming) if _is_record(entry, below) else None


def read_ahead(found: Iterable[tuple[Entry, bytes | StoreError | None]]) -> tuple[list[Entry], Held]:
    """The entries sorted by key, as not every backend lists them so, and what was read of them."""
    entries, held = [], {}
    for entry, data in found:
        entries.append(entry)
        if data is not None:
            held[entry.key] = data
    entries.sort(key=attrgetter("key"))
    return entries, held


def _is_record(entry: Entry, below: str) -> bool:
    return entry.key.endswith(".json") and entry.key.startswith(below) and not entry.problem


def read_loose(
    store: Store, entries: Iterable[Entry], how: Scrutiny, *, named: bool, in_store: bool = False
) -> Iterator[Reading]:
    """The texts of files that lie in no run's folder; one that was not named may be somebody else's JSON."""
    for entry, data in foreseen(store, entries):
        # a link out of the store may be a run that nobody reads: it is reported, whatever its name
        passed_over = entry.folder or (entry.problem and entry.key.startswith("runs/"))
        if not named and not passed_over and not entry.key.endswith((".json", ".jsonl")):
            continue
        for reading in read(store, entry, parse_key(entry.key) if in_store else None, how, data):
            ours = named or entry.key == STORE_KEY or resembles_record(reading.value) is not None
            if reading.foreign and not ours:
                note = Fault("SP004", "JSON that is not a Safepoint record; left out", place=reading.place)
                yield Reading(reading.place, reading.data, faults=(note,))
            else:
                yield reading


def read(
    store: Store,
    entry: Entry,
    name: KeyName | None,
    how: Scrutiny,
    data: bytes | StoreError | None = None,
    known: Mapping[int, Known] = UNKNOWN,
) -> Iterator[Reading]:
    """The texts of one object.

    Args:
        store: where it lies.
        entry: the object, as a listing met it.
        name: what the layout makes of its key.
        how: how closely to look.
        data: its bytes where they were read before, or why they could not be.
        known: what its texts say, as far as they were looked at before.
    """
    url = store.url_of(entry.key)
    try:
        if isinstance(data, StoreError):
            raise data
        pieces: bytes | Iterable[bytes]
        if data is not None:
            pieces = data
        else:
            pieces = store.pieces(entry.key) if is_lines(entry.key) else store.get(entry.key, LIMITS.size + 1)
        yield from read_object(pieces, url, entry.key, name, how, known)
    except StoreError as error:
        place = Place(url, entry.key)
        code = "SP006" if entry.problem else "SP110" if isinstance(error, TooLargeError) else "SP002"
        fault = Fault(code, entry.problem or str(error), place=place)
        hidden = Unread(
            name.log if name else "loose",
            entry.key.rpartition("/")[2],
            name.number if name else None,
            (fault,),
        )
        yield Reading(place, b"", faults=(fault,), unread=hidden)
