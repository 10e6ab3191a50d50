"""Anchors: the heads of a store's runs, as they were written down where the store's writers cannot reach.

Decided here: which files are anchors, whether they are a sound chain, and what all of them together say of each run
(SPEC.md#anchors). Not decided here: what that means for the store that they speak of (``comparing``). What is wrong
with an anchor never makes it say less: a head that was once anchored counts, whatever a later anchor says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from safepoint import rules, schemas
from safepoint.core import pointer
from safepoint.core.digest import digest_stored
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding
from safepoint.core.kind import recognise
from safepoint.core.strictjson import LIMITS, parse
from safepoint.rules import Excerpts
from safepoint.store import AbsentError, Entry, Store, StoreError, TooLargeError, open_store
from safepoint.store.errors import shown

FOLDER = "anchors"
"""Where in a place its anchors lie."""

LOGS = ("journal", "recovery")
"""The logs that have heads; an anchor's members bear the same names."""

_NUMBERED = re.compile(rf"{FOLDER}/((?!0{{10}})[0-9]{{10}}|[1-9][0-9]{{10,15}})\.json")

_NOTHING: frozenset[str] = frozenset()


class Mark(NamedTuple):
    """The head of a log."""

    sequence: int
    digest: str


@dataclass(slots=True)
class Held:
    """What all anchors together say of one run; plain and small, for there may be a million of them."""

    journal: Mark | None = None
    recovery: Mark | None = None
    records: frozenset[str] = _NOTHING
    """Digests of records without sequence."""
    unread: int = 0
    """Texts of the run that could not be read, when an anchor last spoke of it."""
    deleted: str | None = None
    """The digest of its ``deleted.json``, where it was deleted."""
    anchor: int = 0
    """The anchor that spoke of it last."""

    def member(self) -> dict[str, Any]:
        """The same as an anchor says it, for the guard."""
        found: dict[str, Any] = {log: mark._asdict() for log in LOGS if (mark := getattr(self, log))}
        if self.records:
            found["records"] = sorted(self.records)
        if self.unread:
            found["unread"] = self.unread
        if self.deleted:
            found["deleted"] = self.deleted
        return found


@dataclass(slots=True)
class Anchors:
    """The anchors of one place, read to the newest."""

    url: str
    """The place, as it may be shown."""
    sequence: int = 0
    """Of the newest anchor; 0: there is none."""
    digest: str | None = None
    created: str | None = None
    store: str | None = None
    """The store as the newest anchor calls it."""
    document: str | None = None
    """The digest of the store's ``safepoint.json``; None: not known, or there was none."""
    runs: dict[str, Held] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    """What is wrong with the anchors, each fault at its place."""
    texts: dict[Place, bytes] = field(default_factory=dict)
    """The bytes of those anchors that something is wrong with."""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with any of them."""
        return not any(rules.severity(fault.code) == "error" for fault in self.faults)

    def findings(self, excerpts: Excerpts = "none") -> tuple[Finding, ...]:
        """What is wrong with them, as a user meets it."""
        return tuple(
            finding
            for place, faults in groupby(self.faults, key=lambda fault: fault.place)
            for finding in rules.to_findings(faults, self.texts.get(place) if place else None, excerpts)
        )


def anchor_key(sequence: int) -> str:
    """The name of an anchor, counted from 1."""
    return f"{FOLDER}/{sequence:010d}.json"


def load_anchors(
    place: str | os.PathLike[str], storage_options: Mapping[str, Any], *, run_id: str | None = None
) -> Anchors:
    """The anchors at a path or URL.

    Args:
        place: the folder that ``safepoint anchor`` writes to; or one anchor in it, which stands for itself and for all
            before it.
        storage_options: as in `open_store`.
        run_id: keep only what they say of this run.

    Returns:
        What they say. That there is none is a fault (SP001), and so is what cannot be read (SP002).
    """
    url = os.fspath(place)
    if not url.endswith(".json"):
        try:
            store = open_store(url, **storage_options)
        except StoreError as error:
            return _unreadable(shown(url), error)
        return read_anchors(store, run_id=run_id)
    scheme, is_url, path = url.rpartition("://")
    folder, slash, name = path.rpartition("/")
    try:
        store = open_store(scheme + is_url + (folder or slash) if slash else ".", **storage_options)
        data = store.get(name, LIMITS.size + 1)
    except StoreError as error:
        return _unreadable(shown(url), error)
    return _read_file(store, name, data, run_id)


def read_anchors(store: Store, *, run_id: str | None = None) -> Anchors:
    """As `load_anchors`, of an open place."""
    found = Anchors(store.url)
    numbered: dict[int, Entry] = {}
    try:
        for entry in store.list(FOLDER):
            name = _NUMBERED.fullmatch(entry.key)
            if name:
                numbered[int(name[1])] = entry
            else:
                where = Place(store.url_of(entry.key), entry.key)
                message = "the name matches no anchor's; the object is not read"
                found.faults.append(Fault("SP005", message, place=where))
    except AbsentError:
        numbered = {}
    except StoreError as error:
        return _unreadable(store.url, error)
    if not numbered:
        message = f"no anchor was found; expected one at {store.url_of(anchor_key(1))}"
        found.faults.append(Fault("SP001", message, place=Place(store.url)))
        return found
    _read_chain(found, store, numbered, run_id)
    return found


def _read_file(store: Store, name: str, data: bytes, run_id: str | None) -> Anchors:
    """One anchor, and those before it, which lie beside it under their numbers."""
    found = Anchors(store.url_of(name))
    value, faults = parse(data)
    number = value.get("sequence") if isinstance(value, dict) and not faults else None
    if type(number) is not int or not 0 < number < 2**53:
        number = 1  # whatever it is, reading it says so
    present: dict[int, Entry] = {}
    try:
        # downwards, to the first that is missing: the number may be any
        for before in range(number - 1, 0, -1):
            key = anchor_key(before).removeprefix(f"{FOLDER}/")
            if not store.exists(key):
                break
            present[before] = Entry(key, None)
    except StoreError as error:
        return _unreadable(found.url, error)
    _read_chain(found, store, {**present, number: Entry(name, None)}, run_id, named=name)
    return found


def _unreadable(url: str, error: StoreError) -> Anchors:
    code = "SP001" if isinstance(error, AbsentError) else "SP002"
    place = Place(error.url if error.key else url, error.key)
    return Anchors(url, faults=[Fault(code, f"{error.problem}; {error.remedy}", place=place)])


def _read_chain(
    found: Anchors, store: Store, numbered: Mapping[int, Entry], run_id: str | None, named: str = ""
) -> None:
    order = sorted(numbered)
    entries = [numbered[number] for number in order]
    before = 0
    for number, entry, data in zip(order, entries, store.get_many(entries, LIMITS.size + 1), strict=True):
        place = Place(store.url_of(entry.key), entry.key)
        if isinstance(data, StoreError):
            code = "SP110" if isinstance(data, TooLargeError) else "SP002"
            found.faults.append(Fault(code, str(data), place=place))
            before, found.sequence, found.digest = number, number, None
            continue
        faults, value = _judge(data, number, named=entry.key == named)
        if number != before + 1:
            span = str(number - 1) if number == before + 2 else f"{before + 1} to {number - 1}"
            message = f"anchor {span} is missing before {number}: what it said is not known"
            faults.append(Fault("SP328", message, "/sequence" if value else ""))
        elif value and found.digest and value["previousDigest"] != found.digest:
            message = f"previousDigest is not the digest of anchor {before}, which is {found.digest}"
            faults.append(Fault("SP328", message, "/previousDigest"))
        if value:
            faults += _take(found, value, run_id)
            found.created, found.store = value["createdAt"], value["store"]
        before, found.sequence, found.digest = number, number, digest_stored(data)
        if faults:
            found.faults += [fault.at(place) for fault in faults]
            found.texts[place] = data


def _judge(data: bytes, number: int, *, named: bool) -> tuple[list[Fault], dict[str, Any] | None]:
    """What is wrong with one anchor by itself, and its value where that is sound."""
    value, parsed = parse(data)
    faults = list(parsed)
    if faults:
        return faults, None
    identity, more = recognise(value)
    faults += more
    if identity is None:
        return faults, None
    if identity.kind != "anchor":
        message = f"a {identity.kind} record does not belong among anchors"
        return [*faults, Fault("SP009", message, "/recordType")], None
    faults += schemas.check(identity, value)
    if any(rules.severity(fault.code) == "error" for fault in faults):
        return faults, None
    if value["sequence"] != number and not named:
        message = f"the object is named for number {number}, the anchor says {value['sequence']}"
        faults.append(Fault("SP008", message, "/sequence"))
    return faults, value


def _take(found: Anchors, value: Mapping[str, Any], run_id: str | None) -> Iterator[Fault]:
    """Adds what one more anchor says; yields where it takes back what others said."""
    accepted = "accepted" in value
    document = value["storeDocument"]
    if document != found.document and found.document is not None and not accepted:
        message = (
            "another digest of the store's safepoint.json than anchored before, and no human's word for it"
        )
        yield Fault("SP328", message, "/storeDocument")
    else:
        found.document = document
    runs: Iterable[str] = value["runs"] if run_id is None else {run_id} & value["runs"].keys()
    for name in runs:
        entry = value["runs"][name]
        if entry.get("replaces"):
            if not accepted:
                message = (
                    "it takes back what was anchored of the run before, and no human's word stands for it"
                )
                yield Fault("SP328", message, pointer.join("runs", name, "replaces"))
            else:
                found.runs.pop(name, None)
        held = found.runs.setdefault(name, Held())
        held.anchor = value["sequence"]
        yield from _add(held, name, entry)
        if not (held.journal or held.recovery or held.records or held.deleted or held.unread):
            del found.runs[name]  # a human let it go


def _add(held: Held, name: str, entry: Mapping[str, Any]) -> Iterator[Fault]:
    held.unread = entry.get("unread", 0)
    if held.deleted and not entry.get("deleted"):
        message = "the run was deleted by an earlier anchor, and speaks again"
        yield Fault("SP328", message, pointer.join("runs", name))
    held.deleted = entry.get("deleted") or held.deleted
    if more := entry.get("records"):
        held.records = held.records.union(more)
    for log in LOGS:
        if log not in entry:
            continue
        said, known = Mark(entry[log]["sequence"], entry[log]["digest"]), getattr(held, log)
        if known is None or said.sequence > known.sequence:
            setattr(held, log, said)
        elif said != known:
            message = f"the head of the {log} went back from {known.sequence} to {said.sequence}"
            if said.sequence == known.sequence:
                message = f"another digest of record {known.sequence} of the {log} than anchored before"
            yield Fault("SP328", message, pointer.join("runs", name, log))
