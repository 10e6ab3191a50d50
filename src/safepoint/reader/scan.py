"""Stores, folders and files to runs: grouping, and what a name in a store says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from safepoint.core.fault import Fault, Place
from safepoint.core.kind import resembles_record
from safepoint.core.strictjson import parse
from safepoint.core.timestamp import parse_time
from safepoint.model.journal import Unread
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.reader.texts import Reading, read_object
from safepoint.store import AbsentError, Entry, Store, StoreError
from safepoint.store.inputs import Input
from safepoint.store.layout import STORE_KEY, KeyName, parse_key, run_prefix

_LOOKS_LIKE_A_RECORD = re.compile(r"^runs/[^/]+/journal/")


@dataclass(frozen=True, slots=True)
class Scan:
    """One run, or what stands alone: a document, a foreign file, a text that names no run."""

    run: Run | None
    run_id: str | None
    faults: tuple[Fault, ...]
    """Of texts, structure and names; what the fold found across records is in ``run.faults``."""
    texts: Mapping[Place, bytes]
    """The bytes of each place, to find lines and columns in."""
    records: int
    documents: int


@dataclass(slots=True)
class _Gathered:
    """What was read of one run (or of no run), before the fold."""

    records: list[Record] = field(default_factory=list)
    recovery: list[Record] = field(default_factory=list)
    beats: list[tuple[int, str, int]] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    texts: dict[Place, bytes] = field(default_factory=dict)
    documents: int = 0
    objects: set[Place] = field(default_factory=set)
    """Where journal records lie that are objects of their own."""

    @property
    def claimable(self) -> bool:
        """Whether the journal lies as objects: lines beside them are a mirror, which may hold nothing of its own."""
        objects = {r.sequence for r in self.records if r.place in self.objects}
        return bool(objects) and all(r.sequence in objects for r in self.records if r.sequence is not None)

    def _judged(self, unread: Unread) -> Unread:
        """A file for checkpoints in which anything else was found is no file for checkpoints."""
        place = unread.faults[0].place
        others = (r for r in self.records if place and r.place.url == place.url and r.kind != "checkpoint")
        only = unread.name == "checkpoints.jsonl" and not any(others)
        return replace(unread, only_checkpoints=only)

    def add(self, reading: Reading, name: KeyName | None) -> None:
        self.texts[reading.place] = reading.data
        self.faults.extend(reading.faults)
        if reading.unread:
            self.unread.append(reading.unread)
        record = reading.record
        if record is None:
            self.documents += reading.identity is not None and reading.unread is None
        elif record.kind == "heartbeat":
            beat = record.value
            self.beats.append((record.epoch, str(beat.get("nonce")), parse_time(beat["beatAt"])))
        elif record.kind == "recovery":
            self.recovery.append(record)
        else:
            self.records.append(record)
            if name is not None and name.log == "journal":
                self.objects.add(record.place)

    def finish(self, run_id: str | None) -> Scan:
        run = None
        self.unread = [self._judged(unread) for unread in self.unread]
        if run_id is not None and (self.records or self.recovery or self.unread):
            run = fold(
                run_id,
                self.records,
                recovery=self.recovery,
                beats=self.beats,
                unread=self.unread,
                claimable=self.claimable,
            )
        count = len(self.records) + len(self.recovery) + len(self.beats)
        return Scan(run, run_id, tuple(self.faults), self.texts, count, self.documents)


def scan(source: Input) -> Iterator[Scan]:
    """Every run of a store or folder, and then what belongs to none."""
    loose: list[Entry] = []
    for run_segment, group in groupby(source.store.list(), key=_run_segment):
        if run_segment is None:
            loose.extend(group)
        else:
            yield _stored_run(source.store, group)
    is_store = any(entry.key == STORE_KEY for entry in loose)
    yield from _by_run(_read_loose(source.store, loose, named=False, in_store=is_store))


def scan_files(sources: Iterable[Input]) -> Iterator[Scan]:
    """The runs in files that were named one by one: records of one run belong together, whichever file holds them."""

    def readings() -> Iterator[Reading]:
        for source in sources:
            entries = (Entry(key, None) for key in source.keys or ())
            yield from _read_loose(source.store, entries, named=source.named)

    yield from _by_run(readings())


def scan_bytes(data: bytes, url: str) -> Iterator[Scan]:
    """The runs in one JSON text or in JSON Lines, as standard input gives them."""
    key = "stdin.jsonl" if _looks_like_lines(data) else "stdin.json"
    yield from _by_run(read_object(data, url, key, None))


def load_run(store: Store, run_id: str) -> Scan:
    """One run of a store.

    Raises:
        AbsentError: the store holds nothing of such a run.
        StoreError: the store cannot be read.
    """
    entries = list(store.list(run_prefix(run_id)))
    if entries:
        return _stored_run(store, entries, description=_description(store))
    for found in _by_run(_read_loose(store, store.list(), named=False)):
        if found.run_id == run_id and found.run is not None:
            return found
    raise AbsentError(
        store.url, "the store holds no such run", run_prefix(run_id), "list its runs with safepoint runs"
    )


def _description(store: Store) -> Unread | None:
    """Why the store's own description forbids to judge its runs; None where nothing does."""
    try:
        [reading] = read_object(
            store.get(STORE_KEY), store.url_of(STORE_KEY), STORE_KEY, parse_key(STORE_KEY)
        )
    except AbsentError:
        return None
    features = reading.value.get("features") if reading.unread is None else None
    if features:
        message = f"the store relies on {', '.join(map(repr, features))}, which this version does not know"
        fault = Fault("SP217", message, "/features", place=reading.place)
        return Unread("store", STORE_KEY, None, (fault,))
    return reading.unread


def _looks_like_lines(data: bytes) -> bool:
    """Not one text, but more than one line of which one at least is a whole object: JSON Lines, maybe damaged ones."""
    lines = data.strip().split(b"\n")
    if len(lines) < 2 or not parse(data)[1]:
        return False
    return any(line.startswith(b"{") and not parse(line)[1] for line in lines)


def _run_segment(entry: Entry) -> str | None:
    parts = entry.key.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "runs" else None


def _stored_run(store: Store, entries: Iterable[Entry], description: Unread | None = None) -> Scan:
    gathered = _Gathered()
    if description:
        gathered.unread.append(description)
    run_id: str | None = None
    for entry in entries:
        name = parse_key(entry.key)
        place = Place(store.url_of(entry.key), entry.key)
        if name is not None:
            run_id = name.run_id or run_id
        if name is None:
            fault = Fault(
                "SP005", "the name matches nothing in the layout; the object is not read", place=place
            )
            gathered.faults.append(fault)
            if _LOOKS_LIKE_A_RECORD.search(entry.key):
                # A journal record under a wrong name may be the attempt that everything depends on.
                gathered.unread.append(Unread("journal", entry.key.rpartition("/")[2], None, (fault,)))
        elif name.log in {"journal", "recovery", "heartbeat", "lines", "loose"}:
            for reading in _read(store, entry, name):
                gathered.add(reading, name)
    return gathered.finish(run_id)


def _read_loose(
    store: Store, entries: Iterable[Entry], *, named: bool, in_store: bool = False
) -> Iterator[Reading]:
    """The texts of files that lie in no run's folder; one that was not named may be somebody else's JSON."""
    for entry in entries:
        if not named and not entry.key.endswith((".json", ".jsonl")):
            continue
        for reading in _read(store, entry, parse_key(entry.key) if in_store else None):
            if reading.foreign and not named and resembles_record(reading.value) is None:
                note = Fault("SP004", "JSON that is not a Safepoint record; left out", place=reading.place)
                yield Reading(reading.place, reading.data, faults=(note,))
            else:
                yield reading


def _read(store: Store, entry: Entry, name: KeyName | None) -> Iterator[Reading]:
    url = store.url_of(entry.key)
    try:
        data = store.get(entry.key)
    except StoreError as error:
        place = Place(url, entry.key)
        code = "SP006" if entry.escapes else "SP002"
        fault = Fault(code, str(error), place=place)
        hidden = Unread(
            name.log if name else "loose",
            entry.key.rpartition("/")[2],
            name.number if name else None,
            (fault,),
        )
        yield Reading(place, b"", faults=(fault,), unread=hidden)
        return
    yield from read_object(data, url, entry.key, name)


def _by_run(readings: Iterable[Reading]) -> Iterator[Scan]:
    """Loose texts by the run that they name; a broken one that names none may hide records of any of them."""
    runs: dict[str, _Gathered] = {}
    rest = _Gathered()
    for reading in readings:
        if reading.run_id is not None and (reading.record or reading.unread):
            runs.setdefault(reading.run_id, _Gathered()).add(reading, None)
        else:
            rest.add(reading, None)
    for run_id, gathered in runs.items():
        gathered.unread.extend(rest.unread)
        yield gathered.finish(run_id)
    if rest.texts:
        yield rest.finish(None)
