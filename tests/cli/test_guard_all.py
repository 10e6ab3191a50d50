"""``safepoint guard --all``: what each stream gets, the exit status, and what does not go together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from journals import Journal, at

Run = Callable[..., Result]

NOW = at(200)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A run that may go on, one that waits, and one that is over."""
    Journal("fresh").begin().checkpoint(2).write(tmp_path / "store")
    Journal("live").begin(ttl=600).checkpoint(2).write(tmp_path / "store")
    Journal("over").begin().checkpoint(2).add("run", 50, status="completed").write(tmp_path / "store")
    return tmp_path / "store"


def guard_all(run: Run, store: Path, *more: str | Path) -> Result:
    return run("guard", store, "--all", "--now", NOW, *more)


def test_the_text_is_a_line_for_each_run_and_what_they_come_to(run: Run, store: Path) -> None:
    Journal("doubt").begin().checkpoint(2).ledger(3, "attempting").write(store)
    result = guard_all(run, store)
    assert result.exit_code == 1
    assert (
        result.stdout
        == f"""\
run    state        verdict    not before            why
doubt  interrupted  hand_over                        SP766 unknowable
fresh  interrupted  resume                           run 2
live   running      wait       2026-05-07T10:10:12Z  SP721 lease-live
over   completed    no_op                            SP710 completed

look closer:  safepoint guard {store} --run doubt

4 decisions: 1 resume, 1 wait, 1 hand_over, 1 no_op

runs by reason
        1  SP710 completed
        1  SP721 lease-live
        1  SP766 unknowable
        1  SP799 nothing-against

fleet: 0 recoveries for 4 starts in the last hour, 0 in the last ten minutes; 3 more may begin before the ratio holds \
others up
breakers: none is open
"""
    )
    assert result.stderr == ""


def test_whatever_may_go_on_waits_or_is_over_is_a_pass(run: Run, store: Path) -> None:
    assert guard_all(run, store).exit_code == 0


def test_jsonl_is_a_decision_a_line_and_a_summary_beside_it(run: Run, store: Path) -> None:
    result = guard_all(run, store, "--format", "jsonl")
    decisions = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(d["recordType"], d["runId"], d["verdict"]) for d in decisions] == [
        ("decision", "fresh", "resume"),
        ("decision", "live", "wait"),
        ("decision", "over", "no_op"),
    ]
    assert result.stderr.startswith("3 decisions: 1 resume, 1 wait, 1 no_op\n")


def test_json_is_one_object(run: Run, store: Path) -> None:
    lines = guard_all(run, store, "--format", "jsonl").stdout.splitlines()
    document = json.loads(guard_all(run, store, "--format", "json").stdout)
    assert document["decisions"] == [json.loads(line) for line in lines]
    assert document["unreadable"] == []
    assert document["counts"]["verdicts"]["wait"] == 1
    assert document["counts"]["reasons"] == {"SP710": 1, "SP721": 1, "SP799": 1}
    assert (document["counts"]["runs"], document["counts"]["mayBeginRecovering"]) == (3, 3)
    assert document["fleet"]["startsLastHour"] == 3


def test_a_run_that_cannot_be_read_is_told_of_and_is_no_pass(run: Run, store: Path) -> None:
    folder = store / "runs/nothing/artifacts/sha256"
    folder.mkdir(parents=True)
    (folder / ("a" * 64)).write_bytes(b"")
    result = guard_all(run, store)
    assert result.exit_code == 3
    assert "nothing  unreadable   -" in result.stdout
    assert "3 decisions: 1 resume, 1 wait, 1 no_op, 1 unreadable" in result.stdout
    document = json.loads(guard_all(run, store, "--format", "json").stdout)
    assert [one["runId"] for one in document["unreadable"]] == ["nothing"]
    assert json.loads(guard_all(run, store, "--format", "jsonl").stdout.splitlines()[2])["runId"] == "nothing"


def test_a_run_none_of_whose_records_can_be_read_is_no_pass(run: Run, store: Path) -> None:
    (store / "runs/torn/journal").mkdir(parents=True)
    (store / "runs/torn/journal/0000000001.json").write_bytes(b"{")
    result = guard_all(run, store, "--state", "unreadable")
    assert result.exit_code == 3
    assert result.stdout.splitlines()[1].split()[:3] == ["torn", "unreadable", "hand_over"]


def test_the_filters_tell_of_some_and_count_them(run: Run, store: Path) -> None:
    result = guard_all(run, store, "--state", "running", "--state", "completed", "--verdict", "wait")
    assert [line.split()[0] for line in result.stdout.splitlines()[1:2]] == ["live"]
    assert "1 decision of 3: 1 wait" in result.stdout
    none = guard_all(run, store, "--workflow", "another")
    assert (none.exit_code, none.stdout.splitlines()[0]) == (0, "0 decisions of 3: none")


def test_the_fleet_that_is_written_goes_with_a_question_about_one_run(
    run: Run, store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "fleet.json"
    decisions = guard_all(run, store, "--fleet-output", file, "--format", "jsonl").stdout.splitlines(
        keepends=True
    )
    single = run("guard", store, "--run", "fresh", "--now", NOW, "--fleet", file, "--format", "jsonl")
    assert single.stdout == decisions[0]
    again = guard_all(run, store, "--fleet", file, "--format", "jsonl")
    assert again.stdout.splitlines(keepends=True) == decisions


def test_a_question_that_is_asked_again_keeps_the_fleet(run: Run, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "fleet.json"
    guard_all(run, store, "--fleet-output", file)
    result = run("guard", store, "--run", "live", "--now", NOW, "--fleet", file)
    assert f"--fleet {file}" in result.stdout


def test_facts_of_a_run_that_is_not_there_are_an_error(run: Run, store: Path, tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(
        json.dumps({"recordType": "facts", "schemaVersion": "v3", "runId": "frehs", "observedAt": at(190)})
    )
    result = guard_all(run, store, "--facts", facts)
    assert result.exit_code == 3
    assert "facts were given of runs that it does not hold: 'frehs'" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--all", "--run", "fresh"], "--run is for one run; leave it out, or --all."),
        (["--all", "--goal", "inspect"], "--goal is for one run"),
        (["--all", "--anchor", "/elsewhere"], "--anchor is for one run"),
        (["--all", "--record"], "--record is for one run"),
        (["--run", "fresh", "--state", "running"], "--state is for all runs; add --all."),
        (["--run", "fresh", "--fleet-output", "f"], "--fleet-output is for all runs; add --all."),
    ],
)
def test_what_is_for_one_run_and_what_is_for_all_do_not_go_together(
    run: Run, store: Path, words: list[str], said: str
) -> None:
    result = run("guard", store, *words)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_folder_without_runs_could_not_be_judged(run: Run, tmp_path: Path) -> None:
    result = guard_all(run, tmp_path)
    assert result.exit_code == 3
    assert "no run was found" in result.stderr


def test_a_fleet_that_was_seen_too_long_ago_names_how_to_look_again(
    run: Run, store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "fleet.json"
    guard_all(run, store, "--fleet-output", file)
    result = run("guard", store, "--run", "fresh", "--now", at(2000), "--fleet", file)
    assert result.exit_code == 11
    assert "SP790" in result.stdout
