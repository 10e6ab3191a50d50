"""The command as a process of its own: start-up, streams, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "safepoint"]
RECORD = '{"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "committed"}'
HEAVY = {"fsspec", "jsonschema", "rich", "referencing"}


def imported(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "safepoint", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_a_sound_file_is_validated_without_any_slow_package(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD)
    modules = imported("validate", str(path))
    assert "safepoint" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("schema",), ("explain", "SP001")])
def test_small_commands_import_no_slow_package(arguments: tuple[str, ...]) -> None:
    assert not imported(*arguments) & HEAVY


def test_a_closed_pipe_ends_the_command_quietly(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text('{"actionId": 1, "runId": "r"}\n' * 3000)
    process = subprocess.Popen(
        [*COMMAND, "validate", "--limit", "0", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    assert process.wait() == 141
    process.stderr.close()


def test_an_interrupt_ends_the_command_with_130() -> None:
    process = subprocess.Popen(
        [*COMMAND, "validate", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(b" " * 1_000_000)  # more than a pipe holds: once it is gone, the command is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.strip() == b"interrupted"


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colours_unless_they_are_refused(
    crashed: Path, no_color: str, *, coloured: bool
) -> None:
    main, terminal = os.openpty()
    environment = os.environ | {"NO_COLOR": no_color, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        [*COMMAND, "guard", crashed, "--run", "run_123"], stdout=terminal, env=environment
    )
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # Linux's way to say that the other end is closed
        while part := os.read(main, 65536):
            shown += part
    os.close(main)
    assert process.wait() == 13
    assert b"hand_over" in shown
    assert (b"\x1b[1;31mhand_over" in shown) is coloured


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("output_format", ["text", "json"])
def test_a_name_that_is_no_utf8_is_reported(tmp_path: Path, output_format: str) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.json"
    Path(os.fsdecode(path)).write_text('{"runId": "\\ud83d"}')
    done = subprocess.run(
        [*COMMAND, "validate", "--format", output_format, path], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"SP108" in done.stdout
    assert b"caf" in done.stdout
    assert b"Traceback" not in done.stderr


def test_a_terminal_that_lacks_a_letter_hides_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "漢.json"
    path.write_text("{")
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([*COMMAND, "validate", path], capture_output=True, check=False, env=environment)
    assert done.returncode == 1
    assert b"\\u6f22.json:1:2: SP103" in done.stdout


def test_a_record_larger_than_a_pipe_comes_out_whole(tmp_path: Path) -> None:
    path = tmp_path / "cp.json"
    path.write_text(json.dumps(json.loads(RECORD) | {"x-big": "y" * 300_000}))
    done = subprocess.run([*COMMAND, "migrate", "--to", "v3", path], capture_output=True, check=True)
    assert json.loads(done.stdout)["x-big"] == "y" * 300_000


FULL = "/dev/full"
NO_ROOM = "Error: standard output: No space left on device\n"


def shell(redirected: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command with streams redirected as a shell does it."""
    script = f'exec "$@" {redirected}'
    return subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("redirected", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_that_is_not_needed_changes_no_status(tmp_path: Path, redirected: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD)
    done = shell(redirected, "validate", path)
    assert done.returncode == 0, done.stderr
    path.write_text("{")
    done = shell(redirected, "validate", path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("validate", "-"), ("migrate", "-", "--to", "v3")])
def test_a_closed_standard_input_cannot_be_judged(command: tuple[str, ...]) -> None:
    done = shell("<&-", *command)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "Error: standard input is closed: there is nothing to read\n"


@pytest.mark.skipif(not Path(FULL).exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    "command", [("--help",), ("explain", "SP001"), ("validate", "--format", "json", "-")]
)
def test_a_full_standard_output_is_one_line_and_no_result(command: tuple[str, ...]) -> None:
    done = shell(f">{FULL} </dev/null", *command)
    assert (done.returncode, done.stderr) == (3, NO_ROOM)


@pytest.mark.skipif(not Path(FULL).exists(), reason="no device that is always full")
def test_notes_that_nobody_can_read_change_no_status(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD)
    assert shell(f"2>{FULL}", "validate", path).returncode == 0
    assert shell(f"2>{FULL}", "bogus").returncode == 2


def test_help_into_a_closed_pipe_ends_quietly() -> None:
    process = subprocess.Popen([*COMMAND, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate()
    assert (process.returncode, said) == (141, b"")
