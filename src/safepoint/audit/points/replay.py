"""Point 5: replayable told from not: each tool declares what a repetition would do."""

from __future__ import annotations

from safepoint.audit.answer import Answer, Notes, fix_of
from safepoint.audit.case import Case
from safepoint.model.action import Action, Declaration

_SAFE = (
    "take it off replaySafeActions, or have its tool declare effect read, idempotency natural, or keyed with a key "
    "(SPEC.md#declares)"
)


def judge(case: Case) -> Answer:
    """Every action that neither records nor policy declare; every one that is called replay-safe without a ground."""
    notes = Notes(case)
    notes.break_of(("SP415",))
    for action in case.run.actions.values():
        if _declared(action, case):
            continue
        message = f"{action.action_id}: neither its records nor the policy declare what a repetition would do"
        if "whole" in case.missing:
            notes.doubt(f"{message}, but {case.why_not_whole}", case.cure, action.records[0].place)
        else:
            notes.fail(message, fix_of("SP409"), action.records[0].place)
    _replay_safe(notes)
    if not case.run.actions:
        notes.unless_whole("no effect is there")
        return notes.answer("nothing to tell apart: no effect was recorded")
    notes.unless_whole()
    return notes.answer("each action declares whether it may be repeated")


def _declared(action: Action, case: Case) -> bool:
    return action.declares.declared or _catalogued(action, case) is not None


def _catalogued(action: Action, case: Case) -> Declaration | None:
    """What the policy's catalogue declares for an action whose records do not."""
    actions = case.policy.actions
    said = actions.get(action.action_id) or actions.get(action.step_name)
    return Declaration.from_value(said) if said else None


def _replay_safe(notes: Notes) -> None:
    """What a checkpoint calls replay-safe, and its tool does not."""
    case, seen = notes.case, set[str]()
    for record in (*case.run.checkpoints, *case.run.retracted):
        for index, name in enumerate(record.value.get("replaySafeActions") or ()):
            action = case.run.actions.get(str(name))
            if action is None or action.action_id in seen or _repeatable(action, case):
                continue
            seen.add(action.action_id)
            message = f"{action.action_id} is called replay-safe here, and its tool declares nothing that makes it so"
            notes.fail(message, _SAFE, record.place, f"/replaySafeActions/{index}")


def _repeatable(action: Action, case: Case) -> bool:
    declares = action.declares if action.declares.declared else _catalogued(action, case)
    if declares is None:
        return False
    keyed = declares.idempotency == "keyed" and action.key is not None
    return keyed or declares.idempotency == "natural" or declares.effect == "read"
