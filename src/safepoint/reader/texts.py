"""One stored object to readings: what each JSON text in it turned out to be.

Decided here: the order of the checks (bytes, identity, structure, place) and that the first that fails ends them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any

from safepoint import rules, schemas
from safepoint.core.digest import digest_stored
from safepoint.core.fault import Fault, Place
from safepoint.core.jsonlines import parse_lines
from safepoint.core.kind import Identity, recognise
from safepoint.core.strictjson import LIMITS, parse
from safepoint.core.uri import leads_outside
from safepoint.core.version import CURRENT, V3
from safepoint.model.journal import Unread
from safepoint.model.record import Record
from safepoint.store.layout import DELETED, ORIGIN, SEAL, KeyName

RECORD_KINDS = frozenset({*schemas.JOURNAL, "recovery", "heartbeat"})
"""Kinds that belong to a run; every other kind is a document that stands alone."""


@dataclass(frozen=True, slots=True)
class Scrutiny:
    """How closely texts are looked at."""

    engine: schemas.Engine = "auto"
    more: Callable[[Mapping[str, Any]], Iterable[Fault]] | None = None
    """What else is to be checked of each sound record: a user's own rules. Its faults do not make it unreadable."""
    glance: bool = False
    """Whether a journal is looked at as a whole first, and a run that certainly has no fault may come unfolded, as only
    a count of its records."""
    folded: bool = False
    """Whether every run has to come folded all the same."""


USUAL = Scrutiny()


@dataclass(frozen=True, slots=True)
class Known:
    """A v3 record of a journal that was read before, at a glance, and is sound."""

    value: dict[str, Any]
    digest: str

    def record(self, place: Place) -> Record:
        """The record, at `place`."""
        return Record(self.value["recordType"], V3, self.value, place, self.digest)


UNKNOWN: Mapping[int, Known] = MappingProxyType({})
"""Nothing was read before."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One JSON text, read."""

    place: Place
    data: bytes
    identity: Identity | None = None
    value: Any = None
    record: Record | None = None
    """Set where the text is a sound record of a run."""
    faults: tuple[Fault, ...] = ()
    unread: Unread | None = None
    """Set where the text is, or may be, a record that could not be read."""
    foreign: bool = False
    """JSON that is sound but not ours."""

    @property
    def copied(self) -> Record | None:
        """What the text says of the copy that it lies with: an ``origin`` or a ``seal``, sound and in its place."""
        identity, name = self.identity, self.place.key.rpartition("/")[2]
        if identity is None or self.unread or name != {"origin": ORIGIN, "seal": SEAL}.get(identity.kind):
            return None
        return Record(identity.kind, identity.version, self.value, self.place, digest_stored(self.data))

    @property
    def run_id(self) -> str | None:
        """The run that the text names, where it can be read that far."""
        named = self.value.get("runId") if isinstance(self.value, dict) else None
        return named if isinstance(named, str) else None


def read_object(
    data: bytes | Iterable[bytes],
    url: str,
    key: str,
    name: KeyName | None,
    how: Scrutiny = USUAL,
    known: Mapping[int, Known] = UNKNOWN,
) -> Iterator[Reading]:
    """Every JSON text in one object.

    Args:
        data: the object's bytes; of JSON Lines also in pieces.
        url: what to call it in findings.
        key: its store-relative name.
        name: what the layout makes of its key; None outside a store.
        how: how closely to look.
        known: by their lines, the texts that need no look at all.
    """
    if is_lines(key):
        data, indented = _indented(data)
        if indented:
            message = "one JSON text over several lines: expected a record on each line, or a name with .json"
            wrong = Fault("SP103", message, offset=0)
            yield _reading(Place(url, key), b"", None, (wrong,), name, how)
            return
        lines = 0
        for line, value, faults in parse_lines(data, known=known):
            place = Place(url, key, line.number, line.offset)
            lines += 1
            if line.number in known:
                yield _known(place, line.data, value)
                continue
            yield _reading(place, line.data, value, faults, name, how)
        if not lines:
            place = Place(url, key)
            empty = Fault("SP111", "the file is empty; expected one record on each line", place=place)
            yield Reading(place, b"", faults=(empty,))
    else:
        text = data if isinstance(data, bytes) else b"".join(data)
        if 1 in known:
            yield _known(Place(url, key), text, known[1])
            return
        value, faults = parse(text)
        yield _reading(Place(url, key), text, value, faults, name, how)


def _indented(data: bytes | Iterable[bytes]) -> tuple[bytes | Iterable[bytes], bool]:
    """The same data, and whether it is no JSON Lines but one text, indented for people: a fault, and not one a line."""
    pieces = iter((data,)) if isinstance(data, bytes) else iter(data)
    head = next(pieces, b"")
    rest = chain((head,), pieces)
    if not head.startswith((b"{\n", b"{\r\n", b"[\n", b"[\r\n")):
        return rest, False
    held: list[bytes] = []
    length = 0
    for piece in rest:
        held.append(piece)
        length += len(piece)
        if length > LIMITS.size:
            return chain(held, rest), False
    return held, not parse(b"".join(held))[1]


def _known(place: Place, data: bytes, known: Known) -> Reading:
    record = known.record(place)
    return Reading(place, data, Identity(record.kind, V3), known.value, record)


def is_lines(key: str) -> bool:
    """Whether an object of this name holds JSON Lines; any other holds one JSON text."""
    return key.endswith(".jsonl")


def _reading(
    place: Place, data: bytes, value: Any, faults: tuple[Fault, ...], name: KeyName | None, how: Scrutiny
) -> Reading:
    found = [fault.at(place) for fault in faults] if faults else []
    if value is None and not found:
        # The literal null, or a blank line that parse_lines has already reported.
        found = [Fault("SP003", "got null, expected a JSON object", place=place)]
    if _grave(found) or value is None:
        blank = all(fault.code == "SP116" for fault in found)
        unread = None if blank else _unread(place, found, name, value)
        return Reading(place, data, value=value, faults=tuple(found), unread=unread)
    identity, more = recognise(value)
    found += [fault.at(place) for fault in more]
    if identity is None:
        foreign = any(fault.code == "SP003" for fault in more)
        return Reading(
            place,
            data,
            value=value,
            faults=tuple(found),
            unread=_unread(place, found, name, value),
            foreign=foreign,
        )
    found += [fault.at(place) for fault in schemas.check(identity, value, engine=how.engine)]
    if not _grave(found):
        found += [fault.at(place) for fault in _misplaced(identity, value, name)]
    if _grave(found):
        return Reading(
            place, data, identity, value, faults=tuple(found), unread=_unread(place, found, name, value)
        )
    if identity.kind == "quarantine":
        aside = Fault("SP011", _set_aside(value), place=place)
        unread = _unread(place, [aside], name, value)
        return Reading(place, data, identity, value, faults=(*found, aside), unread=unread)
    record = None
    if identity.kind in RECORD_KINDS:
        current = _as_v3(identity, value)
        # A lowered record brings its old demands along, which its own version has no place for.
        demands = [fault.at(place) for fault in recognise(current)[1]] if current is not value else []
        if _grave(demands):
            found += demands
            return Reading(
                place, data, identity, value, faults=tuple(found), unread=_unread(place, found, name, value)
            )
        record = Record(identity.kind, identity.version, current, place, digest_stored(data))
        if how.more is not None:
            found += [fault.at(place) for fault in how.more(value)]
        if current is not value and _had_a_place(value):
            message = "a lowered copy of a journal's record, without its place there: the journal is the one to judge"
            lowered = Fault("SP314", message, place=place)
            unread = _unread(place, [lowered], name, value)
            return Reading(place, data, identity, value, record, (*found, lowered), unread)
    return Reading(place, data, identity, value, record, tuple(found))


def _set_aside(value: dict[str, Any]) -> str:
    number = len(value["objects"]) + value.get("more", 0)
    if not number:
        return "a repair has begun to copy what lies here, and has not ended: call it again, or copy to another place"
    what = "an object" if number == 1 else f"{number:,} objects"
    whose = "of this run" if value["runId"] is not None else "of runs that lie in loose files"
    return f"a repair has set aside {what} {whose}, or a part of it: what is left is not all there was"


def _had_a_place(value: Any) -> bool:
    """Whether a record of an older version carries the journal members of the one that it was lowered from."""
    if not isinstance(value, dict):
        return False
    return any(
        "sequence" in kept or _had_a_place(kept)
        for name in ("x-v2", "x-v3")
        if (kept := value.get(name) or {})
    )


def _as_v3(identity: Identity, value: dict[str, Any]) -> dict[str, Any]:
    if identity.version.major >= CURRENT.major:
        return value
    from safepoint.migrate import upgrade

    return upgrade(value, identity)


def _grave(faults: list[Fault]) -> bool:
    return bool(faults) and any(rules.severity(fault.code) == "error" for fault in faults)


def _unread(place: Place, faults: list[Fault], name: KeyName | None, value: Any) -> Unread:
    said = value.get("sequence") if isinstance(value, dict) else None
    return Unread(
        log=name.log if name else "loose",
        name=place.key.rpartition("/")[2],
        sequence=name.number if name else None,
        faults=tuple(faults),
        said=said if type(said) is int else None,
    )


_ELSEWHERE = ("https://", "s3://", "gs://", "az://")
"""How the URIs of most artifacts begin: no paths, so that nothing more need be asked of them."""

_CLIMBS = re.compile(r"(^|[/\\])\.\.([/\\]|$)")


_KINDS = {
    "journal": frozenset(schemas.JOURNAL),
    "recovery": frozenset({"recovery"}),
    "heartbeat": frozenset({"heartbeat"}),
    "store": frozenset({"store"}),
    "deleted": frozenset({"deleted"}),
    "origin": frozenset({"origin"}),
    "seal": frozenset({"seal"}),
}
"""What each log holds."""

_FILES = {"store": "safepoint.json", "deleted": DELETED, "origin": ORIGIN, "seal": SEAL}
"""Logs that are one file, which holds no record."""

_LOGS = {"journal.jsonl": "journal", "recovery.jsonl": "recovery"}


def _misplaced(identity: Identity, value: dict[str, Any], name: KeyName | None) -> Iterator[Fault]:
    """Where the record lies against what it says of itself, and whether anything in it leads out of the store."""
    run_id, log = value.get("runId"), name.log if name else "loose"
    kinds = _KINDS.get(_LOGS.get(name.name, log) if name and log == "lines" else log)
    if isinstance(run_id, str) and ".." in run_id and _CLIMBS.search(run_id):
        yield Fault("SP006", "the run id climbs out of its folder with '..'; rename the run", "/runId")
    elif name and name.run_id is not None and run_id is not None and run_id != name.run_id:
        yield Fault("SP007", "the record's runId is not that of the folder that it lies in", "/runId")
    if kinds is not None and identity.kind not in kinds:
        where = _FILES.get(log) or f"the {_LOGS.get(name.name, log) if name else log}"
        yield Fault("SP009", f"a {identity.kind} record does not belong in {where}", "/recordType")
    elif log in {"journal", "recovery", "heartbeat"} and name:
        member = "leaseEpoch" if log == "heartbeat" else "sequence"
        if value.get(member) != name.number:
            message = f"the object is named for number {name.number}, the record says {value.get(member)}"
            yield Fault("SP008", message, f"/{member}")
    elif log == "store" and value.get("features"):
        known = ", ".join(map(repr, value["features"]))
        yield Fault("SP217", f"the store relies on {known}, which this version does not know", "/features")
    for pointer in escaping(value):
        yield Fault("SP006", "the artifact's uri leads out of the store; it is not opened", pointer)


def escaping(value: Mapping[str, Any]) -> Iterator[str]:
    """Pointers to the URIs of a record's artifacts that lead out of the store."""
    references = [
        (f"/artifactRefs/{index}", ref) for index, ref in enumerate(value.get("artifactRefs") or ())
    ]
    for pointer, reference in (*references, ("/resultRef", value.get("resultRef"))):
        uri = reference.get("uri") if isinstance(reference, dict) else None
        if isinstance(uri, str) and not uri.startswith(_ELSEWHERE) and leads_outside(uri):
            yield f"{pointer}/uri"
