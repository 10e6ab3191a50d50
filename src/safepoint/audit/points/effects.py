"""Point 6: a ledger for external effects: announced before they are sent, settled with evidence."""

from __future__ import annotations

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.model.checkpoints import claims_without_effect

_RULES = (
    "SP401", "SP402", "SP403", "SP404", "SP405", "SP406", "SP408", "SP410", "SP411", "SP412", "SP413", "SP414", "SP416",
    "SP417", "SP418", "SP419", "SP420", "SP421", "SP501", "SP510",
)  # fmt: skip
"""All of the ledger's but a late outcome with evidence (SP407), which is none, and what point 5 looks at."""

_LEDGER = (
    "write a ledger record before each effect (attempting) and one with its outcome and the evidence for it; the "
    "recorder's run.effect(...) does both (SPEC.md#ledger)"
)


def judge(case: Case) -> Answer:
    """Every effect that the ledger does not hold as it should, and every one that only a checkpoint knows of."""
    notes = Notes(case)
    run = case.run
    notes.break_of(_RULES)
    for record in (*run.checkpoints, *run.retracted):
        if claims_without_effect(record, run.actions):
            if "whole" in case.missing:
                notes.doubt(
                    f"the ledger lacks what this checkpoint says, but {case.why_not_whole}",
                    case.cure,
                    case.hole,
                )
            else:
                message = "this checkpoint says that something was done, and the ledger holds no such effect"
                notes.fail(message, _LEDGER, record.place, "/sideEffectStatus")
    if run.actions:
        notes.unless_whole()
        return notes.answer(
            "each effect was announced before it was tried, and what is settled has its evidence"
        )
    if not case.ordered and "whole" not in case.missing:
        notes.fail("no ledger: not one effect is recorded, and nothing proves that there was none", _LEDGER)
    notes.unless_whole("no effect is there")
    return notes.answer("nothing to record: the journal is whole, and holds no effect")
