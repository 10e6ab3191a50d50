"""``safepoint guard``: the decision as text and JSON, its exit status, and what is refused before judging."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

LAPSED = "2026-05-07T10:10:00Z"
FACTS = {
    "recordType": "facts",
    "schemaVersion": "v3",
    "runId": "run_123",
    "observedAt": "2026-05-07T10:09:00Z",
}


def guard(run: Run, store: Path, *more: str | Path) -> Result:
    return run("guard", store, "--run", "run_123", "--now", LAPSED, *more)


def test_a_proven_effect_is_skipped_and_the_run_resumes(run: Run, committed: Path) -> None:
    result = guard(run, committed)
    assert result.exit_code == 0
    assert result.stdout.startswith("resume: ")
    (row,) = (line for line in result.stdout.splitlines() if "action notify_1" in line)
    assert row.split()[:3] == ["action", "notify_1", "skip"]
    assert "as journal record 6" in result.stdout


def test_an_unkeyed_effect_in_doubt_goes_to_a_human_with_evidence_and_commands(
    run: Run, crashed: Path
) -> None:
    result = guard(run, crashed)
    assert result.exit_code == 13
    lines = result.stdout.splitlines()
    assert lines[0] == "hand_over: a human has to decide; nothing may run on its own"
    assert "        see runs/run_123/journal/0000000004.json#/status" in lines
    assert f"       safepoint show {crashed} --run run_123" in lines
    assert f"       safepoint guard {crashed} --run run_123 --facts facts.json" in lines


def test_the_facts_that_it_asks_for_do_not_pass_before_they_are_filled_in(
    run: Run, crashed: Path, tmp_path: Path
) -> None:
    text = guard(run, crashed).stdout
    skeleton = text[text.rindex("       {\n") : text.index("     and ask again")]
    facts = tmp_path / "facts.json"
    facts.write_text(skeleton)
    refused = guard(run, crashed, "--facts", facts)
    assert refused.exit_code == 3
    assert f"{facts}: the facts document is not sound" in refused.stderr
    assert "SP207" in refused.stderr
    document = json.loads(skeleton)
    document["observedAt"] = document["probes"]["notify_1"]["observedAt"] = "2026-05-07T10:09:00Z"
    document["probes"]["notify_1"] |= {"result": "applied", "consistency": "strong"}
    facts.write_text(json.dumps(document))
    assert guard(run, crashed, "--facts", facts).exit_code == 0


def test_a_live_lease_is_waited_for_until_a_time(run: Run, crashed: Path) -> None:
    result = run("guard", crashed, "--run", "run_123", "--now", "2026-05-07T10:00:20Z")
    assert result.exit_code == 10
    assert "ask again in 54 s, at 2026-05-07T10:01:14Z:" in result.stdout


def test_json_is_the_decision_document_and_its_bytes_are_equal_when_asked_twice(
    run: Run, crashed: Path
) -> None:
    first, second = (guard(run, crashed, "--format", "json") for _ in range(2))
    assert first.stdout_bytes == second.stdout_bytes
    document = json.loads(first.stdout)
    assert document["recordType"] == "decision"
    assert document["verdict"] == "hand_over"
    assert document["evaluatedAt"] == LAPSED
    assert first.exit_code == 13


def test_no_payload_is_shown(run: Run, committed: Path) -> None:
    assert "s3cret" not in guard(run, committed).output
    assert "s3cret" not in guard(run, committed, "--format", "json").output


def test_options_make_a_request(run: Run, committed: Path) -> None:
    result = guard(run, committed, "--goal", "inspect", "--format", "json")
    assert (json.loads(result.stdout)["goal"], result.exit_code) == ("inspect", 15)


def test_a_request_file_and_options_do_not_mix(run: Run, committed: Path, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text('{"recordType": "request", "schemaVersion": "v3", "goal": "inspect"}')
    assert guard(run, committed, "--request", request).exit_code == 15
    result = guard(run, committed, "--request", request, "--goal", "inspect")
    assert result.exit_code == 2
    assert "not both" in result.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("policy.toml", 'automaticResumeSeconds = 60\nonBudgetReached = "give_up"\n'),
        ("policy.json", '{"automaticResumeSeconds": 60, "onBudgetReached": "give_up"}'),
    ],
)
def test_a_policy_is_json_or_toml(run: Run, committed: Path, tmp_path: Path, name: str, text: str) -> None:
    policy = tmp_path / name
    policy.write_text(text)
    assert guard(run, committed).exit_code == 0
    assert guard(run, committed, "--policy", policy).exit_code in {13, 14}


@pytest.mark.parametrize(
    ("option", "name", "text", "said"),
    [
        ("--policy", "p.toml", "leaseSeconds = ", "no TOML"),
        ("--policy", "p.toml", "leaseSecond = 5\n", "SP203"),
        ("--policy", "p.json", "{", "SP103"),
        ("--facts", "f.json", json.dumps({**FACTS, "runId": "run_9"}), "about run 'run_9'"),
        (
            "--facts",
            "f.json",
            '{"recordType": "request", "schemaVersion": "v3", "goal": "continue"}',
            "is a request",
        ),
    ],
)
def test_a_document_that_is_not_sound_is_refused_before_judging(
    run: Run, committed: Path, tmp_path: Path, option: str, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    result = guard(run, committed, option, path)
    assert (result.exit_code, result.stdout) == (3, "")
    assert said in result.stderr


def test_a_missing_document_cannot_be_evaluated(run: Run, committed: Path) -> None:
    assert guard(run, committed, "--facts", "absent.json").exit_code == 3


def test_an_unknown_run_names_those_that_look_like_it(run: Run, committed: Path) -> None:
    result = run("guard", committed, "--run", "run_132")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "did you mean 'run_123'?" in result.stderr


def test_an_unreadable_store_is_no_verdict(run: Run, tmp_path: Path) -> None:
    result = run("guard", tmp_path / "absent", "--run", "run_123")
    assert (result.exit_code, result.stdout) == (3, "")


def test_a_time_that_is_none_is_a_usage_error(run: Run, committed: Path) -> None:
    result = run("guard", committed, "--run", "run_123", "--now", "yesterday")
    assert result.exit_code == 2
    assert "2026-05-07T10:00:00Z" in result.stderr


@pytest.mark.parametrize("command", ["guard", "show"])
def test_without_a_run_the_runs_of_the_store_are_named(run: Run, crashed: Path, command: str) -> None:
    result = run(command, crashed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"say which run with --run:\n  safepoint {command} {crashed} --run run_123\n" in result.stderr


def test_without_a_run_a_store_with_many_or_none_names_the_list(run: Run, tmp_path: Path) -> None:
    assert f"  safepoint runs {tmp_path}   lists all runs\n" in run("guard", tmp_path).stderr
    for number in range(21):
        (tmp_path / f"runs/r{number:02}").mkdir(parents=True)
    said = run("guard", tmp_path).stderr
    assert "--run r19\n" in said
    assert "--run r20" not in said
    assert f"  safepoint runs {tmp_path}   lists all runs\n" in said


def test_a_humans_no_is_offered_with_the_owner_that_it_needs_dead(run: Run, crashed: Path) -> None:
    shown = guard(run, crashed).stdout
    assert "failed is taken only with --facts that prove the worker of epoch 1 dead" in shown
    assert '"leaseEpoch": 1,' in shown


def test_a_run_that_lay_too_long_names_the_setting_that_lets_it_go_on(
    run: Run, committed: Path, tmp_path: Path
) -> None:
    late = ("guard", committed, "--run", "run_123", "--now", "2026-05-09T10:00:00Z")
    shown = run(*late).stdout
    policy = tmp_path / "policy.json"
    policy.write_text(shown[shown.index("       {") : shown.index("     and ask again")])
    assert run(*late, "--policy", policy).exit_code == 3
    policy.write_text('{"automaticResumeSeconds": 400000}')
    assert run(*late, "--policy", policy).exit_code == 0


def test_a_moved_part_is_excused_by_the_digest_that_the_checkpoint_holds(run: Run) -> None:
    case = Path(__file__).parents[2] / "fixtures/guard/context-moved"
    command = ("guard", case / "store", "--run", "run-1", "--now", "2026-05-07T10:03:20Z")
    shown = run(*command, "--facts", case / "facts.json").stdout
    assert f'"from": "sha256:{"a" * 64}"' in shown
