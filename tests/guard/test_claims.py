"""Where no claim can be made nobody may go on; where only a word stands for it, the decision says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import START, Journal, declares
from questions import PAY, judge, request, started

from safepoint.core.timestamp import SECOND
from safepoint.guard import Decision, evaluate
from safepoint.guard.case import Claims
from safepoint.policy import parse_policy

GOALS = ["continue", "roll_back", "unwind", "inspect"]
ENDS = [None, "completed", "failed", "cancelled", "cancelRequested"]


def decide(journal: Journal, goal: str, now: float, claims: Claims) -> Decision:
    policy = parse_policy(None, workflow="publish")
    return evaluate(journal.fold(), None, policy, request(goal), START + int(now * SECOND), claims=claims)


@st.composite
def runs(draw: st.DrawFn) -> Journal:
    journal = started()
    for number in range(draw(st.integers(0, 2))):
        how = draw(st.sampled_from([PAY, declares(), declares(effect="read")]))
        name = f"a{number}"
        journal.ledger(3 + 2 * number, "attempting", name, declares=how)
        if draw(st.booleans()):
            journal.ledger(4 + 2 * number, "committed", name)
            if how == PAY and draw(st.booleans()):
                journal.ledger(4.5 + 2 * number, "compensating", name)
    if end := draw(st.sampled_from(ENDS)):
        journal.add("run", 20, status=end)
    return journal


@given(runs(), st.sampled_from(GOALS), st.sampled_from([30, 200]))
@settings(max_examples=200, deadline=None)
def test_without_a_fence_nobody_goes_on_or_back(journal: Journal, goal: str, now: float) -> None:
    fenced, unfenced = decide(journal, goal, now, "enforced"), decide(journal, goal, now, "impossible")
    assert unfenced.verdict not in {"resume", "compensate"}
    assert unfenced.verdict in {fenced.verdict, "hand_over"}
    assert {r.code for r in fenced.reasons} - {"SP799", "SP747"} <= {r.code for r in unfenced.reasons}


@given(runs(), st.sampled_from(GOALS), st.sampled_from([30, 200]))
@settings(max_examples=100, deadline=None)
def test_a_promise_changes_nothing_but_what_was_not_checked(journal: Journal, goal: str, now: float) -> None:
    fenced, assumed = decide(journal, goal, now, "enforced"), decide(journal, goal, now, "assumed")
    more = set(assumed.not_checked) - set(fenced.not_checked)
    assert replace(assumed, not_checked=fenced.not_checked) == fenced
    assert len(more) <= 1
    if fenced.verdict in {"resume", "compensate"}:
        assert more == {"store: that nobody else claims the run rests on assume_one_writer alone"}


def test_the_question_as_it_was_always_put_is_about_a_store_with_a_fence() -> None:
    assert judge(started()) == decide(started(), "continue", 200, "enforced")


@pytest.mark.parametrize("goal", ["continue", "unwind"])
def test_whoever_is_refused_is_told_where_to_go(goal: str) -> None:
    journal = started().ledger(3, "attempting", declares=PAY).ledger(4, "committed")
    (need,) = decide(journal, goal, 200, "impossible").missing_evidence
    assert need.kind == "human"
    assert "URL that its records were written to" in need.message


def test_a_roll_back_that_was_asked_to_stop_is_not_gone_on_with() -> None:
    journal = started().ledger(3, "attempting", declares=PAY).ledger(4, "committed")
    journal.add("run", 6, status="cancelRequested")
    assert decide(journal, "unwind", 200, "enforced").verdict == "compensate"
    assert decide(journal, "unwind", 200, "impossible").verdict == "hand_over"
