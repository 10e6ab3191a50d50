"""Checkpoints and artifacts hidden from every reader, and on request the bytes of the artifacts deleted.

Decided here: which bytes may go, by what they hold and not by what they are called: those that nothing names which
readers still see (SPEC.md#retracting). Not decided here: how a record is appended (``recorder``), and what the guard
makes of a run whose newest checkpoint is hidden.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safepoint.model.run import Run
from safepoint.reader import Scan
from safepoint.reader.artifacts import NOWHERE, hidden_ids, locate
from safepoint.recorder.approvals import open_unowned
from safepoint.recorder.errors import PutAway
from safepoint.recorder.log import Clock
from safepoint.rules.timeline import artifact_references
from safepoint.store import Store
from safepoint.store.layout import parse_key
from safepoint.upkeep.ended import why_alive
from safepoint.upkeep.runs import load, require_writable, runs_of


class NotRetractedError(Exception):
    """Why nothing was retracted, nor deleted."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """What was retracted, and what became of the bytes."""

    run_id: str
    targets: tuple[str, ...]
    """What was asked for."""
    before: tuple[str, ...]
    """Those of the targets that had been retracted already."""
    sequence: int | None
    """Of the new ``retract`` record; None: there is none, as all was retracted already, or it was only tried."""
    also: tuple[str, ...]
    """What the targets hide besides what was asked for, in words."""
    deleted: tuple[str, ...]
    """Keys of the artifacts that were deleted, or would be."""
    kept: Mapping[str, str]
    """Artifact ids, or keys, whose bytes were to be deleted and were not, each with the reason."""
    dry_run: bool = False

    @property
    def whole(self) -> bool:
        """Whether all that was asked for was done."""
        return not self.kept


def retract(
    store: Store,
    run_id: str,
    *,
    checkpoints: Sequence[str] = (),
    artifacts: Sequence[str] = (),
    by: str,
    reason: str,
    delete_artifacts: bool = False,
    dry_run: bool = False,
    clock: Clock = time.time_ns,
) -> Retraction:
    """Hide checkpoints and artifacts of a run, whether or not it has ended.

    What was interrupted is finished the next time: what is retracted already is not retracted again.

    Args:
        store: where the run is.
        run_id: the run.
        checkpoints: ids of checkpoints.
        artifacts: ids of artifacts.
        by: who retracts.
        reason: why, for a human.
        delete_artifacts: delete the bytes that nothing visible names any more.
        dry_run: only say what would be done.
        clock: nanoseconds since the Unix epoch.

    Raises:
        NotRetractedError: it must not be; nothing was written.
        PutAway: the run was packed or deleted meanwhile; the message says whether anything was written.
        RecorderError: the record could not be appended.
        AbsentError: the store has no such run.
        UnsupportedError: the store cannot be written to safely.
        StoreError: the storage failed; the next time goes on.
    """
    require_writable(store)
    [run_id] = runs_of(store, [run_id])
    run = _readable(load(store, run_id), run_id)
    targets = tuple(dict.fromkeys((*checkpoints, *artifacts)))
    also = _require_known(run, checkpoints, artifacts)
    hidden = hidden_ids(run)
    new = [target for target in targets if target not in hidden]
    _require_no_way_on(run, new, clock())
    if not run.claimable:
        raise NotRetractedError(
            f"run {run_id}: its records do not lie as objects, so that none can be added; where they were packed, "
            f"unpack them first: safepoint unpack {store.url} --run {run_id}"
        )
    journal = open_unowned(store, run_id, clock)
    members = {"recordType": "retract", "targets": new, "reason": reason, "by": by}
    sequence = None
    if new:
        # also where it is only tried: what no record can hold is better known before
        journal.draft({**members, "leaseEpoch": 0})
    if new and not dry_run:
        sequence = journal.append_unowned(members).sequence
        run = _still_there(load(store, run_id), run_id, sequence)
    gone: tuple[str, ...] = ()
    kept: dict[str, str] = {}
    if delete_artifacts:
        gone, kept = _bytes_of(store, run, targets, frozenset(new) if dry_run else frozenset(), clock())
        for key in () if dry_run else gone:
            store.delete(key)
    before = tuple(target for target in targets if target in hidden)
    return Retraction(run_id, targets, before, sequence, also, gone, kept, dry_run)


def _readable(found: Scan, run_id: str) -> Run:
    run = found.run
    if run is None or not (run.records or run.deleted):
        raise NotRetractedError(f"run {run_id}: none of its records can be read")
    if run.deleted is not None:
        raise NotRetractedError(f"run {run_id} was deleted; there is nothing left to retract")
    return run


def _still_there(found: Scan, run_id: str, sequence: int | None) -> Run:
    """The run with its new record, of which nobody may say any more that nothing was changed."""
    if found.run is None or found.run.deleted is not None:
        raise PutAway(
            f"run {run_id}: all was retracted with record {sequence}, and the run was deleted right after"
        )
    return found.run


def _require_known(run: Run, checkpoints: Sequence[str], artifacts: Sequence[str]) -> tuple[str, ...]:
    """What the targets hide besides what was asked for; raises where one of them is not there."""
    points = {str(record.value["checkpointId"]) for record in (*run.checkpoints, *run.retracted)}
    named = {str(reference["artifactId"]) for _, _, reference in artifact_references(run)}
    for noun, asked, there in (("checkpoint", checkpoints, points), ("artifact", artifacts, named)):
        if unknown := [target for target in asked if target not in there]:
            listed = ", ".join(sorted(there)) or "none"
            raise NotRetractedError(f"run {run.run_id} has no {noun} {unknown[0]}; its {noun}s are: {listed}")
    return (
        *(
            f"the artifact {name}, which bears the id of the checkpoint"
            for name in checkpoints
            if name in named
        ),
        *(
            f"the checkpoint {name}, which bears the id of the artifact"
            for name in artifacts
            if name in points
        ),
    )


def _require_no_way_on(run: Run, new: Sequence[str], now: int) -> None:
    """Raise where an owner who may be alive would take its next step from what is to be hidden."""
    newest = {str(record.value["checkpointId"]) for record in run.newest_checkpoints}
    why = why_alive(run, now)
    if why and (held := [target for target in new if target in newest]):
        wait = (
            "let the run end"
            if run.ownership is None
            else "wait until the lease has lapsed, or let the run end"
        )
        raise NotRetractedError(
            f"{held[0]} is the newest checkpoint of run {run.run_id}, and {why}: its worker would go on from what is "
            f"hidden; {wait}"
        )


def _bytes_of(
    store: Store, run: Run, targets: Sequence[str], more: frozenset[str], now: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The keys of artifacts that may be deleted, and why what the targets hide may not.

    Args:
        store: where the run is.
        run: as it is with the retraction, or without it where it is only tried.
        targets: what was asked for.
        more: ids that would be hidden too.
        now: nanoseconds since the Unix epoch.
    """
    hidden = more | hidden_ids(run)
    asked: dict[str, str] = {}
    """Keys, each with an artifact that the targets hide."""
    kept: dict[str, str] = {}
    seen: dict[str, str] = {}
    """Keys and digests of what readers still see, each with its artifact."""
    vague = ""
    """An artifact that readers still see, and of which nobody knows which bytes it has."""
    for record, _, reference in artifact_references(run):
        name, checkpoint = str(reference["artifactId"]), str(record.value.get("checkpointId"))
        key = _key(store, run, reference)
        if not {name, checkpoint} & hidden:
            digest = reference.get("digest")
            vague = vague if key or digest else name
            seen |= {mark: name for mark in (key and _spelled(key), digest) if mark is not None}
        elif {name, checkpoint} & set(targets):
            if key is None:
                kept[name] = "its bytes lie elsewhere, or nobody knows where"
            elif (found := parse_key(key)) is None or found.log != "artifact" or found.run_id != run.run_id:
                kept[name] = f"{key} is not named by its content: others may use it"
            else:
                asked[key] = name
    why = _why_none(run, now)
    gone = []
    for key, name in asked.items():
        user = seen.get(_spelled(key)) or seen.get(f"sha256:{key.rpartition('/')[2]}")
        if user is not None:
            kept[name] = f"the artifact {user}, which is not retracted, has the same bytes"
        elif vague:
            kept[name] = f"the artifact {vague}, which is not retracted, may have the same: it has no digest"
        elif why:
            kept[name] = why
        elif store.exists(key):
            gone.append(key)
    return tuple(gone), kept


def _key(store: Store, run: Run, reference: Mapping[str, Any]) -> str | None:
    """The key of the bytes in the run's own store; None where they are not there, as far as the record says."""
    place = locate(store, run.run_id, reference, NOWHERE)
    return place.key if place is not None and place.store is store else None


def _spelled(key: str) -> str:
    """One spelling for what some storage takes for one name: letters of either case, and slashes that repeat."""
    return "/".join(filter(None, key.casefold().split("/")))


def _why_none(run: Run, now: int) -> str:
    """Why no bytes of the run may be deleted now; empty where they may."""
    if run.unread:
        return f"{run.unread[0].name} cannot be read, and may name the same bytes"
    if why := why_alive(run, now):
        return (
            f"{why}: a worker may be writing a record that names the same bytes; try again when none can be"
        )
    return ""
