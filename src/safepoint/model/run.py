"""A run: everything that its records say, folded once, for rules, guard, metrics and display alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from safepoint.core.fault import Fault
from safepoint.model import checkpoints as checkpoint_chain
from safepoint.model.action import Action
from safepoint.model.approvals import Approval, fold_approvals, gravest_last
from safepoint.model.episodes import Episode, fold_episodes
from safepoint.model.journal import Head, Level, Ownership, Unread, ends, level_of, order, own
from safepoint.model.ledger import fold_ledger
from safepoint.model.origin import contents_of, seal_faults, shortfalls
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
    """``started`` while it may go on, else ``completed``, ``failed``, ``cancelled`` or ``sealed``; or ``deleted``."""
    ended_by: Record | None
    cancel_requested: Record | None
    """The wish to stop, while no terminal record answered it."""
    checkpoints: tuple[Record, ...]
    """In order; retracted ones are left out."""
    retracted: tuple[Record, ...]
    """Checkpoints that a ``retract`` record hides."""
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
    deleted: Record | None = None
    """The document that says that the run was deleted on purpose; then nothing else of it is looked at."""
    origin: Record | None = None
    """The document that says that the run is a copy, and of what."""
    seal: Record | None = None
    """The document that says that its original was sealed, where it counts."""

    @property
    def newest_checkpoints(self) -> tuple[Record, ...]:
        """The last checkpoint of the branch that the newest lease works on; several where no order tells."""
        on_branch = [c for c in self.checkpoints if (c.value.get("branch") or None) == self.branch]
        if not on_branch and self.forked_from:
            return (self.forked_from,)
        return checkpoint_chain.newest(on_branch, ordered=self.level is not Level.RECORDS)

    @property
    def newest_checkpoint(self) -> Record | None:
        """The first of `newest_checkpoints`; equal input gives the same one."""
        return next(iter(self.newest_checkpoints), None)

    @property
    def branch(self) -> str | None:
        """The branch that the newest lease works on; None is the first, unnamed one."""
        return (self.ownership.lease.value.get("branch") or None) if self.ownership else None

    @property
    def fork(self) -> Record | None:
        """The lease that declared `branch`; None on the first branch."""
        leases = self.ownership.leases if self.ownership and self.branch is not None else ()
        declared = (x for x in leases if x.value.get("forkFrom") and x.value.get("branch") == self.branch)
        return next(declared, None)

    @property
    def forked_from(self) -> Record | None:
        """The checkpoint that `branch` began at."""
        return self.checkpoint(str(self.fork.value["forkFrom"]["checkpointId"])) if self.fork else None

    @property
    def next_branch(self) -> str:
        """What a fork is called that the next claim declares: by its epoch, and never as a branch that there is."""
        name = f"branch-{(self.ownership.epoch if self.ownership else 0) + 1}"
        taken = {
            record.value.get("branch") for record in self.records if record.kind in {"lease", "checkpoint"}
        }
        numbers = (f"{name}-{number}" for number in count(2))
        return next(free for free in chain((name,), numbers) if free not in taken)

    @property
    def workflow(self) -> str | None:
        """What the run was started as, which a policy's overrides go by."""
        first = next((record.value for record in self.records if record.kind == "run"), {})
        name: str | None = first.get("workflow")
        return name

    @property
    def open_actions(self) -> tuple[Action, ...]:
        """Actions of which nobody can say yet how they ended."""
        return tuple(action for action in self.actions.values() if action.open)

    @property
    def roll_back_begun(self) -> bool:
        """Whether anything was undone, or is to be: then the run never goes forward again."""
        return any(
            action.status in {"compensating", "compensated", "compensationFailed"}
            or (action.compensates is not None and action.status != "cancelled")
            for action in self.actions.values()
        )

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
    origin: Record | None = None,
    seal: Record | None = None,
) -> Run:
    """Fold `records` of one run, in whatever order they come.

    Args:
        run_id: whose records these are.
        records: all but the recovery log's; equal records may come twice (a mirror) and count once.
        recovery: the recovery log's records.
        beats: epoch, nonce and time in nanoseconds of each heartbeat object.
        unread: the texts of this run that could not be read.
        claimable: whether the journal lies as numbered objects.
        origin: the document that says that the run is a copy.
        seal: the one that says that its original was sealed.
    """
    faults: list[Fault] = []
    everything = _once(records)
    level = level_of(everything)
    ordered = level is not Level.RECORDS
    journal = _journal(everything, unread, faults) if ordered else sorted(everything, key=_when)
    of_kind = _by_kind(journal)
    ownership = own(journal, beats, faults) if ordered else None
    status, ended_by = ends(journal, faults, ordered=ordered)
    effects = [record for record in journal if record.kind in {"ledger", "evidence"}]
    actions = fold_ledger(effects, ordered=ordered, faults=faults)
    whole = ordered and not unread and not any(fault.code == "SP301" for fault in faults)
    checkpoints = checkpoint_chain.chain(of_kind["checkpoint"], faults, whole=whole)
    if ordered:
        faults.extend(checkpoint_chain.undeclared_branches(journal))
        faults.extend(checkpoint_chain.disagreements(checkpoints, actions))
    questions = of_kind["approval"] if ordered else sorted(of_kind["approval"], key=gravest_last)
    approvals = fold_approvals(questions, faults)
    recovery_log = _recovery(_once(recovery), unread, faults)
    episodes = fold_episodes(recovery_log, faults)
    if origin is not None:
        faults.extend(shortfalls(origin, contents_of(everything, recovery, unread)))
    if seal is not None:
        hidden = any(text.log == "origin" for text in unread)
        if doubts := list(seal_faults(seal, origin, hidden=hidden)):
            faults.extend(doubts)
        if doubts or origin is None:
            seal = None
    wishes = [record for record in of_kind["run"] if record.value.get("status") == "cancelRequested"]
    retracted = {str(target) for record in of_kind["retract"] for target in record.value.get("targets", ())}
    return Run(
        run_id=run_id,
        level=level,
        records=tuple(journal),
        recovery=tuple(recovery_log),
        head=Head(journal[-1].sequence, journal[-1].digest) if ordered else Head(None, None),
        status=status,
        ended_by=ended_by,
        cancel_requested=wishes[-1] if wishes and status in {"started", "failed"} else None,
        checkpoints=tuple(c for c in checkpoints if c.value["checkpointId"] not in retracted),
        retracted=tuple(c for c in checkpoints if c.value["checkpointId"] in retracted),
        actions=actions,
        approvals=approvals,
        episodes=episodes,
        ownership=ownership,
        faults=tuple(faults),
        unread=tuple(unread),
        claimable=claimable,
        origin=origin,
        seal=seal,
    )


def deleted_run(run_id: str, marker: Record) -> Run:
    """A run that was deleted: whatever may still lie beside the `marker` that says so is no longer a run."""
    return replace(fold(run_id, ()), status="deleted", deleted=marker)


def fold_around(run_id: str, records: Sequence[Record], recovery: Sequence[Record]) -> Run:
    """A run as far as its recovery log speaks of it, where its journal is known to be whole, fenced and sound.

    Args:
        run_id: whose records these are.
        records: the run, lease and checkpoint records of the journal, in its order.
        recovery: the recovery log's records.
    """
    faults: list[Fault] = []
    of_kind = _by_kind(records)
    log = _recovery(_once(recovery), (), faults)
    status, ended_by = ends(records, faults, ordered=True)
    return Run(
        run_id=run_id,
        level=Level.FENCED,
        records=tuple(records),
        recovery=tuple(log),
        head=Head(records[-1].sequence, records[-1].digest),
        status=status,
        ended_by=ended_by,
        cancel_requested=None,
        checkpoints=tuple(of_kind["checkpoint"]),
        retracted=(),
        actions={},
        approvals={},
        episodes=fold_episodes(log, faults),
        ownership=own(records, (), faults),
        faults=tuple(faults),
        unread=(),
        claimable=False,
    )


def _journal(everything: Sequence[Record], unread: Sequence[Unread], faults: list[Fault]) -> list[Record]:
    for record in everything:
        if record.sequence is None:
            message = "a record without sequence beside numbered ones: its place in the order is unknown"
            faults.append(Fault("SP313", message, place=record.place))
    journal = order(everything, unread, "journal", faults)
    if journal[0].sequence == 1 and journal[0].kind != "run":
        faults.append(Fault("SP312", "the journal does not begin with a run record", place=journal[0].place))
    return journal


def _recovery(records: Sequence[Record], unread: Sequence[Unread], faults: list[Fault]) -> list[Record]:
    """The recovery log in its order; entries without a number come last, and beside numbered ones are a fault."""
    numbered = order(records, unread, "recovery", faults)
    loose = sorted((record for record in records if record.sequence is None), key=_when)
    if numbered:
        for record in loose:
            message = "a recovery record without sequence beside numbered ones"
            faults.append(Fault("SP313", message, place=record.place))
    return numbered + loose


def _when(record: Record) -> tuple[int, str]:
    return (record.created or 0, record.digest)


def _by_kind(journal: Iterable[Record]) -> defaultdict[str, list[Record]]:
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for record in journal:
        found[record.kind].append(record)
    return found


def _once(records: Iterable[Record]) -> list[Record]:
    """Equal bytes are one record, however many files hold it."""
    return list({(record.digest, record.sequence): record for record in records}.values())
