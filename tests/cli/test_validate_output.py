"""Where the report of ``safepoint validate`` goes: files, devices, terminals; and what the command loads for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from safepoint.render import text

Run = Callable[..., Result]
COMMAND = [sys.executable, "-m", "safepoint", "validate"]
LEDGER = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}
BAD = {**LEDGER, "createdAt": "s3cret"}
"""One error: SP207."""


def write(path: Path, record: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record) + "\n")
    return path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(terminal: int) -> bytes:
    """Everything that was written to a terminal, until its other end is closed."""
    shown = b""
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            shown += part
    os.close(terminal)
    return shown


@pytest.mark.parametrize("output_format", ["text", "json", "jsonl", "sarif", "junit", "github"])
def test_a_report_goes_to_a_file_and_the_counts_to_the_terminal(
    run: Run, here: Path, output_format: str
) -> None:
    path = write(here / "a.json", BAD)
    said = run("validate", path, "--format", output_format).stdout
    result = run("validate", path, "--format", output_format, "--output", "report")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "report: 0 records and 1 faulty text in 1 file, 0 runs: 1 error\n"
    if output_format != "junit":  # which tells the time
        assert (here / "report").read_text() == said


def test_a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(run: Run, here: Path) -> None:
    path = write(here / "records/a.json", BAD)
    report = here / "report"
    report.write_text("old")
    report.chmod(0o600)
    (here / "link").symlink_to("report")
    assert run("validate", path, "-o", "link").exit_code == 1
    assert "SP207" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    assert (here / "link").is_symlink()
    assert {child.name for child in here.iterdir()} == {"records", "report", "link"}


def test_a_command_that_fails_leaves_the_old_report(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: Any) -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(text, "text_report", breaks)
    (here / "report").write_text("old")
    path = write(here / "a.json", LEDGER)
    assert run("validate", path, "-o", "report").exit_code == 3
    assert (here / "report").read_text() == "old"
    assert {child.name for child in here.iterdir()} == {"a.json", "report"}


def test_a_report_that_cannot_be_written_is_known_before_anything_is_checked(run: Run, here: Path) -> None:
    path = write(here / "a.json", LEDGER)
    result = run("validate", path, "-o", "absent/report")
    assert result.exit_code == 3
    assert (
        result.stderr == "Error: absent/report: the report could not be written: No such file or directory\n"
    )


def test_a_report_may_go_to_a_device(run: Run, here: Path) -> None:
    path = write(here / "a.json", BAD)
    assert run("validate", path, "-o", "/dev/null").exit_code == 1
    done = subprocess.run([*COMMAND, path, "-o", "/dev/stdout", "-q"], capture_output=True, check=False)
    assert (done.returncode, b"SP207" in done.stdout) == (1, True)


def test_a_file_gets_no_colours_where_a_terminal_would(here: Path) -> None:
    path = write(here / "a.json", BAD)
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "90"}
    environment.pop("NO_COLOR", None)
    for arguments, coloured in (([], True), (["-o", "report"], False)):
        main, terminal = os.openpty()
        with subprocess.Popen([*COMMAND, path, *arguments], stdout=terminal, env=environment) as process:
            os.close(terminal)
            shown = told(main)
            assert process.wait() == 1
        assert (b"\x1b[" in shown) is coloured
    assert "\x1b" not in (here / "report").read_text()
    assert ": SP207 bad-time: " in (here / "report").read_text(), "one line for each finding, as in a pipe"


def test_on_a_terminal_the_accused_line_is_shown_with_its_values_masked(here: Path) -> None:
    path = write(here / "a.json", BAD)
    main, terminal = os.openpty()
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "90"}
    with subprocess.Popen([*COMMAND, path], stdout=terminal, env=environment) as process:
        os.close(terminal)
        shown = told(main).decode()
        assert process.wait() == 1
    assert '"createdAt":' in shown
    assert "^" in shown
    assert "s3cret" not in shown


def test_progress_is_seen_on_a_terminal_only_and_leaves_nothing_behind(here: Path) -> None:
    """Standard input that comes slowly stands for a long check."""
    for arguments, expected in (([], True), (["-q"], False)):
        main, terminal = os.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "90"}
        with subprocess.Popen(
            [*COMMAND, "-", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env=environment,
        ) as process:
            os.close(terminal)
            with suppress(subprocess.TimeoutExpired):
                process.wait(2.5)
            said, _ = process.communicate(json.dumps(LEDGER).encode())
            shown = told(main)
        assert process.returncode == 0
        assert bool(shown) is expected
        assert shown == b"" or shown.endswith(b"\x1b[K")
        assert b"\x1b" not in said


def test_a_plain_check_loads_nothing_that_it_does_not_need(here: Path) -> None:
    path = write(here / "a.json", LEDGER)
    (here / "pyproject.toml").write_text('[project]\nname = "safepoint-user"\n')
    # coverage, where it watches, loads things of its own
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:], path],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "safepoint.settings" in modules
    unwanted = {
        "tomllib",
        "rich",
        "fsspec",
        "jsonschema",
        "difflib",
        "pathlib",
        "glob",
        "safepoint.selection",
        "safepoint.payloads",
    }
    assert modules & unwanted == set()


def test_a_working_folder_that_was_removed_is_in_nobodys_way(here: Path) -> None:
    path = write(here / "a.json", BAD)
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, path], capture_output=True, text=True, check=False, cwd=here
    )
    assert (done.returncode, "SP207" in done.stdout, done.stderr) == (1, True, "")
