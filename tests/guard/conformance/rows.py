"""Conditions that stand in one row of SPEC.md with others, each with a store of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journals import Journal, at, declares, digest
from questions import PAY, facts, not_found, started

from conformance.case import DEAD, JOURNAL_4, Case
from safepoint.core.digest import encode_record


def description(**members: Any) -> dict[str, bytes]:
    """The description of a store that says this."""
    value = {"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": [], **members}
    return {"safepoint.json": encode_record(value)}


def cases() -> Iterator[Case]:
    yield from unreadable()
    yield from half_undone()
    yield from doubts()
    yield from approvals()


def unreadable() -> Iterator[Case]:
    yield Case(
        "store-of-a-newer-version",
        "The store's description is of a newer version of the format.",
        started(),
        "hand_over",
        ["SP216"],
        files=description(schemaVersion="v4"),
    )
    yield Case(
        "store-with-an-unknown-feature",
        "The store is laid out in a way that this version does not know.",
        started(),
        "hand_over",
        ["SP217"],
        files=description(features=["tiers"]),
    )
    demanding = started().checkpoint(3, "cp-2", requires={"read": ["saga"]})
    yield Case(
        "read-requirement-unknown",
        "A record demands for reading what this version does not know.",
        demanding,
        "hand_over",
        ["SP217"],
    )
    yield Case(
        "journal-file-of-no-known-name",
        "A file of the journal's folder has a name that no writer gives: it may hide an attempt.",
        started(),
        "hand_over",
        ["SP005"],
        files={JOURNAL_4.replace("0000000004.json", "4.json"): encode_record(started().values[2])},
    )


def half_undone() -> Iterator[Case]:
    journal = started()
    for seconds, name in ((3, "pay"), (5, "pay2")):
        journal.ledger(seconds, "attempting", name, declares=PAY).ledger(seconds + 1, "committed", name)
    journal.ledger(7, "compensating", "pay2")
    for seconds, status in ((8, "attempting"), (9, "committed")):
        journal.ledger(seconds, status, "refund", compensates="pay2")
    journal.ledger(10, "compensated", "pay2").add("run", 11, status="cancelRequested")
    yield Case(
        "asked-to-stop-half-undone",
        "Somebody asked the run to stop while it was being undone, which would leave half of it.",
        journal,
        "compensate",
        ["SP741", "SP760", "SP760", "SP760"],
    )


def doubts() -> Iterator[Case]:
    window = declares(idempotency="keyed", dedupeWindowSeconds=100, probe="byKey")
    yield Case(
        "probe-not-found-proven-key-lapsed",
        "It never happened, but the key under which it would be sent is no longer honoured.",
        started().ledger(3, "attempting", declares=window),
        "hand_over",
        ["SP767"],
        facts=facts(probes=not_found(190), **DEAD),
    )
    yield Case(
        "ended-with-an-effect-that-can-be-probed",
        "The run was cancelled over an effect that a probe can tell of.",
        started()
        .ledger(3, "attempting", declares=declares(probe="byQuery"))
        .add("run", 5, status="cancelled"),
        "reconcile",
        ["SP712", "SP765"],
    )


def approvals() -> Iterator[Case]:
    def granted(**members: Any) -> Journal:
        journal = started()
        value = {"approvalId": "ap-1", "actionId": "send", "contentDigest": digest("f"), "actor": "eve"}
        for number, event in enumerate(("requested", "granted")):
            journal.add("approval", 3 + number, **{**value, "expiresAt": at(3600), **members}, event=event)
        return journal

    yield Case(
        "approval-for-another-branch",
        "The yes was given for a history that is not this one.",
        granted(branch="other").ledger(6, "planned"),
        "hand_over",
        ["SP761", "SP785"],
    )
    yield Case(
        "approval-that-cannot-be-compared",
        "The ledger does not say what the request is, so that nobody can tell whether it was approved.",
        granted().ledger(6, "planned", requestFingerprint=None),
        "hand_over",
        ["SP761", "SP783"],
    )
    revoked = granted()
    revoked.add(
        "approval",
        6,
        approvalId="ap-1",
        actionId="send",
        event="revoked",
        contentDigest=digest("f"),
        actor="eve",
        expiresAt=at(3600),
    )
    yield Case("approval-revoked", "The yes was taken back.", revoked, "hand_over", ["SP781"])
