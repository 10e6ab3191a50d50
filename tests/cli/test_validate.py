"""``safepoint validate``: what it prints where, and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

RECORD = {
    "checkpointId": "cp_03",
    "runId": "run_123",
    "state": "waiting_tool_result",
    "stepName": "fetch_customer_profile",
    "schemaVersion": "v2",
    "inputSnapshot": {"customerId": "s3cret"},
    "artifactRefs": ["artifact_plan_01"],
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
    "createdAt": "2026-05-07T10:00:00Z",
}


def file(folder: Path, name: str, *values: object) -> Path:
    path = folder / name
    path.write_text("\n".join(v if isinstance(v, str) else json.dumps(v) for v in values) + "\n")
    return path


def test_a_sound_record_passes_and_only_the_counts_are_said(run: Run, tmp_path: Path) -> None:
    result = run("validate", file(tmp_path, "cp.json", RECORD))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "SP207" not in result.stdout
    assert result.stdout.splitlines()[-1] == "1 record in 1 file, 1 run: nothing wrong"


def test_a_finding_is_one_line_with_place_code_and_name(run: Run, tmp_path: Path) -> None:
    path = file(tmp_path, "cp.json", {**RECORD, "createdAt": "yesterday"})
    result = run("validate", path)
    assert result.exit_code == 1
    line, *_, last = result.stdout.splitlines()
    column = path.read_text().index('"yesterday"') + 1
    assert line.startswith(f"{path}:1:{column}: SP207 bad-time: ")
    assert line.endswith(" (at /createdAt)")
    assert last == "0 records and 1 faulty text in 1 file, 0 runs: 1 error"


def test_no_payload_is_ever_printed(run: Run, tmp_path: Path) -> None:
    path = file(tmp_path, "cp.json", {**RECORD, "state": {"token": "s3cret"}, "stpName": "s3cret"})
    for output_format in ("text", "json"):
        assert "s3cret" not in run("validate", path, "--format", output_format).output


def test_json_holds_findings_and_summary(run: Run, tmp_path: Path) -> None:
    path = file(tmp_path, "cps.jsonl", RECORD, {**RECORD, "checkpointId": ""})
    result = run("validate", path, "--format", "json")
    document = json.loads(result.stdout)
    (finding,) = document["findings"]
    assert finding.pop("column") > 1
    assert len(finding.pop("fingerprint")) == 32
    assert "1 to 256" in finding.pop("message")
    assert finding == {
        "code": "SP206",
        "name": "bad-id",
        "severity": "error",
        "url": str(path),
        "key": "cps.jsonl",
        "pointer": "/checkpointId",
        "line": 2,
    }
    assert {skipped["runs"] for skipped in document["summary"].pop("skipped")} == {1}
    assert document["summary"] == {
        "files": 1,
        "runs": 1,
        "records": 1,
        "documents": 0,
        "faulty": 1,
        "findings": {"error": 1, "warning": 0, "info": 0},
        "codes": {"SP206": 1},
        "suppressed": {},
        "hidden": 0,
        "settings": None,
    }
    assert result.stderr == ""


@pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_fail_on_says_which_severity_fails(run: Run, tmp_path: Path, fail_on: str, status: int) -> None:
    path = file(tmp_path, "cp.json", {**RECORD, "colour": 1})  # SP204, a warning
    assert run("validate", path, "--fail-on", fail_on).exit_code == status


def test_nothing_to_check_is_never_a_pass(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for given in (tmp_path / "empty", tmp_path / "absent.json", f"{tmp_path}/*.nothing"):
        result = run("validate", given)
        assert result.exit_code == 3
        assert "SP001 nothing-to-check" in result.stdout


def test_a_folder_of_foreign_files_is_not_a_pass(run: Run, tmp_path: Path) -> None:
    file(tmp_path, "package.json", {"name": "other"})
    result = run("validate", tmp_path)
    assert result.exit_code == 3
    assert ": note SP004 foreign-file: " in result.stdout.splitlines()[0]
    assert "SP001 nothing-to-check: " in result.stdout


def test_an_empty_file_has_a_code_of_its_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cp.json").write_bytes(b"")
    result = run("validate", tmp_path / "cp.json")
    assert result.exit_code == 1
    assert "SP111 empty-text" in result.stdout


def test_a_dash_is_standard_input(run: Run) -> None:
    lines = json.dumps(RECORD) + "\n" + json.dumps({**RECORD, "runId": ""}) + "\n"
    result = run("validate", "-", stdin=lines.encode())
    assert result.exit_code == 1
    assert result.stdout.startswith("-:2:")
    assert "SP206" in result.stdout


def test_a_name_cannot_write_to_the_terminal(run: Run, tmp_path: Path) -> None:
    path = file(tmp_path, "\x1b[2J\n.json", "{")
    result = run("validate", path)
    assert "\x1b" not in result.stdout
    assert "\\x1b[2J\\n.json:" in result.stdout


def test_a_store_is_checked_run_by_run(run: Run, committed: Path) -> None:
    folder = committed / "runs/run_123/journal"
    (folder / "0000000004.json").unlink()
    result = run("validate", committed)
    assert result.exit_code == 1
    assert "SP301 sequence-gap" in result.stdout
    assert "4 records in 4 files, 1 run: " in result.stdout.splitlines()[-1]


def test_each_store_of_a_folder_is_checked_by_itself(run: Run, committed: Path, crashed: Path) -> None:
    for store in (committed, crashed):  # both hold a run of the same id
        (store / "safepoint.json").write_text('{"recordType": "store", "schemaVersion": "v3", "layout": 1}')
    file(committed.parent, "cp.json", RECORD)
    result = run("validate", committed.parent)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "10 records and 2 documents in 12 files, 3 runs: nothing wrong"


def test_a_misspelt_status_of_an_old_ledger_is_warned_of(run: Run, tmp_path: Path) -> None:
    ledger = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": None, "status": "comitted"}
    result = run("validate", file(tmp_path, "l.json", ledger))
    assert result.exit_code == 0
    assert "SP220 unknown-status-old" in result.stdout
    assert 'did you mean "committed"?' in result.stdout
    status = run("validate", file(tmp_path, "l.json", {**ledger, "status": "s3cret token"}))
    assert "s3cret" not in status.output
    assert "planned, pending, started" in status.stdout


def test_a_bad_time_says_why(run: Run, tmp_path: Path) -> None:
    for given, said in (
        ("2026-02-30T10:00:00Z", '"2026-02-30T10:00:00Z": February 2026 has no day 30'),
        ("s3cret", "a string of 6 characters"),
    ):
        assert said in run("validate", file(tmp_path, "cp.json", {**RECORD, "createdAt": given})).stdout


def test_without_input_it_is_a_usage_error(run: Run) -> None:
    assert run("validate").exit_code == 2
