"""What becomes of the objects of one folder: a run's, or all that lies in no run's folder (SPEC.md#repair).

Decided here: which objects are copied, rebuilt or set aside, and the order in which they are written. Not decided here:
which texts are sound (``soundness``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from safepoint import rules
from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Place
from safepoint.core.ident import decode_segment
from safepoint.core.jsonlines import split
from safepoint.core.kind import resembles_record
from safepoint.core.strictjson import LIMITS
from safepoint.reader.texts import is_lines, read_object
from safepoint.store import AbsentError, Entry, Store, StoreError, TooLargeError, UnsupportedError
from safepoint.store.layout import STORE_KEY, KeyName, parse_key
from safepoint.upkeep.aside import Fate, Range, marker, ranges
from safepoint.upkeep.soundness import NEWER, Flaw, Text, flaws_of_loose, flaws_of_run, links, speaks

_MARK = b"\xef\xbb\xbf"
"""A byte order mark. It says nothing, so that a text without it means the same."""


@dataclass(frozen=True, slots=True)
class Names:
    """What a repair calls what it adds to the copy: names that the source does not have."""

    quarantine: str
    """The folder of what is set aside."""
    marker: str
    """The document beside what is left of a run that lost something."""
    unfinished: str
    """The document beside a run that is being copied; it is gone once all of the run is there."""
    report: str

    @classmethod
    def beside(cls, keys: Iterable[str]) -> Names:
        """The first names that are free: a source may be a repaired copy itself."""
        taken = {part for key in keys for part in (key.partition("/")[0], key.rpartition("/")[2])}
        number = 1
        while True:
            suffix = "" if number == 1 else f"-{number}"
            names = cls(
                f"quarantine{suffix}",
                f"quarantine{suffix}.json",
                f"unfinished{suffix}.json",
                f"repair{suffix}.jsonl",
            )
            if taken.isdisjoint((names.quarantine, names.marker, names.unfinished, names.report)):
                return names
            number += 1

    def aside(self, key: str) -> str:
        """Where the bytes of `key` lie that are set aside: by no such name anybody looks for records."""
        return f"{self.quarantine}/{key}.aside"


@dataclass(frozen=True, slots=True)
class Write:
    """One object of the copy."""

    key: str
    data: bytes | None
    """None: what `source` holds."""
    source: str = ""
    digest: str = ""
    """Of what `source` held when it was judged."""


@dataclass(frozen=True, slots=True)
class Folder:
    """What becomes of one folder."""

    fates: tuple[Fate, ...]
    writes: tuple[Write, ...]
    """What marks the run first, its first record last: so a part of a journal is a gap, and never looks whole."""
    marked: bool
    """Whether a document says that something was set aside."""
    unfinished: Write | None
    """What is to lie there until all of it does, where that order alone would not show that something lacks."""


@dataclass(frozen=True, slots=True)
class _Object:
    """One object, as it was found."""

    key: str
    name: KeyName | None
    size: int | None = None
    digest: str | None = None
    data: bytes | None = None
    """Its bytes, where they hold texts and are not too large."""
    texts: tuple[Text, ...] = ()
    bare: bytes = b""
    """Those bytes without a mark and carriage returns that say nothing: what the texts were read from."""
    mended: tuple[tuple[int, Flaw], ...] = ()
    """What was left out before they were read, by lines."""
    flaw: Flaw | None = None
    """What is wrong with it as a whole."""
    problem: str = ""
    """Why it cannot be read."""


def triage_run(
    store: Store, segment: str, entries: Sequence[Entry], names: Names, beside: Sequence[Fate]
) -> Folder:
    """What becomes of the folder of a run.

    Args:
        store: the source.
        segment: the folder's name.
        entries: what lies in it.
        names: what the repair calls what it adds.
        beside: objects outside of the folder that were set aside and speak of this run too.
    """
    try:
        run_id = decode_segment(segment)
    except ValueError:
        # no run has such a folder, so that nobody reads what lies in it: not here, and not in the copy
        objects = [_opaque(store, entry, None) for entry in entries]
        return _settled(objects, names, {}, None, ())
    objects = [_seen(store, entry, parse_key(entry.key)) for entry in entries]
    texts = [text for found in objects for text in found.texts]
    gone = any(t.name and t.name.log == "deleted" and not _wrong(t) for t in texts)
    if gone:  # whatever lies beside the word that a run was deleted is read by nobody
        objects = [replace(found, mended=()) for found in objects]
        return _settled(objects, names, {}, f"runs/{segment}/", beside, run_id)
    objects = [_misnamed(found) for found in objects]
    return _settled(objects, names, flaws_of_run(texts, run_id), f"runs/{segment}/", beside, run_id)


def triage_loose(store: Store, entries: Sequence[Entry], names: Names) -> Folder:
    """What becomes of all that lies in no run's folder.

    Raises:
        UnsupportedError: the store's own description says that this version does not know its layout.
    """
    is_store = any(entry.key == STORE_KEY for entry in entries)
    objects = []
    for entry in entries:
        if entry.key.endswith((".json", ".jsonl")):
            found = _seen(
                store, entry, parse_key(entry.key) if is_store else KeyName(None, "loose", None, "")
            )
            objects.append(replace(found, texts=tuple(_as_met(text) for text in found.texts)))
        else:
            objects.append(_opaque(store, entry, None))
    texts = [text for found in objects for text in found.texts]
    _require_known(store, texts)
    return _settled(objects, names, flaws_of_loose(texts, store.url), "", ())


def _wrong(text: Text) -> bool:
    return any(rules.severity(fault.code) == "error" for fault in text.reading.faults)


def _require_known(store: Store, texts: Iterable[Text]) -> None:
    for text in texts:
        if text.reading.place.key != STORE_KEY:
            continue
        for fault in text.reading.faults:
            if fault.code in NEWER or (fault.code, fault.pointer) == ("SP209", "/layout"):
                problem = f"the store is of a version that this one does not know ({fault.message})"
                remedy = "repair it with a version of Safepoint that knows it"
                raise UnsupportedError(store.url_of(STORE_KEY), problem, STORE_KEY, remedy)


def _as_met(text: Text) -> Text:
    """JSON of somebody else in a folder is left alone, as a validator does it."""
    reading = text.reading
    if reading.foreign and reading.place.key != STORE_KEY and resembles_record(reading.value) is None:
        return replace(text, reading=replace(reading, faults=(), unread=None))
    return text


def _misnamed(found: _Object) -> _Object:
    """A record of the journal under a name that nobody looks for may be the attempt that everything depends on."""
    if found.name is None and not found.problem and _in_a_journal(found.key):
        return replace(found, flaw=Flaw("SP005"))
    return found


def _in_a_journal(key: str) -> bool:
    return key.split("/")[2:3] == ["journal"]


# What an object is


def _seen(store: Store, entry: Entry, name: KeyName | None) -> _Object:
    if name is None or name.log == "artifact":
        return _opaque(store, entry, name)
    url = store.url_of(entry.key)
    try:
        data = store.get(entry.key, None if is_lines(entry.key) else LIMITS.size + 1)
    except TooLargeError:
        return replace(_opaque(store, entry, name), flaw=Flaw("SP110"))
    except AbsentError:
        raise  # it was listed: the source changes while it is read
    except StoreError as error:
        return _unreadable(entry, name, error)
    bare, mended = data.removeprefix(_MARK), {1: Flaw("SP101")} if data.startswith(_MARK) else {}
    texts = [Text(reading, name) for reading in read_object(bare, url, entry.key, name)]
    if is_lines(entry.key) and b"\r\n" in bare:
        plain = bare.replace(b"\r\n", b"\n")
        others = [Text(reading, name) for reading in read_object(plain, url, entry.key, name)]
        if links(others) > links(texts):
            ended = (line.number for line in split(bare) if line.data.endswith(b"\r"))
            bare, texts, mended = plain, others, {number: Flaw("SP115") for number in ended} | mended
    return _Object(
        entry.key, name, len(data), digest_bytes(data), data, tuple(texts), bare, tuple(mended.items())
    )


def _opaque(store: Store, entry: Entry, name: KeyName | None) -> _Object:
    """What holds no text that is looked into; it is read piece by piece. An artifact's name is its digest."""
    digest, size = sha256(), 0
    try:
        for piece in store.pieces(entry.key):
            digest.update(piece)
            size += len(piece)
    except AbsentError:
        raise
    except StoreError as error:
        return _unreadable(entry, name, error)
    is_artifact = name is not None and name.log == "artifact"
    damaged = is_artifact and entry.key.rpartition("/")[2] != digest.hexdigest()
    flaw = Flaw("SP517") if damaged else None
    return _Object(entry.key, name, size, f"sha256:{digest.hexdigest()}", flaw=flaw)


def _unreadable(entry: Entry, name: KeyName | None, error: StoreError) -> _Object:
    code = "SP006" if entry.problem else "SP002"
    return _Object(entry.key, name, flaw=Flaw(code), problem=entry.problem or str(error))


# What becomes of it


def _settled(
    objects: Sequence[_Object],
    names: Names,
    flaws: dict[Place, Flaw],
    prefix: str | None,
    beside: Sequence[Fate],
    run_id: str | None = None,
) -> Folder:
    fates: list[Fate] = []
    told: list[Fate] = list(beside)
    aside: list[Write] = []
    kept: list[tuple[_Object, Write]] = []
    for found in objects:
        fate, data = _fate(found, flaws, names)
        fates.append(fate)
        if fate.fate in {"copied", "rebuilt"}:
            kept.append((found, Write(found.key, data, found.key, found.digest or "")))
        if fate.quarantine is not None:
            aside.append(Write(fate.quarantine, found.data, found.key, found.digest or ""))
        if fate.fate != "copied" and _speaks(found, fate):
            told.append(fate)
    first = [Write(f"{prefix}{names.marker}", marker(run_id, told))] if told and prefix is not None else []
    last = [write for _, write in sorted(kept, key=_first_record_last)]
    unfinished = None
    if prefix is not None and not first and not _shows_what_lacks([found for found, _ in kept]):
        unfinished = Write(f"{prefix}{names.unfinished}", marker(run_id, ()))
    return Folder(tuple(fates), (*first, *aside, *last), bool(first), unfinished)


def _shows_what_lacks(kept: Sequence[_Object]) -> bool:
    """Whether no part of the objects, written in their order, can be taken for the whole."""
    numbers = {found.name.number for found in kept if found.name and found.name.log == "journal"}
    texts = [found for found in kept if found.texts]
    return len(texts) < 2 or (1 in numbers and len(numbers) > 1)


def _first_record_last(one: tuple[_Object, Write]) -> tuple[int, int, str]:
    """A part of a journal without its beginning is a gap to every reader; a part without its end looks whole."""
    found, write = one
    name = found.name
    log, number = (name.log, name.number or 0) if name else ("", 0)
    return _LAST if (log, number) == ("journal", 1) else _RANKS.get(log, 2), -number, write.key


_RANKS = {"deleted": 0, "origin": 0, "journal": 1, "lines": 3, "loose": 3}
_LAST = 4


def _speaks(found: _Object, fate: Fate) -> bool:
    """Whether what is not in its place any more may have been a record of a run."""
    if found.name is None:
        return _in_a_journal(found.key)
    return found.name.log != "artifact" and any(speaks(found.name, each.flaw) for each in fate.ranges)


def _fate(found: _Object, flaws: dict[Place, Flaw], names: Names) -> tuple[Fate, bytes | None]:
    """What becomes of one object, and the bytes that the copy holds under its key, where they are known by now."""
    copied = Fate(found.key, "copied", found.size, found.digest)
    if found.problem and found.flaw:
        return replace(copied, fate="unreadable", ranges=(Range(found.flaw),), problem=found.problem), None
    aside = replace(copied, fate="setAside", quarantine=names.aside(found.key))
    if found.flaw:
        return replace(aside, ranges=(Range(found.flaw),)), None
    wrong = [(text, flaws[place]) for text in found.texts if (place := text.reading.place) in flaws]
    if not wrong and not found.mended:
        return copied, found.data
    if not is_lines(found.key):
        if wrong:
            return replace(aside, ranges=(Range(wrong[0][1]),)), None
        return replace(aside, fate="rebuilt", ranges=(Range(found.mended[0][1]),)), found.bare
    lost = {text.reading.place.line: flaw for text, flaw in wrong}
    said = ranges(sorted({**dict(found.mended), **lost}.items()))
    sound = (t for t in found.texts if t.reading.place not in flaws and t.reading.value is not None)
    if not any(sound):
        return replace(aside, ranges=said), None
    return replace(aside, fate="rebuilt", ranges=said), b"".join(_without(found.bare, lost))


def _without(data: bytes, lines: dict[int, Flaw]) -> Iterator[bytes]:
    for line in split(data):
        if line.number not in lines:
            yield line.data
            if line.terminated:
                yield b"\n"
