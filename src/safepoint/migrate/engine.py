"""Records from one version to another: checked before, carried step by step, checked after.

Decided here: when a migration is refused, what is reported, and the provenance that a raised record bears.
Not decided here: how versions map (``steps``), what is valid (``schemas``), where bytes lie (``stores``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from safepoint.core.digest import digest_stored, encode_parsed
from safepoint.core.fault import Fault, Place
from safepoint.core.jsonlines import parse_lines
from safepoint.core.kind import KINDS, Identity, recognise
from safepoint.core.pointer import join
from safepoint.core.strictjson import parse
from safepoint.core.version import CURRENT, V1, V2, V3, Version
from safepoint.migrate.steps import v1_to_v2, v2_to_v3
from safepoint.migrate.steps.exchange import Down
from safepoint.schemas import check
from safepoint.version import __version__

STEPS: Mapping[int, ModuleType] = {1: v1_to_v2, 2: v2_to_v3}
"""The step from each major version to the next, and back."""

_TARGETS = (V1, V2, V3)
_RESIDUES = frozenset(f"x-{version}" for version in _TARGETS)
_PLACE = frozenset({"sequence", "previousDigest", "nonce", "leaseEpoch", "lastLedgerSequence"})
"""What only means something beside the journal that a record was written into."""

_TOOL = "safepoint "
# Severities live in `rules`, above this room; of a text's and a record's codes these are no errors.
_HARMLESS = frozenset({"SP115", "SP116", "SP204", "SP205", "SP218", "SP220"})


@dataclass(frozen=True, slots=True)
class Migrated:
    """What became of one record, or of one JSON Lines file."""

    data: bytes | None
    """The bytes in the version asked for; None: refused, and `faults` say why."""
    identity: Identity | None
    """What the source is; of JSON Lines its first record; None: no record that can be read."""
    faults: tuple[Fault, ...]
    changed: bool
    """False: `data` is the source byte for byte."""


def upgrade(value: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """A valid record of any readable version as v3, in memory: pure, and without provenance.

    What a lowered record kept of its v3 form counts again, unless it breaks v3's schema; its place in a journal
    does not, because the chain's digests are of other bytes.
    """
    if identity.version.major >= CURRENT.major:
        return value if isinstance(value, dict) else dict(value)
    raised = _raise(value, identity, CURRENT)
    _forget_null(raised)
    # Only a residue can bring in what no schema has seen, and hardly any record has one.
    if _RESIDUES.isdisjoint(value):
        return raised
    if _errors(check(Identity(identity.kind, CURRENT), raised)):
        plain = {name: part for name, part in value.items() if name not in _RESIDUES}
        return _raise(plain, identity, CURRENT)
    return {name: part for name, part in raised.items() if name not in _PLACE} | {"orderEvidence": "time"}


def migrate_record(data: bytes, to: Version, *, allow_loss: bool = False) -> Migrated:
    """The record in `data` as version `to`; what is there already keeps its bytes.

    Args:
        data: one JSON text.
        to: v1, v2 or v3.
        allow_loss: go on although readers of a lower version will not honour what the record ``requires``.
    """
    value, faults = parse(data)
    return _migrate(data, value, faults, to, allow_loss=allow_loss)


def migrate_lines(
    data: bytes,
    to: Version,
    *,
    allow_loss: bool = False,
    place: Place = Place(""),  # noqa: B008 frozen value
) -> Migrated:
    """The JSON Lines in `data`, each as version `to`; one line that is refused refuses all.

    Args:
        data: the file's bytes.
        to: v1, v2 or v3.
        allow_loss: as for a record; also leaves out records of kinds that the version lacks.
        place: the file; the faults lie at its lines.
    """
    faults: list[Fault] = []
    parts: list[bytes] = []
    identity, whole, changed = None, True, False
    for line, value, damage in parse_lines(data):
        there = replace(place, line=line.number, offset=line.offset)
        if any(fault.code == "SP116" for fault in damage):  # blank: kept, for nothing is dropped unasked
            one = Migrated(line.data, None, damage, changed=False)
        else:
            one = _migrate(line.data, value, damage, to, allow_loss=allow_loss)
        faults += (fault.at(there) for fault in one.faults)
        identity, changed = identity or one.identity, changed or one.changed
        if one.data is not None:
            parts.append(one.data + b"\n" * line.terminated)
        elif allow_loss and _lacks(one):
            changed = True
        else:
            whole = False
    if not whole:
        return Migrated(None, identity, tuple(faults), changed=False)
    return Migrated(b"".join(parts), identity, tuple(faults), changed)


def _lacks(migrated: Migrated) -> bool:
    return any(fault.code == "SP605" for fault in migrated.faults)


def _migrate(
    data: bytes, value: Any, faults: tuple[Fault, ...], to: Version, *, allow_loss: bool
) -> Migrated:
    if _errors(faults):
        return Migrated(None, None, faults, changed=False)
    identity, more = recognise(value)
    found = list(faults + more)
    if identity is None:
        return Migrated(None, None, tuple(found), changed=False)
    found += check(identity, value)
    if errors := _errors(found):
        message = f"not migrated: the source is no valid {identity.kind} of {identity.version}"
        found.append(Fault("SP606", message))
    elif to.major != identity.version.major or to not in _TARGETS:
        return _carried(data, value, identity, to, tuple(found), allow_loss=allow_loss)
    return Migrated(None if errors else data, identity, tuple(found), changed=False)


def _carried(
    data: bytes,
    value: Mapping[str, Any],
    identity: Identity,
    to: Version,
    faults: tuple[Fault, ...],
    *,
    allow_loss: bool,
) -> Migrated:
    def refused(*why: Fault) -> Migrated:
        return Migrated(None, identity, faults + why, changed=False)

    version, kind = identity.version, identity.kind
    if to not in _TARGETS:
        return refused(Fault("SP602", f"no way from {version} to {to}; this version writes v1, v2 and v3"))
    if to < version and version.minor:
        message = f"no way from {version} down to {to}: what a newer minor version added is not known here"
        return refused(Fault("SP602", message, "/schemaVersion"))
    if kind not in KINDS[to.major]:
        message = f"{to} has no records of kind {kind}; it has {' and '.join(sorted(KINDS[to.major]))}"
        return refused(Fault("SP605", message, "/recordType"))
    lost: tuple[str, ...] = ()
    if to > version:
        result = _raise(value, identity, to)
        if result.get("orderEvidence") == "time":
            # A record that came home out of its residue is the original: it stems from nothing but itself.
            result.setdefault("migratedFrom", _provenance(value.get("schemaVersion"), data))
        _forget_null(result)
    else:
        result, lost = _lower(value, identity, to)
    losses = [Fault("SP601", f"readers of {to} will not honour this", pointer) for pointer in lost]
    if losses and not allow_loss:
        return refused(*losses)
    try:
        migrated = encode_parsed(result)
    except ValueError as error:
        return refused(Fault("SP607", f"not migrated: as {to} {error}"))
    # Recognised again, because a reader too has only what the result says of itself.
    claimed, wrong = recognise(result)
    if errors := _errors(wrong) + (_errors(check(claimed, result)) if claimed else []):
        return refused(*(_wrong_result(error, to) for error in errors))
    kept = (*losses, *_kept(value, result, to))
    return Migrated(migrated + b"\n" * data.endswith(b"\n"), identity, faults + kept, changed=True)


def _raise(value: Mapping[str, Any], identity: Identity, to: Version) -> dict[str, Any]:
    for major in range(identity.version.major, to.major):
        value = STEPS[major].up(identity.kind, value)
    return dict(value)


def _lower(
    value: Mapping[str, Any], identity: Identity, to: Version
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """`value` lower down, step by step; what was raised by us is its source again where it is met on the way."""
    lost: tuple[str, ...] = ()
    if identity.version.major == CURRENT.major and value.get("orderEvidence") == "time":
        value = {**value, "migratedFrom": value.get("migratedFrom")}
    for major in range(identity.version.major - 1, to.major - 1, -1):
        down = _source(value, identity.kind, major) or STEPS[major].down(identity.kind, value)
        value, lost = down.value, lost + down.lost
    return dict(value), lost


def _source(value: Mapping[str, Any], kind: str, major: int) -> Down | None:
    """The record of version `major` that `value`, of the next, was raised from by us, without a trace of that."""
    # A version below the current may be a stop on the way down: then the provenance lies in a residue, which no
    # schema has seen.
    restored = major + 1 < CURRENT.major
    raised = _raise(value, Identity(kind, Version(major + 1)), CURRENT)
    if raised.get("orderEvidence") != "time" or raised.get("migratedFrom") is None:
        return None
    if restored and _errors(check(Identity(kind, CURRENT), raised)):
        return None
    provenance = raised.pop("migratedFrom")
    down = Down(raised)
    for step in range(CURRENT.major - 1, major - 1, -1):
        down = STEPS[step].down(kind, down.value)
    return down if _is_ours(provenance, down.value) else None


def _forget_null(raised: dict[str, Any]) -> None:
    """Null in a residue says that the record had no provenance; without it one would be invented on the way up."""
    if raised.get("migratedFrom", raised) is None:
        del raised["migratedFrom"]


def _provenance(version: str | None, data: bytes) -> dict[str, Any]:
    return {"schemaVersion": version, "digest": digest_stored(data), "tool": _TOOL + __version__}


def _is_ours(provenance: Mapping[str, Any], lowered: Mapping[str, Any]) -> bool:
    """Whether raising `lowered` would write this again.

    But for two things that nobody can know any more: how its source was spelt, and which of our versions raised it.
    To hold out for the digest would leave a residue in nearly every record that goes up and back.
    """
    return (
        provenance.keys() == {"schemaVersion", "digest", "tool"}
        and provenance["schemaVersion"] == lowered.get("schemaVersion")
        and provenance["tool"].startswith(_TOOL)
    )


def _kept(value: Mapping[str, Any], result: Mapping[str, Any], to: Version) -> Iterator[Fault]:
    """One fault for each member of the source that lies in a residue of the result and did not before."""
    names: dict[str, None] = {}
    for residue in sorted(_RESIDUES):
        inside = result.get(residue)
        if isinstance(inside, dict) and inside != value.get(residue):
            names |= dict.fromkeys(inside)
    for name in names:
        if name in value and name not in {"recordType", "schemaVersion"}:
            yield Fault("SP603", f"no place in {to} for what stands here; kept for the way back", join(name))


def _wrong_result(fault: Fault, to: Version) -> Fault:
    return Fault(
        "SP607", f"not migrated: as {to} it would break {fault.code}: {fault.message}", fault.pointer
    )


def _errors(faults: Iterable[Fault]) -> list[Fault]:
    return [fault for fault in faults if fault.code not in _HARMLESS]
