"""What ``safepoint validate`` writes never lands on, or in, what it reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORD = '{"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}\n'
OPTIONS = ("--output", "--write-baseline")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, a folder of records, and all that a check may go by."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FIXTURES / "good/store/store", tmp_path / "store")
    (tmp_path / "records/deep").mkdir(parents=True)
    (tmp_path / "records/a.json").write_text(RECORD)
    (tmp_path / "records/deep/b.json").write_text(RECORD)
    (tmp_path / "link.json").symlink_to("records/a.json")
    (tmp_path / "folder").symlink_to("records")
    (tmp_path / "list").write_text("records/a.json\n")
    (tmp_path / "known.json").write_text('{"baseline": 1, "findings": []}\n')
    (tmp_path / "schema.json").write_text("{}")
    (tmp_path / "other.toml").write_text(
        '[validate]\nbaseline = "known.json"\n[payload-schemas]\n"x@1" = "schema.json"\n'
    )
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(
    ("target", "arguments", "said"),
    [
        ("store/safepoint.json", ["store"], "lies in store, which is checked"),
        ("store/report.sarif", ["store"], "lies in store, which is checked"),
        ("store/runs/run-1/journal/0000000001.json", ["store"], "lies in store, which is checked"),
        ("store/runs/new.txt", ["."], "lies in ., which is checked"),
        ("records/a.json", ["records/a.json"], "is checked, and what is checked is never changed"),
        ("records/../records/a.json", ["link.json"], "is checked"),
        ("link.json", ["records/a.json"], "is checked"),
        (
            "records/new.json",
            ["records"],
            "lies in records, which is checked; write to a file outside of it, or to one",
        ),
        ("records/deep/new.jsonl", ["folder"], "lies in folder"),
        ("folder/new.json", ["records"], "lies in records"),
        ("records/deep/new.json", ["records/**/*.json"], "lies in records/**/*.json"),
        ("records/a.json", ["store", "records/[ab].json"], "lies in records/[ab].json"),
        ("list", ["--files-from", "list"], "list is the list of --files-from"),
        ("records/a.json", ["--files-from", "list"], "is checked"),
        ("other.toml", ["store", "--config", "other.toml"], "is the settings"),
        ("schema.json", ["store", "--config", "other.toml"], "is the payload schema x@1"),
        ("./both", ["store", "--output", "both", "--write-baseline", "both"], "writes too"),
        ("records", ["store"], "records is a folder; expected the path of a file"),
        ("new/", ["store"], "new/ is a folder"),
        ("", ["store"], "an empty name; expected the path of a file"),
    ],
)
def test_what_would_be_read_is_not_written(
    run: Run, here: Path, option: str, target: str, arguments: list[str], said: str
) -> None:
    before = content(here)
    result = run("validate", *([] if "both" in target else [option, target]), *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())
    assert content(here) == before


@pytest.mark.parametrize("arguments", [["--baseline", "known.json"], ["--config", "other.toml"]])
def test_the_baseline_is_no_place_for_a_report(run: Run, here: Path, arguments: list[str]) -> None:
    result = run("validate", "store", *arguments, "-o", "known.json")
    assert (result.exit_code, "known.json is the baseline" in result.stderr) == (2, True)
    assert "--write-baseline" not in result.stderr
    assert run("validate", "store", *arguments, "--write-baseline", "known.json").exit_code == 0


def test_what_standard_input_reads_is_not_written(here: Path) -> None:
    path = here / "records/a.json"
    with path.open() as file:
        command = [sys.executable, "-m", "safepoint", "validate", "-", "-o", path]
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert (done.returncode, "is what standard input reads" in done.stderr) == (2, True)
    assert path.read_text() == RECORD


@pytest.mark.parametrize(
    ("target", "inputs"),
    [
        ("report.json", ["store", "records"]),
        ("records-report.json", ["records"]),
        ("records/report.sarif", ["records"]),
        ("report.txt", ["."]),
        ("records/deep/report.json", ["records/*.json"]),
        ("records/report.json", ["records/a.json", "store"]),
        ("/dev/null", ["store"]),
    ],
)
def test_a_file_that_no_check_reads_is_written(run: Run, here: Path, target: str, inputs: list[str]) -> None:
    records = content(here)
    assert run("validate", *inputs, "-o", target, "--format", "sarif").exit_code == 0
    assert {name: data for name, data in content(here).items() if name in records} == records
    if not target.startswith("/"):
        assert json.loads((here / target).read_text())["version"] == "2.1.0"


def test_an_archive_that_is_checked_is_not_written(run: Run, here: Path) -> None:
    shutil.make_archive("old", "zip", here / "store")
    before = (here / "old.zip").read_bytes()
    result = run("validate", "zip://::old.zip", "-o", "old.zip")
    assert (result.exit_code, "old.zip is checked" in result.stderr) == (2, True)
    assert (here / "old.zip").read_bytes() == before
