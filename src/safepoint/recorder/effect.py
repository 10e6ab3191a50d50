"""One effect on the world: recorded before it is attempted, settled after it, never done twice unasked.

Decided here: when the call may be made, and what its answer proves. Nothing is sent before its ``attempting`` record
is won (SPEC.md#writer).
Not decided here: which transitions are legal (``model.ledger``), and whether a doubt may be replayed on resume
(``guard``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

from safepoint.core.timestamp import SECOND, format_time, parse_time
from safepoint.guard import PlanItem
from safepoint.model.action import Action, Attempt
from safepoint.model.record import Record
from safepoint.policy import Policy
from safepoint.recorder.errors import Fenced, IllegalRecord, InDoubt, RecorderError, TooLate
from safepoint.recorder.journal import Journal
from safepoint.store import StoreError


@dataclass(frozen=True, slots=True)
class Declares:
    """What a tool declares about its effect; what is not declared counts as the worst (SPEC.md#declares)."""

    effect: Literal["read", "write", "message", "payment", "other"] = "other"
    idempotency: Literal["natural", "keyed", "none"] = "none"
    """``natural``: doing it twice equals once. ``keyed``: the provider honours the key and drops a second request."""
    dedupe_window_seconds: int | None = None
    """For how long the provider remembers a key; None: unknown, so that a doubt is never sent again."""
    probe: Literal["none", "byKey", "byQuery"] = "none"
    """How one can ask the provider whether it happened."""
    probe_settle_seconds: int = 0
    """Seconds until an applied effect shows to the probe."""
    reversibility: Literal["reversible", "compensatable", "irreversible"] = "irreversible"
    compensation: str | None = None
    """Name of the step that undoes it."""

    def document(self) -> dict[str, Any]:
        """The ``declares`` member of a record."""
        names = {
            "dedupe_window_seconds": "dedupeWindowSeconds",
            "probe_settle_seconds": "probeSettleSeconds",
        }
        return {names.get(name, name): value for name, value in asdict(self).items() if value is not None}

    def require_workable(self, action_id: str, key: str | None) -> None:
        """Refuse what could only disappoint after a crash, and warn of a key that protects nothing.

        Raises:
            RecorderError: the declaration promises a key that there is not, or one that could never be used.
        """
        if self.idempotency == "keyed" and key is None:
            raise RecorderError(
                f"{action_id} declares idempotency='keyed' and has no key: give key=, the same for every attempt"
            )
        if self.idempotency == "keyed" and self.dedupe_window_seconds is None and self.probe == "none":
            raise RecorderError(
                f"{action_id} declares idempotency='keyed' without dedupe_window_seconds: nobody knows for how long "
                "the provider remembers the key, so that after a crash the run could only be handed to a human; say "
                "how long, or declare a probe"
            )
        used = self.idempotency != "none" or self.probe == "byKey" or self.effect == "read"
        if key is not None and not used:
            warnings.warn(
                f"{action_id} has a key, but its declaration does not say that the provider honours it: after a "
                "crash it protects nothing; declares=Declares(idempotency='keyed', dedupe_window_seconds=...)",
                stacklevel=3,
            )


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the provider answered; a called function returns one where there is more to keep than a result."""

    result: Any = None
    """Any small JSON value; a resumed run gets it back instead of a second call."""
    external_ref: str | None = None
    """The provider's id of the effect."""
    message_id: str | None = None
    """The id under which the outbox knows the message."""
    ref: str | None = None
    """Where the evidence can be looked up; None: `external_ref`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a resumed run was permitted to do."""

    items: Mapping[str, PlanItem]
    """By action id."""
    valid_until: int | None
    """Nanoseconds; what the decision permits is permitted until then."""


class Effect(AbstractContextManager["Effect"]):
    """One action of a run, inside a ``with`` block; made by `RecordedRun.effect`."""

    def __init__(
        self,
        journal: Journal,
        identity: Mapping[str, Any],
        *,
        declares: Declares,
        deadline: int,
        definite: tuple[type[Exception], ...],
        retryable: bool,
        policy: Policy,
        plan: Plan,
        approve: Callable[[], None],
    ) -> None:
        self._journal = journal
        self._identity = identity
        self._declares = declares
        self._deadline = deadline
        self._definite = definite
        self._retryable = retryable
        self._policy = policy
        self._plan = plan
        self._approve = approve
        self._called = False
        self.receipt: Receipt | None = None
        """Set once the effect is known to be applied, by this process or an earlier one."""

    def __exit__(self, *error: object) -> None:
        """Nothing to do: what happened was recorded when it happened."""

    @property
    def action_id(self) -> str:
        """The action's id."""
        return str(self._identity["actionId"])

    @property
    def key(self) -> str | None:
        """The idempotency key to hand to the provider, the same for every attempt."""
        key: str | None = self._identity["idempotencyKey"]
        return key

    @property
    def settled(self) -> bool:
        """Whether `call` will return a recorded result without calling."""
        return self._settled() is not None

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Apply the effect by calling `function`, or return what an earlier attempt recorded.

        The function returns a JSON value, or a `Receipt`. An exception of the types in ``definite`` proves that
        nothing was applied; any other one leaves the action in doubt. Either is recorded and raised again.

        Returns:
            The function's result; from an earlier attempt the recorded one. None where only a probe or a human said
            that it was applied: nobody kept its result, and ``receipt.external_ref`` is all that is known.

        Raises:
            InDoubt: an earlier attempt may have been applied, and nothing permits another.
            TooLate: the time to send was over before the call; nothing was sent.
            RecorderError: the attempt could not be recorded; nothing was sent.
        """
        if self._called:
            raise RecorderError(
                f"{self.action_id}: one effect is one call; make another effect for another request"
            )
        self._called = True
        if (done := self._settled()) is not None:
            return self._recall(done)
        self._approve()
        attempt = self._begin()
        if attempt is None:
            return self._recall(self._journal.actions[self.action_id])
        self._require_time(attempt)
        try:
            answer = function(*args, **kwargs)
        except Exception as error:
            self._failed(attempt, error)
            raise
        return self._committed(attempt, answer)

    def _settled(self) -> Action | None:
        action = self._journal.actions.get(self.action_id)
        if action is None:
            return None
        wanted = (self._identity["idempotencyKey"], self._identity["requestFingerprint"])
        if (action.key, action.fingerprint or wanted[1]) != wanted:
            raise IllegalRecord(
                f"{self.action_id} is recorded with another request or key; another request is another action"
            )
        item = self._plan.items.get(self.action_id)
        if item and item.do == "run" and action.declares.effect == "read" and not self._done_here(action):
            return None
        permitted = item is not None and item.do == "skip" and action.status != "planned" and not action.open
        return action if action.status == "committed" or permitted else None

    def _done_here(self, action: Action) -> bool:
        return any(attempt.epoch == self._journal.epoch for attempt in action.attempts)

    def _recall(self, action: Action) -> Any:
        ledger = (record.value for record in reversed(action.records) if record.kind == "ledger")
        committed = next((value for value in ledger if value["status"] == "committed"), {})
        self.receipt = Receipt(committed.get("result"), action.external_ref, action.message_id)
        return self.receipt.result

    def _begin(self) -> Record | None:
        """The won ``attempting`` record; None: somebody proved meanwhile that the effect is applied."""

        def build() -> Mapping[str, Any]:
            action = self._journal.actions.get(self.action_id)
            if self._settled():
                raise _SettledMeanwhileError
            self._journal.require_new_work()
            self._require_permission(action)
            now = self._journal.clock()
            last = max((attempt.number for attempt in action.attempts), default=0) if action else 0
            first = action is None
            return {
                "recordType": "ledger",
                "status": "attempting",
                **self._identity,
                "attempt": {
                    "number": last + 1,
                    "startedAt": format_time(now),
                    "deadline": format_time(now + self._deadline),
                    "sendBefore": self._cut_off(action, now),
                },
                **({"declares": self._declares.document()} if first else {}),
            }

        try:
            return self._journal.append_owned(build)
        except _SettledMeanwhileError:
            return None

    def _cut_off(self, action: Action | None, now: int) -> str | None:
        """`sendBefore`: fixed by the first attempt, inherited by every later one."""
        if action is not None and action.attempts:
            return None if action.send_before is None else format_time(action.send_before)
        window = self._declares.dedupe_window_seconds
        if self._declares.idempotency != "keyed" or self.key is None or window is None:
            return None
        margin = self._declares.probe_settle_seconds * SECOND + 2 * self._policy.skew
        cut_off = now + int(window * SECOND * self._policy.send_window_fraction) - margin
        if cut_off <= now:
            raise RecorderError(
                f"{self.action_id}: a dedupe window of {window} s is too short to send within: "
                f"{self._policy.send_window_fraction} of it is not more than the settle time and twice the clock skew"
            )
        return format_time(cut_off)

    def _require_permission(self, action: Action | None) -> None:
        """Raise where an earlier attempt is in doubt and nobody permitted another one."""
        item = self._plan.items.get(self.action_id)
        attempts = action.attempts if action else ()
        expired = self._plan.valid_until is not None and self._journal.clock() >= self._plan.valid_until
        if item and expired and not any(attempt.epoch == self._journal.epoch for attempt in attempts):
            raise TooLate(f"{self.action_id}: the guard's decision is no longer valid; resume the run again")
        if action is None or not action.open_attempts:
            return
        mine = [attempt for attempt in action.open_attempts if attempt.epoch == self._journal.epoch]
        if len(mine) < len(action.open_attempts) and not (item and item.do == "replay"):
            raise InDoubt(
                f"{self.action_id}: an attempt of an earlier owner may have been applied, "
                f"and the guard's plan says {item.do if item else 'nothing'} for it, not replay"
            )
        if mine and not self._repeatable(action, mine):
            raise InDoubt(
                f"{self.action_id}: an attempt may have been applied, and its tool declares nothing that makes "
                "another one harmless now; find out what happened, then resume the run"
            )

    def _repeatable(self, action: Action, mine: list[Attempt]) -> bool:
        declares = action.declares
        if declares.effect == "read" or (declares.idempotency == "keyed" and action.send_before is not None):
            return True
        # x=1, x=2, a late x=1: not before the older attempt can no longer arrive.
        late = max(attempt.deadline or 0 for attempt in mine) + declares.probe_settle + 2 * self._policy.skew
        return declares.idempotency == "natural" and self._journal.clock() >= late

    def _require_time(self, attempt: Record) -> None:
        """The last look before the call: a process may have slept since it recorded the attempt."""
        detail = attempt.value["attempt"]
        limits = {
            "its deadline": parse_time(detail["deadline"]),
            "its lease": self._journal.lapses_at,
        }
        if detail["sendBefore"] is not None:
            limits["its sendBefore"] = parse_time(detail["sendBefore"])
        now = self._journal.clock()
        over = [name for name, limit in limits.items() if now >= limit]
        if over:
            error = {"class": "TooLate", "message": None, "retryable": True, "sent": "no"}
            self._settle(attempt, {"status": "failed", "error": error})
            raise TooLate(
                f"{self.action_id}: {' and '.join(over)} was over before the call; nothing was sent"
            )

    def _failed(self, attempt: Record, error: Exception) -> None:
        definite = isinstance(error, self._definite)
        detail = {
            "class": type(error).__name__,
            "message": str(error)[:1000] or None,
            "retryable": self._retryable if definite else None,
            "sent": "no" if definite else "unknown",
        }
        try:
            if definite:
                try:
                    self._settle(attempt, {"status": "failed", "error": detail})
                except IllegalRecord:
                    # The error only says that no answer came; readers would take `failed` for a doubt, and so do we.
                    definite = False
            if not definite:
                self._settle(attempt, {"status": "inDoubt", "error": {**detail, "sent": "unknown"}})
        except (RecorderError, StoreError) as second:
            # The caller must see its own error; an open attempt without an outcome is in doubt all the same.
            error.add_note(f"and its outcome could not be recorded: {second}")

    def _committed(self, attempt: Record, answer: Any) -> Any:
        receipt = answer if isinstance(answer, Receipt) else Receipt(answer)
        evidence: dict[str, Any] = {
            "kind": "response",
            "ref": receipt.ref or receipt.external_ref,
            "by": None,
            "observedAt": format_time(self._journal.clock()),
        }
        kept = {"externalRef": receipt.external_ref, "result": receipt.result}
        if receipt.message_id is not None:
            kept["messageId"] = receipt.message_id
        try:
            self._settle(attempt, {"status": "committed", "evidence": evidence, **kept})
        except Fenced as fence:
            fence.add_note(f"{self.action_id} was applied all the same; the new owner will find it in doubt")
            raise
        except IllegalRecord as error:
            # It happened: that must stand in the ledger even where what came back cannot.
            self._settle(attempt, {"status": "committed", "evidence": {**evidence, "ref": None}})
            raise IllegalRecord(
                f"{self.action_id} is applied and recorded as committed, but its result cannot be kept ({error}); "
                "return a JSON value or a Receipt"
            ) from error
        self.receipt = receipt
        return receipt.result

    def _settle(self, attempt: Record, members: Mapping[str, Any]) -> None:
        """Record how `attempt` ended, unless somebody has already proved that it was applied."""
        detail = attempt.value["attempt"]

        def build() -> Mapping[str, Any]:
            attempts = self._journal.actions[self.action_id].attempts
            if any(known.number == detail["number"] and known.status == "committed" for known in attempts):
                raise _SettledMeanwhileError
            return {"recordType": "ledger", **self._identity, "attempt": detail, **members}

        with suppress(_SettledMeanwhileError):
            self._journal.append_owned(build)


class _SettledMeanwhileError(Exception):
    """Evidence that the effect is applied arrived while a record of it was being written."""
