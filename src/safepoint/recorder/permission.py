"""Whether an effect may be attempted, attempted again, and sent (SPEC.md#writer).

Decided here: what this process may do about one action, by what it has read, what the guard permitted and what it knows
of its own calls. Not decided here: which transitions are legal (``model.ledger``), and whether a doubt may be replayed
on resume (``guard``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from safepoint.core.timestamp import SECOND, format_time, parse_time
from safepoint.guard import REMADE, Decision, PlanItem
from safepoint.model.action import Action, Attempt
from safepoint.model.record import Record
from safepoint.policy import Policy
from safepoint.recorder.declares import Declares
from safepoint.recorder.errors import IllegalRecord, InDoubt, RecorderError, TooLate
from safepoint.recorder.journal import Journal


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run may do, and what this process has done: one for all its effects."""

    items: Mapping[str, PlanItem] = field(default_factory=dict)
    """What a resumed run was permitted to do, by action id."""
    valid_until: int | None = None
    """Nanoseconds; what the decision permits is permitted until then."""
    unwinding: bool = False
    """Whether the run was opened to be undone: only compensations are attempted."""
    remaking: tuple[str, ...] = ()
    """The steps that make lost artifacts of the checkpoint `start` again."""
    start: str | None = None
    calls: dict[str, bool] = field(default_factory=dict)
    """Digest of each attempt that went on to its call, and whether the call may still be under way."""

    @classmethod
    def of(cls, decision: Decision | None) -> Plan:
        """The plan of a decision; None: of a run that was started here."""
        if decision is None:
            return cls()
        items = {item.action_id: item for item in decision.plan if item.action_id}
        remaking = tuple(i.step_name for i in decision.plan if i.step_name and i.reason == REMADE)
        unwinding = decision.verdict == "compensate"
        return cls(items, decision.valid_until, unwinding, remaking, decision.checkpoint_id)

    def remakes(self, checkpoint: Mapping[str, Any]) -> tuple[str, ...]:
        """The steps to do before those that `checkpoint` says are next."""
        return self.remaking if checkpoint.get("checkpointId") == self.start else ()

    def unsent(self, journal: Journal, action: Action) -> Iterator[Attempt]:
        """This process's attempts that it never called for, because their record came through too late to be of use."""
        return (a for a in _mine(journal, action.attempts) if a.opened.digest not in self.calls)

    def stopped(self, journal: Journal, action: Action) -> Iterator[Attempt]:
        """This process's attempts whose call ended without an outcome."""
        return (a for a in _mine(journal, action.attempts) if self.calls.get(a.opened.digest) is False)


def _mine(journal: Journal, attempts: Sequence[Attempt]) -> Iterator[Attempt]:
    token = (journal.epoch, journal.nonce)
    return (a for a in attempts if a.status == "attempting" and (a.epoch, a.nonce) == token)


class Permission:
    """What may be done about one action now."""

    def __init__(
        self,
        journal: Journal,
        plan: Plan,
        policy: Policy,
        *,
        identity: Mapping[str, Any],
        declares: Declares,
    ) -> None:
        self._journal = journal
        self._plan = plan
        self._policy = policy.for_action(str(identity["actionId"]), str(identity["stepName"]))
        self._identity = identity
        self._declares = declares
        self._id = str(identity["actionId"])

    @property
    def action(self) -> Action | None:
        """The action as it is recorded."""
        return self._journal.actions.get(self._id)

    @property
    def _item(self) -> PlanItem | None:
        return self._plan.items.get(self._id)

    def _here(self, action: Action | None) -> list[Attempt]:
        """The attempts that this owner made."""
        return [a for a in action.attempts if a.epoch == self._journal.epoch] if action else []

    def answered(self) -> Action | None:
        """The action, where its recorded result is to be used instead of a call.

        Raises:
            IllegalRecord: it is recorded with another request or key, or as undoing something else.
        """
        action = self.action
        if action is None:
            return None
        self._require_same(action)
        item = self._item
        if item and item.do == "run" and action.declares.effect == "read":
            # What it read has moved: only an answer that this owner got will do.
            return action if any(a.status == "committed" for a in self._here(action)) else None
        permitted = item is not None and item.do == "skip" and action.status != "planned" and not action.open
        return action if action.status == "committed" or permitted else None

    def _require_same(self, action: Action) -> None:
        key, fingerprint = self._identity["idempotencyKey"], self._identity["requestFingerprint"]
        if action.fingerprint not in {None, fingerprint}:
            raise IllegalRecord(
                f"{self._id} is recorded with another request; after a crash give the same one, such as from the "
                "checkpoint before it (state_snapshot): another request is another action"
            )
        if action.key != key:
            raise IllegalRecord(
                f"{self._id} is recorded with key {action.key!r}, not {key!r}; a key is the same in every attempt"
            )
        undoes = self._identity.get("compensates")
        if undoes not in {None, action.compensates}:
            raise IllegalRecord(
                f"{self._id} is recorded as undoing {action.compensates or 'nothing'}, not {undoes}; undoing something "
                "else is another action"
            )

    def require_direction(self) -> None:
        """Raise where the run goes backwards and this effect would go forward."""
        if self._plan.unwinding and self._identity.get("compensates") is None:
            raise RecorderError(
                f"{self._id}: the run is being undone, and nothing new is attempted in it but compensations; "
                "effects with compensates= undo what run.plan names"
            )

    def require_attempt(self) -> None:
        """Raise where an earlier attempt is in doubt and nobody permitted another one."""
        action, item = self.action, self._item
        expired = self._plan.valid_until is not None and self._journal.clock() >= self._plan.valid_until
        if item and expired and not self._here(action):
            raise TooLate(f"{self._id}: the guard's decision is no longer valid; resume the run again")
        if action is None or not action.open_attempts:
            return
        mine = [attempt for attempt in action.open_attempts if attempt.epoch == self._journal.epoch]
        if len(mine) < len(action.open_attempts) and not (item and item.do == "replay"):
            raise InDoubt(
                f"{self._id}: an attempt of an earlier owner may have been applied, "
                f"and the guard's plan says {item.do if item else 'nothing'} for it, not replay"
            )
        if not self._declares.repeatable or (mine and not self._repeatable(action, mine)):
            raise InDoubt(
                f"{self._id}: an attempt may have been applied, and its tool declares nothing that makes "
                "another one harmless now; find out what happened, then resume the run"
            )

    def _repeatable(self, action: Action, mine: list[Attempt]) -> bool:
        declares = action.declares
        if declares.effect == "read" or (declares.idempotency == "keyed" and action.send_before is not None):
            return True
        # x=1, x=2, a late x=1: not before the older attempt can no longer arrive.
        late = max(attempt.deadline or 0 for attempt in mine) + declares.probe_settle + 2 * self._policy.skew
        return declares.idempotency == "natural" and self._journal.clock() >= late

    def cut_off(self, now: int) -> str | None:
        """`sendBefore`: fixed by the first attempt, inherited by every later one.

        Raises:
            RecorderError: the tool's dedupe window leaves no time to send.
        """
        action, key = self.action, self._identity["idempotencyKey"]
        if action is not None and action.attempts:
            return None if action.send_before is None else format_time(action.send_before)
        window = self._declares.dedupe_window_seconds
        if self._declares.idempotency != "keyed" or key is None or window is None:
            return None
        margin = self._declares.probe_settle_seconds * SECOND + 2 * self._policy.skew
        cut_off = now + int(window * SECOND * self._policy.send_window_fraction) - margin
        if cut_off <= now:
            raise RecorderError(
                f"{self._id}: a dedupe window of {window} s is too short to send within: "
                f"{self._policy.send_window_fraction} of it is not more than the settle time and twice the clock skew"
            )
        return format_time(cut_off)

    def over(self, attempt: Record) -> list[str]:
        """What does not let `attempt` be sent any more; looked at right before: the process may have slept."""
        detail = attempt.value["attempt"]
        limits = {"its deadline": parse_time(detail["deadline"]), "its lease": self._journal.lapses_at}
        if detail["sendBefore"] is not None:
            limits["its sendBefore"] = parse_time(detail["sendBefore"])
        if self._item and self._plan.valid_until is not None and len(self._here(self.action)) == 1:
            limits["the guard's decision"] = self._plan.valid_until
        now = self._journal.clock()
        return [name for name, limit in limits.items() if now >= limit]
