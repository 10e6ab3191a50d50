"""A run while this process owns it: checkpoints, effects, approvals and the run's end.

Decided here: what a checkpoint says by itself (its parent, what the ledger proves so far), and what is written when.
Not decided here: how a record gets its number (``log``) and whether it may follow (``journal``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Any, BinaryIO

from safepoint.core.digest import digest_value, encode_record
from safepoint.core.timestamp import SECOND, format_time
from safepoint.core.version import CURRENT
from safepoint.guard import Decision, PlanItem
from safepoint.policy import Policy
from safepoint.recorder import approvals, artifacts
from safepoint.recorder.declares import Declares
from safepoint.recorder.effect import Calling, Effect, settle_unsent
from safepoint.recorder.episode import Episode, RecoveryLog, close_rounds
from safepoint.recorder.errors import CancelRequested, IllegalRecord, RecorderError
from safepoint.recorder.journal import Journal
from safepoint.recorder.permission import Permission, Plan
from safepoint.recorder.settlement import describe, side_effect_status
from safepoint.store import StoreError
from safepoint.store.layout import heartbeat_key


class RecordedRun(AbstractContextManager["RecordedRun"]):
    """A run that this process owns; from `start_run` or `resume_run`. Its methods may be called from any thread.

    As a context manager it gives its lease back at the end of the block, so that another process need not wait for
    the lease to lapse; an exception in the block also ends a recovery as a failed attempt. Where `CancelRequested`
    leaves the block and nothing is open or half undone, the run is `cancelled` first.
    """

    def __init__(
        self,
        journal: Journal,
        policy: Policy,
        *,
        guard_context: Mapping[str, str] | None,
        decision: Decision | None = None,
        episode: Episode | None = None,
    ) -> None:
        self._journal = journal
        self._policy = policy
        self._context = guard_context
        self._episode = episode
        self._plan = Plan.of(decision)
        self._released = False
        self.decision = decision
        """What the guard said; None for a run that was started here."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._journal.run_id

    @property
    def epoch(self) -> int:
        """The lease epoch under which this process writes."""
        return self._journal.epoch

    @property
    def input(self) -> Any:
        """What the run was started with; None where nothing was recorded."""
        started = self._journal.started
        return started.value.get("input") if started else None

    @property
    def last_checkpoint(self) -> Mapping[str, Any] | None:
        """The checkpoint that the run goes on from, as it is recorded; None before the first."""
        return self._journal.checkpoint.value if self._journal.checkpoint else None

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """What the guard's decision says of each action and step; what to compensate comes first, in order."""
        return self.decision.plan if self.decision else ()

    @property
    def next_steps(self) -> tuple[str, ...]:
        """The steps behind the last checkpoint, and what makes its lost artifacts again; none in a run to be undone."""
        here = self.last_checkpoint or {}
        both = (*self._plan.remakes(here), *(here.get("nextSteps") or ()))
        return () if self._plan.unwinding else tuple(dict.fromkeys(both))

    def checkpoint(
        self,
        checkpoint_id: str,
        *,
        state: str,
        step_name: str,
        next_steps: Sequence[str] | None = None,
        reason: str | None = None,
        artifact_refs: Sequence[Mapping[str, Any]] = (),
        input_snapshot: Any = None,
        state_snapshot: Any = None,
        payload_schema: str | None = None,
        resume_preconditions: Sequence[Mapping[str, Any]] | None = None,
        replay_safe_actions: Sequence[str] | None = None,
        guard_context: Mapping[str, str] | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> None:
        """Record where the run is.

        Its parent, `sideEffectStatus` and `lastLedgerSequence` are not asked for: the journal knows them.

        Args:
            checkpoint_id: unique in the run.
            state: the agent's state, in its own words.
            step_name: the step that the run is at.
            next_steps: the steps that follow, in order; None: unknown.
            reason: one of SPEC.md's, such as ``beforeEffect`` or ``humanGate``.
            artifact_refs: artifact references of what the run needs to go on.
            input_snapshot: the step's input, any JSON value; None leaves it out.
            state_snapshot: the agent's own state, any JSON value; None leaves it out.
            payload_schema: name and version of the snapshots' schema.
            resume_preconditions: what must be true in the world before the run may go on.
            replay_safe_actions: actions that may be sent again where their declaration allows it.
            guard_context: part to digest; None: what the run was opened with.
            usage: what the run has used up to here; never decreases.
        """
        context = self._context if guard_context is None else guard_context
        optional = {
            "nextSteps": None if next_steps is None else list(next_steps),
            "reason": reason,
            "inputSnapshot": input_snapshot,
            "stateSnapshot": state_snapshot,
            "payloadSchema": payload_schema,
            "resumePreconditions": None
            if resume_preconditions is None
            else [dict(p) for p in resume_preconditions],
            "replaySafeActions": None if replay_safe_actions is None else list(replay_safe_actions),
            "guardContext": None if context is None else dict(context),
            "guardHash": None if context is None else digest_value(dict(context)),
            "usage": None if usage is None else dict(usage),
        }

        def build() -> Mapping[str, Any]:
            parent, branch = self.last_checkpoint, self._journal.branch
            return {
                "recordType": "checkpoint",
                "checkpointId": checkpoint_id,
                "parentCheckpointId": parent["checkpointId"] if parent else None,
                "state": state,
                "stepName": step_name,
                "artifactRefs": [dict(reference) for reference in artifact_refs],
                "sideEffectStatus": side_effect_status(self._journal.actions),
                "lastLedgerSequence": self._journal.last_ledger,
                **({} if branch is None else {"branch": branch}),
                **{name: value for name, value in optional.items() if value is not None},
            }

        self._journal.append_owned(build)
        if self._episode:
            self._episode.progressed(self._journal.clock(), usage)

    def put_artifact(
        self,
        data: bytes | BinaryIO,
        *,
        artifact_id: str,
        media_type: str | None = None,
        produced_by: str | None = None,
    ) -> dict[str, Any]:
        """Write bytes durably, under their own SHA-256, and return the reference for a checkpoint's `artifact_refs`.

        Args:
            data: the bytes, or a binary file to be read to its end; they are held in memory while they are written.
            artifact_id: names these bytes in the run, and no others.
            media_type: such as ``application/json``.
            produced_by: the step that made them, and may make them again.

        Raises:
            IllegalRecord: no checkpoint could name them so; nothing was written.
            CorruptError: other bytes lie under their digest.
            Unclear: the store did not say whether they were written.
            RecorderError: the run is no longer this process's.
            StoreError: nothing was written.
        """
        return artifacts.put_artifact(
            self._journal, data, artifact_id=artifact_id, media_type=media_type, produced_by=produced_by
        )

    def read_artifact(self, reference: Mapping[str, Any]) -> bytes:
        """The bytes of an artifact in the store, as a checkpoint or a result names it: all of them verified, or none.

        Raises:
            RetractedError: it was retracted.
            CorruptError: the bytes are not the ones that the reference promises.
            StoreError: they are not there, lie elsewhere, or cannot be read.
        """
        with artifacts.open_artifact(self._journal, reference) as file:
            return file.read()

    def effect(
        self,
        action_id: str,
        *,
        step_name: str,
        request: Any,
        key: str | None = None,
        declares: Declares | None = None,
        deadline_seconds: int = 30,
        definite: tuple[type[Exception], ...] = (),
        retryable: bool = True,
        message_id: str | None = None,
        approval: str | None = None,
        compensates: str | None = None,
    ) -> Effect:
        """One effect on the world, to be applied with `Effect.call` in a ``with`` block.

        Where the guard judged the run, its plan says what may be done; a run that was opened to be undone attempts only
        what has `compensates`.

        Args:
            action_id: unique in the run, and the same in every attempt and every recovery.
            step_name: the step that it belongs to.
            request: what will be executed, any JSON value; only its digest is recorded.
            key: the idempotency key for the provider: never made from an attempt number, an epoch or a worker. It
                protects only where `declares` says ``keyed``; a warning says so where it does not.
            declares: what the tool declares; None: the worst, a doubt that only a human can end.
            deadline_seconds: after so many seconds the call may no longer send, and nobody waits for it.
            definite: exceptions that prove that nothing was applied, such as ConnectionRefusedError; any other one
                leaves the action in doubt.
            retryable: whether a further attempt may succeed after one of those.
            message_id: the id under which the outbox will know the message.
            approval: the approval that permits it, bound to the digest of `request`; spent before the attempt.
            compensates: the action that this one undoes; its record says so before, and how it went after.

        Raises:
            RecorderError: `declares` promises a key that there is not, or one that could never be used again.
            ValueError: `request` is no JSON value, or the deadline lies before the start.
        """
        if deadline_seconds < 0:
            raise ValueError(f"deadline_seconds: expected 0 or more, got {deadline_seconds}")
        declares = declares or Declares()
        declares.require_workable(action_id, key)
        fingerprint = digest_value(request)
        optional = {"messageId": message_id, "compensates": compensates}
        held = self._journal.actions.get(action_id)
        identity = {
            "actionId": action_id,
            # The code may have renamed the step since; the action stays with the one that its first record names.
            "stepName": held.step_name if held else step_name,
            "idempotencyKey": key,
            "requestFingerprint": fingerprint,
            **{name: value for name, value in optional.items() if value is not None},
        }

        def approve() -> None:
            if compensates is None:
                self._journal.require_new_work()
            if approval is not None:
                approvals.consume(self._journal, approval, action_id=action_id, content_digest=fingerprint)

        return Effect(
            self._journal,
            identity,
            calling=Calling(declares, deadline_seconds * SECOND, definite, retryable, approve),
            permission=Permission(
                self._journal, self._plan, self._policy, identity=identity, declares=declares
            ),
            plan=self._plan,
        )

    def request_approval(
        self,
        approval_id: str,
        *,
        request: Any,
        action_id: str | None = None,
        checkpoint_id: str | None = None,
        expires_seconds: int | None = None,
        actor: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Ask a human to approve `request`, the JSON value that will be executed; asked once, however often called."""
        self._journal.read_on()
        if approval_id in self._journal.approvals:
            return
        self._journal.require_owner()
        try:
            approvals.append_request(
                self._journal,
                approval_id,
                content_digest=digest_value(request),
                action_id=action_id,
                checkpoint_id=checkpoint_id,
                expires_seconds=expires_seconds,
                actor=actor,
                reason=reason,
            )
        except IllegalRecord:
            if approval_id not in self._journal.approvals:  # else somebody has just asked
                raise

    def approval_state(self, approval_id: str) -> str | None:
        """What became of the approval, or of the last question that was asked in its place; None: there is none."""
        self._journal.read_on()
        known = self._journal.approvals
        approval = approvals.asked_anew(known, approval_id) or known.get(approval_id)
        return approval.event if approval else None

    def consume_approval(self, approval_id: str, *, action_id: str, request: Any) -> None:
        """Spend an approval on one action; an effect with ``approval=`` does it by itself.

        Raises:
            NotApproved: it does not permit this action with this request now.
        """
        approvals.consume(
            self._journal, approval_id, action_id=action_id, content_digest=digest_value(request)
        )

    def beat(self) -> None:
        """Renew the lease while no record is written, and learn whether the run is still this process's.

        Raises:
            Fenced: it is not.
        """
        self._journal.read_on()
        self._journal.require_owner()
        now = self._journal.clock()
        beat = {
            "recordType": "heartbeat",
            "schemaVersion": str(CURRENT),
            "runId": self.run_id,
            "leaseEpoch": self.epoch,
            "nonce": self._journal.nonce,
            "beatAt": format_time(now),
        }
        self._journal.store.replace(heartbeat_key(self.run_id, self.epoch), encode_record(beat))
        self._journal.last_sign = max(self._journal.last_sign, now)

    def complete(self) -> None:
        """Record that the run came to its end."""
        self._end({"status": "completed"})
        if self._episode:
            self._episode.completed()
        self._close_rounds("the run was completed")

    def fail(self, error: Exception | None = None, *, reason: str | None = None) -> None:
        """Record that the run gave up; a later recovery may take it up again."""
        detail = {}
        if error is not None:
            detail["error"] = {**describe(error), "retryable": None, "sent": "unknown"}
        self._end({"status": "failed", **detail, **({} if reason is None else {"reason": reason})})
        if self._episode:
            self._episode.failed("the run failed" if error is None else type(error).__name__, worked=True)

    def cancelled(self) -> None:
        """Record that the run stopped on request.

        Raises:
            InDoubt: an effect is still open; nobody may call that cancelled.
        """
        self._journal.read_on()
        settle_unsent(self._journal, self._plan)
        self._journal.append_owned(self._journal.cancelled)
        undo = [item.action_id for item in self._plan.items.values() if item.do == "compensate"]
        undone = all(self._journal.actions[str(name)].status == "compensated" for name in undo)
        if self._episode:
            self._episode.cancelled(undone=undone)
        self._close_rounds("the run was cancelled")

    def release(self) -> None:
        """Give the lease back, so that the next owner need not wait for it to lapse; writing ends here."""
        self._journal.release()
        self._released = True
        if self._episode:
            self._episode.catch_up()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the lease back, if it is still ours."""
        if error is not None and not isinstance(error, Exception):
            return  # something stops the process at an arbitrary point: what is in flight is for the guard to judge
        # Its own wish only: the exception may come out of another run's block inside this one.
        stopped = isinstance(error, CancelRequested) and self._journal.wish_to_stop is not None
        # What has begun to be undone is finished before the run is called cancelled.
        if stopped and not self._plan.unwinding and not self._journal.undoing:
            with suppress(RecorderError, StoreError):
                self.cancelled()
        with suppress(RecorderError, StoreError):
            if error is not None and self._episode:
                attempts = [a for action in self._journal.actions.values() for a in action.attempts]
                worked = any(attempt.epoch == self.epoch for attempt in attempts)
                self._episode.failed(type(error).__name__, worked=worked)
            if not self._released:
                self.release()

    def _end(self, members: Mapping[str, Any]) -> None:
        self._journal.append_owned(lambda: {"recordType": "run", **members})

    def _close_rounds(self, outcome: str) -> None:
        close_rounds(self._episode.log if self._episode else RecoveryLog(self._journal), outcome)
