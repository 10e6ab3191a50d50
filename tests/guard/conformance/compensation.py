"""Layer 4, compensation: runs that are being undone."""

from __future__ import annotations

from collections.abc import Iterator

from journals import Journal, declares
from questions import KEYED, PROBED, facts, not_found, request, started

from conformance.case import DEAD, Case


def cases() -> Iterator[Case]:
    undoable = declares(reversibility="compensatable", compensation="refund", effect="payment")
    paid = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
    begun = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
    begun.ledger(5, "compensating", "pay")
    yield Case(
        "roll-back-begun",
        "A run that is half undone is undone to the end.",
        begun,
        "compensate",
        ["SP741", "SP741"],
    )
    failed = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
    failed.ledger(5, "compensating", "pay").ledger(6, "compensationFailed", "pay")
    yield Case("compensation-failed", "The refund failed.", failed, "hand_over", ["SP740", "SP740"])
    yield Case(
        "unwind",
        "The request asks to undo what was done.",
        paid,
        "compensate",
        ["SP742", "SP760"],
        request=request("unwind"),
    )
    sent = started().ledger(3, "attempting").ledger(4, "committed")
    yield Case(
        "unwind-the-irreversible",
        "A sent message cannot be undone.",
        sent,
        "hand_over",
        ["SP743", "SP742", "SP760"],
        request=request("unwind"),
    )
    yield Case(
        "unwind-with-an-effect-in-doubt",
        "A run that goes backwards sends nothing again, also not with its key.",
        started().ledger(3, "attempting", declares=KEYED),
        "hand_over",
        ["SP766"],
        request=request("unwind"),
    )
    yield Case(
        "unwind-what-was-found-absent",
        "The probe proves that nothing happened; only that has to be recorded.",
        started().ledger(3, "attempting", declares=PROBED),
        "compensate",
        ["SP745", "SP747"],
        facts=facts(probes=not_found(190), **DEAD),
        request=request("unwind"),
    )
    yield Case(
        "unwind-what-was-not-begun",
        "What was only planned is not begun.",
        started().ledger(3, "planned"),
        "give_up",
        ["SP744", "SP745"],
        request=request("unwind"),
    )

    def refunded() -> Journal:
        journal = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
        journal.ledger(5, "compensating", "pay")
        for seconds, status in ((6, "attempting"), (7, "committed")):
            journal.ledger(seconds, status, "refund", compensates="pay")
        return journal

    yield Case(
        "refund-done-not-recorded",
        "The refund is committed; only the record of the refunded payment is missing.",
        refunded(),
        "compensate",
        ["SP741", "SP741", "SP760"],
    )
    yield Case(
        "rolled-back",
        "Everything is undone.",
        refunded().ledger(8, "compensated", "pay"),
        "give_up",
        ["SP746", "SP760", "SP760"],
    )
    yield Case(
        "unwind-nothing",
        "There is nothing to undo.",
        started(),
        "give_up",
        ["SP744"],
        request=request("unwind"),
    )
