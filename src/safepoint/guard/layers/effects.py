"""Layer 6: what became of each effect, and what may be done about it (SPEC.md#guard-effects).

The table of SPEC.md, first matching row; an action that no row can decide goes to a human.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from safepoint.core.timestamp import parse_time
from safepoint.guard import doubt
from safepoint.guard.case import FINDABLE, Case, Opinion, in_words
from safepoint.model.action import Action, Attempt


def judge(case: Case, opinion: Opinion) -> None:
    """One decision for each action."""
    for action in case.run.actions.values():
        backwards = case.undoing and action.compensates is None
        rule = (_BACKWARDS.get(action.status) if backwards else None) or _RULES[action.status]
        found = action.status in FINDABLE and case.found_applied(action)
        found = found and case.declares(action).effect != "read"
        (_found_applied if found else rule)(case, opinion, action)


def _found_applied(_case: Case, opinion: Opinion, action: Action) -> None:
    """A positive probe always suffices; where the ledger says that nothing was sent, something is missing from it."""
    if action.attempts:
        message = "a probe found it applied; record that evidence, then use its result"
        opinion.decide(action, "skip", "SP776", "resume", message)
    else:
        message = "a probe found it applied, and the ledger knows of no attempt: something is not recorded"
        opinion.decide(action, "handOver", "SP776", "hand_over", message)
        opinion.need("human", action.action_id, "find out who sent it")


def _settled(case: Case, opinion: Opinion, action: Action) -> None:
    if action.status == "committed" and case.declares(action).effect == "read" and case.reads_again:
        opinion.decide(
            action, "run", "SP762", "resume", "a read, and what it read has moved; it is done again"
        )
        return
    said = {
        "committed": "done",
        "compensated": "done and undone again",
        "cancelled": "withdrawn before it was tried",
    }
    opinion.decide(
        action,
        "skip",
        "SP760",
        "resume",
        f"{said[action.status]}, and the ledger proves it; {_result(action)}, nothing is sent",
    )


def _result(action: Action) -> str:
    if action.status == "cancelled":
        return "it is passed over"
    said = (record.value for record in action.records if record.kind == "ledger")
    kept = any(
        value.get("status") == "committed" and {"result", "resultRef"} & value.keys() for value in said
    )
    return "its recorded result is used" if kept else "no result of it is recorded"


def _planned(_case: Case, opinion: Opinion, action: Action) -> None:
    opinion.decide(action, "run", "SP761", "resume", "planned and never attempted; nothing was sent")


def _abandoned(case: Case, opinion: Opinion, action: Action) -> None:
    if case.policy_for(action).abandoned_may_skip:
        opinion.decide(
            action,
            "skip",
            "SP771",
            "resume",
            "a human gave up finding out; the policy lets the run pass it",
        )
    else:
        opinion.decide(
            action, "handOver", "SP771", "hand_over", "a human gave up finding out what became of it"
        )
        opinion.need("human", action.action_id, "decide how the run goes on without knowing")


def _failed(case: Case, opinion: Opinion, action: Action) -> None:
    left = len(action.attempts) < case.policy_for(action).tries
    if action.retryable and left and case.declares(action).idempotency == "keyed":
        cut_off = doubt.send_before(case, action)
        if cut_off is None or case.now >= cut_off:
            opinion.decide(
                action,
                "handOver",
                "SP767",
                "hand_over",
                "failed and retryable, but the provider no longer honours its key: a new try would be a new request",
            )
            opinion.need("human", action.action_id, "decide on a new action with a key of its own")
            return
        opinion.valid_until.append(cut_off)
    if action.retryable and left:
        opinion.decide(
            action,
            "replay",
            "SP768",
            "resume",
            "failed before it was applied, and may be tried again",
        )
    elif case.to_undo and case.undoable and action.compensates is None:
        opinion.decide(
            action,
            "skip",
            "SP769",
            "compensate",
            "failed for good; what was done before can be undone",
        )
    else:
        opinion.decide(
            action, "handOver", "SP769", "hand_over", "failed for good, and nothing undoes the rest"
        )
        opinion.need("human", action.action_id, "decide how the run goes on without this effect")


def _undoing(case: Case, opinion: Opinion, action: Action) -> None:
    """Decided by its compensation: once that is committed, only the record is missing."""
    undone = any(
        a.compensates == action.action_id and a.status == "committed" for a in case.run.actions.values()
    )
    if undone:
        message = "its compensation is committed; record it as compensated"
        opinion.decide(action, "skip", "SP741", "compensate", message)
    else:
        opinion.decide(action, "compensate", "SP741", "compensate", "its compensation has begun")


def _undo_failed(_case: Case, opinion: Opinion, action: Action) -> None:
    opinion.decide(action, "handOver", "SP740", "hand_over", "its compensation failed")


def _prepared(case: Case, opinion: Opinion, action: Action) -> None:
    expires = (action.record.value.get("reservation") or {}).get("expiresAt")
    if case.undoing:
        opinion.decide(
            action, "void", "SP770", "compensate", "a reservation is held; it has to be given back"
        )
    elif expires is None and case.can_probe(action) and case.probe(action) is None:
        opinion.decide(action, "reconcile", "SP770", "reconcile", "a reservation is held, of unknown expiry")
        opinion.need("probe", action.action_id, "ask the provider whether the reservation still stands")
    elif expires is None:
        opinion.decide(action, "handOver", "SP770", "hand_over", "a reservation is held, of unknown expiry")
        opinion.need(
            "outcome", action.action_id, "find out at the provider whether the reservation still stands"
        )
    elif case.now + case.policy.skew >= parse_time(expires):
        opinion.decide(action, "run", "SP770", "resume", "the reservation has expired; reserve again")
    else:
        opinion.valid_until.append(parse_time(expires) - case.policy.skew)
        opinion.decide(
            action,
            "confirm",
            "SP770",
            "resume",
            "a reservation is held; confirming it is idempotent",
        )


def _attempting(case: Case, opinion: Opinion, action: Action) -> None:
    """In flight while its owner may still be at it; in doubt from then on."""
    waits = [_in_doubt_from(case, attempt) for attempt in action.open_attempts]
    until = max(waits, default=0)
    if case.now < until:
        opinion.decide(
            action,
            "wait",
            "SP764",
            "wait",
            f"an attempt is under way, and its worker may still be alive for {in_words(until - case.now)}",
            until=until,
        )
    else:
        doubt.in_doubt(case, opinion, action)


def _in_doubt_from(case: Case, attempt: Attempt) -> int:
    """The time (nanoseconds) from which `attempt` is in doubt: fenced, lapsed, dead, or past its deadline."""
    owner = case.run.ownership
    if owner is None or attempt.epoch != owner.epoch or owner.released or attempt.status == "inDoubt":
        return 0
    if case.owner_death is not None:
        return 0
    ends = [attempt.deadline + case.policy.skew] if attempt.deadline is not None else []
    if not case.caller_owns or not ends:
        ends.append(owner.lapses_at(case.now, case.policy.skew))
    return min(ends)


_BACKWARDS: Mapping[str, Callable[[Case, Opinion, Action], None]] = {
    "planned": doubt.not_begun,
    "failed": doubt.not_begun,
}
"""Statuses that mean something else while the run is being undone."""

_RULES: Mapping[str, Callable[[Case, Opinion, Action], None]] = {
    "planned": _planned,
    "attempting": _attempting,
    "inDoubt": _attempting,
    "prepared": _prepared,
    "committed": _settled,
    "compensated": _settled,
    "cancelled": _settled,
    "failed": _failed,
    "compensating": _undoing,
    "compensationFailed": _undo_failed,
    "abandoned": _abandoned,
}
