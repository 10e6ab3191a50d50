"""The side-effect ledger: what is known of each action, folded attempt by attempt (SPEC.md#ledger).

Decided here: the legal transitions, as data, and the status of each action from its records alone.
Not decided here: anything that needs a clock, an owner's life or a policy; ``guard`` derives *in doubt* from those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.timestamp import parse_time
from safepoint.model.action import Action, Attempt, Declaration
from safepoint.model.record import Record

TRANSITIONS: Mapping[str | None, frozenset[str]] = {
    None: frozenset({"planned", "attempting"}),
    "planned": frozenset({"attempting", "cancelled"}),
    "attempting": frozenset({"committed", "failed", "prepared", "inDoubt"}),
    "inDoubt": frozenset({"committed", "prepared", "failed", "abandoned", "attempting", "compensating"}),
    "prepared": frozenset({"attempting", "failed"}),
    "failed": frozenset({"attempting", "cancelled"}),
    "committed": frozenset({"compensating"}),
    "compensating": frozenset({"compensated", "compensationFailed"}),
    "compensationFailed": frozenset({"compensating", "abandoned"}),
    "compensated": frozenset(),
    "cancelled": frozenset(),
    "abandoned": frozenset(),
}
"""From a status to those that may follow it; None is "no record yet"."""

OUTCOMES = frozenset({"committed", "failed", "prepared", "inDoubt"})
"""The statuses that speak of one attempt; the others speak of the whole action."""

_LOST_ANSWER = re.compile(
    r"time.?d?.?out|deadline|reset|broken.?pipe|disconnect|connection.?(lost|closed|aborted|error)|"
    r"incomplete.?read|unavailable|(^|[^0-9])50[0234]([^0-9]|$)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Draft:
    """An action while its records are read; faults go to `faults`."""

    action_id: str
    ordered: bool
    faults: list[Fault]
    attempts: list[Attempt] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    whole: Record | None = None
    """The last record that speaks of the whole action: planned, cancelled, compensating, …"""
    key: str | None = None
    key_seen: bool = False
    fingerprint: str | None = None
    declares: Declaration | None = None

    def status(self) -> str | None:
        whole = self.whole.value["status"] if self.whole else None
        if whole not in {None, "planned"}:
            return str(whole)
        states = [attempt.status for attempt in self.attempts]
        for state in ("committed", "attempting", "inDoubt", "prepared", "failed"):
            if state in states:
                return state
        return whole

    def decider(self) -> Record:
        status = self.status()
        if self.whole and self.whole.value["status"] == status:
            return self.whole
        return next((a.record for a in reversed(self.attempts) if a.status == status), self.records[-1])

    def fault(self, record: Record, code: str, message: str, pointer: str = "/status") -> None:
        self.faults.append(Fault(code, message, pointer, place=record.place))

    def identity(self, record: Record) -> None:
        value = record.value
        key, fingerprint = value.get("idempotencyKey"), value.get("requestFingerprint")
        if self.key_seen and key != self.key:
            self.fault(
                record,
                "SP403",
                "the idempotency key differs from the one in this action's first record; a key must stay the same",
                "/idempotencyKey",
            )
        elif not self.key_seen:
            self.key, self.key_seen = key, True
        if fingerprint and self.fingerprint and fingerprint != self.fingerprint:
            self.fault(
                record,
                "SP402",
                "the same action and key now name another request (requestFingerprint differs)",
                "/requestFingerprint",
            )
        self.fingerprint = self.fingerprint or fingerprint
        if "declares" in value and value["declares"] is not None and self.declares is None:
            self.declares = Declaration.from_value(value["declares"])

    def repeatable(self) -> bool:
        """Whether the tool declares that doing it again does no harm."""
        declares = self.declares or Declaration()
        keyed = declares.idempotency == "keyed" and self.key is not None
        return keyed or declares.idempotency == "natural" or self.reads()

    def reads(self) -> bool:
        """Whether the tool declares that it only reads, so that it may be done again at any time."""
        return self.declares is not None and self.declares.effect == "read"

    def named_attempt(self, record: Record) -> Attempt | None:
        number = (record.value.get("attempt") or {}).get("number", record.value.get("attemptNumber"))
        if number is not None:
            return next((a for a in self.attempts if a.number == number), None)
        opened = [a for a in self.attempts if a.status in {"attempting", "inDoubt", "prepared"}]
        return opened[-1] if opened else (self.attempts[-1] if self.attempts else None)

    def set_attempt(self, attempt: Attempt, record: Record, status: str, *, retryable: bool = False) -> None:
        self.attempts[self.attempts.index(attempt)] = replace(
            attempt, status=status, retryable=retryable, record=record
        )

    def begin(self, record: Record) -> None:
        """An ``attempting`` record."""
        status = self.status()
        detail = record.value.get("attempt") or {}
        number = int(detail.get("number") or len(self.attempts) + 1)
        last = self.attempts[-1] if self.attempts else None
        if last and last.status == "attempting" and self.ordered and record.epoch <= last.epoch:
            self.fault(
                record,
                "SP404",
                f"attempt {number} begins while attempt {last.number} of the same epoch is open",
            )
        elif status in {"attempting", "inDoubt"} and self.ordered and not self.repeatable():
            self.fault(
                record,
                "SP401",
                "attempting again while an earlier attempt is in doubt, although the tool declares no idempotency",
            )
        elif status == "failed" and last and not last.retryable and self.ordered:
            self.fault(record, "SP401", "attempting after a failure that says retryable: false")
        elif status != "attempting" and not (status == "committed" and self.reads()):
            self.check(record, status, "attempting")
        if any(attempt.number == number for attempt in self.attempts):
            if self.ordered:
                self.fault(record, "SP401", f"attempt number {number} was used before", "/attempt/number")
            number = max(attempt.number for attempt in self.attempts) + 1
        started, cut_off = _time(detail.get("startedAt")), _time(detail.get("sendBefore"))
        first = self.attempts[0].send_before if self.attempts else None
        limit = first if first is not None else cut_off
        if limit is not None and started is not None and started > limit:
            self.fault(record, "SP408", "the attempt starts after its sendBefore", "/attempt/startedAt")
        self.attempts.append(
            Attempt(
                number=number,
                epoch=record.epoch,
                nonce=record.nonce,
                status="attempting",
                started=started if started is not None else record.created,
                deadline=_time(detail.get("deadline")),
                send_before=cut_off,
                retryable=False,
                opened=record,
                record=record,
            )
        )

    def outcome(self, record: Record, status: str) -> None:
        """A record that says how an attempt ended, or that nobody knows."""
        attempt = self.named_attempt(record)
        if attempt is None:
            if self.ordered:
                self.fault(record, "SP401", f"{status} without an attempt before it")
            attempt = Attempt(
                number=1,
                epoch=record.epoch,
                nonce=record.nonce,
                status="attempting",
                started=record.created,
                deadline=None,
                send_before=None,
                retryable=False,
                opened=record,
                record=record,
            )
            self.attempts.append(attempt)
        else:
            before = (
                "inDoubt"
                if attempt.status == "attempting" and record.epoch != attempt.epoch
                else attempt.status
            )
            self.check(record, before, status)
            if status == "failed" and before == "inDoubt" and not _proves_absence(record):
                self.fault(record, "SP401", "inDoubt to failed needs the evidence of a probe or a human")
                status = "inDoubt"
        if attempt.status == "committed":
            return
        if status == "failed" and self.lost_answer(record):
            self.fault(
                record,
                "SP405",
                "failed, but the error only says that no answer came: the effect may have happened; read as inDoubt",
                "/error",
            )
            status = "inDoubt"
        if status == "committed" and not _proves_application(record):
            self.fault(record, "SP406", "committed without evidence; read as inDoubt", "/evidence")
            status = "inDoubt"
        retryable = status == "failed" and bool((record.value.get("error") or {}).get("retryable"))
        self.set_attempt(attempt, record, status, retryable=retryable)

    def lost_answer(self, record: Record) -> bool:
        if self.reads() or _proves_absence(record):
            return False
        error = record.value.get("error")
        if error is None:
            return True
        if error.get("sent") not in {"no", "yes"}:
            return True
        return bool(_LOST_ANSWER.search(f"{error.get('class') or ''} {error.get('message') or ''}"))

    def positive(self, record: Record) -> None:
        """An ``evidence`` record: somebody saw the effect."""
        attempt = self.named_attempt(record)
        if attempt is None:
            self.fault(record, "SP401", "evidence for an attempt that no record names", "/attemptNumber")
        else:
            self.set_attempt(attempt, record, "committed")

    def check(self, record: Record, before: str | None, after: str) -> None:
        if self.ordered and after not in TRANSITIONS[before]:
            allowed = ", ".join(sorted(TRANSITIONS[before])) or "nothing"
            self.fault(
                record,
                "SP401",
                f"{before or 'no record'} to {after}; after {before or 'none'} comes {allowed}",
            )

    def add(self, record: Record) -> None:
        self.records.append(record)
        if record.kind == "evidence":
            self.positive(record)
            return
        if record.value.get("requestFingerprint") or not self.key_seen or record.value.get("idempotencyKey"):
            self.identity(record)
        status = str(record.value["status"])
        if status == "attempting":
            self.begin(record)
        elif status in OUTCOMES:
            self.outcome(record, status)
        else:
            before = self.status()
            fenced = before == "attempting" and record.epoch > self.attempts[-1].epoch
            self.check(record, "inDoubt" if fenced else before, status)
            self.whole = record

    def finish(self) -> Action:
        first = self.records[0]
        latest = [record.value for record in reversed(self.records)]
        # An evidence record's `result` says that the effect was applied; it is not what the effect returned.
        written = [value for value in latest if value["recordType"] == "ledger"]

        def last(name: str) -> Any:
            return next((value[name] for value in latest if value.get(name) is not None), None)

        result = next((value["result"] for value in written if value.get("result") is not None), None)

        return Action(
            action_id=self.action_id,
            step_name=str(first.value.get("stepName") or ""),
            key=self.key,
            fingerprint=self.fingerprint,
            declares=self.declares or Declaration(),
            status=self.status() or "planned",
            attempts=tuple(self.attempts),
            record=self.decider(),
            records=tuple(self.records),
            compensates=last("compensates"),
            result=result if result is not None else last("resultRef"),
            external_ref=last("externalRef"),
            message_id=last("messageId"),
        )


def fold_ledger(records: Iterable[Record], *, ordered: bool, faults: list[Fault]) -> dict[str, Action]:
    """The actions of a run, in the order of their first records.

    Args:
        records: the run's ``ledger`` and ``evidence`` records, in journal order, or as their times suggest.
        ordered: whether the order is proven by sequences; without, an impossible order is no fault of anybody's.
        faults: what is wrong is appended here.
    """
    drafts: dict[str, _Draft] = {}
    for record in records if ordered else _gravest_order(records):
        action_id = str(record.value["actionId"])
        draft = drafts.setdefault(action_id, _Draft(action_id, ordered, faults))
        if record.kind == "evidence" and not draft.records:
            draft.fault(
                record, "SP401", "evidence for an action that has no ledger record before it", "/actionId"
            )
            continue
        draft.add(record)
    actions = {name: draft.finish() for name, draft in drafts.items() if draft.records}
    faults.extend(_reused_keys(actions.values()))
    faults.extend(_unknown_compensations(actions))
    return actions


def _gravest_order(records: Iterable[Record]) -> list[Record]:
    """By time; where times tie or lack, the order that leaves most in doubt comes last and so decides."""
    doubt = ("planned", "committed", "cancelled", "failed", "prepared", "attempting", "inDoubt")

    def rank(record: Record) -> tuple[int, int]:
        status = record.value.get("status", "")
        return (record.created or 0, doubt.index(status) if status in doubt else len(doubt))

    return sorted(records, key=rank)


def _reused_keys(actions: Iterable[Action]) -> Iterator[Fault]:
    owners: dict[str, Action] = {}
    for action in actions:
        if action.key is None:
            continue
        first = owners.setdefault(action.key, action)
        if first is not action and (first.fingerprint, first.step_name) != (
            action.fingerprint,
            action.step_name,
        ):
            yield Fault(
                "SP402",
                "this idempotency key already names another action's request; the provider would drop one of the two",
                "/idempotencyKey",
                place=action.records[0].place,
            )


def _unknown_compensations(actions: Mapping[str, Action]) -> Iterator[Fault]:
    for action in actions.values():
        target = actions.get(action.compensates) if action.compensates else None
        if action.compensates and (target is None or target.compensates):
            why = "that is itself a compensation" if target else "that the ledger does not hold"
            yield Fault(
                "SP410", f"compensates an action {why}", "/compensates", place=action.records[0].place
            )


def _proves_application(record: Record) -> bool:
    value = record.value
    if value.get("evidence"):
        return True
    return value.get("orderEvidence") == "time" and value.get("externalRef") is not None


def _proves_absence(record: Record) -> bool:
    return (record.value.get("evidence") or {}).get("kind") in {"probe", "human"}


def _time(text: str | None) -> int | None:
    return None if text is None else parse_time(text)
