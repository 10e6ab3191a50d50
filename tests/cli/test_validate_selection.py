"""What counts: codes on the command line, a project's settings, its payload schemas, and its baseline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
LEDGER = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}
BAD = {**LEDGER, "createdAt": "soon"}
"""One error: SP207 at /createdAt."""
ODD = {**LEDGER, "colour": 1}
"""One warning: SP204 at /colour."""
CHECKPOINT = {
    "recordType": "checkpoint",
    "schemaVersion": "v3",
    "runId": "r",
    "createdAt": "2026-05-07T10:00:00Z",
    "checkpointId": "cp",
    "state": "s",
    "stepName": "s",
    "artifactRefs": [],
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
    "payloadSchema": "support-agent/state@4",
    "stateSnapshot": {"customer": {"age": "s3cret"}},
}
PER_PATH = """
[[validate.per-path]]
path = "legacy"
ignore = ["SP207"]
reason = "written by hand in 2024"
"""


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two files, one with an error and one with a warning, and no settings."""
    (tmp_path / "project/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    write(tmp_path / "project/records/bad.json", BAD)
    write(tmp_path / "project/records/odd.json", ODD)
    return tmp_path / "project"


@pytest.fixture
def check(run: Run) -> Callable[..., tuple[int, list[str]]]:
    """The exit status, and the codes that counted."""

    def call(*arguments: str | Path) -> tuple[int, list[str]]:
        result = run("validate", *arguments, "--format", "json")
        codes = [finding["code"] for finding in json.loads(result.stdout)["findings"]]
        return result.exit_code, sorted(codes)

    return call


Check = Callable[..., tuple[int, list[str]]]


@pytest.mark.parametrize(
    ("arguments", "status", "codes"),
    [
        ([], 1, ["SP204", "SP207"]),
        (["--select", "SP204"], 0, ["SP204"]),
        (["--select", "SP1", "--select", "bad-time,SP3"], 1, ["SP207"]),
        (["--select", "SP1"], 0, []),
        (["--ignore", "SP207"], 0, ["SP204"]),
        (["--ignore", "SP2"], 0, []),
        (["--select", "SP2", "--ignore", "sp207"], 0, ["SP204"]),
        (["--ignore", "SP207", "--fail-on", "warning"], 1, ["SP204"]),
    ],
)
def test_only_what_is_selected_counts(
    check: Check, arguments: list[str], status: int, codes: list[str]
) -> None:
    assert check("records", *arguments) == (status, codes)


def test_what_is_suppressed_is_counted_apart(run: Run) -> None:
    summary = json.loads(run("validate", "records", "--format", "json", "--ignore", "SP207").stdout)[
        "summary"
    ]
    assert summary["suppressed"] == {"ignored": 1}
    assert summary["findings"] == {"error": 0, "warning": 1, "info": 0}
    assert "1 suppressed" in run("validate", "records", "--select", "SP204").stdout


def test_what_could_not_be_looked_at_is_never_suppressed(run: Run) -> None:
    result = run("validate", "absent.json", "--select", "SP3", "--ignore", "SP0,SP1")
    assert (result.exit_code, "SP001" in result.stdout) == (3, True)


def test_settings_are_found_above_the_working_folder(
    check: Check, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "safepoint.toml").write_text('[validate]\nignore = ["SP207"]\nfail-on = "warning"\n')
    assert check("records") == (1, ["SP204"])
    monkeypatch.chdir(here / "records")
    assert check(".") == (1, ["SP204"])


def test_settings_may_stand_in_pyproject(check: Check, here: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.safepoint.validate]\nselect = ["SP204"]\n')
    assert check("records") == (0, ["SP204"])


@pytest.mark.parametrize(
    ("arguments", "status", "codes"),
    [
        ([], 0, []),
        (["--ignore", "SP204"], 1, ["SP207"]),
        (["--ignore", ""], 1, ["SP204", "SP207"]),
        (["--select", "SP207"], 1, ["SP207"]),
        (["--select", "SP2", "--ignore", "SP207", "--fail-on", "warning"], 1, ["SP204"]),
        (["--no-config"], 1, ["SP204", "SP207"]),
        (["--config", "other.toml"], 0, ["SP204"]),
    ],
)
def test_options_win_over_settings(
    check: Check, here: Path, arguments: list[str], status: int, codes: list[str]
) -> None:
    (here / "safepoint.toml").write_text('[validate]\nignore = ["SP2"]\nfail-on = "info"\n')
    (here / "other.toml").write_text('[validate]\nselect = ["SP204"]\n')
    assert check("records", *arguments) == (status, codes)


def test_every_setting_has_its_effect_and_gives_way_to_its_option(run: Run, here: Path) -> None:
    (here / "safepoint.toml").write_text(
        '[validate]\nformat = "jsonl"\nmax-findings = 1\nshow-values = true\njobs = 2\nschema-engine = "jsonschema"\n'
    )
    first, *others = (json.loads(line) for line in run("validate", "records").stdout.splitlines())
    assert first["excerpt"]["accused"] == '"soon"'
    assert [line["type"] for line in others] == ["summary"]
    result = run("validate", "records", "--format", "json", "--max-findings", "0", "--mask-values")
    assert ["excerpt" in finding for finding in json.loads(result.stdout)["findings"]] == [False, False]


def test_settings_that_cannot_be_used_are_status_2_and_named(run: Run, here: Path) -> None:
    (here / "safepoint.toml").write_text("[validate]\nfail-on = 'eror'\n")
    result = run("validate", "records")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: safepoint.toml: validate.fail-on: expected one of ")
    assert run("validate", "records", "--no-config").exit_code == 1
    absent = run("validate", "records", "--config", "absent.toml")
    assert (absent.exit_code, absent.stderr) == (2, "Error: absent.toml: No such file or directory\n")


def test_a_shared_file_that_speaks_of_us_and_is_broken_is_status_2(run: Run, here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.safepoint]\n[")
    result = run("validate", "records")
    assert (result.exit_code, "pyproject.toml: no TOML" in result.stderr) == (2, True)


def test_codes_are_ignored_in_some_paths_for_a_reason(check: Check, run: Run, here: Path) -> None:
    (here / "safepoint.toml").write_text(PER_PATH)
    write(
        here / "legacy/deep/bad.json",
        BAD,
    )
    write(here / "legacy/odd.json", ODD)
    assert check("legacy") == (0, ["SP204"])
    assert check("records") == (1, ["SP204", "SP207"])
    assert check(here / "legacy") == (0, ["SP204"])
    assert check("legacy", "--select", "SP2") == (0, ["SP204"]), "what was decided for a path holds for it"
    (here / "safepoint.toml").write_text(PER_PATH.replace("reason", "reasn"))
    result = run("validate", "legacy")
    assert (result.exit_code, "did you mean reason?" in result.stderr) == (2, True)
    (here / "safepoint.toml").write_text(PER_PATH.partition("reason")[0])
    assert "safepoint.toml: validate.per-path[0]: reason is missing" in run("validate", "legacy").stderr


# Payload schemas


def schemas(here: Path, text: str = '"support-agent/state@4" = "schemas/state-4.json"') -> None:
    (here / "safepoint.toml").write_text(f"[payload-schemas]\n{text}\n")
    age = {"properties": {"customer": {"properties": {"age": {"type": "integer"}}}}}
    write(here / "schemas/state-4.json", age)


@pytest.mark.parametrize("engine", ["auto", "jsonschema"])
def test_a_payload_is_checked_by_its_own_schema(run: Run, here: Path, engine: str) -> None:
    path = here / "cp.json"
    path.write_text(json.dumps(CHECKPOINT, indent=2))
    assert run("validate", path).exit_code == 0, "where nothing is configured, nothing is checked"
    schemas(here)
    result = run("validate", path, "--format", "json", "--schema-engine", engine)
    assert result.exit_code == 1
    [finding] = json.loads(result.stdout)["findings"]
    assert (finding["code"], finding["pointer"]) == ("SP231", "/stateSnapshot/customer/age")
    assert path.read_text().splitlines()[finding["line"] - 1].strip() == '"age": "s3cret"'
    assert finding["message"] == "expected integer, found a string (support-agent/state@4)"
    assert "s3cret" not in result.output


def test_a_payload_in_a_journal_of_a_store_is_checked(run: Run, here: Path) -> None:
    schemas(here)
    write(here / "store/runs/r/checkpoint.json", CHECKPOINT)
    assert "SP231 payload-invalid" in run("validate", "store").stdout
    good = {**CHECKPOINT, "stateSnapshot": {"customer": {"age": 7}}}
    write(here / "store/runs/r/checkpoint.json", good)
    assert run("validate", "store").exit_code == 0


def test_a_schema_that_is_not_configured_is_a_warning(run: Run, here: Path) -> None:
    schemas(here)
    path = write(here / "cp.json", {**CHECKPOINT, "payloadSchema": "support-agent/state@5"})
    result = run("validate", path)
    assert result.exit_code == 0
    assert "SP232 payload-schema-unknown" in result.stdout
    assert "did you mean support-agent/state@4?" in result.stdout


def test_a_broken_payload_schema_is_status_2_before_anything_is_checked(run: Run, here: Path) -> None:
    schemas(here)
    write(here / "schemas/state-4.json", {"properties": {"a": {"$ref": "https://example.com/a.json"}}})
    result = run("validate", "records")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: safepoint.toml: payload-schemas: schemas/state-4.json: ")
    assert "nothing is fetched" in result.stderr
    assert "/properties/a/$ref" in result.stderr


# The baseline


def test_a_baseline_accepts_what_is_there_and_nothing_more(run: Run, check: Check, here: Path) -> None:
    written = run("validate", "records", "--write-baseline", "known.json")
    assert (written.exit_code, written.stderr) == (
        0,
        "known.json: 2 findings accepted; --baseline takes them\n",
    )
    assert "SP207" not in written.stdout
    assert check("records", "--baseline", "known.json", "--fail-on", "info") == (0, [])
    assert "2 suppressed: 2 baseline" in run("validate", "records", "--baseline", "known.json").stdout
    write(here / "records/new.json", BAD)
    assert check("records", "--baseline", "known.json") == (1, ["SP207"])


def test_lines_may_move_and_one_more_of_the_same_is_new(check: Check, run: Run, here: Path) -> None:
    write(here / "records/bad.json").unlink()
    path = write(here / "records/all.jsonl", LEDGER, BAD, LEDGER, BAD)
    run("validate", path, "--write-baseline", "known.json")
    write(path, LEDGER, LEDGER, {**BAD, "createdAt": "later"}, LEDGER, BAD)
    assert check(path, "--baseline", "known.json") == (0, [])
    write(path, BAD, BAD, BAD)
    assert check(path, "--baseline", "known.json") == (1, ["SP207"])


def test_a_baseline_counts_from_anywhere(
    check: Check, run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    monkeypatch.chdir(here / "records")
    assert check(".", "--baseline", "../known.json") == (0, [])
    assert check(here / "records", "--baseline", here / "known.json") == (0, [])
    (here / "safepoint.toml").write_text('[validate]\nbaseline = "known.json"\n')
    assert check("bad.json") == (0, [])
    assert check("bad.json", "--baseline", "") == (1, ["SP207"])


def test_what_was_mended_is_told(run: Run, here: Path) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    write(here / "records/bad.json", LEDGER)
    result = run("validate", "records", "--baseline", "known.json")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "known.json: 1 finding of it is no longer there; --write-baseline known.json takes it out",
        "  SP207 in records/bad.json at /createdAt",
    ]
    assert run("validate", "records", "--baseline", "known.json", "-q").stderr == ""
    run("validate", "records", "--write-baseline", "known.json")
    assert run("validate", "records", "--baseline", "known.json").stderr == ""
    assert "bad.json" not in (here / "known.json").read_text()


@pytest.mark.parametrize(
    "arguments", [["records/odd.json"], ["records", "--ignore", "SP207"], ["records", "--select", "SP204"]]
)
def test_what_was_not_looked_for_was_not_mended(run: Run, here: Path, arguments: list[str]) -> None:
    run("validate", "records", "--write-baseline", "known.json")
    before = (here / "known.json").read_text()
    write(here / "records/bad.json", LEDGER)
    assert run("validate", *arguments, "--baseline", "known.json").stderr == ""
    run("validate", *arguments, "--write-baseline", "known.json")
    assert (here / "known.json").read_text() == before


def test_one_run_says_nothing_of_its_neighbours(run: Run, here: Path) -> None:
    for name in ("a", "b"):
        write(here / f"store/runs/{name}/ledger.jsonl", {**BAD, "runId": name})
    run("validate", "store", "--write-baseline", "known.json")
    write(here / "store/runs/b/ledger.jsonl", {**LEDGER, "runId": "b"})
    result = run("validate", "store", "--run", "a", "--baseline", "known.json")
    assert (result.exit_code, result.stderr) == (0, "")


def test_very_many_mended_findings_are_not_all_named(run: Run, here: Path) -> None:
    for number in range(9):
        write(here / f"records/b{number}.json", BAD)
    run("validate", "records", "--write-baseline", "known.json")
    for path in (here / "records").iterdir():
        write(path, LEDGER)
    said = run("validate", "records", "--baseline", "known.json").stderr.splitlines()
    assert len(said) == 7
    assert said[-1] == "  and 6 more places"


def test_no_baseline_is_written_of_what_was_not_looked_at(run: Run, here: Path) -> None:
    result = run("validate", "records", "absent.json", "--write-baseline", "known.json")
    assert result.exit_code == 3
    assert "known.json: not written, since not everything could be looked at" in result.stderr
    assert not (here / "known.json").exists()


def test_a_baseline_that_is_none_is_status_2(run: Run, here: Path) -> None:
    absent = run("validate", "records", "--baseline", "known.json")
    assert (absent.exit_code, absent.stdout) == (2, "")
    assert "--write-baseline known.json makes one" in absent.stderr
    (here / "known.json").write_text("[]")
    for option in ("--baseline", "--write-baseline"):
        assert run("validate", "records", option, "known.json").exit_code == 2
    assert (here / "known.json").read_text() == "[]", "what is no baseline is not written over"
