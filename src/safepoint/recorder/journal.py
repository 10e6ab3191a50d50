"""The run's journal as its writer knows it: what was read, folded as it comes, and what may follow.

Decided here: who may append what, asked again after every lost number. The legal transitions themselves are the
model's; a record may follow exactly where folding it in finds nothing wrong with it.
Not decided here: how a number is won (``log``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND
from safepoint.model.action import Action
from safepoint.model.approvals import Approval, fold_approvals
from safepoint.model.journal import ENDED
from safepoint.model.ledger import fold_ledger
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder.errors import (
    CancelRequested,
    Fenced,
    IllegalRecord,
    InDoubt,
    PutAway,
    RecorderError,
    RunEnded,
    Unclear,
)
from safepoint.recorder.log import Build, Clock, Log, tries
from safepoint.store import Store, StoreError
from safepoint.store.layout import journal_key


class Journal(Log):
    """The one way in which this process writes to a run's journal."""

    def __init__(self, store: Store, run_id: str, *, nonce: str, clock: Clock) -> None:
        super().__init__(store, run_id, journal_key, nonce=nonce, clock=clock)
        self.epoch = 0
        """The epoch that this process claimed; 0: none."""
        self.actions: dict[str, Action] = {}
        self.approvals: dict[str, Approval] = {}
        self.artifacts: dict[str, str] = {}
        """Digests by the ids of the artifacts that checkpoints and results name."""
        self.retracted: set[str] = set()
        """Ids of checkpoints and artifacts that are hidden from readers."""
        self._naming: dict[str, set[str | None]] = {}
        """By the ids of artifacts the checkpoints that name them; None stands for results."""
        self.started: Record | None = None
        self.checkpoint: Record | None = None
        """The last one on this branch, or the one that it forked from."""
        self.last_ledger = 0
        """Sequence of the newest ledger record."""
        self.last_sign = 0
        """Time in nanoseconds of this owner's newest record or heartbeat."""
        self.wish_to_stop: Record | None = None
        """The newest ``cancelRequested``."""
        self.branch: str | None = None
        self._resumed_behind: str | None = None
        self._resolving = False
        self._seen_epoch = 0
        self._ttl = 0
        self._released = False
        self._ended: str | None = None
        self._ending = False
        self._checkpoints: dict[str, Record] = {}
        self._undone_by: dict[str, dict[str, None]] = {}
        self._of_action: dict[str, list[Record]] = {}
        self._of_approval: dict[str, list[Record]] = {}
        self._keys: dict[str, str] = {}

    @property
    def lapses_at(self) -> int:
        """When this owner's lease lapses by its own clock (others wait longer, for the skew), in nanoseconds."""
        return self.last_sign + self._ttl

    @property
    def held(self) -> bool:
        """Whether this process owns the run, its lease is live, and it has not tried to write the run's end."""
        owned = self.epoch > 0 and self._seen_epoch == self.epoch and not self._released
        return owned and not self._ending and self.clock() < self.lapses_at

    def _try(self, record: Record, data: bytes) -> bool:
        """As any record; an end that may be there, whatever the store answers, lets others put the run away."""
        self._ending = self._ending or (record.kind == "run" and record.value["status"] in ENDED)
        return super()._try(record, data)

    def confirm(self, record: Record) -> None:
        """Make sure, where no lease of this process has kept others away, that `record` is the run's record.

        Between the last look and the write the process may have stood still for long: others may have gone on, ended
        the run, and packed or deleted it, so that its numbers are free again. Record 1 would be gone then.
        """
        number = record.sequence
        if number == 1 or self.held:
            return
        for _ in tries():
            try:
                if self.store.exists(journal_key(self.run_id, 1)):
                    return
                run = load_run(self.store, self.run_id).run
            except StoreError:
                continue
            if run is not None and run.deleted is not None:
                raise PutAway(
                    f"run {self.run_id} was deleted while record {number} was written: it is of no use"
                )
            if run is None or run.unread:
                continue  # somebody is moving the records at this moment
            there = {known.digest for known in run.records if known.sequence == number}
            if {record.digest} == there and not any(fault.code == "SP302" for fault in run.faults):
                return
            raise PutAway(
                f"run {self.run_id} went on and was packed while this process stood still: its record {number} is "
                f"another one, and what was written here counts for nothing; remove {record.place.url}"
            )
        raise Unclear(
            f"run {self.run_id}: record {number} was written, and the store did not say whether the run is still in "
            "its place; try again when it answers"
        )

    def learn(self, record: Record) -> None:
        """Fold one more record."""
        self._seen_epoch = max(self._seen_epoch, record.epoch)
        if record.nonce == self.nonce and record.epoch:
            self.last_sign = max(self.last_sign, record.created or 0)
        learn = {
            "run": self._learn_run,
            "lease": self._learn_lease,
            "checkpoint": self._learn_checkpoint,
            "ledger": self._learn_action,
            "evidence": self._learn_action,
            "approval": self._learn_approval,
            "retract": self._learn_retraction,
        }.get(record.kind)
        if learn:
            learn(record)
        for reference in (*(record.value.get("artifactRefs") or ()), record.value.get("resultRef")):
            if reference:
                name = str(reference["artifactId"])
                self._naming.setdefault(name, set()).add(record.value.get("checkpointId"))
                if reference.get("digest"):
                    self.artifacts.setdefault(name, str(reference["digest"]))

    def _learn_run(self, record: Record) -> None:
        status = str(record.value["status"])
        if status == "started":
            self.started = self.started or record
        elif status == "cancelRequested":
            self.wish_to_stop = record
        else:
            self._ended = status

    def _learn_lease(self, record: Record) -> None:
        if record.value["event"] == "released":
            self._released = True
            return
        self._released = False
        self._ttl = int(record.value["ttlSeconds"]) * SECOND
        self.branch = record.value.get("branch")
        if origin := record.value.get("forkFrom"):
            self.checkpoint = self._checkpoints.get(origin["checkpointId"])
        if record.nonce == self.nonce:
            self.epoch = record.epoch
            self._resolving = record.value["purpose"] == "resolution"
            self._resumed_behind = self.checkpoint.value["checkpointId"] if self.checkpoint else None
        if self._ended == "failed" and record.value["purpose"] != "resolution":
            self._ended = None

    def _learn_checkpoint(self, record: Record) -> None:
        self._checkpoints[record.value["checkpointId"]] = record
        if record.value.get("branch") == self.branch:
            self.checkpoint = record

    def _learn_action(self, record: Record) -> None:
        name = str(record.value["actionId"])
        self._of_action.setdefault(name, []).append(record)
        self.actions |= fold_ledger(self._of_action[name], ordered=True, faults=[])
        if record.kind == "ledger":
            self.last_ledger = record.sequence or 0
            if target := record.value.get("compensates"):
                self._undone_by.setdefault(target, {})[name] = None
            if key := record.value.get("idempotencyKey"):
                self._keys.setdefault(key, name)

    def _learn_retraction(self, record: Record) -> None:
        self.retracted.update(map(str, record.value["targets"]))

    def _learn_approval(self, record: Record) -> None:
        name = str(record.value["approvalId"])
        self._of_approval.setdefault(name, []).append(record)
        self.approvals |= fold_approvals(self._of_approval[name], [])

    def hides(self, artifact_id: str) -> bool:
        """Whether an artifact is hidden from readers: by itself, or with every checkpoint that names it."""
        naming = self._naming.get(artifact_id)
        return artifact_id in self.retracted or bool(naming and naming <= self.retracted)

    def judge(self, record: Record) -> None:
        """Raise where `record` may not follow what the journal holds."""
        faults: list[Fault] = []
        if record.kind in {"ledger", "evidence"}:
            name = str(record.value["actionId"])
            fold_ledger([*self._relatives(record), record], ordered=True, faults=faults)
            owner = self._keys.get(record.value.get("idempotencyKey") or "", name)
            # Only a compensation may carry another action's key: to use it up.
            if owner not in {name, record.value.get("compensates")}:
                faults.append(
                    Fault("SP402", f"{owner} already uses this key", "/idempotencyKey", place=record.place)
                )
        elif record.kind == "approval":
            before = self._of_approval.get(str(record.value["approvalId"]), ())
            fold_approvals([*before, record], faults)
        elif record.kind == "checkpoint":
            earlier = self._checkpoints.get(record.value["checkpointId"])
            if earlier is not None:
                why = self._repeated(earlier)
                faults.append(Fault("SP311", why, "/checkpointId", place=record.place))
        elif record.value.get("status") == "cancelRequested" and self._ended in ENDED:
            raise RunEnded(f"run {self.run_id} is {self._ended}: there is nothing left to stop")
        # Only what this record brings in; an older fault is not its own.
        if own := [fault for fault in faults if fault.place == record.place]:
            raise IllegalRecord(f"this {record.kind} record may not follow", own)

    def _relatives(self, record: Record) -> list[Record]:
        """What was recorded of the action, of the one that it undoes, and of all that undo the same."""
        name = str(record.value["actionId"])
        held = self.actions.get(name)
        target = (held.compensates if held else record.value.get("compensates")) or name
        names = dict.fromkeys((target, name, *self._undone_by.get(target, ())))
        records = [known for each in names for known in self._of_action.get(each, ())]
        return sorted(records, key=lambda known: known.sequence or 0)

    def _repeated(self, earlier: Record) -> str:
        """What to say of a checkpoint id that `earlier` bears already."""
        if earlier.nonce == self.nonce or self._resumed_behind is None:
            return "this id names an earlier checkpoint; give each checkpoint an id of its own"
        return (
            f"this id names a checkpoint that was there when the run was resumed, behind {self._resumed_behind}: "
            "take only the steps in run.next_steps, the others are done"
        )

    def claim(self, members: Mapping[str, Any], *, at: int) -> Record:
        """Claim the next epoch with a lease record at exactly `at`, or not at all."""
        return self.append(lambda: self.claiming(members), only_at=at)

    def claiming(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """A lease record that claims the next epoch."""
        return {"recordType": "lease", "leaseEpoch": self.next_epoch, "event": "claimed", **members}

    @property
    def next_epoch(self) -> int:
        """The epoch that a claim would have now."""
        return self._seen_epoch + 1

    def append_owned(self, build: Build) -> Record:
        """Append a record that only the run's owner may write."""

        def owned() -> Mapping[str, Any]:
            self.require_owner()
            return {**build(), "leaseEpoch": self.epoch}

        return self.append(owned)

    def append_unowned(self, members: Mapping[str, Any]) -> Record:
        """Append a record that needs no owner: an approval, a wish to cancel."""
        return self.append(lambda: {**members, "leaseEpoch": 0})

    @property
    def undoing(self) -> bool:
        """Whether something that was done has begun to be undone, or is."""
        begun = {"compensating", "compensated", "compensationFailed"}
        return any(action.status in begun for action in self.actions.values())

    def cancelled(self) -> Mapping[str, Any]:
        """A record that ends the run on request, by whoever asked.

        Raises:
            InDoubt: an effect is open.
        """
        if doubtful := [action.action_id for action in self.actions.values() if action.open]:
            raise InDoubt(
                f"run {self.run_id} cannot be cancelled while {', '.join(doubtful)} is open; settle it"
            )
        by = self.wish_to_stop.value.get("by") if self.wish_to_stop else None
        return {"recordType": "run", "status": "cancelled", **({} if by is None else {"by": by})}

    def release(self) -> None:
        """Give the lease back, so that the next owner need not wait for it to lapse; writing ends here."""
        self.append_owned(lambda: {"recordType": "lease", "event": "released"})

    def require_owner(self) -> None:
        """Raise where this process does not own the run, or the run is over."""
        self.require_usable()
        if self._seen_epoch > self.epoch:
            raise Fenced(
                f"run {self.run_id}: epoch {self._seen_epoch} was claimed, this process holds {self.epoch}; "
                "stop here, the new owner goes on"
            )
        if not self._resolving and (self._ended in ENDED or self._ended == "failed"):
            raise RunEnded(f"run {self.run_id} is {self._ended}; nothing more may happen in it")
        if self._released:
            raise Fenced(f"run {self.run_id}: this process gave its lease back; resume the run to go on")

    def require_new_work(self) -> None:
        """Raise where nothing new may be attempted."""
        if self.wish_to_stop is not None:
            by = self.wish_to_stop.value.get("by") or "somebody"
            raise CancelRequested(f"run {self.run_id}: {by} asked for it to stop; nothing new is attempted")


def require_claimable(run: Run) -> int:
    """The number of the journal's last record, behind which another one can be claimed.

    Raises:
        RecorderError: the journal does not lie as numbered objects.
    """
    if run.head.sequence is None or not run.claimable:
        raise RecorderError(
            f"run {run.run_id}: its journal is not kept as one object a record, so that nobody can claim it or add to "
            "it, and no copy changes that; decide by hand, and start a new run under a new id"
        )
    return run.head.sequence
