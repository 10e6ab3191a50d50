"""The side-effect ledger: what is known of each action, folded attempt by attempt (SPEC.md#ledger).

Decided here: the legal transitions, as data, and the status of each action from its records alone.
Not decided here: anything that needs a clock, an owner's life or a policy; ``guard`` derives *in doubt* from those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from safepoint.core.fault import Fault
from safepoint.core.timestamp import parse_time
from safepoint.model import proof
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
"""From a status to those that may follow it; None is "no record yet". Conditions on a transition are in the fold."""

OUTCOMES = frozenset({"committed", "failed", "prepared", "inDoubt"})
"""The statuses that speak of one attempt; the others speak of the whole action."""

_GRAVEST_FIRST = ("committed", "attempting", "inDoubt", "prepared", "failed")
"""What an action is by its attempts: the first of these that one of them has."""


@dataclass(slots=True)
class _Draft:
    """An action while its records are read; faults go to `faults`."""

    action_id: str
    ordered: bool
    faults: list[Fault]
    attempts: dict[int, Attempt] = field(default_factory=dict)
    """By number, in the order in which they began."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many attempts have which status."""
    records: list[Record] = field(default_factory=list)
    whole: Record | None = None
    """The last record that speaks of the whole action: planned, cancelled, compensating, …"""
    key: str | None = None
    fingerprint: str | None = None
    declares: Declaration | None = None

    def status(self) -> str | None:
        whole = self.whole.value["status"] if self.whole else None
        if whole not in {None, "planned"}:
            return str(whole)
        return next((status for status in _GRAVEST_FIRST if self.counts[status]), whole)

    def decider(self) -> Record:
        status = self.status()
        if self.whole and self.whole.value["status"] == status:
            return self.whole
        attempts = reversed(self.attempts.values())
        return next((a.record for a in attempts if a.status == status), self.records[-1])

    def last(self) -> Attempt | None:
        return next(reversed(self.attempts.values()), None)

    def fault(self, record: Record, code: str, message: str, pointer: str = "/status") -> None:
        self.faults.append(Fault(code, message, pointer, place=record.place))

    def add(self, record: Record) -> None:
        if record.kind == "evidence":
            self.positive(record)
            self.records.append(record)
            return
        self.identity(record)
        self.records.append(record)
        status = str(record.value["status"])
        if status == "attempting":
            self.begin(record)
        elif status in OUTCOMES:
            self.outcome(record, status)
        else:
            self.of_the_whole(record, status)

    def identity(self, record: Record) -> None:
        """Key, request and declaration are fixed by the first record, at the latest by the first attempt."""
        value = record.value
        key, fingerprint = value.get("idempotencyKey"), value.get("requestFingerprint")
        if not self.records:
            self.key = key
        elif key != self.key:
            message = (
                "the idempotency key differs from the one in this action's first record; a key stays the same"
            )
            self.fault(record, "SP403", message, "/idempotencyKey")
        if fingerprint and self.fingerprint and fingerprint != self.fingerprint:
            message = "the same action and key now name another request (requestFingerprint differs)"
            self.fault(record, "SP402", message, "/requestFingerprint")
        if not self.attempts:
            self.fingerprint = self.fingerprint or fingerprint
            if value.get("declares") is not None:
                said = Declaration.from_value(value["declares"])
                # Who contradicts himself has declared nothing that could be relied on.
                self.declares = said if self.declares in {None, said} else Declaration(declared=True)

    def repeatable(self) -> bool:
        """Whether the tool declares that doing it again does no harm."""
        declares = self.declares or Declaration()
        keyed = declares.idempotency == "keyed" and self.key is not None
        return keyed or declares.idempotency == "natural" or self.reads()

    @property
    def settle(self) -> int:
        """Nanoseconds until an applied effect shows."""
        return (self.declares or Declaration()).probe_settle

    def declared_elsewhere(self, record: Record) -> bool:
        """Whether a new owner may have known from a policy's catalogue what the tool does not declare itself."""
        last = self.last()
        return self.declares is None and last is not None and record.epoch > last.epoch

    def reads(self) -> bool:
        """Whether the tool declares that it only reads, so that it may be done again at any time."""
        return self.declares is not None and self.declares.effect == "read"

    def named_attempt(self, record: Record) -> Attempt | None:
        number = (record.value.get("attempt") or {}).get("number", record.value.get("attemptNumber"))
        if number is not None:
            return self.attempts.get(number)
        unsettled = {"attempting", "inDoubt", "prepared"}
        opened = (a for a in reversed(self.attempts.values()) if a.status in unsettled)
        return next(opened, self.last())

    def set_attempt(self, attempt: Attempt) -> None:
        before = self.attempts.get(attempt.number)
        if before:
            self.counts[before.status] -= 1
        self.attempts[attempt.number] = attempt
        self.counts[attempt.status] += 1

    def begin(self, record: Record) -> None:
        """An ``attempting`` record."""
        detail = record.value.get("attempt") or {}
        number = int(detail.get("number") or len(self.attempts) + 1)
        if self.ordered:
            self.may_begin(record, number)
        self.reconsider()
        if number in self.attempts:
            number = max(self.attempts) + 1
        started, cut_off = _time(detail.get("startedAt")), _time(detail.get("sendBefore"))
        first = next(iter(self.attempts.values()), None)
        limit = first.send_before if first and first.send_before is not None else cut_off
        if limit is not None and started is not None and started >= limit:
            self.fault(record, "SP408", "the attempt starts at or after its sendBefore", "/attempt/startedAt")
        self.set_attempt(_opened(number, record, started, _time(detail.get("deadline")), cut_off))

    def reconsider(self) -> None:
        """Of all orders that times allow, the one is gravest in which what leaves a doubt came last."""
        if not self.ordered and self.whole and self.whole.value["status"] != "planned":
            self.whole = None

    def may_begin(self, record: Record, number: int) -> None:
        status, last = self.status(), self.last()
        if last and last.status == "attempting" and record.epoch <= last.epoch:
            message = f"attempt {number} begins while attempt {last.number} of the same epoch is open"
            self.fault(record, "SP404", message)
        elif (
            status in {"attempting", "inDoubt"}
            and not self.repeatable()
            and not self.declared_elsewhere(record)
        ):
            message = (
                "attempting again while an earlier attempt is in doubt, and the tool declares no idempotency"
            )
            self.fault(record, "SP401", message)
        elif status == "failed" and last and not last.retryable:
            self.fault(record, "SP401", "attempting after a failure that says retryable: false")
        elif status != "attempting" and not (status == "committed" and self.reads()):
            self.check(record, status, "attempting")
        if number in self.attempts:
            self.fault(record, "SP401", f"attempt number {number} was used before", "/attempt/number")

    def outcome(self, record: Record, status: str) -> None:
        """A record that says how an attempt ended, or that nobody knows."""
        attempt = self.named_attempt(record)
        if attempt is None:
            if self.ordered:
                self.fault(record, "SP401", f"{status} without an attempt before it")
            attempt = _opened(len(self.attempts) + 1, record, record.created, None, None)
            self.set_attempt(attempt)
        else:
            fenced = attempt.status == "attempting" and record.epoch != attempt.epoch
            before = "inDoubt" if fenced else attempt.status
            if (before, status) == ("committed", "committed") and attempt.record.kind == "evidence":
                # Somebody saw the effect before its writer could say so; the writer's word brings the result.
                self.set_attempt(replace(attempt, record=record))
                return
            self.check(record, before, status)
            if (
                status == "failed"
                and before == "inDoubt"
                and not proof.of_absence(record, attempt, self.settle)
            ):
                if self.ordered:
                    message = "inDoubt to failed needs a probe after the deadline, by a later epoch, or a human's word"
                    self.fault(record, "SP401", message)
                status = "inDoubt"
        if attempt.status == "committed":
            return
        certain = self.reads() or proof.of_absence(record, attempt, self.settle)
        if status == "failed" and not certain and proof.may_be_applied(record, repeatable=self.repeatable()):
            message = "failed, but nothing says that it was refused: it may have happened; read as inDoubt"
            self.fault(record, "SP405", message, "/error")
            status = "inDoubt"
        if status in {"inDoubt", "prepared"}:
            self.reconsider()
        if status == "committed" and not proof.of_application(record, ordered=self.ordered):
            self.fault(record, "SP406", "committed without evidence; read as inDoubt", "/evidence")
            status = "inDoubt"
        retryable = status == "failed" and bool((record.value.get("error") or {}).get("retryable"))
        self.set_attempt(attempt.settled(status, record, retryable=retryable))

    def of_the_whole(self, record: Record, status: str) -> None:
        """A record that speaks of the whole action."""
        before, last = self.status(), self.last()
        if before == "attempting" and last and record.epoch > last.epoch:
            before = "inDoubt"
        self.check(record, before, status)
        declares = self.declares or Declaration()
        if (
            self.ordered
            and (before, status) == ("inDoubt", "compensating")
            and not declares.compensation_consumes_key
        ):
            message = "what is in doubt is only compensated where the compensation consumes the key"
            self.fault(record, "SP401", message)
        self.whole = record

    def positive(self, record: Record) -> None:
        """An ``evidence`` record: somebody saw the effect."""
        attempt = self.named_attempt(record)
        if self.whole and self.whole.value["status"] in {"abandoned", "cancelled"}:
            self.whole = None  # it was given up, and then somebody knew
        if attempt is not None:
            self.set_attempt(attempt.settled("committed", record))
        elif self.ordered:
            self.fault(record, "SP401", "evidence for an attempt that no record names", "/attemptNumber")
        else:
            opened = _opened(len(self.attempts) + 1, record, None, None, None)
            self.set_attempt(replace(opened, status="committed"))

    def check(self, record: Record, before: str | None, after: str) -> None:
        if self.ordered and after not in TRANSITIONS[before]:
            allowed = ", ".join(sorted(TRANSITIONS[before])) or "nothing"
            message = f"{before or 'no record'} to {after}; after {before or 'none'} comes {allowed}"
            self.fault(record, "SP401", message)

    def finish(self) -> Action:
        first = self.records[0].value
        result = result_ref = external_ref = message_id = None
        for record in reversed(self.records):
            value = record.value
            # An evidence record's `result` says that the effect was applied; it is not what the effect returned.
            if result is None and record.kind == "ledger":
                result = value.get("result")
            result_ref = result_ref or value.get("resultRef")
            external_ref = external_ref or value.get("externalRef")
            message_id = message_id or value.get("messageId")
        return Action(
            action_id=self.action_id,
            step_name=str(first.get("stepName") or ""),
            key=self.key,
            fingerprint=self.fingerprint,
            declares=self.declares or Declaration(),
            status=self.status() or "planned",
            attempts=tuple(self.attempts.values()),
            record=self.decider(),
            records=tuple(self.records),
            compensates=first.get("compensates"),
            result=result if result is not None else result_ref,
            external_ref=external_ref,
            message_id=message_id,
        )


def fold_ledger(records: Iterable[Record], *, ordered: bool, faults: list[Fault]) -> dict[str, Action]:
    """The actions of a run, in the order of their first records.

    Args:
        records: the run's ``ledger`` and ``evidence`` records, in journal order, or in any.
        ordered: whether their order is proven by sequences; without, an impossible order is no fault of anybody's.
        faults: what is wrong is appended here.
    """
    drafts: dict[str, _Draft] = {}
    for record in records if ordered else sorted(records, key=_gravest_last):
        action_id = str(record.value["actionId"])
        draft = drafts.setdefault(action_id, _Draft(action_id, ordered, faults))
        if record.kind == "evidence" and not draft.records:
            message = "evidence for an action that has no ledger record before it"
            draft.fault(record, "SP401", message, "/actionId")
            continue
        draft.add(record)
    actions = {name: draft.finish() for name, draft in drafts.items() if draft.records}
    if not ordered:
        actions = {name: _doubted(action, actions) for name, action in actions.items()}
    faults.extend(_reused_keys(actions.values()))
    faults.extend(_compensations(actions, ordered=ordered))
    return actions


_DOUBT = ("planned", "committed", "cancelled", "abandoned", "failed", "prepared", "attempting", "inDoubt")


def _gravest_last(record: Record) -> tuple[bool, bool, int, int, str]:
    """By time; where times tie or lack, the order that leaves most in doubt; evidence, which only adds, at the end."""
    status = str(record.value.get("status"))
    rank = _DOUBT.index(status) if status in _DOUBT else len(_DOUBT)
    undated_attempt = record.created is None and status in {"attempting", "inDoubt"}
    return (record.kind == "evidence", undated_attempt, record.created or 0, rank, record.digest)


def _opened(
    number: int, record: Record, started: int | None, deadline: int | None, cut_off: int | None
) -> Attempt:
    # A start later than its own record is not believed: it would stretch every limit that counts from it.
    starts = [time for time in (started, record.created) if time is not None]
    return Attempt(
        number=number,
        epoch=record.epoch,
        nonce=record.nonce,
        status="attempting",
        started=min(starts, default=None),
        deadline=deadline,
        send_before=cut_off,
        retryable=False,
        opened=record,
        record=record,
    )


def _doubted(action: Action, actions: Mapping[str, Action]) -> Action:
    """Without an order, an action is only compensated where its compensation is there to show it."""
    undone = any(a.compensates == action.action_id and a.status == "committed" for a in actions.values())
    return replace(action, status="inDoubt") if action.status == "compensated" and not undone else action


def _reused_keys(actions: Iterable[Action]) -> Iterator[Fault]:
    owners: dict[str, Action] = {}
    for action in actions:
        if action.key is None:
            continue
        first = owners.setdefault(action.key, action)
        # Only a compensation may carry another action's key: to use it up.
        if first is not action and action.compensates != first.action_id:
            message = "this idempotency key already belongs to another action; the provider would drop one of the two"
            yield Fault("SP402", message, "/idempotencyKey", place=action.records[0].place)


def _compensations(actions: Mapping[str, Action], *, ordered: bool) -> Iterator[Fault]:
    """Each compensation names an action that it can undo, once; what is called compensated was."""
    undone: dict[str, Action] = {}
    for action in actions.values():
        if action.compensates is None:
            continue
        place = action.records[0].place
        target = actions.get(action.compensates)
        if target is None or target.compensates is not None:
            why = "that is itself a compensation" if target else "that the ledger does not hold"
            yield Fault("SP410", f"compensates an action {why}", "/compensates", place=place)
        elif action.status != "cancelled" and undone.setdefault(action.compensates, action) is not action:
            yield Fault("SP410", "a second compensation of the same action", "/compensates", place=place)
    for action in actions.values():
        undo = undone.get(action.action_id)
        if ordered and action.status == "compensated" and (undo is None or undo.status != "committed"):
            message = "compensated, but no compensation of it is committed"
            yield Fault("SP401", message, "/status", place=action.record.place)


def _time(text: str | None) -> int | None:
    return None if text is None else parse_time(text)
