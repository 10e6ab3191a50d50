"""Failures that people reported in public, as stores: what the guard must answer to each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journals import Journal, at, declares, digest
from questions import KEYED, facts, started

from conformance.case import JOURNAL_4, LATER, Case

THIRTY_DAYS = 30 * 86_400


def approved(action: str, *events: str, **members: Any) -> Journal:
    """A run with a question about `action` and what became of it."""
    journal = started()
    for number, event in enumerate(("requested", *events)):
        value = {
            "approvalId": "ap-1",
            "actionId": action,
            "event": event,
            "contentDigest": digest("f"),
            "actor": "eve",
        }
        journal.add("approval", 3 + number, **{**value, "expiresAt": at(3600), **members})
    return journal


def cases() -> Iterator[Case]:
    yield from checkpoints()
    yield from owners()
    yield from answers()


def checkpoints() -> Iterator[Case]:
    journal = started().ledger(3, "attempting").ledger(4, "committed").checkpoint(5, "cp-2")
    yield Case(
        "newest-checkpoint-unreadable",
        "The newest checkpoint is cut off; the one before would lead to what was done since.",
        journal,
        "hand_over",
        ["SP103", "SP760"],
        files={"runs/run-1/journal/0000000006.json": b'{"recordType":"checkpoint","runId":"run-1","checkpo'},
        source="diffusion-pipe#159",
    )
    yield Case(
        "newest-checkpoint-empty",
        "The newest checkpoint is a file of no bytes.",
        journal,
        "hand_over",
        ["SP111", "SP760"],
        files={"runs/run-1/journal/0000000006.json": b""},
        source="agent-framework#7831",
    )
    yield Case(
        "append-glued-two-records",
        "A kill during an append glued two records: the first may have been an attempt.",
        started(),
        "hand_over",
        ["SP103"],
        files={
            JOURNAL_4: b'{"recordType":"ledger","sequence":4,"status":"att{"recordType":"ledger","sequence":5}'
        },
        source="ms-agent PR#1000",
    )
    same = Journal()
    same.add("run", 1, status="started", workflow="publish").claim(1).checkpoint(1)
    same.ledger(1, "attempting").ledger(1, "committed").checkpoint(1, "cp-2")
    yield Case(
        "equal-timestamps",
        "All records are of one time: their numbers say what came after what.",
        same,
        "resume",
        ["SP760"],
        source="adk-python#3717",
    )


def owners() -> Iterator[Case]:
    again = started().claim(100, purpose="recovery", holder="worker-1")
    first_dead = [{"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": at(90)}]
    yield Case(
        "same-holder-other-lease",
        "A worker of the same name died before; the one that holds the lease now is another.",
        again,
        "wait",
        ["SP721", "SP750"],
        now=125,
        facts=facts(124, owners=first_dead),
        source="aegra#502",
    )
    by_name = [{"holder": "worker-1", "state": "dead", "proof": "exit status -9", "observedAt": at(120)}]
    yield Case(
        "same-holder-dead-by-name",
        "The facts name the dead by a name, which a living worker may have taken over.",
        again,
        "wait",
        ["SP721", "SP750"],
        now=125,
        facts=facts(124, owners=by_name),
        source="aegra#502",
    )
    yield Case(
        "second-claimer",
        "A session is resumed while another's recovery of it holds a live lease.",
        started().claim(100, purpose="recovery"),
        "wait",
        ["SP721"],
        now=140,
        source="adk-python#4751",
    )
    late = started().ledger(3, "attempting").claim(100, purpose="recovery").ledger(101, "committed", epoch=1)
    yield Case(
        "late-commit-with-a-response",
        "The outcome came after the lease had lapsed, with the provider's response: it counts.",
        late,
        "resume",
        ["SP760"],
        now=300,
        source="tagent-core#56",
    )
    bare = started().ledger(3, "attempting").claim(100, purpose="recovery")
    bare.ledger(101, "committed", epoch=1, evidence=None)
    yield Case(
        "late-commit-without-evidence",
        "The outcome came after the lease had lapsed, and nothing proves it.",
        bare,
        "hand_over",
        ["SP223", "SP766"],
        now=300,
        source="tagent-core#56",
    )


def answers() -> Iterator[Case]:
    yield Case(
        "approval-never-answered",
        "Nobody answered before the question expired, which is not the same as pending.",
        approved("send", expiresAt=at(100)),
        "hand_over",
        ["SP782"],
        source="opencompany#1805",
    )
    yield Case(
        "approval-pending-for-thirty-days",
        "The question never expires, and the run is too old to go on by itself.",
        approved("send", expiresAt=None),
        "hand_over",
        ["SP757", "SP780"],
        now=THIRTY_DAYS,
        source="octos#1451",
    )
    withdrawn = approved("send", "granted").ledger(6, "planned").ledger(7, "cancelled")
    yield Case(
        "approval-of-a-withdrawn-action",
        "What was approved was withdrawn: it is not run.",
        withdrawn,
        "resume",
        ["SP760"],
        source="mastra PR#19377",
    )
    other = approved("other", "granted").ledger(6, "attempting")
    yield Case(
        "approval-of-another-call",
        "A yes to another call says nothing about this one.",
        other,
        "hand_over",
        ["SP766"],
        source="mastra PR#19377",
    )
    changed = approved("send", "granted", "consumed").ledger(
        6, "attempting", declares=KEYED, requestFingerprint=digest("a")
    )
    yield Case(
        "approved-call-changed-before-it-was-sent",
        "Another content than was approved was sent, and would be sent again.",
        changed,
        "hand_over",
        ["SP763", "SP783"],
        source="pydantic-ai#6968",
    )
    reset = started().ledger(3, "attempting", declares=declares(effect="payment"))
    reset.ledger(
        4, "failed", error={"class": "ECONNRESET", "message": None, "retryable": True, "sent": "yes"}
    )
    yield Case(
        "failed-by-a-reset",
        "The connection was reset while the order went through.",
        reset,
        "hand_over",
        ["SP766"],
        now=LATER,
        source="ccxt#2599",
    )
    yield Case(
        "paid-twice",
        "A payment without an answer is not made again.",
        started().ledger(3, "attempting", "pay", declares=declares(effect="payment")),
        "hand_over",
        ["SP766"],
        source="doordash-cli#56",
    )
