"""A whole store in another version, written to a new place.

Decided here: what is migrated, what is copied as bytes and what is left behind; that nothing is written
before all can be; that nothing is overwritten, so that a run that was interrupted goes on where it stopped
and two at once write the same. Not decided here: how one record migrates (``engine``).

The store is read twice, first to judge and then to write: to keep every result in between would not fit a
large store into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from safepoint.core.fault import Fault, Place
from safepoint.core.version import CURRENT, Version
from safepoint.migrate.engine import Migrated, migrate_lines, migrate_record
from safepoint.store import Store
from safepoint.store.copying import keys_of, overlap, put
from safepoint.store.layout import parse_key, run_prefix

_RECORDS = frozenset({"run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery"})
_NOT_A_RECORD = frozenset({"SP003", "SP116"})
_LOSSES = frozenset({"SP601", "SP605"})


@dataclass(frozen=True, slots=True)
class StoreReport:
    """What became of a store, or would have; the numbers count objects, whatever lies in them."""

    done: bool
    """Everything that can be in the target is there; False: nothing was written, or it stopped at a fault."""
    migrated: int
    copied: int
    """Objects that are in the target byte for byte."""
    dropped: int
    """Objects that hold only records of kinds that the target's version lacks."""
    left: int
    """Heartbeats: they say that the owner of the original lives, which a copy cannot."""
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class _Object:
    """What is to become of one object of the source."""

    fate: str
    """``migrated``, ``copied``, ``dropped``, ``left`` or ``refused``."""
    key: str = ""
    data: bytes = b""
    faults: tuple[Fault, ...] = ()


def migrate_store(source: Store, target: Store, to: Version, *, allow_loss: bool = False) -> StoreReport:
    """Every record of `source` as version `to` in `target`, which must be empty or hold a part of the same.

    `source` is never written to. Names stay, unless a record loses its place in a journal; so do the bytes
    of all that needs no change.

    Args:
        source: the store to read.
        target: where to write; by put-if-absent only.
        to: v1, v2 or v3.
        allow_loss: leave out the kinds that `to` lacks, and demands that its readers will not honour.

    Raises:
        StoreError: one of the two cannot be read, or the target cannot be written to safely.
    """
    if overlap(source.url, target.url):
        apart = Fault("SP604", "source and target lie in each other", place=Place(target.url))
        return _report(Counter(), [apart], done=False)
    fates, faults = _judge(source, target, to, allow_loss=allow_loss)
    lost = sum(fault.code in _LOSSES for fault in faults)
    if lost and not allow_loss:
        message = f"{lost} records or demands have no place in {to}: nothing was written"
        faults.append(Fault("SP601", message, place=Place(source.url)))
    if fates["refused"] or (lost and not allow_loss) or any(fault.code == "SP604" for fault in faults):
        return _report(fates, faults, done=False)
    for item in _objects(source, to, allow_loss=allow_loss):
        if item.fate == "refused":  # the source has changed since it was judged
            return _report(fates, [*faults, *item.faults], done=False)
        if item.key and not put(target, item.key, item.data):
            return _report(fates, [*faults, _taken(target, item.key)], done=False)
    return _report(fates, faults, done=True)


def _judge(
    source: Store, target: Store, to: Version, *, allow_loss: bool
) -> tuple[Counter[str], list[Fault]]:
    """The fates of all objects, and every reason not to begin."""
    fates: Counter[str] = Counter()
    faults: list[Fault] = []
    present = keys_of(target)
    for item in _objects(source, to, allow_loss=allow_loss):
        fates[item.fate] += 1
        faults += item.faults
        if item.key in present:
            present.remove(item.key)
            if target.get(item.key) != item.data:
                faults.append(_taken(target, item.key))
    return fates, faults + [_taken(target, key) for key in sorted(present)]


def _objects(source: Store, to: Version, *, allow_loss: bool) -> Iterator[_Object]:
    for entry in source.list():
        if entry.problem:
            place = Place(source.url, entry.key)
            outside = Fault("SP006", "leads out of the store; not read, so nothing is migrated", place=place)
            yield _Object("refused", faults=(outside,))
        else:
            yield _object(source, entry.key, to, allow_loss=allow_loss)


def _object(source: Store, key: str, to: Version, *, allow_loss: bool) -> _Object:
    name = parse_key(key)
    if name is not None and name.log == "heartbeat":
        return _Object("left")
    data = source.get(key)
    if name is None or name.log in {"artifact", "store"}:
        return _Object("copied", key, data)
    place = Place(source.url_of(key), key)
    if lines := key.endswith(".jsonl"):
        result = migrate_lines(data, to, allow_loss=allow_loss, place=place)
    else:
        one = migrate_record(data, to, allow_loss=allow_loss)
        result = replace(one, faults=tuple(fault.at(place) for fault in one.faults))
    if _is_foreign(result):
        return _Object("copied", key, data)
    if result.data is None:
        lacking = not lines and any(fault.code == "SP605" for fault in result.faults)
        return _Object("dropped" if lacking else "refused", faults=result.faults)
    if not result.data and data:  # JSON Lines of which no line is left
        return _Object("dropped", faults=result.faults)
    if not result.changed:
        return _Object("copied", key, data, result.faults)
    if name.log == "journal" and name.run_id is not None and to < CURRENT:
        # what has no sequence has no place in a journal's folder; the name still shows where it came from
        key = f"{run_prefix(name.run_id)}journal-{name.name}"
        if source.exists(key):
            taken = Fault(
                "SP604", "another object of the source has the name that this one would get", place=place
            )
            return _Object("refused", faults=(*result.faults, taken))
    return _Object("migrated", key, result.data, result.faults)


def _is_foreign(result: Migrated) -> bool:
    """Sound JSON that is no record: documents, and what others keep in the same folder."""
    if result.identity is not None:
        return result.identity.kind not in _RECORDS
    return result.data is None and all(fault.code in _NOT_A_RECORD for fault in result.faults)


def _taken(target: Store, key: str) -> Fault:
    message = "the target already holds this object, and it is not what this migration would write"
    return Fault("SP604", message, place=Place(target.url_of(key), key))


def _report(fates: Counter[str], faults: list[Fault], *, done: bool) -> StoreReport:
    counts = {name: fates[name] for name in ("migrated", "copied", "dropped", "left")}
    return StoreReport(done=done, faults=tuple(faults), **counts)
