"""``safepoint audit``: what each stream gets, every format, and what the exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from checklists import NAIVE, POLICY, ask, begun, gated, recovered, sent
from click.testing import Result
from journals import Journal

Run = Callable[..., Result]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(POLICY))
    return path


def stored(journal: Journal, folder: Path) -> Path:
    journal.write(folder)
    return folder


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return stored(gated(), tmp_path / "sound")


@pytest.fixture
def naive(tmp_path: Path) -> Path:
    folder = tmp_path / "naive"
    folder.mkdir()
    for name, data in NAIVE.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_sound_store_passes_all_ten_in_a_table(run: Run, sound: Path, policy: Path) -> None:
    result = run("audit", sound, "--policy", policy)
    assert result.exit_code == 0
    first, about, _, _, *rows = result.stdout.splitlines()
    assert first == "passed: all 10 points"
    assert about == f"{sound}, 1 run, policy {policy}"
    assert [row.split()[:3] for row in rows] == [[str(number), "✓", "passed"] for number in range(1, 11)]
    assert result.stderr == ""


def test_what_fails_comes_with_its_place_and_what_to_do(run: Run, naive: Path) -> None:
    result = run("audit", naive)
    assert result.exit_code == 1
    assert result.stdout.startswith("failed: of 10 points 4 failed, 6 cannot be told\n")
    assert f"    {naive}/checkpoints.jsonl:1:1\n" in result.stdout
    assert "  do: write a ledger record before each effect" in result.stdout
    assert f"safepoint audit {naive} --policy FILE" in result.stdout
    assert result.stdout.endswith("safepoint explain SP803\n")


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 0), (("--fail-on", "warning"), 1), (("--fail-on", "error"), 0), (("--fail-on", "never"), 0)],
)
def test_what_nobody_can_tell_fails_where_warnings_do(
    run: Run, sound: Path, options: tuple[str, ...], status: int
) -> None:
    assert run("audit", sound, *options).exit_code == status


def test_a_failure_may_be_asked_not_to_count(run: Run, naive: Path) -> None:
    assert run("audit", naive, "--fail-on", "never").exit_code == 0


def test_json_has_every_point_with_counts_evidence_and_remedies(run: Run, naive: Path) -> None:
    result = run("audit", naive, "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["result"] == "failed"
    assert document["policy"] is None
    assert document["summary"] == {
        "runs": 1,
        "deleted": 0,
        "records": 2,
        "results": {"passed": 0, "failed": 1, "cannotTell": 0},
    }
    assert [point["point"] for point in document["points"]] == list(range(1, 11))
    ledger = document["points"][5]
    assert (ledger["code"], ledger["name"], ledger["result"]) == ("SP806", "effect-off-the-ledger", "failed")
    assert ledger["runs"] == {"passed": 0, "failed": 1, "cannotTell": 0}
    assert ledger["evidenceCount"] == len(ledger["evidence"]) == 1
    assert ledger["evidence"][0]["runId"] == "run-1"
    assert ledger["remedies"]


def test_jsonl_has_a_line_for_each_run_and_point_and_the_whole_at_the_end(
    run: Run, sound: Path, policy: Path
) -> None:
    result = run("audit", sound, "--policy", policy, "--format", "jsonl")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["answer"] * 10 + ["audit"]
    assert {line["result"] for line in lines} == {"passed"}
    assert result.stderr == f"{sound}: passed: all 10 points\n"


def test_sarif_keeps_it_apart_from_a_validation(run: Run, naive: Path) -> None:
    log = json.loads(run("audit", naive, "--format", "sarif").stdout)["runs"][0]
    assert log["automationDetails"] == {"id": "safepoint/audit/"}
    assert log["invocations"][0]["exitCode"] == 1
    levels = {result["ruleId"]: result["level"] for result in log["results"]}
    assert (levels["SP806"], levels["SP801"]) == ("error", "warning")
    assert log["properties"]["summary"]["points"]["6"] == "failed"
    assert {rule["id"] for rule in log["tool"]["driver"]["rules"]} == levels.keys()


def test_junit_has_a_case_for_each_point_of_a_run(run: Run, naive: Path, sound: Path, policy: Path) -> None:
    root = ET.fromstring(run("audit", naive, "--format", "junit").stdout)
    (suite,) = root
    assert root.attrib["name"] == "safepoint audit"
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("10", "4")
    assert suite[5].attrib["name"] == "run-1: 6. a ledger for external effects"
    clean = ET.fromstring(run("audit", sound, "--policy", policy, "--format", "junit").stdout)
    assert [list(case) for case in clean[0]] == [[]] * 10


def test_github_gets_a_command_for_each_place(run: Run, naive: Path) -> None:
    lines = run("audit", naive, "--format", "github").stdout.splitlines()
    assert sum(line.startswith("::error ") for line in lines) == 4
    assert all(line.startswith(("::error ", "::warning ")) for line in lines)


def test_the_answers_can_go_to_a_file_but_never_over_what_is_looked_at(
    run: Run, sound: Path, policy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "audit.txt"
    result = run("audit", sound, "--policy", policy, "--output", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert out.read_text().startswith("passed: all 10 points\n")
    for path in (policy, sound / "runs/run-1/journal/0000000001.json"):
        before = path.read_bytes()
        assert run("audit", sound, "--policy", policy, "--output", path).exit_code == 2
        assert path.read_bytes() == before


@pytest.mark.parametrize("shape", ["text", "json", "jsonl", "sarif", "junit", "github"])
def test_nothing_to_look_at_is_never_a_pass(run: Run, tmp_path: Path, shape: str) -> None:
    (tmp_path / "empty").mkdir()
    result = run("audit", tmp_path / "empty", "--format", shape)
    assert result.exit_code == 3
    assert "no run was found" in result.stderr
    assert "passed" not in result.output


def test_a_store_that_is_not_there_and_a_run_that_is_not_in_it(run: Run, sound: Path, tmp_path: Path) -> None:
    assert run("audit", tmp_path / "nowhere").exit_code == 3
    result = run("audit", sound, "--run", "run-2")
    assert result.exit_code == 3
    assert "did you mean 'run-1'?" in result.stderr


def test_a_folder_of_stores_lists_the_command_for_each(run: Run, tmp_path: Path, policy: Path) -> None:
    for name in ("one", "two"):
        stored(sent(), tmp_path / "all" / name)
        description = {"recordType": "store", "schemaVersion": "v3", "layout": 1}
        (tmp_path / "all" / name / "safepoint.json").write_text(json.dumps(description))
    result = run("audit", tmp_path / "all", "--policy", policy)
    assert result.exit_code == 3
    assert f"  safepoint audit {tmp_path}/all/one --policy {policy}\n" in result.stderr


def test_a_policy_that_is_not_sound_judges_nothing(run: Run, sound: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"cooldownSeconds": -1}')
    result = run("audit", sound, "--policy", tmp_path / "bad.json")
    assert result.exit_code == 3
    assert "nothing was judged" in result.stderr
    assert result.stdout == ""


def test_many_runs_are_counted_and_named(run: Run, tmp_path: Path, policy: Path) -> None:
    store = stored(recovered(), tmp_path / "store")
    unguarded = begun().claim(100)
    for value in unguarded.values:
        value["runId"] = "run-2"
    unguarded.run_id = "run-2"
    unguarded.write(store)
    text = run("audit", store, "--policy", policy).stdout
    assert "1 of 2 runs: epoch 2 went on with the run, and names no decision" in text
    assert "✗ 4. guard run before every resume: failed in 1 of 2 runs (SP804 resumed-unguarded)" in text
    assert "  - run run-2: epoch 2 went on" in text


def test_a_question_that_waits_is_a_doubt(run: Run, tmp_path: Path, policy: Path) -> None:
    store = stored(ask(begun(), 3, "requested"), tmp_path / "store")
    result = run("audit", store, "--policy", policy)
    assert result.exit_code == 0
    assert "cannot tell: of 10 points 1 cannot be told, 9 passed" in result.stdout
