"""How the fleet fares: when a breaker opens, half opens and closes, who is its trial, and how much may recover."""

from __future__ import annotations

from typing import Any

import pytest
from journals import START, Journal, at, digest
from questions import facts, judge

from safepoint.core.timestamp import SECOND
from safepoint.guard import assess
from safepoint.guard.fleet import Breaker, BreakerSettings, Fleet, breaker_after, room
from safepoint.guard.member import Member, Recovery
from safepoint.policy import Policy, parse_policy

CODE = digest("c")
SIX = BreakerSettings(window=6, minimum=4, failed_fraction=0.5, open_seconds=100)


def recovery(claimed: int, ended: int | None, outcome: Any) -> Recovery:
    return Recovery(claimed, ended, outcome, CODE, "sig")


def recoveries(outcomes: str, every: int = 10) -> list[Recovery]:
    """One after another, each ended at its place times `every` seconds: F failed, R recovered."""
    return [
        recovery(
            (number * every - 5) * SECOND, number * every * SECOND, "failed" if letter == "F" else "recovered"
        )
        for number, letter in enumerate(outcomes, 1)
    ]


@pytest.mark.parametrize(
    ("outcomes", "now", "state", "until"),
    [
        ("FFF", 40, "closed", None),  # too few
        ("FFFF", 41, "open", 140),
        ("RRFF", 41, "open", 140),  # half of them
        ("RRRF", 41, "closed", None),
        ("FFRR", 41, "open", 120),  # there are enough with the last; it counts from the newest failure
        ("FFFF", 139, "open", 140),
        ("FFFF", 140, "halfOpen", 140),
        ("FFFFF", 51, "open", 150),  # one that was under way fails as well
        ("FFFFR", 51, "open", 140),  # one that was under way recovers, which is no trial
        ("RRRRRRFF", 81, "closed", None),  # the window has room for six
        ("RRRRRRFFF", 91, "open", 190),
    ],
)
def test_a_breaker_opens_by_its_window_and_half_opens_in_time(
    outcomes: str, now: int, state: str, until: int | None
) -> None:
    expected = Breaker(state, None if until is None else until * SECOND)
    assert breaker_after(recoveries(outcomes), SIX, now * SECOND) == expected


@pytest.mark.parametrize(
    ("trial", "now", "state", "until"),
    [
        (recovery(141 * SECOND, 160 * SECOND, "recovered"), 161, "closed", None),
        (recovery(141 * SECOND, 160 * SECOND, "failed"), 161, "open", 260),
        (recovery(141 * SECOND, 160 * SECOND, "failed"), 260, "halfOpen", 260),
        (
            recovery(139 * SECOND, 160 * SECOND, "recovered"),
            161,
            "halfOpen",
            140,
        ),  # begun too early to be one
        (recovery(141 * SECOND, None, "running"), 161, "halfOpen", 140),
        (recovery(141 * SECOND, None, "leftOut"), 161, "halfOpen", 140),
        (
            recovery(141 * SECOND, 900 * SECOND, "failed"),
            161,
            "open",
            261,
        ),  # an end in the future is as of now
    ],
)
def test_a_trial_decides_what_a_half_open_breaker_becomes(
    trial: Recovery, now: int, state: str, until: int | None
) -> None:
    expected = Breaker(state, None if until is None else until * SECOND)
    assert breaker_after([trial, *recoveries("FFFF")], SIX, now * SECOND) == expected


def test_what_was_before_a_trial_that_recovered_is_forgotten() -> None:
    trial = recovery(141 * SECOND, 160 * SECOND, "recovered")
    later = [recovery((200 + n) * SECOND, (210 + n) * SECOND, "failed") for n in range(3)]
    assert breaker_after([*recoveries("FFFF"), trial, *later], SIX, 300 * SECOND).state == "closed"


def test_the_order_in_which_runs_are_told_of_does_not_count() -> None:
    told = recoveries("FRFFRF")
    assert breaker_after(told, SIX, 61 * SECOND) == breaker_after(told[::-1], SIX, 61 * SECOND)


# members


def recovering(name: str = "run-1", *states: str, seconds: float = 100, **members: Any) -> Journal:
    """A run that was taken over once, with what its recovery log says of that."""
    journal = Journal(name).begin().checkpoint(2, guardContext={"workflow": CODE})
    journal.claim(seconds, purpose="recovery", episodeId="ep-1", authorization=digest("d"))
    for number, state in enumerate(("detected", "assessing", "authorized")):
        journal.recover(seconds - 3 + number, state, failureSignature="sig", **members)
    for number, state in enumerate(states, 1):
        journal.recover(seconds + number, state, leaseEpoch=2)
    return journal


def member(journal: Journal, now: float, known: dict[str, Any] | None = None) -> Member:
    found = assess(journal.fold(), known, Policy(), None, START + int(now * SECOND)).member
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("states", "now", "outcome", "ended"),
    [
        (("claimed", "resuming", "failedAttempt"), 500, "failed", 103),
        (("claimed", "resuming", "probation", "recovered"), 500, "recovered", 104),
        (("claimed", "superseded"), 500, "leftOut", None),
        (("claimed", "resuming"), 120, "running", None),
        (("claimed", "resuming"), 500, "failed", 170),  # its lease lapsed: 60 s, and twice the skew
        ((), 500, "failed", 170),
    ],
)
def test_how_a_recovery_went_is_told_by_its_log_or_by_its_lease(
    states: tuple[str, ...], now: float, outcome: str, ended: int | None
) -> None:
    [found] = member(recovering("run-1", *states), now).recoveries
    assert (found.outcome, found.ended) == (outcome, None if ended is None else START + ended * SECOND)
    assert found.code == CODE


def test_a_run_that_was_completed_under_a_recovery_recovered() -> None:
    journal = recovering("run-1", "claimed", "resuming").add("run", 130, status="completed")
    [found] = member(journal, 500).recoveries
    assert (found.outcome, found.ended) == ("recovered", START + 130 * SECOND)


def test_an_attempt_without_an_outcome_failed_once_another_took_over() -> None:
    journal = recovering("run-1", "claimed", "resuming").claim(120, purpose="recovery")
    first, second = member(journal, 130).recoveries
    assert (first.outcome, first.ended) == ("failed", START + 120 * SECOND)
    assert (second.outcome, second.signature) == ("running", "sig")


def test_a_run_knows_its_failure_until_it_gets_further() -> None:
    journal = recovering("run-1", "claimed", "resuming", "failedAttempt")
    assert member(journal, 500).signature == "sig"
    assert member(journal.checkpoint(105, "cp-2"), 500).signature is None
    assert member(Journal().begin(), 500).signature is None


@pytest.mark.parametrize(
    ("breaker", "meets"),
    [
        ({}, True),
        ({"workflow": "publish", "codeDigest": CODE, "failureSignature": "sig"}, True),
        ({"workflow": "other"}, False),
        ({"codeDigest": digest("0")}, False),
        ({"failureSignature": "another"}, False),
        ({"workflow": None, "codeDigest": None, "failureSignature": None}, True),
    ],
)
def test_a_breaker_is_for_the_runs_that_agree_in_all_three(breaker: dict[str, Any], *, meets: bool) -> None:
    assert member(recovering("run-1", "claimed", "resuming", "failedAttempt"), 500).meets(breaker) is meets


def test_what_is_not_known_of_a_run_agrees_with_any_breaker() -> None:
    unknown = member(Journal().begin().checkpoint(2), 500)
    assert unknown.meets({"codeDigest": digest("0"), "failureSignature": "any"})
    assert not unknown.meets({"workflow": "other"})


def test_the_code_of_today_counts_as_well_as_that_of_the_checkpoint() -> None:
    known = facts(guardContext={"workflow": digest("0")})
    found = member(recovering("run-1"), 500, known)
    assert found.meets({"codeDigest": CODE})
    assert found.meets({"codeDigest": digest("0")})
    assert not found.meets({"codeDigest": digest("1")})


# the state of the fleet


def fleet_of(journals: list[Journal], now: float, **policy: Any) -> dict[str, Any]:
    moment = START + int(now * SECOND)
    settings = parse_policy({"breaker": {"window": 6, "minimum": 4, "openSeconds": 100}, **policy})
    fleet = Fleet(moment, lambda _: settings)
    for journal in journals:
        assessment = assess(journal.fold(), None, settings, None, moment)
        assert assessment.member is not None
        fleet.add(assessment.member, assessment.verdict)
    return fleet.state()


def failed(number: int) -> Journal:
    return recovering(f"run-{number}", "claimed", "resuming", "failedAttempt", seconds=100 + 10 * number)


FAILED = [failed(number) for number in range(4)]
"""The last one at 133 seconds."""


def test_the_state_of_a_fleet_is_a_sound_part_of_facts() -> None:
    state = fleet_of(FAILED, 200)
    assert state == {
        "observedAt": at(200),
        "breakers": [
            {
                "workflow": "publish",
                "codeDigest": CODE,
                "failureSignature": "sig",
                "state": "open",
                "until": at(233),
            }
        ],
        "recoveriesLastHour": 4,
        "startsLastHour": 4,
        "recoveriesLastTenMinutes": 4,
    }


def test_breakers_have_the_settings_of_their_workflow() -> None:
    own = {"publish": {"breaker": {"minimum": 5}}}
    moment = START + 200 * SECOND
    fleet = Fleet(moment, lambda workflow: parse_policy({"workflows": own}, workflow=workflow))
    for journal in (*FAILED, failed(4)):
        assessment = assess(journal.fold(), None, Policy(), None, moment)
        assert assessment.member is not None
        fleet.add(assessment.member, assessment.verdict)
        opened = [breaker["state"] for breaker in fleet.state()["breakers"]]
        assert opened == (["open"] if journal.run_id == "run-4" else [])


def test_the_trial_is_the_run_that_can_go_on_and_lies_still_for_longest() -> None:
    older = Journal("b").begin().checkpoint(2)
    same = Journal("a").begin().checkpoint(2)
    newer = Journal("0").begin().checkpoint(3)
    doubtful = Journal("9").begin().checkpoint(2).ledger(3, "attempting")
    [breaker] = fleet_of([*FAILED, older, newer, same, doubtful], 400)["breakers"]
    assert (breaker["state"], breaker["until"], breaker["trialRunId"]) == ("halfOpen", None, "a")


def test_a_trial_that_is_under_way_is_the_only_one() -> None:
    under_way = recovering("run-9", "claimed", "resuming", seconds=390)
    [breaker] = fleet_of([*FAILED, Journal("a").begin().checkpoint(2), under_way], 400)["breakers"]
    assert breaker["trialRunId"] == "run-9"


def test_where_all_need_a_human_first_there_is_no_trial() -> None:
    doubtful = Journal("a").begin().checkpoint(2).ledger(3, "attempting")
    [breaker] = fleet_of([*FAILED, doubtful], 400, attemptsInLife=1)["breakers"]
    assert breaker["trialRunId"] is None


def test_recoveries_and_starts_are_counted_by_their_times() -> None:
    assert fleet_of([*FAILED, Journal("a").begin()], 135 + 600)["recoveriesLastTenMinutes"] == 0
    state = fleet_of([*FAILED, Journal("a").begin()], 115 + 3600)
    assert (state["recoveriesLastHour"], state["startsLastHour"]) == (2, 0)


@pytest.mark.parametrize(
    ("hour", "starts", "recent", "more"),
    [(0, 0, 0, 3), (3, 0, 3, 0), (0, 100, 0, 11), (10, 100, 5, 1), (11, 100, 5, 0), (11, 100, 1, 2)],
)
def test_the_ratio_has_room_until_the_guard_holds_the_next_one_up(
    hour: int, starts: int, recent: int, more: int
) -> None:
    def state(begun: int) -> dict[str, int]:
        return {
            "recoveriesLastHour": hour + begun,
            "startsLastHour": starts,
            "recoveriesLastTenMinutes": recent + begun,
        }

    assert room(state(0), Policy()) == more
    run = Journal().begin().checkpoint(2)
    verdicts = [judge(run, 200, facts(fleet=state(begun))).verdict for begun in range(more + 1)]
    assert verdicts == ["resume"] * more + ["wait"]


def test_the_policy_says_how_much_of_the_fleet_may_recover() -> None:
    fleet = {"recoveriesLastHour": 20, "startsLastHour": 100, "recoveriesLastTenMinutes": 9}
    run = Journal().begin().checkpoint(2)
    assert judge(run, 200, facts(fleet=fleet)).verdict == "wait"
    assert judge(run, 200, facts(fleet=fleet), fleetRecoveryFraction=0.2).verdict == "resume"
    assert judge(run, 200, facts(fleet=fleet), fleetRecoveryFloor=10).verdict == "resume"
    assert room(fleet, Policy(fleet_recovery_fraction=1e308)) == 2**53 * 100 - 19


# what it means for a run


@pytest.mark.parametrize(
    ("breaker", "verdict", "until"),
    [
        ({"state": "closed"}, "resume", None),
        ({"state": "open", "until": at(900)}, "wait", 900),
        ({"state": "open", "until": None}, "wait", 1100),
        (
            {"state": "open", "until": at(150)},
            "wait",
            1100,
        ),  # its time has come, and nobody says whose turn it is
        ({"state": "open", "until": at(150), "trialRunId": "run-1"}, "resume", None),
        ({"state": "open", "until": at(900), "trialRunId": "run-1"}, "wait", 900),
        ({"state": "halfOpen", "trialRunId": "run-1"}, "resume", None),
        ({"state": "halfOpen", "trialRunId": "run-2"}, "wait", 1100),
        ({"state": "halfOpen", "trialRunId": None}, "wait", 1100),
        ({"state": "halfOpen", "workflow": "other"}, "resume", None),
    ],
)
def test_a_breaker_lets_nobody_through_but_its_trial(
    breaker: dict[str, Any], verdict: str, until: int | None
) -> None:
    decision = judge(Journal().begin().checkpoint(2), 200, facts(fleet={"breakers": [breaker]}))
    assert decision.verdict == verdict
    assert decision.not_before == (None if until is None else START + until * SECOND)


@pytest.mark.parametrize(("seen", "verdict"), [(190, "resume"), (-800, "reconcile"), (210, "reconcile")])
def test_a_fleet_that_was_seen_too_long_ago_has_to_be_looked_at_again(seen: float, verdict: str) -> None:
    decision = judge(Journal().begin().checkpoint(2), 200, facts(fleet={"observedAt": at(seen)}))
    assert decision.verdict == verdict
    assert ("SP790" in [reason.code for reason in decision.reasons]) is (verdict == "reconcile")


def test_a_decision_is_no_longer_valid_than_what_was_seen_of_the_fleet() -> None:
    decision = judge(Journal().begin().checkpoint(2), 200, facts(199, fleet={"observedAt": at(100)}))
    assert decision.valid_until == START + 1000 * SECOND
