"""The guard as a whole: properties that hold whatever the run looks like."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from journals import START, Journal, at, declares
from questions import judge, request

from safepoint import schemas
from safepoint.core.kind import recognise
from safepoint.core.timestamp import SECOND
from safepoint.guard import evaluate
from safepoint.guard.layers.effects import _RULES
from safepoint.model.ledger import TRANSITIONS
from safepoint.policy import parse_policy

OUTCOMES = ["nothing", "planned", "attempting", "inDoubt", "committed", "failed", "timeout"]
DECLARATIONS = {
    "unkeyed": declares(),
    "keyed": declares(idempotency="keyed", dedupeWindowSeconds=1000),
    "probed": declares(probe="byQuery", probeSettleSeconds=30),
    "natural": declares(effect="write", idempotency="natural", probeSettleSeconds=30),
    "read": declares(effect="read"),
}


def with_action(journal: Journal, name: str, outcome: str, how: str, seconds: float) -> None:
    if outcome == "nothing":
        return
    first = "planned" if outcome == "planned" else "attempting"
    journal.ledger(seconds, first, name, declares=DECLARATIONS[how])
    if outcome == "timeout":
        error = {"class": "ReadTimeout", "message": None, "retryable": True, "sent": "unknown"}
        journal.ledger(seconds + 1, "failed", name, error=error)
    elif outcome not in {"planned", "attempting"}:
        journal.ledger(seconds + 1, outcome, name)


@st.composite
def runs(draw: st.DrawFn) -> Journal:
    journal = Journal().begin(ttl=draw(st.sampled_from([1, 60, 600]))).checkpoint(2)
    for number in range(draw(st.integers(0, 3))):
        outcome, how = draw(st.sampled_from(OUTCOMES)), draw(st.sampled_from(sorted(DECLARATIONS)))
        with_action(journal, f"a{number}", outcome, how, 3 + number)
    if draw(st.booleans()):
        journal.add(
            "approval",
            8,
            approvalId="ap",
            actionId="a0",
            event="requested",
            contentDigest=None,
            actor="eve",
            expiresAt=at(5000),
        )
        if draw(st.booleans()):
            journal.add("approval", 9, approvalId="ap", actionId="a0", event="granted", actor="eve")
    if draw(st.booleans()):
        journal.claim(100, purpose="recovery")
    if draw(st.integers(0, 4)) == 0:
        journal.add(
            "run", 150, status=draw(st.sampled_from(["completed", "failed", "cancelled", "cancelRequested"]))
        )
    return journal


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    document: dict[str, Any] = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run-1",
        "observedAt": at(draw(st.sampled_from([250, 400]))),
    }
    owners = [
        {"leaseEpoch": epoch, "state": "dead", "proof": "exit status", "observedAt": at(110)}
        for epoch in draw(st.sets(st.sampled_from([1, 2])))
    ]
    if owners:
        document["owners"] = owners
    answers = {}
    for action in draw(st.sets(st.sampled_from(["a0", "a1", "a2"]))):
        answers[action] = {
            "result": draw(st.sampled_from(["applied", "notApplied", "unknown"])),
            "consistency": draw(st.sampled_from(["strong", "eventual"])),
            "observedAt": at(draw(st.sampled_from([20, 240]))),
            "externalRef": None,
        }
    if answers:
        document["probes"] = answers
    return document


NOWS = st.sampled_from([20, 170, 300, 500, 900, 2000])


@given(runs(), facts(), NOWS)
@settings(max_examples=150, deadline=None)
def test_equal_questions_get_equal_and_valid_answers(
    journal: Journal, known: dict[str, Any], now: float
) -> None:
    first, again = judge(journal, now, known), judge(journal, now, known)
    document = first.document()
    assert json.dumps(document) == json.dumps(again.document())
    identity, faults = recognise(document)
    assert not faults
    assert identity is not None
    assert list(schemas.check(identity, document)) == []


@given(runs(), facts(), NOWS)
@settings(max_examples=150, deadline=None)
def test_a_decision_is_explained_and_names_each_action_once(
    journal: Journal, known: dict[str, Any], now: float
) -> None:
    decision = judge(journal, now, known)
    assert decision.reasons
    named = [item.action_id for item in decision.plan if item.action_id]
    assert len(named) == len(set(named))
    assert set(named) == set(journal.fold().actions)
    if decision.verdict == "wait":
        assert decision.not_before is not None
        assert decision.not_before > decision.evaluated_at
    if decision.verdict in {"reconcile", "hand_over"}:
        assert decision.missing_evidence
    if decision.verdict == "give_up":
        assert all(action.declares.effect == "read" for action in journal.fold().open_actions)
    if decision.verdict == "resume":
        assert {item.do for item in decision.plan} <= {"skip", "replay", "run", "confirm"}


@given(runs(), facts(), NOWS, st.data())
@settings(max_examples=250, deadline=None)
def test_taking_evidence_away_never_gives_leave(
    journal: Journal, known: dict[str, Any], now: float, data: st.DataObject
) -> None:
    assume(judge(journal, now, known).verdict != "resume")
    removable = [name for name in ("owners", "probes") if name in known]
    attempted = {v["actionId"] for v in journal.values if v.get("status") == "attempting"}
    if not {n for n, said in known.get("probes", {}).items() if said["result"] == "applied"} <= attempted:
        removable.remove("probes")  # it found what the ledger knows no attempt of, which is a refusal
    for name in removable:
        fewer = {key: value for key, value in known.items() if key != name}
        assert judge(journal, now, fewer).verdict != "resume"
    middle = data.draw(st.integers(0, len(journal.values) - 2))
    removed = journal.values.pop(middle)
    verdict = judge(journal, now, known).verdict
    journal.values.insert(middle, removed)
    assert verdict != "resume"


@given(runs(), facts(), NOWS, st.integers(6, 600))
@settings(max_examples=250, deadline=None)
def test_a_worse_clock_never_gives_leave(
    journal: Journal, known: dict[str, Any], now: float, skew: int
) -> None:
    assume(judge(journal, now, known).verdict != "resume")
    assert judge(journal, now, known, clockSkewSeconds=skew).verdict != "resume"


@given(runs(), facts(), NOWS)
@settings(max_examples=150, deadline=None)
def test_going_backwards_never_gives_leave(journal: Journal, known: dict[str, Any], now: float) -> None:
    assert judge(journal, now, known, request("unwind")).verdict != "resume"


@given(runs(), NOWS)
@settings(max_examples=100, deadline=None)
def test_looking_never_gives_leave(journal: Journal, now: float) -> None:
    assert judge(journal, now, asked=request("inspect")).verdict == "no_op"


TABLE = list(
    product(
        ["nothing", "attempting", "committed"],
        [None, "notApplied", "applied", "unknown"],
        ["live", "lapsed", "dead"],
        ["unkeyed", "keyed", "probed"],
    )
)


@pytest.mark.parametrize(("outcome", "probe", "lease", "how"), TABLE)
def test_an_effect_is_only_sent_again_where_it_is_provably_harmless(
    outcome: str, probe: str | None, lease: str, how: str
) -> None:
    """The whole cross product for one effect, against a rule of one line."""
    journal = Journal().begin(ttl=60).checkpoint(2)
    with_action(journal, "send", outcome, how, 3)
    now = 30.0 if lease == "live" else 300.0
    known: dict[str, Any] = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run-1",
        "observedAt": at(now),
    }
    if lease == "dead":
        known["owners"] = [
            {"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": at(10)}
        ]
    if probe is not None:
        answer = {"result": probe, "consistency": "strong", "observedAt": at(now - 1), "externalRef": None}
        known["probes"] = {"send": answer}
    decision = judge(journal, now, known)
    resent = decision.verdict == "resume" and any(
        item.do in {"replay", "run"} and item.action_id for item in decision.plan
    )
    if lease == "live":
        assert decision.verdict == "wait"
    elif outcome == "committed":
        assert (decision.verdict, decision.plan[1].do if len(decision.plan) > 1 else "") == ("resume", "skip")
    elif outcome == "nothing":
        assert decision.verdict == "resume"
    else:
        proven = how == "probed" and probe == "notApplied" and lease == "dead"
        assert resent == ((how == "keyed" and probe != "applied") or proven)
        assert (decision.verdict == "resume") == (resent or probe == "applied")


def test_every_status_of_the_ledger_has_a_rule() -> None:
    assert set(_RULES) == {status for status in TRANSITIONS if status is not None}


def test_the_facts_of_another_run_are_refused() -> None:
    with pytest.raises(ValueError, match="another run"):
        judge(Journal().begin(), 300, {"runId": "run-2"})


def test_a_decision_names_the_policy_that_it_was_made_under() -> None:
    journal = Journal().begin().checkpoint(2)
    assert judge(journal, 300).policy_digest != judge(journal, 300, clockSkewSeconds=6).policy_digest


def test_a_heartbeat_delays_a_claim_but_never_beyond_the_clock() -> None:
    run = Journal().begin(ttl=60).checkpoint(2).fold()
    assert run.ownership is not None
    held = replace(run, ownership=replace(run.ownership, beats=(START + 10_000 * SECOND,)))
    policy = parse_policy(None)
    assert evaluate(run, None, policy, None, START + 300 * SECOND).verdict == "resume"
    waiting = evaluate(held, None, policy, None, START + 300 * SECOND)
    assert waiting.verdict == "wait"
    assert waiting.not_before == START + (300 + 5 + 60 + 10) * SECOND
