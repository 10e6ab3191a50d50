"""Does a stored decision still stand? One difference is enough that it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from journals import Journal
from questions import facts, judge, started

from safepoint.core.timestamp import SECOND
from safepoint.guard.decision import Decision
from safepoint.guard.standing import Standing, request_of, standing

SKEW = 5 * SECOND


def check(decision: dict[str, Any], present: Decision) -> Standing:
    return standing(decision, present, SKEW)


def differing(found: Standing) -> set[str]:
    assert found.stands is not bool(found.differences)
    return {comparison.what for comparison in found.differences}


def idle() -> Journal:
    return started(nextSteps=[])


def made(**members: Any) -> dict[str, Any]:
    return {**judge(idle()).document(), **members}


def test_a_decision_stands_while_all_that_it_rests_on_is_the_same() -> None:
    found = check(made(), judge(idle(), 210))
    assert found.stands
    assert found.document()["standing"] == "stands"
    assert found.document()["wouldSay"] == "resume"


def test_a_record_more_makes_it_void() -> None:
    assert differing(check(made(), judge(idle().checkpoint(100), 210))) >= {"journal"}


def test_a_claim_since_makes_it_void() -> None:
    assert differing(check(made(), judge(idle().claim(150, purpose="recovery"), 210))) >= {
        "journal",
        "leaseEpoch",
    }


def test_other_settings_make_it_void_even_where_the_answer_is_the_same() -> None:
    assert differing(check(made(), judge(idle(), 210, cooldownSeconds=31))) == {"policy"}


def test_other_facts_make_it_void_and_absent_ones_are_not_compared() -> None:
    decision = judge(idle(), 200, facts(190)).document()
    assert check(decision, judge(idle(), 210, facts(190))).stands
    assert differing(check(decision, judge(idle(), 210, facts(195)))) == {"facts"}
    found = check(decision, judge(idle(), 210))
    assert found.stands
    assert {c.what for c in found.compared if c.outcome == "notCompared"} == {"facts", "judgement"}
    assert found.would_say is None
    assert differing(check(made(), judge(idle(), 210, facts(190)))) == {"facts"}


@pytest.mark.parametrize(
    ("members", "what"),
    [
        ({"validUntil": "2026-05-07T10:03:30Z"}, "validUntil"),
        ({"evaluatedAt": "2026-05-07T10:03:36Z"}, "evaluatedAt"),
        ({"runId": "run-2"}, "runId"),
        ({"goal": "inspect"}, "goal"),
        ({"requires": {"resume": ["moon"]}}, "requires"),
        ({"verdict": "hand_over"}, "judgement"),
        ({"plan": [{"actionId": "a", "do": "run", "key": None, "reason": "SP761"}]}, "judgement"),
    ],
)
def test_each_comparison_alone_makes_it_void(members: dict[str, Any], what: str) -> None:
    assert differing(check(made(**members), judge(idle(), 210))) == {what}


def test_a_clock_that_is_a_little_behind_does_not() -> None:
    assert check(made(), judge(idle(), 196)).stands


def test_a_basis_that_this_version_cannot_compare_makes_it_void() -> None:
    decision = made()
    decision["basis"] = {**decision["basis"], "moonDigest": None, "x-mine": 1}
    assert differing(check(decision, judge(idle(), 210))) == {"basis"}


def test_a_wait_stands_until_its_time_has_come() -> None:
    decision = judge(idle(), 30).document()
    assert decision["verdict"] == "wait"
    assert check(decision, judge(idle(), 40)).stands
    assert differing(check(decision, judge(idle(), 72))) == {"notBefore", "judgement"}


def test_an_artifact_that_was_lost_since_makes_it_void() -> None:
    lost = {
        "artifactId": "a",
        "uri": None,
        "sha256": "sha256:" + "0" * 64,
        "sizeBytes": 1,
        "mediaType": "text/plain",
    }
    run = started(nextSteps=[], artifactRefs=[lost]).fold()
    from safepoint.guard import evaluate
    from safepoint.policy import Policy

    def at(seconds: int, state: str) -> Decision:
        moment = judge(idle(), seconds).evaluated_at
        return evaluate(run, None, Policy(), None, moment, artifacts={"a": state})

    decision = at(200, "present").document()
    assert check(decision, at(210, "present")).stands
    found = check(decision, at(210, "damaged"))
    assert differing(found) == {"judgement"}
    assert found.differences[0].message == "it said resume, and would now say hand_over (SP787)"


def test_where_nothing_ties_it_to_the_records_it_is_void() -> None:
    decision = judge(idle(), 200, facts(190)).document()
    decision["basis"] = {**decision["basis"], "journal": {"sequence": None, "digest": None}}
    present = judge(idle(), 210)
    unnumbered = Decision(**{name: getattr(present, name) for name in present.__slots__})
    object.__setattr__(unnumbered, "head_sequence", None)
    object.__setattr__(unnumbered, "head_digest", None)
    assert differing(check(decision, unnumbered)) == {"basis"}


def test_the_request_is_told_from_the_decision() -> None:
    assert "checkpointId" not in request_of(made())
    assert request_of(made(goal="roll_back"))["checkpointId"] == made()["checkpointId"]
    assert request_of(made(), named=True)["checkpointId"] == made()["checkpointId"]


def test_what_was_decided_without_facts_is_not_told_to_give_them() -> None:
    decision = made(verdict="give_up")
    decision["basis"] = {**decision["basis"], "journal": {"sequence": None, "digest": None}}
    found = check(decision, replace(judge(idle(), 210), head_sequence=None, head_digest=None))
    assert differing(found) == {"judgement"}
    assert "it said give_up, and would now say resume (SP799)" in [c.message for c in found.compared]


def test_a_plan_that_changed_names_what_changed() -> None:
    item = {"actionId": "send", "do": "run", "key": None, "reason": "SP761"}
    found = check(made(plan=[item]), judge(idle(), 210))
    assert [c.message for c in found.differences] == ["its plan would now be another, for send"]
