"""Layer 7, world: preconditions on external data, times and the outbox, and the age of facts."""

from __future__ import annotations

from collections.abc import Iterator

from journals import Journal, at, declares
from questions import facts, started

from conformance.case import Case, policy


def cases() -> Iterator[Case]:
    moved = started(resumePreconditions=[{"type": "externalVersion", "subject": "doc", "expected": "7"}])
    seen = {"external": {"doc": {"version": "7", "value": None, "observedAt": at(190)}}}
    other = {"external": {"doc": {"version": "8", "value": None, "observedAt": at(190)}}}
    yield Case(
        "external-equal",
        "The document is the one that was read.",
        moved,
        "resume",
        ["SP799"],
        facts=facts(**seen),
    )
    yield Case(
        "external-moved",
        "The document was changed meanwhile.",
        moved,
        "hand_over",
        ["SP791"],
        facts=facts(**other),
    )
    yield Case("external-unknown", "Nobody looked at the document.", moved, "reconcile", ["SP789"])
    yield Case(
        "external-moved-rerun",
        "The policy runs the reads again when the data moved.",
        Journal()
        .begin()
        .ledger(2, "attempting", "look", declares=declares(effect="read"))
        .ledger(3, "committed", "look")
        .checkpoint(4, resumePreconditions=[{"type": "externalVersion", "subject": "doc", "expected": "7"}]),
        "resume",
        ["SP762", "SP792"],
        facts=facts(**other),
        policy=policy(externalMoved="rerun_reads"),
    )
    equals = started(
        resumePreconditions=[{"type": "externalEquals", "subject": "price", "expected": {"eur": 5}}]
    )
    yield Case(
        "external-value-equal",
        "The price is the one that was shown.",
        equals,
        "resume",
        ["SP799"],
        facts=facts(external={"price": {"value": {"eur": 5}}}),
    )
    yield Case(
        "external-value-other",
        "The price is another one.",
        equals,
        "hand_over",
        ["SP791"],
        facts=facts(external={"price": {"value": {"eur": 6}}}),
    )
    yield Case("external-value-unknown", "Nobody looked at the price.", equals, "reconcile", ["SP789"])
    yield Case(
        "precondition-of-unknown-type",
        "What cannot be checked does not hold.",
        started(resumePreconditions=[{"type": "moonPhase", "subject": "moon", "expected": "full"}]),
        "hand_over",
        ["SP788"],
    )

    def not_after(expected: str) -> Journal:
        return started(resumePreconditions=[{"type": "notAfter", "subject": "offer", "expected": expected}])

    yield Case(
        "not-after-ahead", "The offer stands for another hour.", not_after(at(3600)), "resume", ["SP799"]
    )
    yield Case("not-after-unreadable", "The limit is no time.", not_after("soon"), "hand_over", ["SP791"])
    yield Case(
        "not-after-passed",
        "The offer ran out.",
        started(resumePreconditions=[{"type": "notAfter", "subject": "offer", "expected": at(100)}]),
        "hand_over",
        ["SP791"],
    )
    outbox = started(resumePreconditions=[{"type": "outboxState", "subject": "m-1", "expected": "pending"}])
    yield Case(
        "outbox-as-expected",
        "The outbox still holds the message, as the run expects.",
        outbox,
        "resume",
        ["SP799"],
        facts=facts(outbox={"m-1": "pending"}),
    )
    yield Case("outbox-unknown", "Nobody looked into the outbox.", outbox, "reconcile", ["SP789"])
    yield Case(
        "outbox-already-sent",
        "The outbox says that the message has gone out.",
        outbox,
        "hand_over",
        ["SP791"],
        facts=facts(outbox={"m-1": "already_sent"}),
    )
    yield Case(
        "external-moved-nothing-to-rerun",
        "The policy would run the reads again, but the ledger holds none.",
        moved,
        "hand_over",
        ["SP791"],
        facts=facts(**other),
        policy=policy(externalMoved="rerun_reads"),
    )
    yield Case(
        "facts-stale",
        "The facts are half an hour old.",
        started(),
        "reconcile",
        ["SP790"],
        now=3000,
        facts=facts(100),
    )
