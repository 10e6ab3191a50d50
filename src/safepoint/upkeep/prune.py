"""Runs that ended long ago, deleted: all but a document that says so.

Decided here: which runs may go, that ``deleted.json`` is written before anything is removed, and in which order that
goes (SPEC.md#pruning). Not decided here: what a closed run is (``ended``), who needs it (``children``), and whether
what lies beside that document is what it speaks of (``remains``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint import schemas
from safepoint.core.digest import encode_record
from safepoint.core.kind import Identity
from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT, V3
from safepoint.model.run import Run
from safepoint.reader import Scan
from safepoint.store import Store
from safepoint.store.copying import put
from safepoint.store.layout import deleted_key, parse_key, run_prefix
from safepoint.upkeep.children import Children
from safepoint.upkeep.ended import at_work, last_written, why_at_work, why_open, why_unsound
from safepoint.upkeep.remains import in_order, why_not_removed
from safepoint.upkeep.runs import Change, load, require_writable, runs_of

_FIRST = ("lines", "loose", "journal", "recovery", "heartbeat", "artifact", "seal", "origin")
"""In which order the objects go. What is left of a log always ends with its head, so that anybody can tell whose it is:
a file may hold only the beginning, and numbered records go from 1 upwards."""


def prune(
    store: Store,
    *,
    closed_before: int,
    now: int,
    by: str,
    reason: str | None = None,
    runs: Sequence[str] = (),
    dry_run: bool = False,
) -> Iterator[Change]:
    """Delete the runs that are closed, and whose newest record is older than `closed_before`.

    A deletion that was interrupted is finished, whoever began it; two at once do the same.

    Args:
        store: where they are.
        closed_before: nanoseconds since the Unix epoch.
        now: the same.
        by: who deletes, for ``deleted.json``.
        reason: why, for a human.
        runs: which; empty: all.
        dry_run: only say what would be done.

    Raises:
        ValueError: `by` or `reason` does not fit the format.
        AbsentError: one of `runs` is not there; nothing was done.
        UnsupportedError: the store cannot be written to safely.
        StoreError: the storage failed; the next time goes on.
    """
    _require_fitting(by, reason)
    require_writable(store)
    waiting: dict[str, Change] = {}
    """Runs that are to go, unless a child of them is still at work."""
    children = Children(store, now)
    for run_id in runs_of(store, runs):
        found = load(store, run_id)
        children.add(found)
        change = _judge(found, run_id, closed_before, now)
        if change is not None:
            yield change
        elif found.run is not None and found.run.deleted is not None:
            yield _finish(store, run_id, found.run.deleted.value, dry=dry_run)
        else:
            waiting[run_id] = Change(run_id, "would", "it would be deleted", _counts(store, found.run))
    if waiting:
        children.look_at_the_rest()
    for run_id, change in waiting.items():
        if why := children.why_needed(run_id):
            yield Change(run_id, "left", why)
        elif dry_run:
            yield change
        else:
            yield _delete(store, run_id, closed_before, now, by, reason)


def _require_fitting(by: str, reason: str | None) -> None:
    zeros = {"sequence": 1, "digest": "sha256:" + "0" * 64}
    sample = _marker("run", 0, by, reason, "completed", format_time(0), (zeros, zeros), {})
    members = {"by": "by", "reason": "reason"}
    for fault in schemas.check(Identity("deleted", V3), sample):
        if named := members.get(fault.pointer[1:]):
            raise ValueError(f"{named}: {fault.message}")
    encode_record(sample)


def _judge(found: Scan, run_id: str, before: int, now: int) -> Change | None:
    """Why a run is not deleted; None where it may be, or where its deletion has begun."""
    run = found.run
    if run is not None and run.deleted is not None:
        unfinished = any(fault.code == "SP010" for fault in found.faults)
        return None if unfinished else Change(run_id, "already", "it was deleted")
    if run is not None and not run.unread and (why := why_at_work(run, now)):
        return Change(run_id, "passed", why, brief=at_work(run))
    if why := why_unsound(found):
        return Change(run_id, "left", why)
    assert run is not None
    if last_written(run) >= before:
        return Change(run_id, "passed", "its newest record is not that old", brief="not that old")
    if why := why_open(run, now):
        return Change(run_id, "left", why)
    if unknown := next((f.place.key for f in found.faults if f.code == "SP005" and f.place), None):
        return Change(run_id, "left", f"{unknown} is nothing that a run holds: move it elsewhere first")
    return None


def _delete(store: Store, run_id: str, before: int, now: int, by: str, reason: str | None) -> Change:
    # judged again: between the first look and this one the other runs were looked at
    found = load(store, run_id)
    if (change := _judge(found, run_id, before, now)) is not None:
        return change
    run = found.run
    assert run is not None
    if run.deleted is not None:
        return _finish(store, run_id, run.deleted.value, dry=False)
    assert run.ended_by is not None
    last = next((record for record in reversed(run.recovery) if record.sequence is not None), None)
    heads = (
        {"sequence": run.head.sequence, "digest": run.head.digest},
        {"sequence": last.sequence if last else 0, "digest": last.digest if last else None},
    )
    ended = str(run.ended_by.value["createdAt"])
    marker = _marker(run_id, now, by, reason, run.status, ended, heads, _counts(store, run))
    if not put(store, deleted_key(run_id), encode_record(marker)):
        # another process was faster: what it wrote counts
        other = load(store, run_id).run
        if other is None or other.deleted is None:
            return Change(
                run_id, "left", f"{deleted_key(run_id)} is there, and does not say that it was deleted"
            )
        marker = dict(other.deleted.value)
    return _finish(store, run_id, marker, dry=False)


def _marker(
    run_id: str,
    now: int,
    by: str,
    reason: str | None,
    status: str,
    ended: str,
    heads: tuple[Mapping[str, Any], Mapping[str, Any]],
    counts: Mapping[str, int],
) -> dict[str, Any]:
    return {
        "recordType": "deleted",
        "schemaVersion": str(CURRENT),
        "runId": run_id,
        "deletedAt": format_time(now),
        "by": by,
        "reason": reason,
        "status": status,
        "endedAt": ended,
        "heads": {"journal": heads[0], "recovery": heads[1]},
        "counts": {name: counts.get(name, 0) for name in ("records", "checkpoints", "actions", "artifacts")},
    }


def _counts(store: Store, run: Run | None) -> dict[str, int]:
    if run is None:
        return {}
    names = [parse_key(entry.key) for entry in store.list(run_prefix(run.run_id))]
    return {
        "records": len(run.records) + len(run.recovery),
        "checkpoints": len(run.checkpoints) + len(run.retracted),
        "actions": len(run.actions),
        "artifacts": sum(name is not None and name.log == "artifact" for name in names),
    }


def _finish(store: Store, run_id: str, marker: Mapping[str, Any], *, dry: bool) -> Change:
    """Remove what lies beside ``deleted.json``."""
    entries = [entry for entry in store.list(run_prefix(run_id)) if entry.key != deleted_key(run_id)]
    if why := why_not_removed(store, run_id, marker, entries):
        return Change(run_id, "left", f"{why}; nothing of it is removed")
    going = in_order((entry.key for entry in entries), _FIRST)
    unknown = sorted({entry.key for entry in entries} - set(going))
    counts = {**marker["counts"], "objects": len(going)}
    if dry:
        return Change(run_id, "would", "its deletion would be finished", counts)
    for key in going:
        store.delete(key)
    if unknown:
        message = f"all was removed but {unknown[0]}, which is nothing that a run holds"
        return Change(run_id, "left", message, counts)
    return Change(run_id, "done", "deleted", counts)
