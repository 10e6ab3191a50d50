"""Point 1: checkpoints only where they pay (SPEC.md#granularity).

Only what the records show: before and after effects, before a human is asked, and none after work of no cost. What a
checkpoint would have saved between two steps is no part of it.
"""

from __future__ import annotations

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case

_RULES = ("SP514", "SP524", "SP525")

_DECLARE = (
    "write declares on the action's first record (SPEC.md#declares); what is undeclared may have been a read"
)


def judge(case: Case) -> Answer:
    """By the validator's rules of granularity, which look past effects that declare nothing."""
    notes = Notes(case)
    notes.break_of(_RULES)
    for action in case.run.actions.values():
        if action.attempts and not action.declares.declared:
            message = (
                f"{action.action_id} declares nothing, so that nobody can tell whether it needed a checkpoint"
            )
            notes.doubt(message, _DECLARE, action.records[0].place)
    if not case.run.checkpoints and not case.run.actions and not case.run.approvals:
        notes.unless_whole("no checkpoint is there")
        return notes.answer("nothing to save: no checkpoint, no effect and no question to a human")
    notes.unless_whole()
    return notes.answer(
        "a checkpoint before and after each effect and before each question, none without worth"
    )
