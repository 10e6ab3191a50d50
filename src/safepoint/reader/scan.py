"""Stores, folders and files to texts, run by run: what is read in which order, and what a name in a store says.

Not decided here: what a text is (``texts``, and at a glance ``glance``), and which run it belongs to (``grouping``).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice
from types import MappingProxyType
from typing import BinaryIO, cast

from safepoint import rules
from safepoint.core.digest import digest_stored
from safepoint.core.fault import Fault, Place
from safepoint.core.ident import decode_segment
from safepoint.core.jsonlines import split
from safepoint.core.strictjson import LIMITS, parse
from safepoint.core.version import V3
from safepoint.model.journal import Unread
from safepoint.model.origin import is_sound_copy
from safepoint.model.record import Record
from safepoint.model.run import deleted_run, fold_around
from safepoint.reader.glance import Sight, look
from safepoint.reader.grouping import Gathered, Scan, by_run
from safepoint.reader.objects import Held, foreseen, read, read_ahead, read_loose
from safepoint.reader.texts import UNKNOWN, USUAL, Known, Reading, Scrutiny, is_lines, read_object
from safepoint.store import AbsentError, Entry, Store, StoreError
from safepoint.store.inputs import Input
from safepoint.store.layout import DELETED, STORE_KEY, parse_key, run_prefix

MOST_AT_A_GLANCE = 64 * 2**20
"""Bytes of a journal that are held in memory at once."""

_PIECE = 1 << 20
"""Bytes that are read of a stream at once."""

_NOTHING_HELD: Held = MappingProxyType({})

_TRIED = 1000
"""Lines of a stream that are tried before it is taken for one text."""

_BESIDE = frozenset({"recovery", "heartbeat", "artifact", "origin", "seal"})
"""What may lie beside a journal that is sound at a glance."""

_MARKER = f"/{DELETED}"

_LOOKS_LIKE_A_RECORD = re.compile(r"^runs/[^/]+/journal/")


def scan(source: Input, how: Scrutiny = USUAL) -> Iterator[Scan]:
    """Every run of a store or folder, and then what belongs to none.

    Raises:
        StoreError: the listing is not complete; raised once everything before that was read.
    """
    loose: list[Entry] = []
    failures: list[StoreError] = []
    store = source.store
    found = foreseen(store, _listed(store, failures), "runs/")
    for run_segment, group in groupby(found, key=lambda pair: _run_segment(pair[0])):
        if run_segment is None:
            loose.extend(entry for entry, _ in group)
        else:
            entries, held = read_ahead(group)
            yield _stored_run(store, entries, how, foretold=held)
    yield from scan_loose(store, loose, how)
    if failures:
        raise failures[0]


def _listed(store: Store, failures: list[StoreError], prefix: str = "") -> Iterator[Entry]:
    """As far as a listing goes; why it went no further is appended to `failures`."""
    try:
        yield from store.list(prefix)
    except StoreError as error:
        failures.append(error)


def scan_runs(store: Store) -> Iterator[tuple[str, Scan]]:
    """Every run of a store, read and folded as `load_run` does it, with the name of each: first those with a folder.

    A folder in which nothing of a run could be read comes as well; its scan has no ``run``.

    Raises:
        StoreError: the listing is not complete; raised once everything before that was read.
    """
    how, description = Scrutiny(glance=True, folded=True), _description(store)
    loose: list[Entry] = []
    failures: list[StoreError] = []
    folders = False
    found = foreseen(store, _listed(store, failures), "runs/")
    for segment, group in groupby(found, key=lambda pair: _run_segment(pair[0])):
        if segment is None:
            loose.extend(entry for entry, _ in group)
            continue
        folders = True
        entries, held = read_ahead(group)
        run = _stored_run(store, entries, how, description, held)
        yield run.run_id or segment, run
    for run in _loose_runs(store, loose, folders=folders):
        yield str(run.run_id), run
    if failures:
        raise failures[0]


def _loose_runs(store: Store, entries: Sequence[Entry], *, folders: bool) -> Iterator[Scan]:
    """Runs without a folder. Where others have one, a text there may be theirs: then all of the store is read."""
    found = list(by_run(read_loose(store, entries, USUAL, named=False)))
    if folders and any(one.run is not None for one in found):
        found = list(by_run(read_loose(store, store.list(), USUAL, named=False)))
    seen: set[str] = set()
    for one in found:
        if one.run is None or one.run_id is None or one.run_id in seen:
            continue
        seen.add(one.run_id)
        if not folders or next(iter(store.list(run_prefix(one.run_id))), None) is None:
            yield one


def scan_folder(store: Store, segment: str, how: Scrutiny = USUAL) -> tuple[Scan | None, StoreError | None]:
    """The run in one folder below ``runs``, None where nothing is in it; and why its listing is not complete."""
    failures: list[StoreError] = []
    entries = list(_listed(store, failures, f"runs/{segment}"))
    return (_stored_run(store, entries, how) if entries else None), next(iter(failures), None)


def scan_loose(store: Store, entries: Iterable[Entry], how: Scrutiny = USUAL) -> Iterator[Scan]:
    """What lies in a store or folder beside the folders of the runs."""
    entries = list(entries)
    is_store = any(entry.key == STORE_KEY for entry in entries)
    yield from by_run(read_loose(store, entries, how, named=False, in_store=is_store))


def scan_files(sources: Iterable[Input], how: Scrutiny = USUAL) -> Iterator[Scan]:
    """The runs in files that were named one by one: records of one run belong together, whichever file holds them."""
    picked: dict[str, bool] = {}
    """Files, and whether each is one record that was named by itself."""

    def readings() -> Iterator[Reading]:
        for source in sources:
            entries = (Entry(key, None) for key in source.keys or ())
            for reading in read_loose(source.store, entries, how, named=source.named):
                picked[reading.place.url] = source.named and not is_lines(reading.place.key)
                yield reading

    yield from by_run(readings(), picked)


def scan_bytes(data: bytes | BinaryIO, url: str, how: Scrutiny = USUAL) -> Iterator[Scan]:
    """The runs in one JSON text or in JSON Lines, as standard input gives them.

    Args:
        data: the bytes, or an open stream: of JSON Lines it may hold more than fits into memory.
        url: what to call it in findings.
        how: how closely to look.
    """
    head = data if isinstance(data, bytes) else data.read(LIMITS.size + 1)
    lines = _looks_like_lines(head)
    pieces: bytes | Iterable[bytes] = head
    if not isinstance(data, bytes) and lines:
        pieces = chain((head,), iter(partial(data.read, _PIECE), b""))
    yield from by_run(read_object(pieces, url, "stdin.jsonl" if lines else "stdin.json", None, how))


def load_run(store: Store, run_id: str, how: Scrutiny = USUAL) -> Scan:
    """One run of a store.

    Raises:
        AbsentError: the store holds nothing of such a run.
        StoreError: the store cannot be read.
    """
    try:
        prefix = run_prefix(run_id)
    except ValueError as error:
        raise AbsentError(store.url, f"no run can have the id {run_id!r}: {error}") from error
    entries = list(store.list(prefix))
    if entries:
        entries, held = read_ahead(foreseen(store, entries))
        return _stored_run(store, entries, how, _description(store), held)
    for found in by_run(read_loose(store, store.list(), how, named=False)):
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
    return reading.unread


def _looks_like_lines(data: bytes) -> bool:
    """Not one text, but more than one line of which one at least is a whole object: JSON Lines, maybe damaged ones."""
    if b"\n" not in data.strip():
        return False
    # the beginning tells; a stream is longer than what is seen of it, and its last line is cut
    return any(
        line.data[:1] == b"{" and not parse(line.data)[1] for line in islice(split(data), _TRIED)
    ) and (len(data) > LIMITS.size or bool(parse(data)[1]))


def _run_segment(entry: Entry) -> str | None:
    key = entry.key
    end = key.find("/", 5) if key.startswith("runs/") else -1
    return key[5:end] if end >= 0 else None


def _stored_run(
    store: Store,
    entries: Sequence[Entry],
    how: Scrutiny = USUAL,
    description: Unread | None = None,
    foretold: Held = _NOTHING_HELD,
) -> Scan:
    if description is None and (deleted := _deleted_run(store, entries, how, foretold)) is not None:
        return deleted
    glance = how.glance and not description
    held, known = _at_a_glance(store, entries, how, foretold) if glance else (foretold, {})
    if isinstance(known, Scan):
        return known
    gathered = Gathered()
    if description:
        gathered.unread.append(description)
        gathered.faults.extend(description.faults)
    run_id: str | None = None
    for entry in entries:
        place = Place(store.url_of(entry.key), entry.key)
        seen = known.get(entry.key, UNKNOWN)
        if seen and not is_lines(entry.key):
            gathered.add_object(place, cast("bytes", held[entry.key]), seen[1])
            run_id = seen[1].value["runId"]
            continue
        name = parse_key(entry.key)
        if name is not None:
            run_id = name.run_id or run_id
        if entry.problem and (name is None or name.log == "artifact"):
            fault = Fault("SP006", entry.problem, place=place)
            gathered.faults.append(fault)
            within = entry.key.split("/")[2:3]
            if within and within[0] != "artifacts":
                # a whole folder of records may lie behind it, and an attempt among them
                gathered.unread.append(Unread(_log_of(within[0]), within[0], None, (fault,)))
        elif name is None:
            fault = Fault(
                "SP005", "the name matches nothing in the layout; the object is not read", place=place
            )
            gathered.faults.append(fault)
            if _LOOKS_LIKE_A_RECORD.search(entry.key):
                # A journal record under a wrong name may be the attempt that everything depends on.
                gathered.unread.append(Unread("journal", entry.key.rpartition("/")[2], None, (fault,)))
        elif name.log != "artifact":
            for reading in read(store, entry, name, how, held.get(entry.key), seen):
                gathered.add(reading, name)
    return replace(gathered.finish(run_id), in_store=True)


def _log_of(folder: str) -> str:
    return folder if folder in {"journal", "recovery", "heartbeat"} else "loose"


def _deleted_run(store: Store, entries: Sequence[Entry], how: Scrutiny, foretold: Held) -> Scan | None:
    """What is left of a run that was deleted; None where no sound document says so.

    What lies beside that document is not read: half of a run would only look like a damaged one.
    """
    marked = next((entry for entry in entries if entry.key.endswith(_MARKER)), None)
    name = parse_key(marked.key) if marked else None
    if marked is None or name is None or name.log != "deleted" or name.run_id is None:
        return None
    [reading] = read(store, marked, name, how, foretold.get(marked.key))
    if reading.identity is None or reading.unread is not None:
        return None
    faults = list(reading.faults)
    if len(entries) > 1:
        others = f"{len(entries) - 1} other object{'s' if len(entries) > 2 else ''}"
        message = f"the run was deleted, and {others} of it can still be listed"
        faults.append(Fault("SP010", message, place=reading.place))
    marker = Record("deleted", V3, reading.value, reading.place, digest_stored(reading.data))
    run = deleted_run(name.run_id, marker)
    return Scan(run, name.run_id, tuple(faults), {reading.place: reading.data}, 0, 1, in_store=True)


def _at_a_glance(
    store: Store, entries: Sequence[Entry], how: Scrutiny, foretold: Held
) -> tuple[Held, Scan | dict[str, Mapping[int, Known]]]:
    """A journal that is whole is looked at as one.

    Returns:
        What was read of the objects, by key; and the run, where it is certainly sound, or of each object
        the texts that need no second look, by their lines.
    """
    folder = entries[0].key[: entries[0].key.index("/", len("runs/")) + 1]
    keys = [entry.key for entry in entries]
    objects = [entry for entry in entries if entry.key.startswith(f"{folder}journal/")]
    journal = [entry.key for entry in objects]
    numbered = journal == [f"{folder}journal/{number:010}.json" for number in range(1, len(journal) + 1)]
    if not journal and f"{folder}journal.jsonl" in keys:
        journal, numbered = [f"{folder}journal.jsonl"], False
        objects = [entry for entry in entries if entry.key == journal[0]]
    elif not numbered or not journal:
        return foretold, {}
    try:
        run_id = decode_segment(folder[len("runs/") : -1])
    except ValueError:
        return foretold, {}
    held = foretold if foretold.keys() >= set(journal) else _read_journal(store, objects)
    texts = [data for key in journal if isinstance(data := held.get(key), bytes)]
    if len(texts) < len(journal):
        return held, {}
    texts = texts if numbered else texts[0].removesuffix(b"\n").split(b"\n")
    seen = look(run_id, texts)
    if (
        not how.folded
        and seen.ordinary
        and (beside := _beside(store, entries, set(journal), seen, how, foretold)) is not None
    ):
        files = sum(not key.startswith(f"{folder}artifacts/") for key in keys)
        recovery, beats, documents = beside
        count = len(texts) + len(recovery) + beats
        glanced = Scan(None, run_id, (), {}, count, documents, files, in_store=True)
        return {}, replace(glanced, journal=seen.digests, recovery=recovery)
    known = seen.known()
    if not numbered:
        return held, {journal[0]: known}
    return held, {journal[number - 1]: {1: record} for number, record in known.items()}


def _read_journal(store: Store, objects: Sequence[Entry]) -> Held:
    """The bytes of a journal's objects, as far as they can be read without a fault."""
    held: dict[str, bytes] = {}
    for entry, data in zip(objects, store.get_many(objects, MOST_AT_A_GLANCE), strict=True):
        if isinstance(data, StoreError):
            break
        held[entry.key] = data
    return held


def _beside(
    store: Store,
    entries: Sequence[Entry],
    journal: Container[str],
    seen: Sight,
    how: Scrutiny,
    foretold: Held,
) -> tuple[list[tuple[int | None, str]], int, int] | None:
    """What lies beside a sound journal, if it is certainly sound as well; else None.

    Returns:
        Sequence and digest of each record of the recovery log, how many heartbeats there are, and how many documents.
    """
    recovery: list[Record] = []
    copied: dict[str, Record] = {}
    beats = 0
    for entry in entries:
        if entry.key in journal:
            continue
        name = parse_key(entry.key)
        if name is None or entry.problem or not (name.log in _BESIDE or name.name == "recovery.jsonl"):
            return None
        for reading in (
            read(store, entry, name, how, foretold.get(entry.key)) if name.log != "artifact" else ()
        ):
            if reading.copied is not None and not reading.faults:
                copied[reading.copied.kind] = reading.copied
                continue
            if reading.record is None or reading.faults or reading.record.version != V3:
                return None
            beats += name.log == "heartbeat"
            recovery += [reading.record] if name.log != "heartbeat" else []
    if recovery:
        place = Place(store.url)
        around = [
            Record(value["recordType"], V3, value, place, digest)
            for value, digest in zip(seen.values, seen.digests, strict=True)
            if value["recordType"] in {"run", "lease", "checkpoint"}
        ]
        if not rules.speaks_true(fold_around(around[0].run_id, around, recovery)):
            return None
    known = [(record.sequence, record.digest) for record in recovery]
    if copied and not is_sound_copy(copied.get("origin"), copied.get("seal"), seen.digests, recovery):
        return None
    return known, beats, len(copied)
