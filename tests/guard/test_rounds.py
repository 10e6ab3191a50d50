"""What the recovery log adds to the guard's answer: who is waited for, which failures are excused, and what it cost."""

from __future__ import annotations

from typing import Any

import pytest
from journals import Journal
from questions import judge, started

NOW = 90_000


def codes(journal: Journal, now: float = NOW, **policy: Any) -> set[str]:
    return {reason.code for reason in judge(journal, now, **policy).reasons}


@pytest.mark.parametrize(
    "states",
    [
        ["detected"],
        ["detected", "assessing"],
        ["detected", "assessing", "waiting"],
        ["detected", "assessing", "reconciling"],
        ["detected", "assessing", "awaitingHuman"],
        ["detected", "assessing", "authorized"],
    ],
)
def test_only_what_was_not_released_is_waited_for(states: list[str]) -> None:
    released, kept = started(), started()
    for number, state in enumerate(states):
        released.recover(150 + number, state, released=True)
        kept.recover(150 + number, state)
    assert "SP722" not in codes(released, 160)
    assert "SP722" in codes(kept, 160)


def test_a_round_that_was_taken_up_is_waited_for_again() -> None:
    journal = started().recover(150, "detected", released=True).recover(151, "assessing")
    assert "SP722" in codes(journal, 160)


def attempts(number: int, outcome: dict[str, Any] | None, *, told: int | None = None) -> Journal:
    """A run with so many attempts, each with its checkpoint; the first `told` have that outcome in the log."""
    journal = started()
    for index in range(number):
        start = 1000 * (index + 1)
        name = f"ep-{index}"
        journal.claim(start, purpose="recovery", episodeId=name)
        journal.checkpoint(start + 1, f"cp-{index + 2}")
        ends = outcome if told is None or index < told else None
        for seconds, state in enumerate(("detected", "assessing", "authorized")):
            journal.recover(start - 5 + seconds, state, episodeId=name)
        for seconds, state in enumerate(("claimed", "resuming", *(["failedAttempt"] if ends else []))):
            more = ends if state == "failedAttempt" and ends else {}
            journal.recover(start + seconds, state, episodeId=name, leaseEpoch=index + 2, **more)
    return journal


LOST = {"failureOf": "infrastructure", "failureEvidence": "incident 7"}


@pytest.mark.parametrize(
    ("outcome", "number", "spent"),
    [
        (LOST, 10, False),
        (LOST, 14, False),
        (LOST, 15, True),
        ({"failureOf": "infrastructure"}, 10, True),
        ({"failureOf": "step", "failureEvidence": "a stack trace"}, 10, True),
        (None, 10, True),
    ],
)
def test_more_attempts_are_allowed_only_with_evidence_of_the_infrastructures_failure(
    outcome: dict[str, Any] | None, number: int, *, spent: bool
) -> None:
    assert ("SP753" in codes(attempts(number, outcome), 20_000)) == spent


def test_the_last_attempt_may_be_excused_by_the_round_that_follows_it() -> None:
    journal = attempts(10, {"failureOf": "step"}, told=9)
    assert "SP753" in codes(journal, 20_000)
    journal.recover(19_000, "detected", episodeId="next", released=True, **LOST)
    assert "SP753" not in codes(journal, 20_000)


def test_a_round_before_the_last_claim_excuses_nothing() -> None:
    journal = attempts(10, {"failureOf": "step"}, told=9)
    journal.recover(9000, "detected", episodeId="next", released=True, **LOST)
    assert "SP753" in codes(journal, 20_000)


def test_an_attempt_without_an_outcome_has_the_same_signature_as_any_other() -> None:
    journal = started()
    for number, signature in enumerate(("a", "b", "c"), start=1):
        name, start = f"ep-{number}", 1000 * number
        for seconds, state in enumerate(("detected", "assessing", "authorized")):
            journal.recover(start - 5 + seconds, state, episodeId=name, failureSignature=signature)
        journal.claim(start, purpose="recovery", episodeId=name)
        journal.recover(start, "claimed", episodeId=name, leaseEpoch=number + 1)
    assert "SP752" in codes(journal, 9000)


@pytest.mark.parametrize(("end", "spent"), [("recovered", False), ("failedAttempt", True)])
def test_a_recovery_costs_what_it_took_to_get_further(end: str, *, spent: bool) -> None:
    journal = started(usage={"costMicros": 100})
    for seconds, state in enumerate(("detected", "assessing", "authorized")):
        journal.recover(90 + seconds, state)
    journal.claim(100, purpose="recovery", episodeId="ep-1")
    journal.checkpoint(101, "cp-2", usage={"costMicros": 110})
    journal.checkpoint(800, "cp-3", usage={"costMicros": 1000})
    journal.recover(100, "claimed", leaseEpoch=2).recover(101, "resuming", leaseEpoch=2)
    journal.recover(102, "probation", leaseEpoch=2, cost={"costMicros": 10})
    journal.recover(801, end, leaseEpoch=2, cost={"costMicros": 900})
    assert ("SP755" in codes(journal, 2000)) == spent
