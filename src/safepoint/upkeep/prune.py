"""Runs that ended long ago, deleted: all but a document that says so.

Decided here: which runs may go, that ``deleted.json`` is written before anything is removed, and that only what was
known when it was written is removed (SPEC.md#pruning). Not decided here: what a closed run is (``ended``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from safepoint import schemas
from safepoint.core.digest import encode_record
from safepoint.core.kind import Identity
from safepoint.core.strictjson import parse
from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT, V3
from safepoint.model.run import Run
from safepoint.reader import Scan, load_run
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.layout import (
    deleted_key,
    journal_key,
    order,
    parse_key,
    recovery_key,
    run_ids,
    run_prefix,
)
from safepoint.upkeep.ended import (
    Change,
    last_written,
    load,
    put,
    require_writable,
    runs_of,
    why_at_work,
    why_open,
    why_unsound,
)

_FIRST = ("journal", "recovery", "lines", "loose", "heartbeat", "artifact")
"""In which order the objects go: without record 1 nobody can append any more, nor take the rest for the whole."""


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
    for run_id in runs_of(store, runs):
        found = load(store, run_id)
        change = _judge(found, run_id, closed_before, now)
        if change is not None:
            yield change
        elif found.run is not None and found.run.deleted is not None:
            yield _finish(store, run_id, found.run.deleted.value, dry=dry_run)
        else:
            waiting[run_id] = Change(run_id, "would", "it would be deleted", _counts(store, found.run))
    needed = _needed(store, waiting, now) if waiting else {}
    for run_id, change in waiting.items():
        if children := needed.get(run_id):
            yield Change(
                run_id, "left", f"its child {', '.join(children)} is not closed, and names it as its parent"
            )
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
        return Change(run_id, "passed", why)
    if why := why_unsound(found):
        return Change(run_id, "left", why)
    assert run is not None
    if last_written(run) >= before:
        return Change(run_id, "passed", "its newest record is not that old")
    if why := why_open(run, now):
        return Change(run_id, "left", why)
    if unknown := next((f.place.key for f in found.faults if f.code == "SP005" and f.place), None):
        return Change(run_id, "left", f"{unknown} is nothing that a run holds: move it elsewhere first")
    return None


def _needed(store: Store, chosen: Iterable[str], now: int) -> Mapping[str, list[str]]:
    """Of the runs that are to go those that a child needs, which is not closed; each with such children."""
    parents = frozenset(chosen)
    children: defaultdict[str, list[str]] = defaultdict(list)
    for run_id in run_ids(store):
        parent = _parent(store, run_id)
        if parent in parents:
            run = load(store, run_id).run
            if run is not None and run.deleted is None and (run.unread or why_open(run, now)):
                children[parent].append(run_id)
    return children


def _parent(store: Store, run_id: str) -> str | None:
    """The run that this one's first record names as its parent, where that can be read."""
    value: Any = None
    try:
        value, _ = parse(store.get(journal_key(run_id, 1)))
    except AbsentError:  # packed, deleted, or no journal
        with suppress(AbsentError):
            run = load_run(store, run_id).run
            value = run.records[0].value if run and run.records else None
    except StoreError:
        return None
    named = value.get("parentRunId") if isinstance(value, Mapping) else None
    return named if isinstance(named, str) else None


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
    heads = marker["heads"]
    highest = {log: int(heads[log]["sequence"]) for log in ("journal", "recovery")}
    keys = [entry.key for entry in store.list(run_prefix(run_id))]
    logs = {key: name.log if (name := parse_key(key)) else None for key in keys}
    keys = [key for key in keys if logs[key] != "deleted"]
    # a listing may be stale: the next name decides
    following = [journal_key(run_id, highest["journal"] + 1), recovery_key(run_id, highest["recovery"] + 1)]
    late = [key for key in keys if _number(key) > highest.get(str(logs[key]), _number(key))]
    if late := late or [key for key in following if store.exists(key)]:
        message = f"{late[0]} was written after it was marked as deleted; nothing of it is removed"
        return Change(run_id, "left", message)
    unknown = [key for key in keys if logs[key] not in _FIRST]
    counts = {**marker["counts"], "objects": len(keys) - len(unknown)}
    if dry:
        return Change(run_id, "would", "its deletion would be finished", counts)
    for key in sorted(set(keys) - set(unknown), key=lambda key: (_FIRST.index(str(logs[key])), order(key))):
        store.delete(key)
    if unknown:
        message = f"all was removed but {unknown[0]}, which is nothing that a run holds"
        return Change(run_id, "left", message, counts)
    return Change(run_id, "done", "deleted", counts)


def _number(key: str) -> int:
    name = parse_key(key)
    return name.number or 0 if name else 0
