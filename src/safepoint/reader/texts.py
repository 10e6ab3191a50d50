"""One stored object to readings: what each JSON text in it turned out to be.

Decided here: the order of the checks (bytes, identity, structure, place) and that the first that fails ends them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from safepoint import rules, schemas
from safepoint.core.digest import digest_stored
from safepoint.core.fault import Fault, Place
from safepoint.core.jsonlines import parse_lines
from safepoint.core.kind import Identity, recognise
from safepoint.core.strictjson import parse
from safepoint.core.version import CURRENT
from safepoint.model.journal import Unread
from safepoint.model.record import Record
from safepoint.store.layout import KeyName

RECORD_KINDS = frozenset(
    {"run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery", "heartbeat"}
)
"""Kinds that belong to a run; every other kind is a document that stands alone."""


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
    def run_id(self) -> str | None:
        """The run that the text names, where it can be read that far."""
        named = self.value.get("runId") if isinstance(self.value, dict) else None
        return named if isinstance(named, str) else None


def read_object(data: bytes, url: str, key: str, name: KeyName | None) -> Iterator[Reading]:
    """Every JSON text in one object.

    Args:
        data: the object's bytes.
        url: what to call it in findings.
        key: its store-relative name.
        name: what the layout makes of its key; None outside a store.
    """
    if key.endswith(".jsonl"):
        lines = 0
        for line, value, faults in parse_lines(data):
            place = Place(url, key, line.number, line.offset)
            lines += 1
            yield _reading(place, line.data, value, faults, name)
        if not lines:
            place = Place(url, key)
            empty = Fault("SP111", "the file is empty; expected one record on each line", place=place)
            yield Reading(place, data, faults=(empty,))
    else:
        value, faults = parse(data)
        yield _reading(Place(url, key), data, value, faults, name)


def _reading(
    place: Place, data: bytes, value: Any, faults: tuple[Fault, ...], name: KeyName | None
) -> Reading:
    found = [fault.at(place) for fault in faults]
    if value is None and not found:
        # The literal null, or a blank line that parse_lines has already reported.
        found = [Fault("SP003", "got null, expected a JSON object", place=place)]
    if _grave(found) or value is None:
        blank = all(fault.code == "SP116" for fault in found)
        unread = None if blank else _unread(place, found, name)
        return Reading(place, data, value=value, faults=tuple(found), unread=unread)
    identity, more = recognise(value)
    found += [fault.at(place) for fault in more]
    if identity is None:
        foreign = any(fault.code == "SP003" for fault in more)
        return Reading(
            place, data, value=value, faults=tuple(found), unread=_unread(place, found, name), foreign=foreign
        )
    found += [fault.at(place) for fault in schemas.check(identity, value)]
    if not _grave(found):
        found += [fault.at(place) for fault in _misplaced(identity, value, name)]
    if _grave(found):
        return Reading(place, data, identity, value, faults=tuple(found), unread=_unread(place, found, name))
    record = None
    if identity.kind in RECORD_KINDS:
        current = _as_v3(identity, value)
        # A lowered record brings its old demands along, which its own version has no place for.
        demands = [fault.at(place) for fault in recognise(current)[1]] if current is not value else []
        if _grave(demands):
            found += demands
            return Reading(
                place, data, identity, value, faults=tuple(found), unread=_unread(place, found, name)
            )
        record = Record(identity.kind, identity.version, current, place, digest_stored(data))
        if current is not value and _had_a_place(value):
            message = "a lowered copy of a journal's record, without its place there: the journal is the one to judge"
            found.append(Fault("SP314", message, place=place))
            return Reading(
                place, data, identity, value, record, tuple(found), _unread(place, found[-1:], name)
            )
    return Reading(place, data, identity, value, record, tuple(found))


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
    return any(rules.severity(fault.code) == "error" for fault in faults)


def _unread(place: Place, faults: list[Fault], name: KeyName | None) -> Unread:
    return Unread(
        log=name.log if name else "loose",
        name=place.key.rpartition("/")[2],
        sequence=name.number if name else None,
        faults=tuple(faults),
    )


_CLIMBS = re.compile(r"(^|[/\\])\.\.([/\\]|$)")


def _misplaced(identity: Identity, value: dict[str, Any], name: KeyName | None) -> Iterator[Fault]:
    """Where the record lies against what it says of itself, and whether anything in it leads out of the store."""
    run_id = value.get("runId")
    if isinstance(run_id, str) and _CLIMBS.search(run_id):
        yield Fault("SP006", "the run id climbs out of its folder with '..'; rename the run", "/runId")
    elif name and name.run_id is not None and run_id is not None and run_id != name.run_id:
        yield Fault("SP007", "the record's runId is not that of the folder that it lies in", "/runId")
    number = value.get("leaseEpoch" if identity.kind == "heartbeat" else "sequence")
    if name and name.log in {"journal", "recovery", "heartbeat"} and number != name.number:
        member = "/leaseEpoch" if identity.kind == "heartbeat" else "/sequence"
        yield Fault(
            "SP008", f"the object is named for number {name.number}, the record says {number}", member
        )
    for index, reference in enumerate(value.get("artifactRefs") or ()):
        uri = reference.get("uri") if isinstance(reference, dict) else None
        if isinstance(uri, str) and leads_outside(uri):
            yield Fault(
                "SP006",
                "the artifact's uri leads out of the store; it is not opened",
                f"/artifactRefs/{index}/uri",
            )


def leads_outside(uri: str) -> bool:
    """Whether `uri` names something on this machine that is not inside the store."""
    from urllib.parse import urlsplit

    parts = urlsplit(uri)
    if parts.scheme.lower() == "file" or (len(parts.scheme) == 1 and uri[1:2] == ":"):
        return True
    return not parts.scheme and (uri.startswith(("/", "\\", "~")) or bool(_CLIMBS.search(uri)))
