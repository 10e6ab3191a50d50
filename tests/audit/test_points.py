"""Each point of the checklist: a store that passes it, one that fails it, one where nobody can tell; and its turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checklists import (
    DECISION,
    NAIVE,
    POLICY,
    ROOT,
    SENT,
    Case,
    ask,
    begun,
    cases,
    gated,
    lay,
    lines,
    recovered,
    results,
    sent,
)
from journals import Journal, at, declares

import safepoint
from safepoint.audit import POINTS, Answer, Given, examine
from safepoint.core.fault import Place
from safepoint.policy import parse_policy

CASES = list(cases())


def answers(journal: Journal, **policy: Any) -> dict[int, Answer]:
    """The ten answers by number, under `POLICY` and what is laid over it."""
    given = Given(parse_policy({**POLICY, **policy}, workflow="publish"), Place("policy"))
    return dict(enumerate(examine(journal.fold(), (), given), 1))


def told(journal: Journal, point: int, **policy: Any) -> tuple[str, list[str]]:
    """The result of one point, and the messages of its evidence."""
    answer = answers(journal, **policy)[point]
    return answer.result, [evidence.message for evidence in answer.evidence]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_store_passes_fails_or_leaves_open_the_point_that_it_is_about(case: Case, tmp_path: Path) -> None:
    assert results(*lay(case, tmp_path))[case.point - 1]["result"] == case.result


def test_every_point_has_a_case_of_each_result_and_a_fixture() -> None:
    wanted = {(point.number, result) for point in POINTS for result in ("passed", "failed", "cannotTell")}
    assert {(case.point, case.result) for case in CASES} == wanted
    assert {path.name for path in ROOT.iterdir()} == {case.name for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_fixtures_are_what_the_cases_write(case: Case, tmp_path: Path) -> None:
    lay(case, tmp_path)
    written = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    stored = {
        p.relative_to(ROOT / case.name): p.read_bytes() for p in (ROOT / case.name).rglob("*") if p.is_file()
    }
    assert {path: data for path, data in stored.items() if path.name != "expect.json"} == written


@pytest.mark.parametrize("journal", [sent(), recovered(), gated()], ids=["sent", "recovered", "gated"])
def test_a_sound_run_passes_all_ten_and_no_longer_when_one_record_is_missing(
    journal: Journal, tmp_path: Path
) -> None:
    assert {answer.result for answer in answers(journal).values()} == {"passed"}
    journal.write(tmp_path)
    for path in sorted(tmp_path.glob("runs/*/*/*.json"))[:-1]:
        # the last record of a log can be cut off without a trace
        if path.name == max(other.name for other in path.parent.iterdir()):
            continue
        data = path.read_bytes()
        path.unlink()
        audit = safepoint.audit(str(tmp_path), policy=POLICY)
        list(audit)
        assert audit.result != "passed", path
        path.write_bytes(data)


@pytest.mark.parametrize("journal", [sent(), recovered(), gated()], ids=["sent", "recovered", "gated"])
def test_a_text_that_cannot_be_read_never_leaves_all_ten_passed(journal: Journal, tmp_path: Path) -> None:
    journal.write(tmp_path)
    for path in sorted(tmp_path.glob("runs/*/*/*.json")):
        data = path.read_bytes()
        path.write_bytes(data[:-9])
        audit = safepoint.audit(str(tmp_path), policy=POLICY)
        list(audit)
        assert audit.result != "passed", path
        path.write_bytes(data)


def test_what_cannot_be_read_leaves_open_what_it_may_have_held(tmp_path: Path) -> None:
    journal = ask(ask(recovered(), 120, "requested"), 121, "granted")
    journal = sent(journal.checkpoint(122, "cp-3"))
    journal.write(tmp_path)
    (tmp_path / "runs/run-1/journal/0000000099.json").write_bytes(b'{"recordType": "l')
    (one,) = safepoint.audit(str(tmp_path), policy=POLICY)
    found = [answer.result for answer in one.answers]
    assert found[:7] == ["cannot tell"] * 7
    assert found[8] == "cannot tell"
    assert (found[7], found[9]) == ("passed", "passed"), (
        "the policy speaks for itself, and a human has answered"
    )


def test_a_broken_chain_proves_no_absence() -> None:
    journal = begun()
    journal.values[2]["previousDigest"] = DECISION
    result, messages = told(journal, 6)
    assert result == "cannot tell"
    assert "SP303" in messages[0]


def test_what_declares_nothing_may_have_needed_a_checkpoint_or_not() -> None:
    assert told(sent(declares=None), 1)[0] == "cannot tell"


def test_null_is_no_status_unless_the_ledger_of_the_journal_can_answer() -> None:
    unknown = {"writePerformed": None, "externalMessageSent": None}
    assert told(begun().checkpoint(3, "cp-2", sideEffectStatus=unknown), 2)[0] == "passed"
    bare = begun().checkpoint(3, "cp-2", sideEffectStatus=unknown, lastLedgerSequence=None)
    assert told(bare, 2)[0] == "failed"


def test_a_status_that_the_ledger_contradicts_is_not_saved() -> None:
    journal = sent().checkpoint(9, "cp-3", sideEffectStatus={**SENT, "externalMessageSent": False})
    result, messages = told(journal, 2)
    assert result == "failed"
    assert messages[0].startswith("SP502")


def test_a_recovery_that_went_on_without_an_outcome_fails() -> None:
    journal = recovered()
    journal.recovery.pop()  # recovered
    assert told(journal, 3)[0] == "passed", "it is still at work"
    journal.claim(200, purpose="resolution")
    result, messages = told(journal, 3)
    assert result == "failed"
    assert "still probation" in messages[0]


def test_an_owner_who_simply_goes_on_was_not_guarded() -> None:
    result, messages = told(begun().claim(100), 4)
    assert result == "failed"
    assert "names no decision" in messages[0]


def test_a_human_who_resolves_an_effect_resumes_nothing() -> None:
    assert told(begun().claim(100, purpose="resolution"), 4)[0] == "passed"


def test_a_decision_that_the_log_does_not_know_is_no_decision() -> None:
    journal = recovered(decisionDigest=None)
    result, messages = told(journal, 4)
    assert (result, messages) == ("failed", ["epoch 2 names a decision that the recovery log does not hold"])


def test_a_decision_of_another_episode_is_told_once() -> None:
    journal = recovered({"authorization": "sha256:" + "b" * 64, "episodeId": "ep-1"})
    result, messages = told(journal, 4)
    assert result == "failed"
    assert [message[:5] for message in messages] == ["SP322"]


@pytest.mark.parametrize("name", ["send", "notify"])
def test_the_policy_may_declare_what_the_records_do_not(name: str) -> None:
    assert told(sent(declares=None), 5, actions={name: declares()})[0] == "passed"


def test_what_is_called_replay_safe_without_a_ground_fails_once() -> None:
    journal = begun()
    for number in (2, 3):
        journal.checkpoint(number, f"cp-{number}", replaySafeActions=["send", "unheard-of"])
    result, messages = told(sent(journal), 5)
    assert result == "failed"
    assert len(messages) == 1
    natural = sent(
        begun().checkpoint(2.5, "cp-x", replaySafeActions=["send"]), declares=declares(idempotency="natural")
    )
    assert told(natural, 5)[0] == "passed"
    listed = sent(begun().checkpoint(2.5, "cp-x", replaySafeActions=["send"]), declares=None)
    assert told(listed, 5, actions={"send": declares(effect="read")})[0] == "passed"
    assert told(listed, 5, actions={"send": declares()})[0] == "failed"


def test_an_outcome_without_evidence_is_none() -> None:
    journal = begun().ledger(3, "attempting").ledger(4, "committed", evidence=None)
    result, messages = told(journal, 6)
    assert result == "failed"
    assert messages[0].startswith("SP406")


def test_who_was_refused_or_let_it_lapse_may_be_asked_again() -> None:
    refused = ask(ask(ask(begun(), 3, "requested"), 4, "rejected"), 5, "requested", "ap-2")
    assert told(refused, 7)[0] == "passed"
    lapsed = ask(ask(ask(begun(), 3, "requested"), 4, "granted"), 700, "requested", "ap-2")
    assert told(lapsed, 7)[0] == "passed"
    standing = ask(ask(ask(begun(), 3, "requested"), 4, "granted"), 500, "requested", "ap-2")
    assert told(standing, 7)[0] == "failed"


def test_a_question_about_something_else_is_no_second_one() -> None:
    other = {"contentDigest": "sha256:" + "e" * 64, "actionId": "later", "expiresAt": at(600)}
    journal = gated().add("approval", 8, approvalId="ap-2", event="requested", **other)
    assert told(journal, 7)[0] == "passed"


def test_approvals_without_an_order_leave_it_open(tmp_path: Path) -> None:
    numbers = ("sequence", "previousDigest", "nonce", "leaseEpoch")
    asked = ask(begun(), 3, "requested").values[-1]
    record = {name: value for name, value in asked.items() if name not in numbers}
    case = Case("loose", "", 7, "cannotTell", files={**NAIVE, "approvals.jsonl": lines(record)})
    assert results(*lay(case, tmp_path))[6]["result"] == "cannotTell"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cooldownSeconds": 0}, "0 s"),
        ({"cooldownCapSeconds": 0}, "0 s"),
        ({"breaker": {"window": 5, "minimum": 10}}, "never hold anything up"),
        ({"breaker": {"openSeconds": 0}}, "never hold anything up"),
        ({"breaker": {}}, "no breaker"),
    ],
)
def test_a_limit_that_limits_nothing_is_none(settings: dict[str, Any], said: str) -> None:
    result, messages = told(sent(), 8, **settings)
    assert result == "failed"
    assert said in messages[0]


def test_a_policy_that_says_nothing_of_it_lacks_budget_cooldown_breaker_and_cap() -> None:
    given = Given(parse_policy({"leaseSeconds": 60}), Place("policy"))
    found = examine(sent().fold(), (), given)
    assert len(found[7].evidence) == 3
    assert found[8].result == "failed"


def test_a_workflow_may_set_them_for_itself() -> None:
    policy = parse_policy({"workflows": {"publish": POLICY}}, workflow="publish")
    assert {a.result for a in examine(sent().fold(), (), Given(policy, Place("policy")))} == {"passed"}


def test_an_outage_that_has_evidence_is_one_attempt_more() -> None:
    journal = recovered()
    journal.recovery.pop()
    blamed = {"failureOf": "infrastructure", "failureEvidence": "node lost"}
    journal.recover(110, "failedAttempt", leaseEpoch=2, **blamed)
    assert told(journal, 9, attemptsInLife=0)[0] == "passed"
    assert told(journal, 9, attemptsInLife=0, extraInfrastructureAttempts=0)[0] == "failed"


def test_retries_after_failures_are_counted_and_replays_of_a_doubt_are_not() -> None:
    journal = (
        begun().ledger(3, "attempting").ledger(4, "failed").ledger(5, "attempting").ledger(6, "committed")
    )
    assert told(journal, 9, attemptsPerAction=1)[0] == "failed"
    assert told(journal, 9, attemptsPerAction=2)[0] == "passed"


def test_a_run_that_lay_still_too_long_or_spent_too_much_went_beyond_its_cap() -> None:
    assert told(recovered(), 9, hardLimitSeconds=50)[0] == "failed"
    dear = begun().checkpoint(3, "cp-2", usage={"costMicros": 500})
    assert told(dear, 9, runBudgetCostMicros=400)[0] == "failed"
    assert told(dear, 9, runBudgetCostMicros=500)[0] == "passed"


def test_an_episode_that_gave_up_had_to_ask_a_human_first() -> None:
    alone = begun().recover(90, "detected").recover(91, "assessing").recover(92, "gaveUp")
    assert told(alone, 10)[0] == "failed"
    asked = begun().recover(90, "detected").recover(91, "assessing").recover(92, "awaitingHuman")
    assert told(asked, 10)[0] == "cannot tell"
    assert told(asked.recover(93, "gaveUp"), 10)[0] == "passed"


@pytest.mark.parametrize(
    "answer",
    [
        lambda j: j.claim(100, purpose="resolution"),
        lambda j: j.add(
            "evidence", 9, actionId="send", attemptNumber=1, result="applied", kind="human",
            ref="seen", by="ann", observedAt=at(9), externalRef=None,
        ),
    ],
    ids=["resolution", "evidence"],
)  # fmt: skip
def test_what_a_human_says_of_an_effect_shows_that_there_is_a_way(answer: Any) -> None:
    result = answers(answer(begun().ledger(3, "attempting")))[10]
    assert result.result == "passed"
    assert "have answered" in result.message
