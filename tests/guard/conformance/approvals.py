"""Layer 7, world: approvals, human gates, and preconditions on an approval."""

from __future__ import annotations

from collections.abc import Iterator

from journals import Journal, at, digest
from questions import KEYED, facts, request, started

from conformance.case import Case

WAITS_FOR = [{"type": "approvalGranted", "subject": "ap-1", "expected": True}]


def asked(*events: str, shown: str = digest("f"), expires: float | None = 3600) -> Journal:
    journal = started()
    for number, event in enumerate(("requested", *events)):
        journal.add(
            "approval",
            3 + number,
            approvalId="ap-1",
            actionId="send",
            event=event,
            contentDigest=shown,
            actor="eve",
            expiresAt=None if expires is None else at(expires),
        )
    return journal


def cases() -> Iterator[Case]:
    yield Case("approval-pending", "A human has not answered yet.", asked(), "wait", ["SP780"])
    yield Case("approval-granted", "A human said yes.", asked("granted"), "resume", ["SP799"])
    yield Case(
        "approval-rejected",
        "A human said no.",
        asked("rejected"),
        "hand_over",
        ["SP781"],
        source="mastra PR#20487",
    )
    yield Case(
        "approval-expired",
        "The yes has expired, which is not the same as pending.",
        asked("granted", expires=100),
        "hand_over",
        ["SP782"],
        source="octos#1451",
    )
    yield Case(
        "approval-for-other-content",
        "The arguments were changed after the approval.",
        asked("granted", shown=digest("a")).ledger(6, "planned"),
        "hand_over",
        ["SP761", "SP783"],
        source="extra-org/extra#139",
    )
    yield Case(
        "approval-consumed-by-the-same-action",
        "The approval was used by this very action, which may be sent again with its key.",
        asked("granted", "consumed").ledger(6, "attempting", declares=KEYED),
        "resume",
        ["SP763"],
    )
    used = started(reason="humanGate")
    for number, event in enumerate(("requested", "granted", "consumed")):
        used.add(
            "approval",
            3 + number,
            approvalId="ap-1",
            checkpointId="cp-1",
            event=event,
            actor="eve",
            contentDigest=digest("f"),
            expiresAt=at(3600),
        )
    yield Case("gate-passed-before", "The gate's approval was used up.", used, "hand_over", ["SP794"])
    yield Case(
        "gate-unasked",
        "The run stands at a human gate, and nobody was asked.",
        started(reason="humanGate"),
        "wait",
        ["SP784"],
    )
    yield Case(
        "roll-back-behind-an-approval",
        "What was approved before the fork has to be approved again.",
        asked("granted"),
        "hand_over",
        ["SP785"],
        request=request("roll_back", checkpointId="cp-1"),
    )
    yield from waited_for()


def waiting(*events: str) -> Journal:
    journal = Journal().begin().checkpoint(1, "cp-0")
    for number, event in enumerate(events):
        journal.add(
            "approval",
            2 + number / 10,
            approvalId="ap-1",
            checkpointId="cp-0",
            event=event,
            contentDigest=digest("f"),
            actor="eve",
            expiresAt=at(3600),
        )
    return journal.checkpoint(4, resumePreconditions=WAITS_FOR)


def waited_for() -> Iterator[Case]:
    yield Case(
        "needs-approval-granted",
        "What the run waits for was granted.",
        waiting("requested", "granted"),
        "resume",
        ["SP799"],
    )
    yield Case(
        "needs-approval-pending",
        "What the run waits for is pending.",
        waiting("requested"),
        "wait",
        ["SP780"],
    )
    yield Case(
        "needs-approval-rejected",
        "What the run waits for was rejected.",
        waiting("requested", "rejected"),
        "hand_over",
        ["SP791"],
    )
    yield Case("needs-approval-unknown", "Nobody knows of the approval.", waiting(), "reconcile", ["SP789"])
    yield Case(
        "needs-approval-elsewhere",
        "The approval is kept elsewhere, and a fact says that it was granted.",
        waiting(),
        "resume",
        ["SP799"],
        facts=facts(approvals={"ap-1": {"state": "granted"}}),
    )
