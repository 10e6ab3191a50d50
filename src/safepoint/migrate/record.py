"""One record from one version to another: checked before, carried step by step, checked after.

Decided here: when a migration is refused, what is reported, and the provenance that a rewritten record bears.
Not decided here: how versions map (``steps``), how payloads do (``payloads``), what is valid (``schemas``), and the
records beside this one (``engine``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from safepoint.core.digest import digest_stored, encode_parsed
from safepoint.core.fault import Fault
from safepoint.core.kind import KINDS, Identity, recognise
from safepoint.core.pointer import join
from safepoint.core.version import CURRENT, V1, V2, V3, Version
from safepoint.migrate.chain import Chain, place_of
from safepoint.migrate.steps import v1_to_v2, v2_to_v3
from safepoint.migrate.steps.exchange import Down
from safepoint.schemas import check
from safepoint.version import __version__

if TYPE_CHECKING:
    from safepoint.payloads.migrations import PayloadChange

STEPS: Mapping[int, ModuleType] = {1: v1_to_v2, 2: v2_to_v3}
"""The step from each major version to the next, and back."""

_TARGETS = (V1, V2, V3)
_RESIDUES = frozenset(f"x-{version}" for version in _TARGETS)
LOWERED = f"x-{CURRENT}"
"""The residue that a record which was lowered once has on it, also two versions down."""
_PLACE = frozenset({"sequence", "previousDigest", "nonce", "leaseEpoch", "lastLedgerSequence"})
"""What only means something beside the journal that a record was written into."""

_TOOL = f"safepoint {__version__}"
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
    kept: int = 0
    """Lines that were refused and are in `data` as they were: only where the migration was to keep going."""
    source: Any = field(default=None, repr=False, compare=False)
    """What the record said, so that nobody need parse it again; None for JSON Lines, and where it cannot be read."""
    result: Any = field(default=None, repr=False, compare=False)
    """What `data` says; the same object as `source` where nothing changed."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a migration is to do: the same for every record of a file or a store."""

    to: Version | None = None
    """v1, v2 or v3; None: each record stays in its version."""
    allow_loss: bool = field(default=False, kw_only=True)
    """Go on although readers of a lower version will not honour what a record ``requires``; of JSON Lines, also leave
    out records of kinds that the version lacks."""
    payloads: PayloadChange | None = field(default=None, kw_only=True)
    """What becomes of the payloads of checkpoints; None: they are carried as they are."""
    keep_going: bool = field(default=False, kw_only=True)
    """In JSON Lines, a line that is refused keeps its bytes, and does not refuse the file."""


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


def migrate_parsed(
    data: bytes, value: Any, faults: tuple[Fault, ...], wish: Wish, chain: Chain | None, *, alone: bool
) -> Migrated:
    """The record in `data`, as the strict reader read it, with what it found.

    Args:
        data: one JSON text.
        value: what it says; None where it is damaged.
        faults: what the reader found.
        wish: what is to become of it.
        chain: what became of the records before it, in a journal that is rewritten as a whole.
        alone: whether it is migrated without the records behind it, so that its place in a journal forbids a change.
    """
    if faults and _errors(faults):
        return Migrated(None, None, faults, changed=False)
    identity, more = recognise(value)
    found = faults + more
    if identity is None:
        return Migrated(None, None, found, changed=False)
    found += tuple(check(identity, value))
    if found and _errors(found):
        message = f"not migrated: the source is no valid {identity.kind} of {identity.version}"
        return Migrated(None, identity, (*found, Fault("SP606", message)), changed=False)
    source = _Source(data, value, identity, found)
    if wish.payloads is not None and (identity.version.major == CURRENT.major or LOWERED in value):
        return _with_payload(source, wish, wish.payloads, chain, alone=alone)
    return _carried(source, wish)


@dataclass(frozen=True, slots=True)
class _Source:
    """A valid record, and what is to be said of it in any case."""

    data: bytes
    value: Mapping[str, Any]
    identity: Identity
    faults: tuple[Fault, ...]

    def refused(self, *why: Fault) -> Migrated:
        return Migrated(None, self.identity, self.faults + why, changed=False, source=self.value)

    def stays(self) -> Migrated:
        value = self.value
        return Migrated(self.data, self.identity, self.faults, changed=False, source=value, result=value)

    def written(self, result: dict[str, Any], version: Version, *losses: Fault) -> Migrated:
        """`result` in the place of this record, once it is certain that a reader gets it as it is."""
        try:
            data = encode_parsed(result)
        except ValueError as error:
            return self.refused(Fault("SP607", f"not migrated: as {version} {error}"))
        # Recognised again, because a reader too has only what the result says of itself.
        claimed, wrong = recognise(result)
        if errors := _errors((*wrong, *(check(claimed, result) if claimed else ()))):
            return self.refused(*(_wrong_result(error, version) for error in errors))
        kept = () if _RESIDUES.isdisjoint(result) else _kept(self.value, result, version)
        if self.data.endswith(b"\n"):
            data += b"\n"
        faults = (*self.faults, *losses, *kept)
        return Migrated(data, self.identity, faults, changed=True, source=self.value, result=result)


def _carried(source: _Source, wish: Wish) -> Migrated:
    """The record in the version asked for."""
    value, identity, to = source.value, source.identity, wish.to
    if to is None or (to.major == identity.version.major and to in _TARGETS):
        return source.stays()
    version = identity.version
    if refusal := _no_way(identity, to):
        return source.refused(refusal)
    if to > version:
        return source.written(_raised(source, to), to)
    return _lowered(source, value, version.major, to, wish)


def _no_way(identity: Identity, to: Version) -> Fault | None:
    """Why a record cannot have another version, whatever it says."""
    version, kind = identity.version, identity.kind
    if to not in _TARGETS:
        return Fault("SP602", f"no way from {version} to {to}; this version writes v1, v2 and v3")
    if to < version and version.minor:
        message = f"no way from {version} down to {to}: what a newer minor version added is not known here"
        return Fault("SP602", message, "/schemaVersion")
    if kind not in KINDS[to.major]:
        message = f"{to} has no records of kind {kind}; it has {' and '.join(sorted(KINDS[to.major]))}"
        return Fault("SP605", message, "/recordType")
    return None


def _lowered(source: _Source, value: Mapping[str, Any], major: int, to: Version, wish: Wish) -> Migrated:
    """`value`, the record or what became of it, of version `major`, in a lower version."""
    result, lost = _lower(value, source.identity.kind, major, to)
    losses = [Fault("SP601", f"readers of {to} will not honour this", pointer) for pointer in lost]
    if losses and not wish.allow_loss:
        return source.refused(*losses)
    return source.written(result, to, *losses)


def _with_payload(
    source: _Source, wish: Wish, payloads: PayloadChange, chain: Chain | None, *, alone: bool
) -> Migrated:
    """The record with another payload, or behind another predecessor; then in the version asked for."""
    identity, to = source.identity, wish.to or source.identity.version
    lowered = identity.version.major < CURRENT.major
    whole = _raised(source, CURRENT) if lowered else source.value
    claimed, _ = recognise(whole)
    if claimed is None or (lowered and _errors(check(claimed, whole))):
        return _carried(source, wish)  # a residue that no step left
    changed, faults = payloads.apply(whole) if claimed.kind == "checkpoint" else (whole, ())
    if faults:
        return source.refused(*faults)
    if changed is not whole:
        if place_of(whole) is not None and (alone or lowered):
            return source.refused(_not_alone(whole, lowered=lowered))
        changed = {**changed, "payloadMigratedFrom": _payload_provenance(whole, source.data)}
    if chain is not None and not lowered:
        changed = chain.relinked(changed)
    if changed is whole:
        return _carried(source, wish)
    if claimed.version.minor:
        message = f"not rewritten: what {claimed.version} added is not known here, and may speak of what would change"
        return source.refused(Fault("SP602", message, "/schemaVersion"))
    result = raised = source.written(dict(changed), CURRENT)
    if raised.data is not None and to.major != CURRENT.major:
        refusal = _no_way(claimed, to)
        result = source.refused(refusal) if refusal else _lowered(source, changed, CURRENT.major, to, wish)
    if chain is not None and raised.data is not None and result.data is not None:
        # Also where it is lowered: what the next record names are its bytes in v3.
        chain.rewrote(whole, source.data, raised.data)
    return result


def _not_alone(value: Mapping[str, Any], *, lowered: bool) -> Fault:
    message = (
        f"not rewritten: it is record {value['sequence']} of a journal, and the next one names the digest of "
    )
    if lowered:
        message += "the bytes that it had before it was lowered; migrate the store that it was lowered from"
    else:
        message += "its bytes; migrate the store, or a file with the whole journal"
    return Fault("SP612", message, "/sequence")


def _raised(source: _Source, to: Version) -> dict[str, Any]:
    """The record in a higher version, with its provenance."""
    result = _raise(source.value, source.identity, to)
    if result.get("orderEvidence") == "time" and "migratedFrom" not in result:
        # A record that came home out of its residue is the original: it stems from nothing but itself.
        result["migratedFrom"] = {
            "schemaVersion": source.value.get("schemaVersion"),
            "digest": digest_stored(source.data),
            "tool": _TOOL,
        }
    _forget_null(result)
    return result


def _payload_provenance(value: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    return {"payloadSchema": value["payloadSchema"], "digest": digest_stored(data), "tool": _TOOL}


def _raise(value: Mapping[str, Any], identity: Identity, to: Version) -> dict[str, Any]:
    """`value` in a higher version; a new object."""
    for major in range(identity.version.major, to.major):
        value = STEPS[major].up(identity.kind, value)
    return value if isinstance(value, dict) else dict(value)


def _lower(
    value: Mapping[str, Any], kind: str, major: int, to: Version
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """`value` lower down, step by step; what was raised by us is its source again where it is met on the way."""
    lost: tuple[str, ...] = ()
    if major == CURRENT.major and value.get("orderEvidence") == "time":
        value = {**value, "migratedFrom": value.get("migratedFrom")}
    for step in range(major - 1, to.major - 1, -1):
        down = _source_of(value, kind, step) or STEPS[step].down(kind, value)
        value, lost = down.value, lost + down.lost
    return dict(value), lost


def _source_of(value: Mapping[str, Any], kind: str, major: int) -> Down | None:
    """The record of version `major` that `value`, of the next, was raised from by us, without a trace of that."""
    # A version below the current may be a stop on the way down: then the provenance lies in a residue, which no
    # schema has seen.
    restored = major + 1 < CURRENT.major
    raised = dict(_raise(value, Identity(kind, Version(major + 1)), CURRENT))
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


def _is_ours(provenance: Mapping[str, Any], lowered: Mapping[str, Any]) -> bool:
    """Whether raising `lowered` would write this again.

    But for two things that nobody can know any more: how its source was spelt, and which of our versions raised it.
    To hold out for the digest would leave a residue in nearly every record that goes up and back.
    """
    return (
        provenance.keys() == {"schemaVersion", "digest", "tool"}
        and provenance["schemaVersion"] == lowered.get("schemaVersion")
        and provenance["tool"].startswith("safepoint ")
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
