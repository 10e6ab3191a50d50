"""``safepoint runs`` and ``safepoint show``: the states of runs, and what happened in one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from closed import objects
from copied import origin, seal
from questions import started

Run = Callable[..., Result]

LAPSED = "2026-05-07T10:10:00Z"
LIVE = "2026-05-07T10:00:20Z"

SHOWN = """\
run run_123, workflow publish
state   interrupted: nobody holds its lease any more, and the run did not end
level   fenced, 5 records
lease   epoch 1, holder worker-1, lapsed 2026-05-07T10:01:15Z (8 min 45 s ago): SLACK
alive   last sign of life 2026-05-07T10:00:05Z (9 min 55 s ago)

journal
  #  time                  epoch  kind        what happened
  1  2026-05-07T10:00:01Z  -      run         run started: workflow publish
  2  2026-05-07T10:00:02Z  1      lease       lease claimed by worker-1 for 60 s
  3  2026-05-07T10:00:03Z  1      checkpoint  checkpoint cp_1 at step draft (state running); next: notify
  4  2026-05-07T10:00:04Z  1      ledger      notify_1: about to send, attempt 1 (no key)
  5  2026-05-07T10:00:05Z  1      ledger      notify_1: committed (evidence response 250 queued)
  here the records end; nothing says that the run did

effects on the world
  action    step    status     attempts  key  what is known
  notify_1  notify  committed  1         no   it happened (evidence response 250 queued)

next:  safepoint guard STORE --run run_123
"""


def test_a_crashed_run_is_told_in_order(run: Run, committed: Path) -> None:
    result = run("show", committed, "--run", "run_123", "--now", LAPSED)
    assert result.exit_code == 0
    slack = "60 s after the last sign of life, and 10 s more because clocks differ"
    assert result.stdout.replace(str(committed), "STORE").replace(slack, "SLACK") == SHOWN


def test_an_effect_without_an_outcome_is_said_to_be_in_doubt(run: Run, crashed: Path) -> None:
    result = run("show", crashed, "--run", "run_123", "--now", LAPSED)
    assert "announced; no outcome was ever written: it may or may not have happened" in result.stdout


def test_payloads_are_shown_only_on_request(run: Run, committed: Path) -> None:
    for output_format in ("text", "json"):
        arguments = ("show", committed, "--run", "run_123", "--format", output_format)
        assert "s3cret" not in run(*arguments).stdout
        assert "s3cret" in run(*arguments, "--show-values").stdout


def test_show_as_json_holds_timeline_and_actions(run: Run, committed: Path) -> None:
    document = json.loads(
        run("show", committed, "--run", "run_123", "--now", LAPSED, "--format", "json").stdout
    )
    assert [event["sequence"] for event in document["timeline"]] == [1, 2, 3, 4, 5]
    (action,) = document["actions"]
    assert (action["actionId"], action["status"], action["open"]) == ("notify_1", "committed", False)
    assert document["owner"]["lapsesAt"] == "2026-05-07T10:01:15Z"
    assert document["findings"] == []


def test_show_says_what_is_wrong_with_the_records(run: Run, committed: Path) -> None:
    (committed / "runs/run_123/journal/0000000003.json").write_text("{")
    result = run("show", committed, "--run", "run_123", "--now", LAPSED)
    assert "what is wrong with the records" in result.stdout
    assert "SP103 malformed-json" in result.stdout


def test_an_unknown_run_cannot_be_shown(run: Run, committed: Path) -> None:
    result = run("show", committed, "--run", "run_12")
    assert result.exit_code == 3
    assert "did you mean 'run_123'?" in result.stderr


@pytest.mark.parametrize(
    ("store", "now", "state"),
    [("crashed", LAPSED, "interrupted"), ("crashed", LIVE, "running"), ("waiting", LAPSED, "waiting")],
)
def test_runs_says_the_state_of_each(
    run: Run, request: pytest.FixtureRequest, store: str, now: str, state: str
) -> None:
    folder = request.getfixturevalue(store)
    (entry,) = json.loads(run("runs", folder, "--now", now, "--format", "json").stdout)["runs"]
    assert entry["state"] == state


def test_runs_as_json_has_counts(run: Run, crashed: Path) -> None:
    (entry,) = json.loads(run("runs", crashed, "--now", LAPSED, "--format", "json").stdout)["runs"]
    assert entry == {
        "runId": "run_123",
        "state": "interrupted",
        "level": "fenced",
        "counts": {"records": 4, "checkpoints": 1, "actions": 1, "openActions": 1, "faults": 0},
        "headSequence": 4,
        "lastRecordAt": "2026-05-07T10:00:04Z",
    }


def test_runs_as_text_is_a_table_with_one_line_for_each_run(run: Run, crashed: Path) -> None:
    result = run("runs", crashed, "--now", LAPSED)
    heading, row, blank, total, hint = result.stdout.splitlines()
    assert heading.split()[:3] == ["run", "state", "level"]
    assert row.split()[:3] == ["run_123", "interrupted", "fenced"]
    assert (blank, total) == ("", "1 run: 1 interrupted")
    assert hint.endswith(f"safepoint show {crashed} --run run_123")


def test_a_run_of_which_nothing_can_be_read_is_listed(run: Run, crashed: Path) -> None:
    for path in (crashed / "runs/run_123/journal").iterdir():
        path.write_bytes(b"")
    (entry,) = json.loads(run("runs", crashed, "--format", "json").stdout)["runs"]
    assert (entry["state"], entry["counts"]["records"]) == ("unreadable", 0)
    assert run("show", crashed, "--run", "run_123").exit_code == 0


def test_records_without_a_lease_are_in_an_unknown_state(run: Run, tmp_path: Path) -> None:
    record = (
        '{"actionId": "a", "runId": "r 1", "stepName": "s", "status": "committed", "idempotencyKey": null}'
    )
    (tmp_path / "ledger.jsonl").write_text(record + "\n")
    (entry,) = json.loads(run("runs", tmp_path, "--format", "json").stdout)["runs"]
    assert (entry["runId"], entry["state"], entry["lastRecordAt"]) == ("r 1", "unknown", None)
    text = run("show", tmp_path, "--run", "r 1").stdout
    assert "not recorded" in text
    assert f"next:  safepoint guard {tmp_path} --run 'r 1'" in text


def test_an_empty_folder_has_no_runs_and_is_no_success(run: Run, tmp_path: Path) -> None:
    result = run("runs", tmp_path)
    assert (result.exit_code, result.stdout) == (3, "")


def test_an_open_question_is_listed_with_its_end(run: Run, waiting: Path) -> None:
    text = run("show", waiting, "--run", "run_123", "--now", LAPSED).stdout
    assert "state   waiting: a human was asked and has not answered" in text
    table = text.partition("waiting for a human\n")[2].splitlines()
    assert table[1].split()[:3] == ["ap_1", "notify_1", "2026-05-08T10:00:00Z"]


def test_a_lease_that_was_given_back_and_a_wish_to_stop_are_said(run: Run, stopped: Path) -> None:
    text = run("show", stopped, "--run", "run_123", "--now", LIVE).stdout
    assert "lease   epoch 1, holder worker-1, given back" in text
    assert "stop    somebody asked it to stop 2026-05-07T10:00:03Z (" in text


def test_a_live_lease_says_until_when(run: Run, crashed: Path) -> None:
    text = run("show", crashed, "--run", "run_123", "--now", LIVE).stdout
    assert "holds until 2026-05-07T10:01:14Z (in 54 s)" in text
    assert "here the records end" not in text


def test_rounds_of_recovery_are_listed(run: Run, committed: Path) -> None:
    folder = committed / "runs/run_123/recovery"
    folder.mkdir()
    record = {
        "recordType": "recovery",
        "schemaVersion": "v3",
        "runId": "run_123",
        "createdAt": "2026-05-07T10:05:00Z",
        "sequence": 1,
        "previousDigest": None,
        "nonce": "f" * 32,
        "leaseEpoch": None,
        "episodeId": "ep_1",
        "state": "detected",
        "failureOf": "infrastructure",
        "failureSignature": "sha256:" + "ab" * 32,
    }
    (folder / "0000000001.json").write_text(json.dumps(record))
    text = run("show", committed, "--run", "run_123", "--now", LAPSED).stdout
    table = text.partition("rounds of recovery\n")[2].splitlines()
    assert table[0] == "  1 round: 1 being judged; no attempt so far"
    assert table[3].split()[:4] == ["ep_1", "-", "-", "infrastructure"]
    assert "not ended: being judged (detected 2026-05-07T10:05:00Z)" in table[3]


def test_a_long_list_of_findings_is_cut_and_says_where_the_rest_is(run: Run, tmp_path: Path) -> None:
    line = '{"actionId": "a", "runId": "r", "stepName": 7, "status": "planned", "idempotencyKey": null}\n'
    (tmp_path / "ledger.jsonl").write_text(line * 25)
    text = run("show", tmp_path, "--run", "r").stdout
    assert "and 5 more: safepoint validate lists all" in text


def test_a_run_that_is_over_asks_for_nothing_next(run: Run, committed: Path, completed: Path) -> None:
    assert "next:  safepoint guard" in run("show", committed, "--run", "run_123").stdout
    shown = run("show", completed, "--run", "run_123").stdout
    assert "state   completed" in shown
    assert "next:" not in shown


@pytest.mark.parametrize(
    ("command", "rest"),
    [("runs", ()), ("show", ("--run", "run_123")), ("guard", ("--run", "run_123", "--goal", "inspect"))],
)
def test_a_folder_of_stores_lists_the_command_for_each(
    run: Run, committed: Path, crashed: Path, command: str, rest: tuple[str, ...]
) -> None:
    for store in (committed, crashed):
        (store / "safepoint.json").write_text('{"recordType": "store", "schemaVersion": "v3", "layout": 1}')
    result = run(command, committed.parent, *rest)
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"{committed.parent} is no store, it holds at least 2. Name one of them:" in result.stderr
    for store in (committed, crashed):
        assert f"\n  safepoint {command} {store}{''.join(f' {word}' for word in rest)}\n" in result.stderr


def test_of_many_stores_some_are_listed(run: Run, tmp_path: Path) -> None:
    for number in range(23):
        (tmp_path / f"{number:02}").mkdir()
        (tmp_path / f"{number:02}/safepoint.json").write_text("{}")
    said = run("runs", tmp_path).stderr
    assert f"safepoint runs {tmp_path}/19\n  and 3 more\n" in said


@pytest.mark.parametrize("command", ["show", "runs", "guard"])
@pytest.mark.parametrize("now", [LAPSED, "9999-12-31T23:59:59Z"])
def test_times_at_the_end_of_the_calendar_are_shown_and_judged(
    run: Run, late: Path, command: str, now: str
) -> None:
    which = () if command == "runs" else ("--run", "run_123")
    result = run(command, late, *which, "--now", now)
    assert result.exit_code == (10 if command == "guard" else 0)
    assert "9999-12-31T23:59:59" in result.stdout


def test_a_moment_outside_of_the_calendar_is_a_usage_error(run: Run, committed: Path) -> None:
    result = run("runs", committed, "--now", "0001-01-01T00:00:00+23:59")
    assert result.exit_code == 2
    assert "years 1 to 9999" in result.stderr


def test_a_long_reference_is_shown_whole_only_on_request(run: Run, attested: Path) -> None:
    result = run("show", attested, "--run", "run_123")
    assert "evidence human by ann I saw it. I saw it." in result.stdout
    assert "s3cret" not in result.stdout
    assert "s3cret" in run("show", attested, "--run", "run_123", "--show-values").stdout


def test_a_copy_is_shown_as_one_and_whether_its_original_was_sealed(run: Run, tmp_path: Path) -> None:
    for sealed in ({}, seal(started())):
        for key, data in {**objects(started(), artifacts=False), **origin(started()), **sealed}.items():
            (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / key).write_bytes(data)
        word = "sealed" if sealed else "not sealed"
        told = f"copied  from s3://agents/safepoint, original {word}\n"
        assert told in run("show", tmp_path, "--run", "run-1", "--now", LAPSED).stdout
        listed = run("runs", tmp_path, "--now", LAPSED).stdout
        assert f"1 run copied from s3://agents/safepoint, original {word}\n" in listed
        document = json.loads(run("show", tmp_path, "--run", "run-1", "--format", "json").stdout)
        assert document["copiedFrom"]["source"] == "s3://agents/safepoint"
        assert bool(document["copiedFrom"]["sealedBy"]) is bool(sealed)


def test_a_copy_of_a_run_that_is_over_waits_for_no_seal(run: Run, tmp_path: Path) -> None:
    over = started().add("run", 5, status="completed")
    for key, data in {**objects(over, artifacts=False), **origin(over)}.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(data)
    shown = run("show", tmp_path, "--run", "run-1", "--now", LAPSED).stdout
    assert "copied  from s3://agents/safepoint; ended, no seal needed\n" in shown
    listed = run("runs", tmp_path, "--now", LAPSED).stdout
    assert "1 run copied from s3://agents/safepoint; ended, no seal needed\n" in listed


def test_a_copy_of_a_run_that_ended_with_an_open_effect_waits_for_a_seal(run: Run, tmp_path: Path) -> None:
    still = started().ledger(3, "attempting").add("run", 5, status="completed")
    for key, data in {**objects(still, artifacts=False), **origin(still)}.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(data)
    assert "original not sealed\n" in run("runs", tmp_path, "--now", LAPSED).stdout
