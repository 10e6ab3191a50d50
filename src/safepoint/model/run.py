"""A run: everything that its records say, folded once, for rules, guard, metrics and display alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from safepoint.core.fault import Fault
from safepoint.model import checkpoints as checkpoint_chain
from safepoint.model.action import Action
from safepoint.model.approvals import Approval, fold_approvals
from safepoint.model.episodes import Episode, fold_episodes
from safepoint.model.journal import Head, Level, Ownership, Unread, ends, level_of, order, own
from safepoint.model.ledger import fold_ledger
from safepoint.model.record import Record


@dataclass(frozen=True, slots=True)
class Run:
    """One run, folded."""

    run_id: str
    level: Level
    records: tuple[Record, ...]
    """Journal order at levels Journal and Fenced; as their times suggest at level Records."""
    recovery: tuple[Record, ...]
    """The recovery log, in its own order."""
    head: Head
    """The journal's last record."""
    status: str
    """``started`` while it may go on, else ``completed``, ``failed``, ``cancelled`` or ``sealed``."""
    ended_by: Record | None
    cancel_requested: Record | None
    """The wish to stop, while no terminal record answered it."""
    checkpoints: tuple[Record, ...]
    """In order; retracted ones are left out."""
    actions: Mapping[str, Action]
    approvals: Mapping[str, Approval]
    episodes: Mapping[str, Episode]
    ownership: Ownership | None
    faults: tuple[Fault, ...]
    """What the fold found wrong across records."""
    unread: tuple[Unread, ...]
    """Texts of this run that are no readable records; each carries its own faults."""
    claimable: bool
    """Whether the journal lies as numbered objects, so that a claim can win or lose its place."""

    @property
    def newest_checkpoint(self) -> Record | None:
        """The last checkpoint of the branch that the newest lease works on."""
        branch = self.branch
        on_branch = [c for c in self.checkpoints if (c.value.get("branch") or None) == branch]
        return on_branch[-1] if on_branch else (self.forked_from or None)

    @property
    def branch(self) -> str | None:
        """The branch of the newest lease that names one; None is the first, unnamed branch."""
        return (self.ownership.lease.value.get("branch") or None) if self.ownership else None

    @property
    def forked_from(self) -> Record | None:
        """The checkpoint that the newest lease's branch began at."""
        origin = (self.ownership.lease.value.get("forkFrom") or {}) if self.ownership else {}
        wanted = origin.get("checkpointId")
        return (
            next((c for c in self.checkpoints if c.value["checkpointId"] == wanted), None) if wanted else None
        )

    @property
    def open_actions(self) -> tuple[Action, ...]:
        """Actions of which nobody can say yet how they ended."""
        return tuple(action for action in self.actions.values() if action.open)

    def checkpoint(self, checkpoint_id: str) -> Record | None:
        """The checkpoint of that id, or None."""
        return next((c for c in self.checkpoints if c.value["checkpointId"] == checkpoint_id), None)


def fold(
    run_id: str,
    records: Iterable[Record],
    *,
    recovery: Sequence[Record] = (),
    beats: Iterable[tuple[int, str, int]] = (),
    unread: Sequence[Unread] = (),
    claimable: bool = False,
) -> Run:
    """Fold `records` of one run, in whatever order they come.

    Args:
        run_id: whose records these are.
        records: all but the recovery log's; equal records may come twice (a mirror) and count once.
        recovery: the recovery log's records.
        beats: epoch, nonce and time in nanoseconds of each heartbeat object.
        unread: the texts of this run that could not be read.
        claimable: whether the journal lies as numbered objects.
    """
    faults: list[Fault] = []
    everything = _once(records)
    level = level_of(everything)
    ordered = level is not Level.RECORDS
    if ordered:
        for record in everything:
            if record.sequence is None:
                message = "a record without sequence beside numbered ones: its place in the order is unknown"
                faults.append(Fault("SP313", message, place=record.place))
        journal = order(everything, unread, "journal", faults)
    else:
        journal = sorted(everything, key=lambda record: record.created or 0)
    whole = ordered and not unread and not any(fault.code == "SP301" for fault in faults)
    if ordered and journal[0].sequence == 1 and journal[0].kind != "run":
        faults.append(Fault("SP312", "the journal does not begin with a run record", place=journal[0].place))
    ownership = own(journal, beats, faults) if ordered else None
    status, ended_by = ends(journal, faults)
    actions = fold_ledger(
        [record for record in journal if record.kind in {"ledger", "evidence"}],
        ordered=ordered,
        faults=faults,
    )
    retracted = {str(t) for r in journal if r.kind == "retract" for t in r.value.get("targets", ())}
    all_checkpoints = checkpoint_chain.chain(
        [record for record in journal if record.kind == "checkpoint"],
        _branches(journal),
        faults,
        whole=whole,
    )
    if ordered:
        faults.extend(checkpoint_chain.disagreements(all_checkpoints, actions))
    approvals = fold_approvals([record for record in journal if record.kind == "approval"], faults)
    recovery_log = order(_once(recovery), unread, "recovery", faults) or list(recovery)
    episodes = fold_episodes(recovery_log, faults)
    wishes = [r for r in journal if r.kind == "run" and r.value.get("status") == "cancelRequested"]
    return Run(
        run_id=run_id,
        level=level,
        records=tuple(journal),
        recovery=tuple(recovery_log),
        head=Head(journal[-1].sequence, journal[-1].digest) if ordered and journal else Head(None, None),
        status=status,
        ended_by=ended_by,
        cancel_requested=wishes[-1] if wishes and status == "started" else None,
        checkpoints=tuple(c for c in all_checkpoints if c.value["checkpointId"] not in retracted),
        actions=actions,
        approvals=approvals,
        episodes=episodes,
        ownership=ownership,
        faults=tuple(faults),
        unread=tuple(unread),
        claimable=claimable,
    )


def _once(records: Iterable[Record]) -> list[Record]:
    """Equal bytes are one record, however many files hold it."""
    return list({(record.digest, record.sequence): record for record in records}.values())


def _branches(journal: Iterable[Record]) -> dict[str, str]:
    forks = (r.value for r in journal if r.kind == "lease" and r.value.get("forkFrom"))
    return {str(value.get("branch") or ""): str(value["forkFrom"]["checkpointId"]) for value in forks}
