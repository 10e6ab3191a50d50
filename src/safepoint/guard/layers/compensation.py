"""Layer 4: is the run being undone? Then it never goes forward again (SPEC.md#guard-compensation)."""

from __future__ import annotations

from safepoint.guard.case import Case, Opinion
from safepoint.model.action import Action


def judge(case: Case, opinion: Opinion) -> None:
    """A failed compensation, a roll-back that has begun, a request to unwind."""
    actions = case.run.actions.values()
    for action in actions:
        if action.status == "compensationFailed":
            opinion.say(
                "SP740",
                "hand_over",
                f"the compensation of action {action.action_id!r} failed",
                evidence=action.record,
                pointer="/status",
            )
            opinion.need("human", action.action_id, "undo the effect by hand, or decide to abandon it")
    begun = [
        a
        for a in actions
        if a.status in {"compensating", "compensated"} or (a.compensates and a.status != "cancelled")
    ]
    if begun:
        opinion.say(
            "SP741",
            "compensate",
            "the roll-back has begun; finish it, last effect first",
            evidence=begun[0].record,
        )
    if case.goal == "unwind":
        _unwind(case, opinion)


def to_undo(case: Case) -> tuple[Action, ...]:
    """Committed effects that a roll-back has to compensate, last in, first out."""
    undone = {a.compensates for a in case.run.actions.values() if a.compensates and a.status == "committed"}
    committed = [
        action
        for action in case.run.actions.values()
        if action.status in {"committed", "compensating"}
        and action.compensates is None
        and action.action_id not in undone
        and case.declares(action).effect != "read"
    ]
    return tuple(sorted(committed, key=lambda a: a.record.sequence or 0, reverse=True))


def _unwind(case: Case, opinion: Opinion) -> None:
    effects = to_undo(case)
    for action in effects:
        if (
            case.declares(action).reversibility == "irreversible"
            or case.declares(action).compensation is None
        ):
            opinion.say(
                "SP743",
                "hand_over",
                f"action {action.action_id!r} cannot be undone: no compensation is declared for it",
                evidence=action.record,
            )
            opinion.need("human", action.action_id, "decide what to do about an effect that cannot be undone")
    if effects:
        opinion.say(
            "SP742", "compensate", f"{len(effects)} committed effect(s) are to be undone, last one first"
        )
    elif not case.run.open_actions:
        opinion.say("SP744", "give_up", "the request asks to unwind, and there is no effect to undo")
