"""What counts: codes on the command line, a project's settings, and its payload schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from samples import BAD, ODD, write
from samples import CHECKPOINT as PLAIN

Run = Callable[..., Result]
CHECKPOINT = {
    **PLAIN,
    "payloadSchema": "support-agent/state@4",
    "stateSnapshot": {"customer": {"age": "s3cret"}},
}
PER_PATH = """
[[validate.per-path]]
path = "legacy"
ignore = ["SP207"]
reason = "written by hand in 2024"
"""


@pytest.fixture(autouse=True)
def here(project: Path) -> Path:
    return project


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
    found = json.loads(result.stdout)["findings"]
    assert [finding["excerpt"]["accused"] for finding in found] == ['"…"', '"colour"'], (
        "masked, as that was asked for"
    )


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


@pytest.mark.parametrize(
    ("path", "inputs", "said"),
    [
        ("records/old", ["records"], True),
        ("records/o*/**", ["records"], True),
        ("records/odd.json", ["records/*.json"], True),
        ("old", ["."], True),
        ("old", ["records"], False),
        ("other/**", ["records"], False),
        ("records/bad.json", ["records"], False),
        ("records/old", ["records", "--select", "SP207"], False),
        ("records/old", ["records", "--ignore", "SP207"], False),
        ("records/old", ["records", "--quiet"], False),
        ("records/old", ["records", "absent.json"], False),
    ],
)
def test_an_entry_for_what_was_checked_that_ignores_nothing_is_named(
    run: Run, here: Path, path: str, inputs: list[str], *, said: bool
) -> None:
    (here / "safepoint.toml").write_text(PER_PATH.replace("legacy", path))
    expected = f"safepoint.toml: per-path {path}: nothing was found there that it ignores\n"
    assert run("validate", *inputs).stderr == (expected if said else "")


@pytest.mark.parametrize("written", ["SP207 SP204", "SP207,SP204", "SP207, bad-time  SP204"])
def test_commas_and_blanks_stand_between_codes(check: Check, written: str) -> None:
    assert check("records", "--select", written) == (1, ["SP204", "SP207"])
    assert check("records", "--ignore", written) == (0, [])


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ("SP231", ["SP231: selected, but not looked for as no payload schemas are configured"]),
        ("SP515 SP204", ["SP515: selected, but not looked for without --artifacts"]),
        (
            "payload-invalid,SP51",
            [
                "SP231: selected, but not looked for as no payload schemas are configured",
                "SP515, SP516, SP517: selected, but not looked for without --artifacts",
            ],
        ),
        ("SP207", []),
    ],
)
def test_what_is_selected_and_cannot_be_found_is_told(run: Run, codes: str, said: list[str]) -> None:
    assert run("validate", "records", "--select", codes).stderr.splitlines() == said
    assert run("validate", "records", "--select", codes, "--quiet").stderr == ""


def test_what_is_looked_for_is_no_note(run: Run, here: Path) -> None:
    schemas(here)
    assert run("validate", "records", "--select", "SP231,SP515", "--artifacts").stderr == ""


def test_the_report_names_the_settings_that_it_went_by(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings() -> str | None:
        summary = json.loads(run("validate", here / "records", "--format", "json").stdout)["summary"]
        found: str | None = summary["settings"]
        return found

    (here / "records/safepoint.toml").write_text("")
    assert settings() is None, "what lies beside what is checked does not count"
    assert "settings: " not in run("validate", "records").stdout
    (here / "safepoint.toml").write_text("")
    assert settings() == "safepoint.toml"
    assert "settings: safepoint.toml" in run("validate", "records").stdout.splitlines()
    assert "settings: " not in run("validate", "records", "--no-config").stdout
    monkeypatch.chdir(here / "records")
    assert settings() == "safepoint.toml"
    (here / "records/safepoint.toml").unlink()
    assert settings() == "../safepoint.toml"


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
