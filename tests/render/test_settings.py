"""The policy that a decision asks for: the setting that stands in the way, refused until somebody fills it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from journals import Journal, at, digest

from safepoint import schemas
from safepoint.core.kind import Identity
from safepoint.core.timestamp import parse_time
from safepoint.core.version import V3
from safepoint.guard import evaluate
from safepoint.policy import parse_policy
from safepoint.render.settings import policy_to_fill_in

DAY = 86_400


def crashed(times: int) -> Journal:
    journal = Journal().begin().checkpoint(5)
    for number in range(1, times + 1):
        journal.claim(5000 * number, purpose="recovery")
    return journal


def abandoned() -> Journal:
    told = {"kind": "human", "ref": None, "by": "ann", "observedAt": at(500)}
    journal = Journal().begin().checkpoint(5).ledger(6, "attempting")
    return journal.claim(400, purpose="resolution").ledger(500, "abandoned", evidence=told)


def costly() -> Journal:
    return Journal().begin().checkpoint(5, usage={"costMicros": 1000})


def asks(
    journal: Journal, seconds: float, policy: dict[str, Any] | None = None
) -> tuple[str, dict[str, Any]]:
    """The verdict at a time, and the policy that it asks for."""
    settings = parse_policy(policy, workflow="publish")
    decision = evaluate(journal.fold(), None, settings, None, parse_time(at(seconds)))
    return decision.verdict, policy_to_fill_in(decision.document(), settings)


CASES: list[tuple[Callable[[], Journal], float, dict[str, Any] | None, dict[str, Any]]] = [
    (lambda: crashed(3), 20_000, None, {"attemptsWithoutProgress": 6}),
    (lambda: crashed(5), 30_000, None, {"attemptsWithoutProgress": 10}),
    (
        lambda: crashed(3),
        20_000,
        {"attemptsInLife": 2, "attemptsWithoutProgress": 9},
        {"attemptsInLife": 6},
    ),
    (lambda: crashed(0), 3 * DAY, None, {"automaticResumeSeconds": 2 * 3 * DAY}),
    (
        lambda: crashed(0),
        20 * DAY,
        None,
        {"hardLimitSeconds": 2 * 20 * DAY, "automaticResumeSeconds": 2 * 20 * DAY},
    ),
    (costly, 200, {"runBudgetCostMicros": 1000}, {"runBudgetCostMicros": 2000}),
    (abandoned, 1000, None, {"abandonedMaySkip": True}),
]


@pytest.mark.parametrize(("build", "seconds", "policy", "filled"), CASES)
def test_what_is_asked_for_lets_the_run_go_on_once_it_is_filled_in(
    build: Callable[[], Journal], seconds: float, policy: dict[str, Any] | None, filled: dict[str, Any]
) -> None:
    verdict, wanted = asks(build(), seconds, policy)
    assert verdict == "hand_over"
    assert wanted.keys() == filled.keys()
    for name, value in filled.items():
        assert value is True or wanted[name].endswith(f"such as {value}")
    assert asks(build(), seconds, {**(policy or {}), **filled}) == ("resume", {})


@pytest.mark.parametrize(("build", "seconds", "policy", "_filled"), CASES)
def test_no_setting_validates_before_it_is_filled_in(
    build: Callable[[], Journal], seconds: float, policy: dict[str, Any] | None, _filled: dict[str, Any]
) -> None:
    for name, value in asks(build(), seconds, policy)[1].items():
        assert list(schemas.check(Identity("policy", V3), {name: value})), name


def test_an_override_is_changed_where_it_stands() -> None:
    policy = {"workflows": {"publish": {"attemptsWithoutProgress": 2}}}
    (wanted,) = asks(crashed(2), 15_000, policy)[1]["workflows"].values()
    assert wanted["attemptsWithoutProgress"].endswith("such as 4")


def test_a_budget_that_nothing_can_be_held_against_is_asked_to_be_lifted() -> None:
    wanted = asks(crashed(0), 200, {"runBudgetCostMicros": 1000})[1]
    assert wanted["runBudgetCostMicros"].startswith("FILL IN: null")


def handed_over(code: str, message: str = "", pointer: str | None = None) -> dict[str, Any]:
    reason = {"code": code, "verdict": "hand_over", "message": message, "pointer": pointer}
    return {"reasons": [reason], "plan": []}


def test_a_recovery_that_is_too_dear_names_the_fraction() -> None:
    wanted = policy_to_fill_in(handed_over("SP755"), parse_policy(None))
    assert wanted == {"recoveryCostFraction": "FILL IN: more than 0.5, such as 1"}


def test_a_moved_part_is_excused_by_both_its_digests() -> None:
    document = handed_over("SP730", pointer="/guardContext/model")
    policy = parse_policy(None)
    known = policy_to_fill_in(document, policy, {"model": digest("a")}, {"model": digest("b")})
    (entry,) = known["compatibleWith"]
    assert (entry["part"], entry["from"]) == ("model", digest("a"))
    assert entry["to"].startswith(f"FILL IN: {digest('b')}")
    assert list(schemas.check(Identity("policy", V3), known))
    assert (
        list(schemas.check(Identity("policy", V3), {"compatibleWith": [entry | {"to": digest("b")}]})) == []
    )
    (bare,) = policy_to_fill_in(document, policy)["compatibleWith"]
    assert bare["from"].startswith("FILL IN")


def test_a_reason_without_a_known_count_falls_back_to_the_setting() -> None:
    wanted = policy_to_fill_in(handed_over("SP752", "other words"), parse_policy(None))
    assert wanted["attemptsWithoutProgress"] == "FILL IN: more than 3 (it is 3 now), such as 6"
