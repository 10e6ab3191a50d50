"""``safepoint guard --record``, and what ``safepoint show`` tells of the rounds of recovery."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from journals import Journal

Run = Callable[..., Result]

LIVE, LAPSED = "2026-05-07T10:00:20Z", "2026-05-07T10:05:00Z"


def recovery(store: Path) -> list[dict[str, object]]:
    folder = store / "runs/run_123/recovery"
    return (
        [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))] if folder.exists() else []
    )


def states(store: Path) -> list[object]:
    return [record["state"] for record in recovery(store)]


def test_the_decision_is_recorded_and_said_beside_it(run: Run, crashed: Path) -> None:
    plain = run("guard", crashed, "--run", "run_123", "--now", LIVE, "--format", "json")
    result = run(
        *("guard", crashed, "--run", "run_123", "--now", LIVE, "--format", "json"),
        *("--record", "--holder", "nightly"),
    )
    assert (result.exit_code, result.stdout) == (10, plain.stdout)
    assert re.fullmatch(
        r"recorded: episode ep_1_[0-9a-f]{8}: detected → assessing → waiting, ask again at 2026-05-07T10:01:14Z\n",
        result.stderr,
    )
    assert states(crashed) == ["detected", "assessing", "waiting"]
    assert {record["holder"] for record in recovery(crashed)} == {"nightly"}
    later = run("guard", crashed, "--run", "run_123", "--now", LAPSED, "--record")
    assert later.exit_code == 13
    assert ": assessing → awaitingHuman\n" in later.stderr
    assert "SP722" not in later.stdout
    assert run("validate", crashed).exit_code == 0


def test_the_line_that_asks_again_records_again(run: Run, crashed: Path) -> None:
    text = run("guard", crashed, "--run", "run_123", "--now", LIVE, "--record", "--holder", "nightly").stdout
    assert f"safepoint guard {crashed} --run run_123 --holder nightly --record\n" in text
    text = run("guard", crashed, "--run", "run_123", "--now", LAPSED, "--record").stdout
    assert "--record" not in next(line for line in text.splitlines() if "safepoint resolve" in line)


def test_without_record_nothing_is_written(run: Run, crashed: Path) -> None:
    before = sorted(crashed.rglob("*"))
    run("guard", crashed, "--run", "run_123", "--now", LAPSED)
    run("guard", crashed, "--run", "run_123", "--now", LAPSED, "--record", "--goal", "inspect")
    assert sorted(crashed.rglob("*")) == before


def test_what_only_looks_says_that_nothing_was_recorded(run: Run, crashed: Path) -> None:
    result = run("guard", crashed, "--run", "run_123", "--now", LAPSED, "--record", "--goal", "inspect")
    assert result.exit_code == 15
    assert result.stderr == "not recorded: this answer says nothing of the run, only of who asks or looks\n"


def test_a_final_word_is_not_repeated(run: Run, completed: Path) -> None:
    first = run("guard", completed, "--run", "run_123", "--now", LAPSED, "--record")
    assert ": detected → assessing → notNeeded\n" in first.stderr
    second = run("guard", completed, "--run", "run_123", "--now", LAPSED, "--record")
    assert (first.exit_code, second.exit_code) == (15, 15)
    assert second.stderr.startswith("recorded already: episode ep_1_")
    assert len(states(completed)) == 3


def test_the_infrastructure_is_blamed_with_evidence(run: Run, crashed: Path) -> None:
    asks = (
        "guard",
        crashed,
        "--run",
        "run_123",
        "--now",
        LAPSED,
        "--record",
        "--failure-of",
        "infrastructure",
    )
    refused = run(*asks)
    assert refused.exit_code == 2
    assert (
        "not recorded: --failure-of: the infrastructure is only blamed with --failure-evidence"
        in refused.stderr
    )
    assert states(crashed) == []
    assert run(*asks, "--failure-evidence", "incident 7").exit_code == 13
    assert recovery(crashed)[-1]["failureEvidence"] == "incident 7"


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (("--holder", "me"), "--holder says what to record: give --record too."),
        (("--failure-of", "step"), "--failure-of says what to record: give --record too."),
        (("--record", "--failure-evidence", "x"), "say with --failure-of what it is evidence for"),
        (("--record", "--check", "decision.json"), "--record has nothing to record"),
    ],
)
def test_options_that_say_nothing_together_are_refused(
    run: Run, crashed: Path, options: tuple[str, ...], wrong: str
) -> None:
    result = run("guard", crashed, "--run", "run_123", *options)
    assert result.exit_code == 2
    assert wrong in " ".join(result.stderr.split())


def test_where_nothing_can_be_written_the_decision_is_printed_and_the_status_is_no_pass(
    run: Run, crashed: Path, tmp_path: Path
) -> None:
    shutil.make_archive(str(tmp_path / "archive"), "zip", crashed)
    url = f"zip://::{tmp_path / 'archive.zip'}"
    result = run("guard", url, "--run", "run_123", "--now", LAPSED, "--record", "--format", "json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["verdict"] == "hand_over"
    assert "Error: the decision above was not recorded: " in result.stderr


def test_a_journal_that_nobody_can_claim_has_no_round(run: Run, tmp_path: Path) -> None:
    line = '{"actionId": "a", "runId": "r", "stepName": "s", "status": "planned", "idempotencyKey": null}\n'
    (tmp_path / "ledger.jsonl").write_text(line)
    result = run("guard", tmp_path, "--run", "r", "--now", LAPSED, "--record")
    assert result.exit_code == 3
    assert result.stdout.startswith("reconcile")
    assert "nobody can claim it" in result.stderr


# rounds at a glance


@pytest.fixture
def tried(tmp_path: Path) -> Path:
    """Three attempts: one died in recovery, one failed in a step, one is under way; and the second was excused."""
    journal = Journal().begin().checkpoint(2, "cp-1", usage={"costMicros": 1000})
    for number, start in ((1, 100), (2, 300), (3, 600)):
        name, epoch = f"ep-{number}", number + 1
        for seconds, state in enumerate(("detected", "assessing", "authorized")):
            journal.recover(start - 5 + seconds, state, episodeId=name, failureOf="step", holder="worker")
        journal.claim(start, purpose="recovery", episodeId=name)
        journal.recover(start, "claimed", episodeId=name, leaseEpoch=epoch)
        journal.recover(start + 1, "resuming", episodeId=name, leaseEpoch=epoch)
    journal.recover(298, "failedAttempt", episodeId="ep-1", failureOf="recovery", outcome="its process ended")
    blame = {"failureOf": "infrastructure", "failureEvidence": "incident 7"}
    journal.recover(598, "failedAttempt", episodeId="ep-2", outcome="host lost", **blame)
    store = tmp_path / "tried"
    journal.write(store)
    return store


def test_the_rounds_are_told_at_a_glance(run: Run, tried: Path) -> None:
    text = run("show", tried, "--run", "run-1", "--now", "2026-05-07T10:10:30Z").stdout
    assert text.partition("rounds of recovery\n")[2].partition("\nwhat is wrong")[0].partition("\nnext:")[
        0
    ] == (
        "  3 rounds: 1 failed in recovery, 1 failed by the infrastructure, 1 under way; attempt 3 of 11 (1 of them for "
        "the infrastructure's failures) in this run's life, 3 of 3 without progress\n"
        "  left: no attempt\n"
        "  cooling down until 2026-05-07T10:12:00Z (in 1 min 30 s): the guard says wait before\n"
        "  episode  epoch  from  after a failure of  how it ended\n"
        "  ep-1     2      -     step                failed in recovery: its process ended (failedAttempt "
        "2026-05-07T10:04:58Z)\n"
        "  ep-2     3      -     step                failed by the infrastructure: host lost (failedAttempt "
        "2026-05-07T10:09:58Z)\n"
        "  ep-3     4      -     step                not ended: under way (resuming 2026-05-07T10:10:01Z)\n"
    )


def test_an_attempt_that_left_no_word_is_told_as_dead_and_counted(run: Run, tried: Path) -> None:
    text = run("show", tried, "--run", "run-1", "--now", "2026-05-07T11:00:00Z").stdout
    assert (
        "3 rounds: 1 failed in recovery, 1 failed by the infrastructure, 1 died without a word; attempt 3"
        in text
    )


def test_attempts_that_the_log_does_not_tell_of_are_counted(run: Run, tried: Path) -> None:
    shutil.rmtree(tried / "runs/run-1/recovery")
    text = run("show", tried, "--run", "run-1", "--now", "2026-05-07T11:00:00Z").stdout
    assert (
        "  0 rounds: 3 attempts that the recovery log does not tell of; attempt 3 of 10 in this run's life"
        in text
    )


def test_the_policy_says_how_many_attempts_are_left(run: Run, tried: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    settings = {"attemptsInLife": 20, "attemptsWithoutProgress": 9, "cooldownSeconds": 1}
    policy.write_text(json.dumps({"recordType": "policy", "schemaVersion": "v3", **settings}))
    shown = run("show", tried, "--run", "run-1", "--now", "2026-05-07T11:00:00Z", "--policy", policy)
    assert "attempt 3 of 21 " in shown.stdout
    assert "  left: 18 attempts; 6 if none gets further\n" in shown.stdout
    assert f"next:  safepoint guard {tried} --run run-1 --policy {policy}" in shown.stdout


def test_the_document_has_every_state_with_its_time(run: Run, tried: Path) -> None:
    shown = run("show", tried, "--run", "run-1", "--now", "2026-05-07T11:00:00Z", "--format", "json").stdout
    document = json.loads(shown)
    first = document["recoveries"][0]
    assert [(s["state"], s["at"]) for s in first["states"]] == [
        ("detected", "2026-05-07T10:01:35Z"),
        ("assessing", "2026-05-07T10:01:36Z"),
        ("authorized", "2026-05-07T10:01:37Z"),
        ("claimed", "2026-05-07T10:01:40Z"),
        ("resuming", "2026-05-07T10:01:41Z"),
        ("failedAttempt", "2026-05-07T10:04:58Z"),
    ]
    assert (first["result"], first["failedBy"], first["failureOf"]) == (
        "failed in recovery",
        "recovery",
        "step",
    )
    assert document["recoveryBudget"] == {
        "attempts": 3,
        "attemptsAllowed": 11,
        "extraInfrastructureAttempts": 1,
        "withoutProgress": 3,
        "withoutProgressAllowed": 3,
        "attemptsWithoutRound": 0,
        "cooldownUntil": None,
        "costMicros": None,
        "costMicrosAllowed": 500,
    }
