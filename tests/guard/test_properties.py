"""What holds of every run and every question, found true of many that nobody thought of."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from favourable import DONE, answerable, rounds, supplied
from generated_runs import Question, answer, faults_of, questions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from taken_away import fewer_records, less

from safepoint.core.digest import encode_record

EXAMPLES = int(os.environ.get("SAFEPOINT_EXAMPLES", "0"))
"""How many questions each property is asked of; 0: few, and always the same ones."""

ROUNDS = 14
"""Favourable answers after which the guard must have come to an end."""


def many(examples: int) -> settings:
    return settings(
        max_examples=EXAMPLES or examples,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def shuffled(value: Any, reverse: bool) -> Any:
    """The same JSON value with the members of its objects in another order."""
    if isinstance(value, dict):
        names = sorted(value, reverse=reverse)
        return {name: shuffled(value[name], reverse) for name in names}
    return [shuffled(item, reverse) for item in value] if isinstance(value, list) else value


@given(questions())
@many(150)
def test_what_is_asked_about_is_well_formed(question: Question) -> None:
    for value in (*question.journal.values, *question.journal.recovery, question.facts, question.request):
        assert not value or not faults_of(value)
    assert not faults_of({"recordType": "policy", "schemaVersion": "v3", **question.policy})


@given(questions(), st.randoms(use_true_random=False), st.booleans())
@many(150)
def test_the_same_question_gets_the_same_bytes_in_whatever_order_it_comes(
    question: Question, random: Any, reverse: bool
) -> None:
    records = question.records()
    random.shuffle(records)
    again = question.but(
        facts=shuffled(question.facts, reverse),
        policy=shuffled(question.policy, reverse),
        request=shuffled(question.request, reverse),
    )
    assert encode_record(again.ask(again.run(records)).document()) == answer(question)


@given(questions())
@many(200)
def test_taking_evidence_away_never_gives_leave(question: Question) -> None:
    for asked, decision in rounds(question, ROUNDS):
        if decision.verdict != "resume":
            for what, smaller in less(asked):
                assert smaller.ask().verdict != "resume", f"without {what}"


@given(questions())
@many(150)
def test_a_record_that_is_gone_is_missed(question: Question) -> None:
    for what, smaller in fewer_records(question):
        decision = smaller.ask()
        assert decision.verdict in {"hand_over", "no_op"}, f"without {what}"
        assert decision.verdict == "hand_over" or decision.goal == "inspect"


@given(questions())
@many(150)
def test_a_decision_is_of_one_piece(question: Question) -> None:
    for asked, decision in rounds(question, ROUNDS):
        assert not faults_of(decision.document())
        named = Counter(item.action_id or item.step_name for item in decision.plan if item.action_id)
        steps = Counter(item.step_name for item in decision.plan if item.step_name)
        assert not [name for counted in (named, steps) for name, times in counted.items() if times > 1]
        own = [reason for reason in decision.reasons if reason.verdict == decision.verdict]
        assert own, "nothing speaks for the verdict"
        if decision.verdict == "give_up":
            run = asked.run()
            assert not [a for a in run.open_actions if a.declares.effect != "read"], (
                "given up with something open"
            )
        if decision.verdict == "wait":
            assert decision.not_before is not None
            assert decision.not_before > decision.evaluated_at
        else:
            assert decision.not_before is None
        if decision.verdict in {"reconcile", "hand_over"}:
            assert decision.missing_evidence


@given(questions())
@many(200)
def test_whoever_supplies_what_is_missing_gets_on(question: Question) -> None:
    seen = []
    for asked, decision in rounds(question, ROUNDS):
        missing = {(need.kind, need.subject, need.message) for need in decision.missing_evidence}
        state = (decision.verdict, missing, decision.not_before)
        assert state not in seen, "what was supplied changed nothing"
        seen.append(state)
        for need in decision.missing_evidence:
            if decision.verdict not in DONE and answerable(asked, need):
                then = supplied(asked, need).ask()
                assert need not in then.missing_evidence, f"{need.kind} {need.subject} is asked for again"
    if decision.verdict not in DONE:
        assert decision.missing_evidence
        assert not [need for need in decision.missing_evidence if answerable(asked, need)]
