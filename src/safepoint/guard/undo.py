"""What a roll-back has to undo, and what it can (SPEC.md#guard-compensation)."""

from __future__ import annotations

from safepoint.guard.case import FINDABLE, Case
from safepoint.model.action import Action


def to_undo(case: Case) -> tuple[Action, ...]:
    """Effects that were applied and that a roll-back still has to compensate: last in, first out."""
    undone = {a.compensates for a in case.run.actions.values() if a.compensates and a.status == "committed"}
    committed = [
        (action.record.sequence or action.record.created or 0, index, action)
        for index, action in enumerate(case.run.actions.values())
        if (action.status in {"committed", "compensating"} or _found(case, action))
        and action.compensates is None
        and action.action_id not in undone
        and case.declares(action).effect != "read"
    ]
    return tuple(action for _, _, action in sorted(committed, key=lambda each: each[:2], reverse=True))


def can_undo(case: Case, action: Action) -> bool:
    """Whether the action's tool declares how it is undone."""
    declares = case.declares(action)
    return declares.reversibility != "irreversible" and declares.compensation is not None


def _found(case: Case, action: Action) -> bool:
    """Whether an action that nobody recorded as done was applied after all."""
    tried = bool(action.attempts) or action.open
    return tried and (action.open or action.status in FINDABLE) and case.found_applied(action)
