"""The GitHub action: its description by itself, its script in the environment that GitHub's runner gives it.

The runner cannot be had here. What it does with the description is little: inputs become the environment of each step,
``run`` is handed to bash, and a step's outputs are read from a file. That much the tests do themselves.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github/actions/validate"
SCRIPT = FOLDER / "validate.py"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
GOOD = ROOT / "fixtures/good/store/store"
BAD = ROOT / "fixtures/hostile/journal-with-a-glued-record/store"
RECORD = '{"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}\n'


@dataclass(frozen=True, slots=True)
class Step:
    """What a step left behind."""

    status: int
    log: str
    outputs: Mapping[str, str]
    summary: str
    commands: list[str] = field(default_factory=list)
    """The workflow commands in its log that the runner obeys."""


def outputs_of(text: str) -> dict[str, str]:
    """A step's outputs as the runner reads their file."""
    outputs, lines = {}, iter(text.split("\n"))
    for line in lines:
        if line:
            name, end = line.split("<<")
            value: list[str] = []
            while (part := next(lines)) != end:
                value.append(part)
            outputs[name] = "\n".join(value)
    return outputs


def commands_of(log: str) -> list[str]:
    """The commands in a log, as the runner sees them."""
    commands, token = [], None
    for line in log.splitlines():
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.startswith("::") or "##[" in line:
            commands.append(line)
    assert token is None, "commands were stopped, and never allowed again"
    return commands


def environment_of(step: Mapping[str, Any], inputs: Mapping[str, str]) -> dict[str, str]:
    """The step's ``env``, its expressions replaced by `inputs`, and by the defaults of those not given."""
    values = {name: given.get("default", "") for name, given in ACTION["inputs"].items()} | inputs

    def value(match: re.Match[str]) -> str:
        return values[match[1]] if match[1] in values else match[0]

    return {name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", value, text) for name, text in step["env"].items()}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    return folder


@pytest.fixture
def act(tmp_path: Path, workspace: Path) -> Callable[..., Step]:
    """Runs the last step's script with inputs, in the workspace."""

    def run(command: list[str | Path] | None = None, **inputs: str) -> Step:
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        done = subprocess.run(
            command or [sys.executable, "-I", SCRIPT],
            cwd=workspace,
            env={
                **kept,
                **environment_of(STEPS[-1], given),
                **{name: str(path) for name, path in files.items()},
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=100,
        )
        log = done.stdout.decode()
        assert "Traceback" not in log, log
        return Step(
            done.returncode,
            log,
            outputs_of(files["GITHUB_OUTPUT"].read_text()),
            files["GITHUB_STEP_SUMMARY"].read_text(),
            commands_of(log),
        )

    return run


Act = Callable[..., Step]


# The description


def test_every_input_and_output_says_what_it_is() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for given in (*ACTION["inputs"].values(), *ACTION["outputs"].values()):
        assert given["description"].endswith((".", ")"))
    for name, given in ACTION["inputs"].items():
        assert given.get("required") is (name == "paths") or isinstance(given["default"], str)


def test_every_input_is_used_once_and_only_as_environment_or_by_an_action() -> None:
    used = [
        name
        for step in STEPS
        for values in (step.get("env", {}), step.get("with", {}))
        for value in values.values()
        if isinstance(value, str)
        for name in re.findall(r"^\$\{\{ inputs\.([a-z-]+) \}\}$", value)
    ]
    assert sorted(used) == sorted(ACTION["inputs"])


def test_no_expression_is_part_of_a_command() -> None:
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        assert step.get("shell", "bash") == "bash"
        assert ("run" in step) is ("shell" in step)


def test_actions_of_others_are_pinned() -> None:
    for step in STEPS:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+|[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])


def test_the_script_reads_what_the_step_hands_it() -> None:
    script = SCRIPT.read_text()
    for variable in STEPS[-1]["env"]:
        name = variable.removeprefix("SAFEPOINT_")
        assert f'"{name}"' in script or f'"{variable}"' in script or f'_{name.rpartition("_")[2]}"' in script


def test_every_output_is_set(act: Act) -> None:
    step = act(paths=str(BAD), sarif_file="a.sarif", junit_file="a.xml")
    expected = {f"${{{{ steps.validate.outputs.{name} }}}}" for name in step.outputs}
    assert {given["value"] for given in ACTION["outputs"].values()} == expected
    assert STEPS[-1]["id"] == "validate"


def test_the_page_about_it_names_every_input_and_output() -> None:
    page = (ROOT / "docs/ci.md").read_text()
    for kind in ("input", "output"):
        [table] = re.findall(rf"^\| {kind} \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.MULTILINE)
        cells = [row.split("|")[1] for row in table.splitlines()]
        assert {name for cell in cells for name in re.findall(r"`([a-z-]+)`", cell)} == set(
            ACTION[f"{kind}s"]
        )


# What it does


def test_a_sound_store_passes(act: Act) -> None:
    step = act(paths=str(GOOD))
    assert (step.status, step.commands) == (0, [])
    assert "5 records" in step.log
    counts = {"status": "0", "records": "5", "errors": "0", "warnings": "0", "notes": "0", "suppressed": "0"}
    assert step.outputs == counts
    assert step.summary == "### Safepoint: nothing wrong\n\n1 run, 6 files, 5 records.\n"


def test_findings_are_annotations_outputs_and_a_table(act: Act, workspace: Path) -> None:
    shutil.copytree(BAD, workspace / "store")
    step = act(paths="store")
    assert step.status == 1
    place = "file=store/runs/run-1/journal.jsonl,line=4,"
    assert any(line.startswith("::error ") and place in line and "SP114" in line for line in step.commands)
    assert step.outputs["status"] == "1"
    assert int(step.outputs["errors"]) == len([c for c in step.commands if c.startswith("::error ")]) > 0
    assert step.summary.startswith("### Safepoint: ")
    assert r"| error | store\/runs\/run\-1\/journal\.jsonl\:4\:153 | SP114 torn\-record |" in step.summary


def test_reports_are_written_beside_it(act: Act, workspace: Path) -> None:
    step = act(paths=str(BAD), sarif_file="out of.sarif", junit_file="junit.xml")
    assert step.status == 1
    assert (step.outputs["sarif-file"], step.outputs["junit-file"]) == ("out of.sarif", "junit.xml")
    sarif = json.loads((workspace / "out of.sarif").read_bytes())
    assert "SP114" in {result["ruleId"] for result in sarif["runs"][0]["results"]}
    assert list(ET.parse(workspace / "junit.xml").getroot().iter("failure"))


def test_a_report_that_cannot_be_written_is_no_pass_and_no_output(act: Act, workspace: Path) -> None:
    (workspace / "a-folder").mkdir()
    step = act(paths=str(GOOD), sarif_file="no/such/folder/x.sarif", junit_file="a-folder")
    assert step.status in {2, 3}
    assert (step.outputs["sarif-file"], step.outputs["junit-file"]) == ("", "")
    assert step.outputs["status"] == str(step.status)
    assert any("no/such/folder" in line for line in step.commands)


def test_a_report_takes_the_place_of_no_input(act: Act, workspace: Path) -> None:
    shutil.copytree(GOOD, workspace / "store")
    record = workspace / "store/safepoint.json"
    record.write_text('{"recordType": "store"}')
    before = record.read_bytes()
    step = act(paths="store", sarif_file="store/safepoint.json")
    assert (step.status, step.outputs["sarif-file"]) == (2, "")
    assert record.read_bytes() == before


def test_a_report_of_an_earlier_step_is_not_taken_for_this_one(act: Act, workspace: Path) -> None:
    shutil.copytree(GOOD, workspace / "store")
    (workspace / "old.sarif").write_text("old")
    assert act(paths="store", sarif_file="old.sarif").outputs["sarif-file"] == "old.sarif"
    assert (workspace / "old.sarif").read_text() != "old"
    (workspace / "store/old.sarif").write_text("old")
    assert act(paths="store", sarif_file="store/old.sarif").outputs["sarif-file"] == ""


@pytest.mark.parametrize("paths", ["", "\n \n"])
def test_no_paths_are_wrong_usage(act: Act, paths: str) -> None:
    step = act(paths=paths)
    assert (step.status, step.outputs) == (2, {"status": "2"})
    assert "`paths` is empty" in step.commands[0]


@pytest.mark.parametrize(
    "inputs",
    [
        {"select": "SP9x"},
        {"fail_on": "sometimes"},
        {"artifacts": "perhaps"},
        {"format": "xml"},
        {"config": "no.toml"},
    ],
    ids=lambda inputs: next(iter(inputs)),
)
def test_an_input_that_makes_no_sense_is_wrong_usage(act: Act, inputs: dict[str, str]) -> None:
    step = act(paths=str(GOOD), **inputs)
    assert (step.status, step.outputs["status"]) == (2, "2")
    assert len([line for line in step.commands if line.startswith("::error ")]) == 1


def test_nothing_there_is_no_pass(act: Act) -> None:
    step = act(paths="nowhere")
    assert (step.status, step.outputs["status"]) == (3, "3")
    assert step.summary.startswith("### Safepoint: could not check everything")
    assert any("SP001" in line for line in step.commands)


def test_codes_can_be_selected_and_ignored(act: Act) -> None:
    every = act(paths=str(BAD))
    assert act(paths=str(BAD), select="SP114").outputs["errors"] == "1"
    ignoring = act(paths=str(BAD), ignore="SP114, SP301\nSP312")
    assert ignoring.status == 0
    assert int(ignoring.outputs["suppressed"]) == int(every.outputs["errors"])
    assert act(paths=str(BAD), fail_on="never").status == 0


def test_settings_and_a_baseline_are_taken_from_the_workspace(act: Act, workspace: Path) -> None:
    shutil.copytree(BAD, workspace / "store")
    command = [sys.executable, "-I", "-m", "safepoint", "validate", "store", "--write-baseline", "known.json"]
    subprocess.run(command, cwd=workspace, check=False, capture_output=True)
    assert act(paths="store", baseline="known.json").status == 0
    (workspace / "own.toml").write_text('[validate]\nfail-on = "never"\n')
    assert act(paths="store", config="own.toml").status == 0
    (workspace / "safepoint.toml").write_text('[validate]\nfail-on = "never"\n')
    assert act(paths="store").status == 0
    assert act(paths="store", fail_on="error").status == 1


def test_only_one_run_is_checked_where_it_is_named(act: Act) -> None:
    assert act(paths=str(BAD), run="run-1").status == 1
    assert act(paths=str(BAD), run="no-such-run").status == 3


def test_artifacts_are_read_on_request(act: Act) -> None:
    assert act(paths=str(GOOD), artifacts="true").status == 0
    assert act(paths=str(GOOD), artifacts="FALSE").status == 0


# Strangers' names


HOSTILE = [
    "with blanks",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned #",
    "'single' \"double\"",
    "-rf",
    "--output=pwned",
    "*",
    "${{ github.token }}",
    "::error::forged",
    "##[error]forged",
    "| [a](http:§§evil) <img src=x> @all |".replace("§", "\u2215"),
    "paragraph\u2028separator",
    " at both ends ",
]


@pytest.mark.parametrize("output_format", ["github", "text", "json"])
def test_names_are_names_whatever_they_hold(act: Act, workspace: Path, output_format: str) -> None:
    for name in HOSTILE:
        (workspace / name).mkdir()
        (workspace / name / "ledger.json").write_text("{")
        (workspace / name / "line\n::error::forged\r::warning::forged.json").write_text("{")
    step = act(paths="\n".join(HOSTILE) + "\n", format=output_format)
    assert step.status == 1
    assert step.outputs["errors"] == str(2 * len(HOSTILE))
    assert not list(workspace.rglob("pwned*"))
    if output_format == "github":
        assert len(step.commands) == 2 * len(HOSTILE)
        assert all(line.startswith("::error ") and "SP103" in line for line in step.commands)
    else:
        assert step.commands == []
    rows = [line for line in step.summary.splitlines() if line.startswith("| error ")]
    assert len(rows) == 2 * len(HOSTILE)
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 5
        assert not re.search(r"(?<!\\)[<\[`*_@]", row)


def test_a_package_in_the_workspace_is_not_taken_for_the_command(act: Act, workspace: Path) -> None:
    for name in ("safepoint", "click", "json"):
        (workspace / name).mkdir()
        (workspace / name / "__init__.py").write_text("raise SystemExit(0)\n")
        (workspace / name / "__main__.py").write_text("raise SystemExit(0)\n")
    (workspace / "bad.json").write_text("{")
    assert act(paths="bad.json").status == 1


def test_the_table_is_short_and_says_how_much_it_leaves_out(act: Act, workspace: Path) -> None:
    for number in range(200):
        (workspace / f"{number}.json").write_text("{")
    step = act(paths="*.json")
    assert step.outputs["errors"] == "200"
    assert step.summary.count("| error ") == 50
    assert "\nAnd 150 more.\n" in step.summary


# The whole of it


@pytest.mark.timeout(300)  # waits for the package index
def test_the_steps_as_they_are_written_install_and_run_it(
    act: Act, tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    (workspace / "ledger.json").write_text(RECORD)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path / "runner's temp"))
    monkeypatch.setenv("GITHUB_ACTION_PATH", str(FOLDER))
    install = environment_of(STEPS[1], {"packages": "packaging\n"}) | {"SAFEPOINT_PYTHON": sys.executable}
    (tmp_path / "runner's temp").mkdir()
    subprocess.run(
        [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[1]["run"]],
        env=os.environ | install,
        check=True,
        timeout=280,
    )
    step = act([bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[2]["run"]], paths="ledger.json")
    assert step.status == 0, step.log
    assert step.outputs["records"] == "1"
