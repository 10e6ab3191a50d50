"""What the options of ``safepoint validate`` do: what is read, what is shown, and how they are found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from samples import CHECKPOINT, LEDGER, ODD, write

Run = Callable[..., Result]
COMMAND = [sys.executable, "-m", "safepoint", "validate"]
BAD = {**LEDGER, "createdAt": "s3cret"}
"""One error: SP207."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def findings(result: Result) -> list[str]:
    return [finding["code"] for finding in json.loads(result.stdout)["findings"]]


def summary(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)["summary"]
    return found


# What is checked


def test_files_may_be_named_in_a_list(run: Run, here: Path) -> None:
    write(here / "a.json", LEDGER)
    write(here / "b c.json", BAD)
    (here / "list").write_text("a.json\n\nb c.json\n")
    result = run("validate", "--files-from", "list", "--format", "json")
    assert result.exit_code == 1
    assert summary(result)["files"] == 2
    more = run("validate", "a.json", "--files-from", "list", "--format", "json")
    assert summary(more)["files"] == 2, "what is named twice is checked once"


def test_a_list_may_come_from_standard_input_and_end_its_names_with_nul(run: Run, here: Path) -> None:
    name = "odd\nname.json"
    write(here / name, BAD)
    result = run("validate", "--files-from", "-", "-0", "--format", "json", stdin=f"{name}\0".encode())
    assert [finding["url"] for finding in json.loads(result.stdout)["findings"]] == [name]


def test_a_name_in_a_list_is_no_standard_input(run: Run, here: Path) -> None:
    write(here / "-", BAD)
    result = run("validate", "--files-from", "-", stdin=b"-\n")
    assert (result.exit_code, "SP207" in result.stdout) == (1, True)


def test_a_list_without_names_is_never_a_pass(run: Run, here: Path) -> None:
    result = run("validate", "--files-from", "-", stdin=b"\n")
    assert result.exit_code == 3
    assert "names no file: there is nothing to check" in result.stderr
    absent = run("validate", "--files-from", "absent")
    assert (absent.exit_code, absent.stderr) == (3, "Error: absent: No such file or directory\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "INPUT..., or --files-from FILE"),
        (("-", "--files-from", "-"), "standard input is either"),
        (("x", "--null"), "--files-from end: give that too"),
        (("x", "--storage-option", "s3cret"), "expected KEY=VALUE"),
        (("x", "--config", "c", "--no-config"), "give one of the two"),
        (("x", "--select", ","), "selects nothing"),
        (("x", "--select", "SP2O7"), "did you mean SP2"),
        (("x", "--ignore", "SP002"), "SP002 is never ignored"),
        (("x", "--format", "xml"), "'xml' is not one of"),
        (("x", "--max-findings", "x"), "expected a whole number of at least 0, found 'x'"),
        (("x", "--jobs", "-1"), "expected a whole number of at least 0, found '-1'"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_wanted(
    run: Run, arguments: tuple[str, ...], said: str
) -> None:
    result = run("validate", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())
    assert "s3cret" not in result.stderr


def test_standard_input_is_checked_beside_files(run: Run, here: Path) -> None:
    write(here / "a.json", BAD)
    result = run("validate", "a.json", "-", "--format", "json", stdin=json.dumps(ODD).encode())
    assert sorted(findings(result)) == ["SP204", "SP207"]
    assert summary(result)["files"] == 2


def test_only_one_run_of_a_store_is_checked(run: Run, committed: Path) -> None:
    write(committed / "runs/other/journal.jsonl", BAD)
    assert run("validate", committed).exit_code == 1
    result = run("validate", committed, "--run", "run_123", "--format", "json")
    assert (result.exit_code, summary(result)["runs"]) == (0, 1)


def test_a_run_that_is_not_there_is_not_a_pass(run: Run, committed: Path) -> None:
    result = run("validate", committed, "--run", "run_124")
    assert result.exit_code == 3
    assert "did you mean 'run_123'?" in result.stdout


def test_storage_options_reach_the_backend(run: Run, here: Path) -> None:
    import fsspec  # type: ignore[import-untyped]

    class Guarded(fsspec.get_filesystem_class("memory")):  # type: ignore[misc]
        protocol = "guarded"
        given: dict[str, Any] = {}  # noqa: RUF012 - shared on purpose

        def __init__(self, **options: Any) -> None:
            self.given.update(options)
            super().__init__()

    fsspec.register_implementation("guarded", Guarded, clobber=True)
    write(here / "a.json", LEDGER)
    options = ("level=3", "anon=true", "key=00x=y", 'more={"a": [1]}', 'text="7"')
    arguments = [part for option in options for part in ("--storage-option", option)]
    run("validate", "guarded://nothing/a.json", *arguments)
    expected = {"level": 3, "anon": True, "key": "00x=y", "more": {"a": [1]}, "text": "7"}
    assert {name: Guarded.given.get(name) for name in expected} == expected


def test_artifacts_are_read_where_that_is_asked_for(run: Run, here: Path) -> None:
    artifact = {
        "artifactId": "a",
        "uri": "artifacts/plan",
        "digest": f"sha256:{'0' * 64}",
        "size": 3,
        "mediaType": None,
    }
    checkpoint = {**CHECKPOINT, "artifactRefs": [artifact]}
    write(here / "store/runs/r/checkpoint.json", checkpoint)
    assert run("validate", "store").exit_code == 0
    assert run("validate", "store", "--artifacts").exit_code == 1
    assert run("validate", "store", "--no-artifacts").exit_code == 0


@pytest.mark.parametrize("engine", ["auto", "jsonschema"])
def test_both_engines_say_the_same(run: Run, here: Path, engine: str) -> None:
    write(here / "a.jsonl", BAD, ODD, {**LEDGER, "runId": 1})
    result = run("validate", "a.jsonl", "--schema-engine", engine, "--format", "json")
    assert findings(result) == ["SP207", "SP204", "SP201"]


def test_several_processes_find_the_same(run: Run, here: Path, committed: Path) -> None:
    for number in range(40):
        write(committed / f"runs/r{number}/journal.jsonl", {**LEDGER, "runId": f"r{number}", "colour": 1})
    alone, together, all_of_them = (
        run("validate", committed, "--format", "json", *jobs).stdout
        for jobs in ((), ("-j", "2"), ("--jobs", "0"))
    )
    assert alone == together == all_of_them


# What is shown


def test_people_are_shown_a_hundred_of_a_code_and_programs_all(run: Run, here: Path) -> None:
    path = write(here / "a.jsonl", *[BAD] * 130)
    for output_format, shown in (
        ("text", 100),
        ("github", 100),
        ("json", 130),
        ("jsonl", 130),
        ("sarif", 130),
    ):
        result = run("validate", path, "--format", output_format)
        assert result.stdout.count("found a string of 6 characters") == shown, output_format
        assert result.exit_code == 1
    assert "130 errors (30 of them not shown" in run("validate", path).stdout


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--limit", "0"), 130),
        (("--limit", "7"), 7),
        (("--max-findings", "5"), 5),
        (("--max-findings", "5", "--limit", "3"), 3),
        (("--max-findings", "0"), 100),
    ],
)
def test_limits_cut_what_is_shown_and_not_what_is_counted(
    run: Run, here: Path, arguments: tuple[str, ...], shown: int
) -> None:
    path = write(here / "a.jsonl", *[BAD] * 130)
    result = run("validate", path, *arguments)
    assert (result.exit_code, result.stdout.count(": SP207 ")) == (1, shown)
    assert "130 errors" in result.stdout
    document = run("validate", path, "--format", "json", *arguments)
    assert summary(document)["findings"]["error"] == 130
    assert summary(document)["hidden"] == 130 - len(findings(document))


def test_a_finding_that_is_not_shown_still_fails(run: Run, here: Path) -> None:
    path = write(here / "a.jsonl", ODD, BAD)
    result = run("validate", path, "--max-findings", "1")
    assert ("SP204" in result.stdout, ": SP207 " in result.stdout, result.exit_code) == (True, False, 1)


def test_quiet_leaves_findings_only(run: Run, here: Path) -> None:
    bad, good = write(here / "a.json", BAD), write(here / "b.json", LEDGER)
    result = run("validate", bad, "-q")
    assert (len(result.stdout.splitlines()), result.stderr) == (1, "")
    assert run("validate", good, "--quiet").output == ""
    assert run("validate", bad, "-q", "-o", "report").output == ""


def test_values_are_shown_only_to_those_who_ask(run: Run, here: Path) -> None:
    path = write(here / "a.json", BAD)
    for output_format in ("text", "json", "jsonl", "sarif", "junit", "github"):
        assert "s3cret" not in run("validate", path, "--format", output_format).output
        assert "s3cret" not in run("validate", path, "--format", output_format, "--mask-values").output
    assert "s3cret" in run("validate", path, "--show-values").stdout
    assert (
        "s3cret"
        in json.loads(run("validate", path, "--show-values", "--format", "json").stdout)["findings"][0][
            "excerpt"
        ]["accused"]
    )


def test_whoever_asks_for_masked_lines_has_them_in_a_pipe_too(run: Run, here: Path) -> None:
    path = write(here / "a.json", BAD)
    assert 'createdAt":' not in run("validate", path).stdout.replace(" ", "")
    masked = run("validate", path, "--mask-values").stdout.replace(" ", "")
    assert '"createdAt":"…"' in masked
    document = json.loads(run("validate", path, "--mask-values", "--format", "json").stdout)
    assert document["findings"][0]["excerpt"]["accused"] == '"…"'


@pytest.mark.parametrize("output_format", ["github", "sarif"])
def test_paths_start_from_the_top_of_the_repository(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    def place() -> str:
        said = run("validate", "a.json", "--format", output_format).stdout
        if output_format == "github":
            return said.partition("file=")[2].partition(",")[0]
        result = json.loads(said)["runs"][0]["results"][0]
        uri: str = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        return uri

    write(here / "repository/deep/er/a.json", BAD)
    monkeypatch.chdir(here / "repository/deep/er")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert place() == "a.json", "in no repository"
    (here / "repository/.git").write_text("gitdir: elsewhere")
    assert place() == "deep/er/a.json"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(here))
    assert place() == ("repository/" if output_format == "github" else "") + "deep/er/a.json"
    monkeypatch.setenv("GITHUB_WORKSPACE", "/home/runner/work")
    assert place() == "deep/er/a.json", "of another machine"


def test_each_format_for_programs_can_be_read_by_them(run: Run, here: Path) -> None:
    path = write(here / "a.jsonl", BAD, ODD)
    lines = run("validate", path, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["finding", "finding", "summary"]
    sarif = json.loads(run("validate", path, "--format", "sarif").stdout)
    assert [found["ruleId"] for found in sarif["runs"][0]["results"]] == ["SP207", "SP204"]
    assert ET.fromstring(run("validate", path, "--format", "junit").stdout).tag == "testsuites"
    assert run("validate", path, "--format", "github").stdout.startswith("::error ")


@pytest.mark.parametrize("output_format", ["text", "github", "json"])
def test_never_failing_still_fails_where_nothing_was_looked_at(
    run: Run, here: Path, output_format: str
) -> None:
    path = write(here / "a.json", BAD)
    assert run("validate", path, "--fail-on", "never", "--format", output_format).exit_code == 0
    assert run("validate", "absent.json", "--fail-on", "never", "--format", output_format).exit_code == 3


def test_the_help_is_grouped_and_ends_with_examples_and_statuses(run: Run) -> None:
    said = run("validate", "--help").stdout
    headings = [line for line in said.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "What is checked:",
        "What counts:",
        "What is shown:",
        "How it is done:",
        "Other:",
        "Examples:",
        "Exit status:",
    ]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("safepoint validate --select SP30", {"SP301", "SP309"}),
        ("safepoint validate --ignore SP301,bad-t", {"SP301,bad-time"}),
        ("safepoint validate --fail-on ", {"error", "warning", "info", "never"}),
        ("safepoint validate --format j", {"json", "jsonl", "junit"}),
        ("safepoint explain SP30", {"SP301", "SP309"}),
        ("safepoint explain bad-t", {"bad-time"}),
        ("safepoint schema le", {"ledger", "lease"}),
        ("safepoint schema --version v2 ", {"ledger", "checkpoint"}),
        ("safepoint validate committed absent s3://bucket/x --run run", {"run_123", "run odd"}),
        ("safepoint guard committed --run run_", {"run_123"}),
        ("safepoint show committed --run ", {"run_123", "run odd"}),
        ("safepoint show --run ", set()),
    ],
)
def test_codes_and_words_are_completed_by_the_shell(committed: Path, words: str, offered: set[str]) -> None:
    (committed / "runs/run=20odd").mkdir()
    position = len(words.split()) - (not words.endswith(" "))
    environment = os.environ | {
        "_SAFEPOINT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(position),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from safepoint.cli.main import main; main()"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = {line.partition(",")[2] for line in done.stdout.splitlines()} - {""}
    assert offered <= found
    assert bool(found) == bool(offered)
