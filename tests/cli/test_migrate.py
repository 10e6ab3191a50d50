"""``safepoint migrate``: where results and findings go, and that nothing is ever overwritten."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

CHECKPOINT = (
    b'{"checkpointId": "cp_03", "runId": "run_123", "state": "waiting", "stepName": "fetch", "schemaVersion": "v2", '
    b'"artifactRefs": ["artifact_plan_01"], "createdAt": "2026-05-07T10:00:00Z", '
    b'"sideEffectStatus": {"writePerformed": false, "externalMessageSent": null}}'
)
LEDGER = (
    b'{"actionId": "a", "runId": "run_123", "stepName": "s", "idempotencyKey": "k", "status": "committed"}'
)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "cp.json"
    path.write_bytes(CHECKPOINT)
    return path


def test_a_record_goes_to_standard_output(run: Run, checkpoint: Path) -> None:
    result = run("migrate", checkpoint, "--to", "v3")
    assert result.exit_code == 0
    migrated = json.loads(result.stdout)
    assert (migrated["schemaVersion"], migrated["recordType"]) == ("v3", "checkpoint")
    assert migrated["sideEffectStatus"] == {"writePerformed": False, "externalMessageSent": None}
    assert result.stderr.splitlines()[-1] == "done: migrated; 0 findings"


def test_the_result_validates_and_the_way_back_gives_the_original(run: Run, checkpoint: Path) -> None:
    up = run("migrate", checkpoint, "--to", "v3").stdout_bytes
    assert run("validate", "-", stdin=up).exit_code == 0
    down = run("migrate", "-", "--to", "v2", stdin=up)
    assert json.loads(down.stdout) == json.loads(CHECKPOINT)


def test_what_goes_to_standard_output_ends_its_line(run: Run, checkpoint: Path, tmp_path: Path) -> None:
    assert run("migrate", checkpoint, "--to", "v3").stdout_bytes.endswith(b"}\n")
    assert run("migrate", "-", "--to", "v3", stdin=CHECKPOINT + b"\n").stdout_bytes.endswith(b"}\n")
    run("migrate", checkpoint, "--to", "v3", "--output", tmp_path / "new.json")
    assert (tmp_path / "new.json").read_bytes().endswith(b"}")


def test_what_a_version_has_no_place_for_is_one_line_a_record(run: Run, checkpoint: Path) -> None:
    up = run("migrate", checkpoint, "--to", "v3").stdout_bytes
    down = run("migrate", "-", "--to", "v1", stdin=up)
    (line,) = (line for line in down.stderr.splitlines() if "SP603" in line)
    assert line.endswith(": /artifactRefs, /sideEffectStatus")
    assert down.stderr.splitlines()[-1] == "done: migrated; 1 finding in 2 places"


def test_standard_input_may_be_json_lines(run: Run) -> None:
    result = run("migrate", "-", "--to", "v3", stdin=CHECKPOINT + b"\n" + LEDGER + b"\n")
    assert [json.loads(line)["recordType"] for line in result.stdout.splitlines()] == ["checkpoint", "ledger"]


def test_standard_input_may_be_one_record_of_many_lines(run: Run) -> None:
    pretty = json.dumps(json.loads(CHECKPOINT), indent=2).encode()
    result = run("migrate", "-", "--to", "v3", stdin=b"\n" + pretty + b"\n")
    assert (result.exit_code, json.loads(result.stdout)["recordType"]) == (0, "checkpoint")


@pytest.mark.parametrize(
    ("cut", "again", "told"),
    [(-9, b"", "SP103 malformed-json"), (None, b"\n", "-:16:1: SP117 trailing-data")],
    ids=["broken", "two of them"],
)
def test_a_faulty_record_of_many_lines_is_one_finding(
    run: Run, cut: int | None, again: bytes, told: str
) -> None:
    pretty = json.dumps(json.loads(CHECKPOINT), indent=2).encode()[:cut]
    result = run("migrate", "-", "--to", "v3", stdin=pretty + again + (pretty if again else b""))
    assert (result.exit_code, result.stdout) == (1, "")
    (finding, last) = result.stderr.splitlines()
    assert told in finding
    assert last == "refused, nothing was written; 1 finding"


def test_one_bad_line_refuses_all_and_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(CHECKPOINT + b"\n" + LEDGER.replace(b'"a"', b"7") + b"\n")
    result = run("migrate", path, "--to", "v3")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{path}:2:14: SP201 wrong-type" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("refused, nothing was written")


def test_output_is_written_once_and_never_over_something_else(
    run: Run, checkpoint: Path, tmp_path: Path
) -> None:
    target = tmp_path / "new.json"
    assert run("migrate", checkpoint, "--to", "v3", "--output", target).exit_code == 0
    assert json.loads(target.read_bytes())["schemaVersion"] == "v3"
    target.write_text("mine")
    result = run("migrate", checkpoint, "--to", "v3", "--output", target)
    assert result.exit_code == 1
    assert "SP604 target-not-empty" in result.stderr
    assert target.read_text() == "mine"


def test_a_folder_needs_an_output_and_is_copied_whole(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "old", tmp_path / "new"
    source.mkdir()
    (source / "cp.json").write_bytes(CHECKPOINT)
    (source / "ledger.jsonl").write_bytes(LEDGER + b"\n")
    refused = run("migrate", source, "--to", "v3")
    assert refused.exit_code == 2
    assert "--output" in refused.stderr
    result = run("migrate", source, "--to", "v3", "--output", target, "--format", "json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert (report["summary"]["done"], report["summary"]["migrated"]) == (True, 2)
    assert run("validate", target).exit_code == 0
    assert (source / "cp.json").read_bytes() == CHECKPOINT


def test_a_folder_with_a_bad_record_is_refused_with_its_place(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "old", tmp_path / "new"
    source.mkdir()
    (source / "cp.json").write_bytes(CHECKPOINT.replace(b'"cp_03"', b"3"))
    result = run("migrate", source, "--to", "v3", "--output", target)
    assert result.exit_code == 1
    assert f"{source}/cp.json:1:18: SP201" in result.stderr
    assert not target.exists()


def test_an_absent_input_cannot_be_evaluated(run: Run, tmp_path: Path) -> None:
    result = run("migrate", tmp_path / "absent.json", "--to", "v3")
    assert (result.exit_code, result.stdout) == (3, "")


def test_a_pattern_of_several_files_is_a_usage_error(run: Run, checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_bytes(CHECKPOINT)
    assert run("migrate", tmp_path / "*.json", "--to", "v3").exit_code == 2


@pytest.mark.parametrize("output", ["foo://x/y.json", "/dev/null/x.json", "a" * 300])
def test_a_place_that_cannot_be_written_to_is_one_line(
    run: Run, checkpoint: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    # as in a process that has loaded nothing but what this command needs
    monkeypatch.delitem(sys.modules, "safepoint.api", raising=False)
    result = run("migrate", checkpoint, "--to", "v3", "--output", output)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "output", ["-", ".tmp-x.json", "folder/.tmp-x", "folder/", "file://x", "s3://bucket"]
)
def test_a_place_that_would_not_be_found_again_is_a_usage_error(
    run: Run, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("migrate", checkpoint, "--to", "v3", "--output", output).exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["cp.json"]


def test_a_file_url_is_the_file_that_it_names(run: Run, checkpoint: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.json"
    assert run("migrate", checkpoint, "--to", "v3", "--output", target.as_uri()).exit_code == 0
    assert json.loads(target.read_bytes())["schemaVersion"] == "v3"


def test_findings_of_a_line_of_standard_input_lie_on_that_line(run: Run) -> None:
    bad = LEDGER.replace(b'"a"', b"7")
    result = run("migrate", "-", "--to", "v3", stdin=CHECKPOINT + b"\n" + bad + b"\n")
    assert "-:2:14: SP201" in result.stderr


# what is not given together


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "say what to write: --to v3, --payload NAME@VERSION, or both"),
        (["--to", "v4"], "'v4' is not one of 'v1', 'v2', 'v3'"),
        (["--to", "v3", "--seal", "--output", "new"], "say who answers for it with --by"),
        (["--to", "v3", "--seal", "--by", "ops"], "--seal needs an --output"),
        (
            ["--to", "v3", "--seal", "--by", "ops", "--output", "new", "--dry-run"],
            "not for --dry-run or --check",
        ),
        (
            ["--to", "v3", "--seal", "--by", "ops", "--output", "new", "--check"],
            "not for --dry-run or --check",
        ),
        (["--to", "v3", "--by", "ops"], "--by says who seals: give --seal too"),
        (["--to", "v3", "--seal", "--by", "ops", "--output", "new"], "--seal is for the journals of a store"),
        (["--to", "v3", "--seal", "--by", "FILL IN", "--output", "new"], "--by is still to be filled in"),
        (["--to", "v3", "--jobs", "-1"], "expected a whole number of at least 0, found '-1'"),
        (["--to", "v3", "--format", "sarif"], "'sarif' is not one of 'text', 'json'"),
        (
            ["--payload", "a/s@2"],
            "no safepoint.toml was found from here upwards: name it with --config FILE; it needs [p",
        ),
        (["--payload", "a/s@2", "--no-config"], "leave out --no-config, or name them with --config FILE"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    run: Run, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("migrate", checkpoint, *given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cp.json"]


def test_the_help_fits_a_terminal_and_names_every_option(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = run("migrate", "--help")
    assert result.exit_code == 0
    head, examples = result.stdout.split("Examples:")
    assert max(map(len, head.splitlines())) <= 80
    options = {word for word in head.replace(",", " ").split() if word.startswith("--")}
    assert options >= {
        "--to", "--payload", "--allow-code", "--output", "--storage-option", "--allow-loss", "--keep-going",
        "--seal", "--by", "--dry-run", "--check", "--jobs", "--config", "--no-config", "--format", "--help",
    }  # fmt: skip
    assert [line.split()[0] for line in examples.split("Exit status:")[1].splitlines() if line[2:3].isdigit()] == [
        "0", "1", "2", "3"
    ]  # fmt: skip


# only looking, and what cannot be migrated


@pytest.mark.parametrize(
    ("to", "status", "told"), [("v3", 1, "would be migrated"), ("v2", 0, "would keep its")]
)
def test_a_check_of_one_file_says_whether_it_would_change(
    run: Run, checkpoint: Path, to: str, status: int, told: str
) -> None:
    for given, stdin in ((checkpoint, None), ("-", CHECKPOINT)):
        result = run("migrate", given, "--to", to, "--check", stdin=stdin)
        assert (result.exit_code, result.stdout) == (status, "")
        assert told in result.stderr
        assert run("migrate", given, "--to", to, "--dry-run", stdin=stdin).exit_code == 0


def test_a_check_of_a_file_that_cannot_be_migrated_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(CHECKPOINT[:-9])
    result = run("migrate", tmp_path / "bad.json", "--to", "v3", "--check")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "refused, nothing was written; 1 finding"


def test_told_to_keep_going_what_cannot_be_migrated_is_written_as_it_was(run: Run, tmp_path: Path) -> None:
    lines = CHECKPOINT + b"\n" + b'{"torn\n'
    (tmp_path / "all.jsonl").write_bytes(lines)
    (tmp_path / "bad.json").write_bytes(b'{"torn')
    result = run("migrate", tmp_path / "all.jsonl", "--to", "v3", "--keep-going")
    first, second = result.stdout_bytes.splitlines()
    assert (result.exit_code, json.loads(first)["schemaVersion"], second) == (1, "v3", b'{"torn')
    assert result.stderr.splitlines()[-1].startswith("done")
    result = run("migrate", tmp_path / "bad.json", "--to", "v3", "--keep-going")
    assert (result.exit_code, result.stdout) == (1, '{"torn\n')
    assert result.stderr.splitlines()[-1] == "done, but not all of it is migrated; 2 findings"


def test_a_lossy_way_needs_its_own_permission(run: Run, tmp_path: Path) -> None:
    value = json.loads(run("migrate", "-", "--to", "v3", stdin=CHECKPOINT).stdout)
    (tmp_path / "cp.json").write_text(json.dumps(value | {"requires": {"resume": ["saga"]}}))
    result = run("migrate", tmp_path / "cp.json", "--to", "v2", "--keep-going")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "SP601 lossy-migration" in result.stderr
    assert run("migrate", tmp_path / "cp.json", "--to", "v2", "--allow-loss").exit_code == 0


def test_the_report_of_one_file_goes_where_its_record_does_not(
    run: Run, checkpoint: Path, tmp_path: Path
) -> None:
    done = {"done": True, "migrated": 1, "linesKept": 0}
    result = run("migrate", checkpoint, "--to", "v3", "--format", "json")
    assert json.loads(result.stderr) == {"findings": [], "summary": done}
    result = run("migrate", checkpoint, "--to", "v3", "--format", "json", "--output", tmp_path / "new.json")
    assert (json.loads(result.stdout), result.stderr) == ({"findings": [], "summary": done}, "")
