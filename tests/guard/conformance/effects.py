"""Layer 6, effects: actions of which the ledger says what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journals import Journal, at, declares
from questions import request, started

from conformance.case import Case, policy


def cases() -> Iterator[Case]:
    sent = started().ledger(3, "attempting").ledger(4, "committed")
    yield Case(
        "committed",
        "The message was sent and the status was not updated: the send is skipped.",
        sent,
        "resume",
        ["SP760"],
        source="SPEC.md#guard-effects",
    )
    yield Case("planned", "Planned and never tried.", started().ledger(3, "planned"), "resume", ["SP761"])
    retry = started().ledger(3, "attempting").ledger(4, "failed")
    yield Case(
        "failed-retryable", "Refused before it was sent, and may be tried again.", retry, "resume", ["SP768"]
    )
    final = started().ledger(3, "attempting")
    final.ledger(
        4, "failed", error={"class": "InvalidRecipient", "message": None, "retryable": False, "sent": "yes"}
    )
    refundable = declares(effect="payment", reversibility="compensatable", compensation="refund")
    paid = started().ledger(3, "attempting", "pay", declares=refundable).ledger(4, "committed", "pay")
    paid.ledger(5, "attempting")
    paid.ledger(
        6, "failed", error={"class": "InvalidRecipient", "message": None, "retryable": False, "sent": "yes"}
    )
    yield Case(
        "failed-for-good-undoable",
        "Refused for good, and what was done before can be undone.",
        paid,
        "compensate",
        ["SP760", "SP769"],
    )
    yield Case("failed-for-good", "Refused for good.", final, "hand_over", ["SP769"])
    held = (
        started()
        .ledger(3, "attempting", "seat")
        .ledger(4, "prepared", "seat", reservation={"ref": "r-1", "expiresAt": at(900)})
    )

    def reserved(expires: float | None, **members: Any) -> Journal:
        journal = started().ledger(3, "attempting", "seat", declares=declares(**members))
        reservation = {"ref": "r-1", "expiresAt": None if expires is None else at(expires)}
        return journal.ledger(4, "prepared", "seat", reservation=reservation)

    yield Case("reservation-expired", "The reservation has run out.", reserved(100), "resume", ["SP770"])
    yield Case(
        "reservation-of-unknown-expiry",
        "Nobody knows how long it is held.",
        reserved(None),
        "hand_over",
        ["SP770"],
    )
    yield Case(
        "reservation-can-be-probed",
        "Nobody knows how long it is held, but one can ask.",
        reserved(None, probe="byQuery"),
        "reconcile",
        ["SP770"],
    )
    yield Case(
        "reservation-rolling-back",
        "A run that is undone gives its reservation back.",
        reserved(900),
        "compensate",
        ["SP770"],
        request=request("unwind"),
    )
    tried = (
        started()
        .ledger(3, "attempting", declares=declares(idempotency="keyed", dedupeWindowSeconds=100))
        .ledger(4, "failed")
    )
    yield Case(
        "failed-retryable-key-lapsed",
        "It may be tried again, but its key is no longer honoured.",
        tried,
        "hand_over",
        ["SP767"],
        now=300,
    )
    yield Case("reservation-held", "The provider holds a reservation.", held, "resume", ["SP770"])
    given_up = started().ledger(3, "attempting").claim(100, purpose="resolution")
    given_up.ledger(
        101, "abandoned", evidence={"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(101)}
    )
    yield Case("abandoned", "A human accepted not to know.", given_up, "hand_over", ["SP771"])
    yield Case(
        "abandoned-may-skip",
        "The policy lets a run pass what a human abandoned.",
        given_up,
        "resume",
        ["SP771"],
        policy=policy(abandonedMaySkip=True),
    )
