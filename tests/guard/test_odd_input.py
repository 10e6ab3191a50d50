"""Odd but legal input is judged, and what is legal is not called wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from journals import Journal, at, declares, digest
from questions import KEYED, NATURAL, PAY, PROBED, dead, facts, judge, not_found, started

from safepoint.core.fault import Fault
from safepoint.model.journal import Unread

FAR = 2**53 - 1


@pytest.mark.parametrize(
    ("journal", "known", "policy"),
    [
        (started(), None, {"attemptsWithoutProgress": 0}),
        (started(), None, {"attemptsInLife": 0}),
        (Journal().begin(ttl=FAR).checkpoint(2), None, {}),
        (started().recover(190, "detected", createdAt="9999-12-31T23:59:59Z"), None, {}),
        (started(), None, {"clockSkewSeconds": FAR}),
        (started(), None, {"automaticResumeSeconds": FAR, "hardLimitSeconds": FAR}),
        (
            started(),
            facts(),
            {"maxFactAgeSeconds": FAR, "automaticResumeSeconds": FAR, "hardLimitSeconds": FAR},
        ),
        (started().claim(100, purpose="recovery"), None, {"cooldownSeconds": FAR, "cooldownCapSeconds": FAR}),
        (
            started().ledger(
                3, "attempting", declares=declares(idempotency="natural", probeSettleSeconds=FAR)
            ),
            None,
            {},
        ),
        (
            started().ledger(3, "attempting", declares=declares(probe="byQuery", probeSettleSeconds=FAR)),
            facts(owners=[dead()], probes=not_found(60)),
            {},
        ),
        (started(reason="humanGate"), None, {"maxFactAgeSeconds": 0}),
        (
            started(usage={"costMicros": FAR})
            .claim(100, purpose="recovery")
            .recover(101, "detected", cost={"costMicros": 5}),
            None,
            {"recoveryCostFraction": 1e308},
        ),
    ],
)
def test_extreme_values_are_judged_and_written(journal: Journal, known: Any, policy: dict[str, Any]) -> None:
    decision = judge(journal, 300, known, **policy)
    assert decision.document()["verdict"] == decision.verdict
    if decision.verdict == "wait":
        assert decision.not_before is not None
        assert decision.not_before > decision.evaluated_at


def test_a_heartbeat_that_is_torn_only_delays_nothing() -> None:
    torn = Unread("heartbeat", "0000000001.json", 1, (Fault("SP103", "torn"),))
    assert judge(started()).verdict == "resume"
    run = replace(started().fold(), unread=(torn,))
    assert judge(run).verdict == "resume"


def test_a_resolution_may_end_with_the_release_of_its_lease() -> None:
    journal = started().ledger(3, "attempting", declares=PROBED).add("run", 5, status="completed")
    journal.claim(100, purpose="resolution")
    journal.ledger(101, "committed", attempt={"number": 1, "startedAt": at(3), "deadline": at(33)})
    journal.add("lease", 102, event="released")
    assert judge(journal, 300).verdict == "no_op"


def test_somebody_knew_after_all() -> None:
    journal = started().ledger(3, "attempting").claim(100, purpose="resolution")
    journal.ledger(
        101, "abandoned", evidence={"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(101)}
    )
    journal.add(
        "evidence",
        102,
        actionId="send",
        attemptNumber=1,
        result="applied",
        kind="human",
        by="ops",
        observedAt=at(102),
    )
    assert journal.fold().actions["send"].status == "committed"


# honest runs go on


def asked(journal: Journal, seconds: float, *events: str, **members: Any) -> Journal:
    for number, event in enumerate(events):
        value = {"approvalId": "ap-1", "event": event, "contentDigest": digest("f"), "actor": "eve"}
        journal.add("approval", seconds + number / 10, **{**value, "expiresAt": at(3600), **members})
    return journal


def test_a_gate_that_was_passed_before_the_crash_is_not_asked_again() -> None:
    gate = asked(started(reason="humanGate"), 3, "requested", "granted", "consumed", actionId="send")
    assert judge(gate.ledger(4, "attempting").ledger(5, "committed")).verdict == "resume"


def test_an_approval_of_a_checkpoint_is_spent_on_an_action() -> None:
    gate = asked(started(reason="humanGate"), 3, "requested", "granted", checkpointId="cp-1")
    spent = {
        "approvalId": "ap-1",
        "event": "consumed",
        "checkpointId": "cp-1",
        "actionId": "send",
        "actor": None,
    }
    gate.add("approval", 4, **spent, contentDigest=digest("f"), expiresAt=at(3600))
    run = gate.ledger(5, "attempting", declares=KEYED)
    assert judge(run).verdict == "resume"


def test_what_the_catalogue_let_a_new_owner_repeat_is_no_fault() -> None:
    journal = started().ledger(3, "attempting", declares=None)
    journal.claim(100, purpose="recovery").ledger(101, "attempting", declares=None).ledger(
        102, "committed", declares=None
    )
    assert judge(journal.checkpoint(103, "cp-2"), 400, actions={"send": KEYED}).verdict == "resume"


def test_a_proof_of_death_never_makes_the_wait_longer() -> None:
    journal = started().ledger(3, "attempting", declares=NATURAL)
    assert judge(journal).verdict == "resume"
    assert judge(journal, 200, facts(199, owners=[dead(1, 195)])).verdict == "resume"
    probed = started().ledger(3, "attempting", declares=PROBED)
    known = {"probes": not_found(185)}
    assert judge(probed, 200, facts(199, owners=[dead(1, 110)], **known)).verdict == "resume"
    assert judge(probed, 200, facts(199, owners=[dead(1, 110), dead(1, 190)], **known)).verdict == "resume"


@pytest.mark.parametrize(
    ("name", "sent", "message", "retryable"),
    [
        ("ConnectTimeout", "no", None, True),
        ("ValidationError", "yes", "subscription is cancelled", False),
    ],
)
def test_a_definite_refusal_is_one_whatever_its_text(
    name: str, sent: str, message: str | None, retryable: bool
) -> None:
    error = {"class": name, "message": message, "retryable": retryable, "sent": sent}
    journal = started().ledger(3, "attempting").ledger(4, "failed", error=error)
    assert journal.fold().actions["send"].status == "failed"


def test_a_humans_answer_is_a_sign_of_life_of_the_run() -> None:
    hours = 28 * 3600
    gate = asked(
        started(reason="humanGate"),
        hours - 10,
        "requested",
        "granted",
        actionId="send",
        expiresAt=at(hours + 3600),
    )
    assert judge(gate, hours).verdict == "resume"


def test_a_wish_to_stop_ends_a_run_whose_read_is_in_flight() -> None:
    journal = (
        started()
        .ledger(3, "attempting", declares=declares(effect="read"))
        .add("run", 5, status="cancelRequested")
    )
    assert judge(journal).verdict == "give_up"


def test_a_wish_to_stop_does_not_leave_half_a_roll_back() -> None:
    journal = started()
    for seconds, name in ((3, "pay"), (5, "pay2")):
        journal.ledger(seconds, "attempting", name, declares=PAY).ledger(seconds + 1, "committed", name)
    journal.ledger(7, "compensating", "pay2")
    for seconds, status in ((8, "attempting"), (9, "committed")):
        journal.ledger(seconds, status, "refund", compensates="pay2")
    journal.ledger(10, "compensated", "pay2").add("run", 11, status="cancelRequested")
    assert judge(journal).verdict == "compensate"


def test_a_long_name_does_not_break_the_decisions_schema() -> None:
    names = [f"{'x' * 240}{number}" for number in range(30)]
    decision = judge(started(requires={"resume": names}))
    assert max(len(reason.message) for reason in decision.reasons) <= 1000
