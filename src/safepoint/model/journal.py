"""The journal: one numbered, chained sequence over all kinds, and who was entitled to append (SPEC.md#journal).

Decided here: order, gaps, digests, epochs and the end of a run. Not decided here: what the records mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND
from safepoint.model.record import Record


class Level(StrEnum):
    """The conformance level of a run: recognised from its records, never declared (SPEC.md#levels)."""

    RECORDS = "records"
    JOURNAL = "journal"
    FENCED = "fenced"


@dataclass(frozen=True, slots=True)
class Head:
    """The last record of a log; both None where there is no numbered record."""

    sequence: int | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A text of this run that could not be read as a record."""

    log: str
    """``journal``, ``recovery``, ``lines`` or ``loose``: what its name says that it is."""
    name: str
    """The file's own name, such as ``checkpoints.jsonl`` or ``0000000007.json``."""
    sequence: int | None
    """The number that its name claims, where it has one."""
    faults: tuple[Fault, ...]
    said: int | None = None
    """The sequence that the text itself names, where it could be read that far."""
    only_checkpoints: bool = False
    """Whether its file is one for checkpoints, and nothing else was found in it: then it hides no attempt."""

    @property
    def of_a_log(self) -> bool:
        """Whether it may be a record: a heartbeat is only a hint, and documents are no part of a run."""
        return self.log not in {"heartbeat", "store", "origin", "seal"}

    @property
    def newer_version(self) -> bool:
        """Whether a newer version of the format wrote it (refused, not damaged)."""
        return any(fault.code in {"SP216", "SP217"} for fault in self.faults)


ENDED = frozenset({"completed", "cancelled", "sealed"})
"""Run statuses behind which no worker goes on; ``failed`` may be taken up again by a new lease."""


def level_of(records: Iterable[Record]) -> Level:
    """The conformance level that `records` show."""
    level = Level.RECORDS
    for record in records:
        if record.sequence is not None:
            level = Level.JOURNAL
            if record.kind == "lease":
                return Level.FENCED
    return level


def order(records: Sequence[Record], unread: Sequence[Unread], log: str, faults: list[Fault]) -> list[Record]:
    """The numbered `records` by sequence, each number once; what is wrong is appended to `faults`."""
    by_number: dict[int, Record] = {}
    numbered = [record for record in records if record.sequence is not None]
    if any(_number(after) <= _number(before) for before, after in pairwise(numbered)):
        numbered.sort(key=_placed)
    for record in numbered:
        number = _number(record)
        first = by_number.setdefault(number, record)
        if first.digest != record.digest:
            message = f"sequence {number} is used twice with different content (also in {first.place.url})"
            faults.append(Fault("SP302", message, "/sequence", place=record.place))
    chain = list(by_number.values())
    holes = {u.sequence for u in unread if u.log == log}
    if log == "journal":
        # A file for checkpoints is trusted to hide no attempt only as long as no number is missing.
        texts = (u for u in unread if u.log in {"lines", "loose"} and u.name != "recovery.jsonl")
        holes |= {u.said for u in texts if not u.only_checkpoints}
    faults.extend(_gaps(chain, holes))
    faults.extend(_broken_links(chain))
    return chain


def _number(record: Record) -> int:
    return record.sequence or 0


def _placed(record: Record) -> tuple[int, str, int, str]:
    """By number; of one number used twice, the same one is always called the second."""
    return (_number(record), record.place.url, record.place.line, record.digest)


def _gaps(chain: Sequence[Record], holes: Collection[int | None]) -> Iterator[Fault]:
    expected = 1
    for record in chain:
        number = _number(record)
        # An unreadable object already has its own finding; only what is not there at all is a gap.
        missing = [n for n in range(expected, min(number, expected + 1000)) if n not in holes]
        if missing:
            span = str(missing[0]) if len(missing) == 1 else f"{missing[0]} to {missing[-1]}"
            yield Fault(
                "SP301", f"sequence {span} is missing before {number}", "/sequence", place=record.place
            )
        expected = number + 1


def _broken_links(chain: Sequence[Record]) -> Iterator[Fault]:
    for before, record in pairwise(chain):
        if _number(record) != _number(before) + 1:
            continue
        if record.value.get("previousDigest") != before.digest:
            message = f"previousDigest is not the digest of record {_number(before)} as it is stored"
            yield Fault("SP303", message, "/previousDigest", place=record.place)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who may append: the newest lease and its owner's signs of life."""

    lease: Record
    leases: tuple[Record, ...]
    """All claims, oldest first."""
    recoveries: tuple[Record, ...]
    """Claims that took the run over to go on with it: the recovery attempts."""
    released: bool
    last_record: int
    """Time in nanoseconds of the newest record by this owner, the claim included."""
    beats: tuple[int, ...] = ()
    """Times of this epoch's heartbeats in nanoseconds; a hint that only ever delays a claim."""

    @property
    def epoch(self) -> int:
        """The newest claimed epoch."""
        return self.lease.epoch

    @property
    def holder(self) -> str:
        """What the owner calls itself: a name for people, no proof of anything."""
        return str(self.lease.value.get("holder") or "")

    @property
    def ttl(self) -> int:
        """Nanoseconds."""
        return int(self.lease.value.get("ttlSeconds") or 0) * SECOND

    def lapses_at(self, now: int, skew: int) -> int:
        """The time from which nobody need wait for this owner: last sign of life + ttl + 2 x skew.

        A heartbeat counts at most up to `now` + `skew`, so that a wrong clock cannot hold a run for ever.
        """
        signs = [self.last_record, *(min(beat, now + skew) for beat in self.beats)]
        return max(signs) + self.ttl + 2 * skew


def own(
    chain: Sequence[Record], beats: Iterable[tuple[int, str, int]], faults: list[Fault]
) -> Ownership | None:
    """Walk the journal and see who was entitled to write what; None where no lease was ever claimed.

    Args:
        chain: the journal in order.
        beats: epoch, nonce and time (nanoseconds) of each heartbeat object.
        faults: what is wrong is appended here.
    """
    leases: list[Record] = []
    by_epoch: dict[int, Record] = {}
    nonces: set[str | None] = set()
    unclean: list[Record] = []
    released, last_record, highest = False, 0, 0
    for record in chain:
        if _claims(record):
            expected = (leases[-1].epoch if leases else highest) + 1
            if record.epoch != expected:
                message = f"a claim of epoch {record.epoch} where {expected} is next"
                faults.append(Fault("SP305", message, "/leaseEpoch", place=record.place))
            if record.nonce in nonces:
                message = "this claim reuses the nonce of an earlier lease"
                faults.append(Fault("SP306", message, "/nonce", place=record.place))
            if _recovers(record, owned=bool(leases) and not released):
                unclean.append(record)
            leases.append(record)
            by_epoch[record.epoch] = record
            nonces.add(record.nonce)
            released, last_record = False, record.created or 0
        elif record.epoch > 0:
            newest = leases[-1].epoch if leases else 0
            fault = (
                _entitled(record, by_epoch, newest, released=released)
                if leases
                else _in_turn(record, highest)
            )
            highest = max(highest, record.epoch)
            if fault:
                faults.append(fault)
            else:
                last_record = max(last_record, record.created or 0)
                released = released or (record.kind == "lease" and record.value.get("event") == "released")
    if not leases:
        return None
    token = (leases[-1].epoch, leases[-1].nonce)
    signs = tuple(time for epoch, nonce, time in beats if (epoch, nonce) == token)
    return Ownership(leases[-1], tuple(leases), tuple(unclean), released, last_record, signs)


def _claims(record: Record) -> bool:
    return record.kind == "lease" and record.value.get("event") == "claimed"


def _recovers(claim: Record, *, owned: bool) -> bool:
    """Whether `claim` took the run over from an owner who had not given it back, to go on with it.

    Or, by its own word, from one who died before its first claim.
    """
    purpose = claim.value.get("purpose")
    return purpose == "recovery" or (purpose == "run" and owned)


def _in_turn(record: Record, highest: int) -> Fault | None:
    """Before the first lease nobody claims epochs, but whoever writes them writes them in order."""
    if record.epoch >= highest:
        return None
    message = f"written by epoch {record.epoch} after a record of epoch {highest}"
    return Fault("SP304", message, "/leaseEpoch", place=record.place)


def _entitled(record: Record, leases: Mapping[int, Record], newest: int, *, released: bool) -> Fault | None:
    """Why `record` was not its writer's to append, or None.

    Args:
        record: what was appended.
        leases: the last claim of each epoch so far.
        newest: the epoch of the last claim.
        released: whether its owner has given it back.
    """
    lease = leases.get(record.epoch)
    if lease is None:
        return Fault("SP306", f"epoch {record.epoch} was not claimed", "/leaseEpoch", place=record.place)
    if record.nonce != lease.nonce:
        message = f"epoch {record.epoch} belongs to another writer: the nonce is not the lease's"
        return Fault("SP306", message, "/nonce", place=record.place)
    if record.epoch < newest:
        late = record.kind == "ledger" and record.value.get("status") in {"committed", "prepared"}
        if late and record.value.get("evidence"):
            message = (
                f"an outcome by epoch {record.epoch} after epoch {newest} was claimed; its evidence counts"
            )
            return Fault("SP407", message, "/leaseEpoch", place=record.place)
        message = f"written by epoch {record.epoch} after epoch {newest} was claimed"
        return Fault("SP304", message, "/leaseEpoch", place=record.place)
    if released:
        message = f"written under epoch {record.epoch} after its lease was released"
        return Fault("SP306", message, "/leaseEpoch", place=record.place)
    return None


def ends(chain: Sequence[Record], faults: list[Fault], *, ordered: bool) -> tuple[str, Record | None]:
    """The run's status (``started`` while it may go on) and the record that says so.

    Behind the end only what settles open effects is legal: evidence, approvals, retractions, and a lease claimed for
    resolution with its outcomes. A ``failed`` run goes on where a new lease takes it up.
    """
    status, said = "started", None
    resolving = False
    for record in chain:
        if ordered and said is not None and status in ENDED:
            if _claims(record):
                resolving = record.value.get("purpose") == "resolution"
            settles = record.kind in {"evidence", "approval", "retract"} or (resolving and _resolves(record))
            seals = record.kind == "run" and record.value.get("status") == "sealed"
            if not settles and not seals:
                message = f"a {record.kind} record after the run was {status}"
                faults.append(Fault("SP307", message, place=record.place))
                continue
        if record.kind == "run" and record.value.get("status") not in {"started", "cancelRequested"}:
            status, said = str(record.value["status"]), record
        elif status == "failed" and _takes_up(record):
            status, said = "started", None
    return status, said


def _takes_up(record: Record) -> bool:
    return _claims(record) and record.value.get("purpose") != "resolution"


def _resolves(record: Record) -> bool:
    return record.kind == "lease" or (
        record.kind == "ledger" and record.value.get("status") not in {"planned", "attempting"}
    )
