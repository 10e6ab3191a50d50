"""Layer 4: is the run being undone? Then it never goes forward again (SPEC.md#guard-compensation)."""

from __future__ import annotations

from safepoint.guard.case import Case, Opinion
from safepoint.guard.undo import can_undo
from safepoint.model.action import Action


def judge(case: Case, opinion: Opinion) -> None:
    """A failed compensation, a roll-back that has begun, a request to unwind."""
    actions = case.run.actions.values()
    failed = [action for action in actions if action.status == "compensationFailed"]
    for action in failed:
        message = f"the compensation of action {action.action_id!r} failed"
        opinion.say("SP740", "hand_over", message, evidence=action.record, pointer="/status")
        opinion.need("human", action.action_id, "undo the effect by hand, or decide to abandon it")
    if not case.undoing:
        return
    effects = case.to_undo
    _hand_over_the_rest(case, opinion, effects)
    at_work = [
        a
        for a in actions
        if a.status == "compensating" or (a.compensates and (a.open or a.status == "planned"))
    ]
    begun = case.run.roll_back_begun
    if effects or at_work:
        message = "the roll-back has begun; finish it, last effect first" if begun else _to_undo(len(effects))
        evidence = at_work[0].record if at_work else effects[0].record
        opinion.say("SP741" if begun else "SP742", "compensate", message, evidence=evidence)
    elif failed or case.open_effects:
        return  # a human has been asked, or what is open has to be settled first: never given up
    elif begun:
        opinion.say(
            "SP746", "give_up", "the roll-back is done, and a run that was rolled back does not go on"
        )
    else:
        opinion.say("SP744", "give_up", "the request asks to unwind, and there is no effect to undo")


def _to_undo(number: int) -> str:
    return (
        "1 committed effect is to be undone"
        if number == 1
        else f"{number} committed effects are to be undone, last first"
    )


def _hand_over_the_rest(case: Case, opinion: Opinion, effects: tuple[Action, ...]) -> None:
    """Hand over each of `effects` that no program can undo."""
    for action in effects:
        if not can_undo(case, action) and action.status != "compensating":
            message = f"action {action.action_id!r} cannot be undone: no compensation is declared for it"
            opinion.say("SP743", "hand_over", message, evidence=action.record)
            opinion.need("human", action.action_id, "decide what to do about an effect that cannot be undone")
