"""Records, JSON Lines and journals in another version, or with other payloads.

Decided here: what is migrated together. A record alone, the lines of a file, and a journal, whose chain is carried over
from each record to the next. Not decided here: what becomes of one record (``record``), and where bytes lie
(``moving``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from safepoint.core.digest import encode_record
from safepoint.core.fault import Fault, Place
from safepoint.core.jsonlines import Line, parse_lines
from safepoint.core.strictjson import parse
from safepoint.core.version import Version
from safepoint.migrate.chain import Chain
from safepoint.migrate.record import LOWERED, Migrated, Wish, migrate_parsed, upgrade
from safepoint.schemas import JOURNAL

if TYPE_CHECKING:
    from safepoint.payloads.migrations import PayloadChange

__all__ = ["JournalMigrator", "Migrated", "Migrator", "migrate", "migrate_lines", "migrate_record", "upgrade"]

_Read = tuple[Line, Any, tuple[Fault, ...]]
"""A line, what it says, and what the reader found."""

_NOWHERE = Place("")


@dataclass(frozen=True, slots=True)
class Migrator(Wish):
    """A migration as it is asked for, and its ways to do it. Equal input gives equal bytes."""

    def record(self, data: bytes, *, alone: bool = True) -> Migrated:
        """The record in `data`; what does not change keeps its bytes.

        Args:
            data: one JSON text.
            alone: False: whoever calls sees to the chain of the record's journal. Else a record of a journal whose
                payload would change is refused (SP612).
        """
        value, faults = parse(data)
        return migrate_parsed(data, value, faults, self, None, alone=alone)

    def lines(self, data: bytes, place: Place = _NOWHERE) -> Migrated:
        """The JSON Lines in `data`; one line that is refused refuses all, unless this is to keep going.

        The chain of a journal is carried over, in the order of the sequences. Of a run whose journal is not whole in
        this file no payload is changed (SP612): the next record lies elsewhere.

        Args:
            data: the file's bytes.
            place: the file; the faults lie at its lines.
        """
        return _lines(self, Chain(), data, place, vouched=False)

    def journal(self) -> JournalMigrator:
        """For one whole journal, handed in from its first record on."""
        return JournalMigrator(self)


class JournalMigrator:
    """A journal on its way, in the order of its sequences; the chain is carried over from record to record.

    A record that is refused is taken to stay in its place as it was: the one behind it stays linked to its old bytes.
    """

    def __init__(self, migrator: Migrator) -> None:
        self._migrator, self._chain = migrator, Chain()

    def record(self, data: bytes) -> Migrated:
        """The next record."""
        value, faults = parse(data)
        return migrate_parsed(data, value, faults, self._migrator, self._chain, alone=False)

    def lines(self, data: bytes, place: Place = _NOWHERE) -> Migrated:
        """The next records, which lie in one file; else as `Migrator.lines`."""
        return _lines(self._migrator, self._chain, data, place, vouched=True)


def migrate(
    data: bytes | Mapping[str, Any],
    to: str | None = "v3",
    allow_loss: bool = False,
    *,
    payloads: PayloadChange | None = None,
) -> Migrated:
    """One record in another version of the format; what does not change comes back byte for byte.

    Args:
        data: the stored bytes of one record, or its value.
        to: ``vMAJOR`` or ``vMAJOR.MINOR``; None: the version that it has.
        allow_loss: whether members that the target version cannot hold may be dropped (each is reported).
        payloads: what `PayloadMigrations.toward` returned; None: payloads are carried as they are.

    Returns:
        The new bytes, or None where the migration is refused, and the faults that say why. A record of a journal whose
        payload would change is refused (SP612): the one behind it names the digest of its bytes.

    Raises:
        ValueError: `to` is no version.
        TypeError: `data` is text: whoever decoded it no longer has the stored bytes.
    """
    version = None if to is None else Version.parse(to)
    if to is not None and version is None:
        raise ValueError(f"got {to!r}, expected a format version such as v3")
    return Migrator(version, allow_loss=allow_loss, payloads=payloads).record(_stored(data))


def _stored(data: object) -> bytes:
    if isinstance(data, Mapping):
        return encode_record(data)
    if isinstance(data, bytes):
        return data
    expected = "the stored bytes of a record, or its value as a mapping"
    raise TypeError(f"got a {type(data).__name__}, expected {expected}")


def migrate_record(data: bytes, to: Version, *, allow_loss: bool = False) -> Migrated:
    """The record in `data` as version `to`; what is there already keeps its bytes.

    Args:
        data: one JSON text.
        to: v1, v2 or v3.
        allow_loss: go on although readers of a lower version will not honour what the record ``requires``.
    """
    return Migrator(to, allow_loss=allow_loss).record(data)


def migrate_lines(data: bytes, to: Version, *, allow_loss: bool = False, place: Place = _NOWHERE) -> Migrated:
    """The JSON Lines in `data`, each as version `to`; one line that is refused refuses all.

    Args:
        data: the file's bytes.
        to: v1, v2 or v3.
        allow_loss: as for a record; also leaves out records of kinds that the version lacks.
        place: the file; the faults lie at its lines.
    """
    return Migrator(to, allow_loss=allow_loss).lines(data, place)


def _lines(migrator: Migrator, chain: Chain, data: bytes, place: Place, *, vouched: bool) -> Migrated:
    """All lines of a file; `vouched`: what of a journal is not in it has been handed in, or comes next."""
    reads: Iterable[_Read] = parse_lines(data)
    parts: frozenset[str] = frozenset()
    in_order = True
    if migrator.payloads is not None:
        seats = [_seat(value) for _, value, _ in parse_lines(data)]
        if not vouched:
            parts = _in_parts(seats, spare=migrator.keep_going)
        order = [seat[1] if seat else 0 for seat in seats]
        in_order = order == sorted(order)
        if not in_order:
            reads = (read for _, read in sorted(zip(order, reads, strict=True), key=lambda pair: pair[0]))
    done: Iterable[tuple[Line, Migrated]] = (_line(read, migrator, chain, parts) for read in reads)
    return _joined(done if in_order else sorted(done, key=lambda pair: pair[0].number), migrator, place)


def _line(read: _Read, migrator: Migrator, chain: Chain, parts: frozenset[str]) -> tuple[Line, Migrated]:
    line, value, damage = read
    if any(fault.code == "SP116" for fault in damage):  # blank: kept, for nothing is dropped unasked
        return line, Migrated(line.data, None, damage, changed=False)
    alone = bool(parts) and (seat := _seat(value)) is not None and seat[0] in parts
    return line, migrate_parsed(line.data, value, damage, migrator, chain, alone=alone)


def _joined(lines: Iterable[tuple[Line, Migrated]], migrator: Migrator, place: Place) -> Migrated:
    faults: list[Fault] = []
    parts: list[bytes] = []
    identity, refused, changed = None, 0, False
    for line, one in lines:
        if one.faults:
            there = replace(place, line=line.number, offset=line.offset)
            faults += (fault.at(there) for fault in one.faults)
        identity, changed = identity or one.identity, changed or one.changed
        if one.data is None and migrator.allow_loss and any(fault.code == "SP605" for fault in one.faults):
            changed = True
            continue
        refused += one.data is None
        parts.append((line.data if one.data is None else one.data) + b"\n" * line.terminated)
    if refused and not migrator.keep_going:
        return Migrated(None, identity, tuple(faults), changed=False)
    return Migrated(b"".join(parts), identity, tuple(faults), changed, refused)


def _seat(value: Any) -> tuple[str, int] | None:
    """The run and the sequence of what may be a record of a journal, also where it lies lowered."""
    for form in (value, value.get(LOWERED)) if isinstance(value, dict) else ():
        if isinstance(form, dict) and form.get("recordType") in JOURNAL:
            run, sequence = value.get("runId"), form.get("sequence")
            if isinstance(run, str) and type(sequence) is int:
                return run, sequence
    return None


def _in_parts(seats: Sequence[tuple[str, int] | None], *, spare: bool) -> frozenset[str]:
    """The runs whose journal is not whole here.

    Args:
        seats: of each line.
        spare: a line without a seat may be the record that is missing: damaged, but in its place.
    """
    held: dict[str, set[int]] = {}
    for seat in seats:
        if seat is not None:
            held.setdefault(seat[0], set()).add(seat[1])
    unknown = sum(seat is None for seat in seats) if spare else 0
    return frozenset(run for run, taken in held.items() if max(taken) - len(taken) > unknown)
