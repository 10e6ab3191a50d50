"""How an attempt ended, written down (SPEC.md#writer).

Decided here: what an answer or an exception proves, what is kept of it where a record cannot hold all, and what all
outcomes together prove.
Not decided here: whether the attempt may be made (``permission``); which transitions are legal (``model.ledger``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.model.action import Action
from safepoint.model.record import Record
from safepoint.recorder.declares import Receipt
from safepoint.recorder.errors import Fenced, IllegalRecord, RecorderError, ResultNotKept, RunEnded
from safepoint.recorder.journal import Journal
from safepoint.store import StoreError

_IDENTITY = ("actionId", "stepName", "idempotencyKey", "requestFingerprint", "messageId", "compensates")

_TOO_MUCH: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"result"}),
    frozenset({"externalRef", "messageId", "ref"}),
    frozenset({"result", "externalRef", "messageId", "ref"}),
)
"""What is left out of a ``committed`` record, tried in turn: that it happened must stand, whatever came back."""


class SettledMeanwhileError(Exception):
    """Evidence that the effect is applied arrived while a record of it was being written."""


def describe(error: BaseException) -> dict[str, str | None]:
    """Class and message of any exception, as an ``error`` member can hold them."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot say what it is must not hide that it was raised
        text = ""
    safe = text.encode("utf-8", "replace").decode()[:1000]
    name = type(error).__name__.encode("utf-8", "replace").decode()[:256]
    return {"class": name, "message": safe or None}


class Settlement:
    """The end of one attempt of this process."""

    def __init__(self, journal: Journal, attempt: Record) -> None:
        self._journal = journal
        self._attempt = attempt.value["attempt"]
        self._identity = {name: attempt.value[name] for name in _IDENTITY if name in attempt.value}

    @property
    def action_id(self) -> str:
        """Whose attempt it is."""
        return str(self._identity["actionId"])

    def _require_doubt(self) -> None:
        attempts = self._journal.actions[self.action_id].attempts
        if any(a.number == self._attempt["number"] and a.status == "committed" for a in attempts):
            raise SettledMeanwhileError

    def _write(self, members: Mapping[str, Any]) -> None:
        """Append the outcome, unless somebody has already proved that the attempt was applied."""

        def build() -> Mapping[str, Any]:
            self._require_doubt()
            return {"recordType": "ledger", **self._identity, "attempt": self._attempt, **members}

        with suppress(SettledMeanwhileError):
            self._journal.append_owned(build)

    def unsent(self, why: str) -> None:
        """Nothing was sent, and this process knows it."""
        error = {"class": why, "message": None, "retryable": True, "sent": "no"}
        self._write({"status": "failed", "error": error})

    def doubt(self, error: BaseException | None) -> None:
        """Nobody knows; None: the call was interrupted."""
        said = {"class": "Interrupted", "message": None} if error is None else describe(error)
        self._write({"status": "inDoubt", "error": {**said, "retryable": None, "sent": "unknown"}})

    def failed(self, error: Exception, *, definite: bool, retryable: bool) -> None:
        """An exception: a failure where it proves that nothing was applied, or was but a read; else a doubt."""
        reads = self._journal.actions[self.action_id].declares.effect == "read"
        # Whatever was declared: that time ran out is no refusal.
        definite = definite and not isinstance(error, TimeoutError)
        if not definite and not reads:
            self.doubt(error)
            return
        sent = {"retryable": retryable, "sent": "no"} if definite else {"retryable": True, "sent": "unknown"}
        try:
            self._write({"status": "failed", "error": {**describe(error), **sent}})
        except IllegalRecord as refused:
            # By its name no answer came (ReadTimeout); readers would take `failed` for a doubt, and so do we.
            if not any(fault.code == "SP405" for fault in refused.faults):
                raise
            self.doubt(error)

    def committed(self, receipt: Receipt) -> None:
        """The provider's answer.

        Raises:
            ResultNotKept: recorded, but without what no record can hold.
            Fenced, RunEnded: this process is no longer the owner; the answer stands as evidence, which needs none.
            RecorderError, StoreError: not recorded.
        """
        try:
            self._commit(receipt)
        except (Fenced, RunEnded) as late:
            try:
                self._bear_witness(receipt)
            except (RecorderError, StoreError) as second:
                late.add_note(
                    f"{self.action_id} was applied all the same; the new owner will find it in doubt: {second}"
                )
            else:
                late.add_note(f"{self.action_id} was applied all the same, and evidence of that is recorded")
            raise

    def _commit(self, receipt: Receipt) -> None:
        members = {
            "externalRef": receipt.external_ref,
            "result": receipt.result,
            **({} if receipt.message_id is None else {"messageId": receipt.message_id}),
        }
        refused: IllegalRecord | None = None
        for dropped in _TOO_MUCH:
            ref = None if "ref" in dropped else receipt.ref or receipt.external_ref
            evidence = {"kind": "response", "ref": ref, "by": None, "observedAt": self._now()}
            kept = {name: value for name, value in members.items() if name not in dropped}
            try:
                self._write({"status": "committed", "evidence": evidence, **kept})
            except IllegalRecord as error:
                refused = refused or error
            else:
                break
        else:
            raise refused or IllegalRecord(f"{self.action_id} cannot be recorded as committed")
        if refused:
            raise ResultNotKept(
                f"{self.action_id} is applied and recorded as committed, but its result cannot be kept ({refused}); "
                "return a JSON value or a Receipt"
            ) from refused

    def _bear_witness(self, receipt: Receipt) -> None:
        """Record the answer as ``evidence``: so the next owner finds no doubt."""

        def build(ref: str | None, external_ref: str | None) -> Mapping[str, Any]:
            self._require_doubt()
            return {
                "recordType": "evidence",
                "actionId": self.action_id,
                "attemptNumber": self._attempt["number"],
                "result": "applied",
                "kind": "response",
                "by": None,
                "ref": ref,
                "observedAt": self._now(),
                "externalRef": external_ref,
                "leaseEpoch": 0,
            }

        with suppress(SettledMeanwhileError):
            try:
                said = receipt.ref or receipt.external_ref
                self._journal.append(partial(build, said, receipt.external_ref))
            except IllegalRecord:
                self._journal.append(partial(build, None, None))

    def _now(self) -> str:
        return format_time(self._journal.clock())


def side_effect_status(actions: Mapping[str, Action]) -> dict[str, bool | None]:
    """What the ledger proves of the run's effects: true, false, or null where nobody can know."""
    messages = [action for action in actions.values() if action.declares.effect == "message"]
    writes = [action for action in actions.values() if action.declares.effect not in {"message", "read"}]
    return {"writePerformed": _performed(writes), "externalMessageSent": _performed(messages)}


def _performed(actions: Sequence[Action]) -> bool | None:
    attempts = [attempt for action in actions for attempt in action.attempts]
    if any(attempt.status == "committed" for attempt in attempts):
        return True
    return None if any(attempt.open or attempt.status == "prepared" for attempt in attempts) else False
