"""One effect on the world: recorded before it is attempted, settled after it, never done twice unasked.

Decided here: the order of record, call and record. Nothing is sent before its ``attempting`` record is won
(SPEC.md#writer). Not decided here: whether it may be attempted (``permission``), and what its end proves
(``settlement``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.model.action import Action
from safepoint.model.record import Record
from safepoint.recorder.declares import Declares, Receipt
from safepoint.recorder.errors import IllegalRecord, RecorderError, ResultNotKept, TooLate
from safepoint.recorder.journal import Journal
from safepoint.recorder.permission import Permission, Plan
from safepoint.recorder.settlement import SettledMeanwhileError, Settlement
from safepoint.store import StoreError


@dataclass(frozen=True, slots=True)
class Calling:
    """How an effect is called: what `RecordedRun.effect` was told besides what is recorded."""

    declares: Declares
    deadline: int
    """Nanoseconds."""
    definite: tuple[type[Exception], ...]
    retryable: bool
    approve: Callable[[], None]
    """Raises where nobody has approved it."""


class Effect(AbstractContextManager["Effect"]):
    """One action of a run, inside a ``with`` block; made by `RecordedRun.effect`."""

    def __init__(
        self,
        journal: Journal,
        identity: Mapping[str, Any],
        *,
        calling: Calling,
        permission: Permission,
        plan: Plan,
    ) -> None:
        self._journal = journal
        self._identity = identity
        self._calling = calling
        self._permission = permission
        self._plan = plan
        self._called = False
        self._attempt: Record | None = None
        self._owed: Settlement | None = None
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
        return self._permission.answered() is not None

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
            RecorderError: the attempt could not be recorded, and nothing was sent; or, with a note that says so, it was
                applied and its outcome could not be recorded: `settle` tries again.
        """
        if self._called:
            raise RecorderError(
                f"{self.action_id}: one effect is one call; make another effect for another request"
            )
        _require_plain(self.action_id, function)
        self._called = True
        if (done := self._permission.answered()) is not None:
            return self._recall(done)
        self._permission.require_direction()
        self._calling.approve()
        try:
            attempt = self._begin()
            if attempt is None:
                return self._recall(self._journal.actions[self.action_id])
            settlement = Settlement(self._journal, attempt)
            self._require_send(attempt, settlement)
            try:
                answer = function(*args, **kwargs)
            except Exception as error:
                self._failed(settlement, error)
                raise
            return self._committed(settlement, answer)
        finally:
            if self._attempt is not None:
                self._plan.calls[self._attempt.digest] = False

    def settle(self) -> None:
        """Record the answer that `call` got and could not record; does nothing where none is left."""
        if self._owed is not None and self.receipt is not None:
            self._record(self._owed, self.receipt)

    def withdraw(self) -> None:
        """Record that this effect is given up: never tried, or failed, and tried no more.

        So a run that found another way is not judged by an effect that failed for good, or that was not approved.

        Raises:
            IllegalRecord: it may have been applied.
        """
        if self.action_id not in self._journal.actions:
            declares = {"declares": self._calling.declares.document()}
            self._journal.append_owned(
                lambda: {"recordType": "ledger", "status": "planned", **self._identity, **declares}
            )
        self._journal.append_owned(lambda: {"recordType": "ledger", "status": "cancelled", **self._identity})

    def _recall(self, action: Action) -> Any:
        if action.status == "committed":
            self._undo("compensated")
        ledger = (record.value for record in reversed(action.records) if record.kind == "ledger")
        committed = next((value for value in ledger if value["status"] == "committed"), {})
        self.receipt = Receipt(committed.get("result"), action.external_ref, action.message_id)
        return self.receipt.result

    def _begin(self) -> Record | None:
        """The won ``attempting`` record; None: somebody proved meanwhile that the effect is applied."""
        # One step for the other threads: an attempt that is recorded and not among the calls was never sent.
        with self._journal.lock:
            while True:
                try:
                    attempt = self._journal.append_owned(self._attempting)
                except SettledMeanwhileError:
                    return None
                except _RecordFirstError as first:
                    first.record()
                else:
                    self._attempt = attempt
                    self._plan.calls[attempt.digest] = True
                    return attempt

    def _attempting(self) -> Mapping[str, Any]:
        action, permission = self._permission.action, self._permission
        if permission.answered():
            raise SettledMeanwhileError
        if self._identity.get("compensates") is None:
            self._journal.require_new_work()
        for attempt in self._plan.unsent(self._journal, action) if action else ():
            raise _RecordFirstError(partial(Settlement(self._journal, attempt.opened).unsent, "NotSent"))
        permission.require_attempt()
        for attempt in self._plan.stopped(self._journal, action) if action else ():
            raise _RecordFirstError(partial(Settlement(self._journal, attempt.opened).doubt, None))
        now = self._journal.clock()
        last = max((attempt.number for attempt in action.attempts), default=0) if action else 0
        members = {
            "recordType": "ledger",
            "status": "attempting",
            **self._identity,
            "attempt": {
                "number": last + 1,
                "startedAt": format_time(now),
                "deadline": format_time(now + self._calling.deadline),
                "sendBefore": permission.cut_off(now),
            },
            **({} if action else {"declares": self._calling.declares.document()}),
        }
        self._require_undoing(members)
        return members

    def _require_undoing(self, members: Mapping[str, Any]) -> None:
        """Raise where what this action undoes is not recorded as being undone."""
        target = self._journal.actions.get(self._identity.get("compensates") or "")
        if target is None or target.status == "compensating":
            return
        # Judged before: a roll-back that could not be attempted must not be recorded as begun.
        self._journal.judge(self._journal.draft({**members, "leaseEpoch": self._journal.epoch})[0])
        if target.status not in _UNDONE_FROM["compensating"]:
            raise IllegalRecord(f"{target.action_id} is {target.status}: there is nothing to compensate")
        raise _RecordFirstError(partial(self._undo, "compensating"))

    def _require_send(self, attempt: Record, settlement: Settlement) -> None:
        """The last look before the call, at the clock and at what other threads have learned."""
        self._journal.require_owner()
        if over := self._permission.over(attempt):
            settlement.unsent("TooLate")
            raise TooLate(
                f"{self.action_id}: {' and '.join(over)} was over before the call; nothing was sent"
            )

    def _failed(self, settlement: Settlement, error: Exception) -> None:
        definite, retryable = isinstance(error, self._calling.definite), self._calling.retryable
        try:
            settlement.failed(error, definite=definite, retryable=retryable)
            action = self._permission.action
            if action and action.status == "failed" and not action.retryable:
                self._undo("compensationFailed")
        except (RecorderError, StoreError) as second:
            # The caller must see its own error; an open attempt without an outcome is in doubt all the same.
            error.add_note(f"and its outcome could not be recorded: {second}")

    def _committed(self, settlement: Settlement, answer: Any) -> Any:
        receipt = answer if isinstance(answer, Receipt) else Receipt(answer)
        if _is_unfinished(receipt.result):
            if inspect.iscoroutine(receipt.result):
                receipt.result.close()
            settlement.doubt(None)
            raise RecorderError(
                f"{self.action_id}: the function returned {type(receipt.result).__name__}, which says nothing of what "
                "happened; wait for its result inside the function"
            )
        self.receipt = receipt
        self._record(settlement, receipt)
        return receipt.result

    def _record(self, settlement: Settlement, receipt: Receipt) -> None:
        self._owed = settlement
        try:
            settlement.committed(receipt)
        except ResultNotKept:
            self._owed = None
            raise
        except (RecorderError, StoreError) as error:
            if not hasattr(error, "__notes__"):
                error.add_note(
                    f"{self.action_id} was applied, and that could not be recorded; the effect's receipt holds the "
                    "answer, and settle() records it"
                )
            raise
        self._owed = None
        self._undo("compensated")

    def _undo(self, status: str) -> None:
        """Record of the action that this one compensates how far that has come, where it is not recorded yet."""
        target = str(self._identity.get("compensates"))

        def build() -> Mapping[str, Any]:
            action = self._journal.actions.get(target)
            if action is None or action.status not in _UNDONE_FROM[status]:
                raise SettledMeanwhileError
            return {
                "recordType": "ledger",
                "status": status,
                "actionId": target,
                "stepName": action.step_name,
                "idempotencyKey": action.key,
            }

        if target in self._journal.actions:
            with suppress(SettledMeanwhileError):
                self._journal.append_owned(build)


_UNDONE_FROM: Mapping[str, frozenset[str]] = {
    "compensating": frozenset({"committed", "inDoubt", "compensationFailed"}),
    "compensated": frozenset({"compensating"}),
    "compensationFailed": frozenset({"compensating"}),
}
"""The statuses of a compensated action from which it comes to each of its last three."""


class _RecordFirstError(Exception):
    """Something has to be recorded before the attempt, which is then judged again."""

    def __init__(self, record: Callable[[], None]) -> None:
        super().__init__()
        self.record = record


def settle_unsent(journal: Journal, plan: Plan) -> None:
    """Record of every attempt that this process never called for that nothing was sent."""
    for action in tuple(journal.actions.values()):
        for attempt in tuple(plan.unsent(journal, action)):
            Settlement(journal, attempt.opened).unsent("NotSent")


def _require_plain(action_id: str, function: Callable[..., Any]) -> None:
    """Refuse a function whose call would not do its work, but only promise it."""
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    sides = (function, getattr(function, "__call__", None))  # noqa: B004 - the method itself, not whether there is one
    if any(kind(side) for kind in kinds for side in sides):
        raise RecorderError(
            f"{action_id}: calling a coroutine function or a generator does not run it; give a function that does the "
            "work and returns its result, such as one that calls asyncio.run"
        )


def _is_unfinished(result: Any) -> bool:
    return inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result)
