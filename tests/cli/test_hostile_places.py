"""Places that are no files, names that are no text, files that change, streams that close: one clear answer each.

What the files hold is in ``test_hostile_inputs.py``.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from measuring import COMMAND, RECORD, SECONDS, Outcome, measure

Measured = Callable[..., Outcome]


@pytest.fixture
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Runs ``safepoint validate``, and holds every case to what they all have in common."""
    return partial(measure, tmp_path_factory.mktemp("measured"))


@pytest.fixture
def closed_to_all(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Takes all permissions from a path, until the test is over."""

    def close(path: Path) -> None:
        path.chmod(0)
        request.addfinalizer(lambda: path.chmod(0o755))

    return close


# What is no file


def test_a_fifo_is_refused_and_not_waited_for(measured: Measured, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    outcome = measured(tmp_path / "pipe.json")
    assert (outcome.status, outcome.codes) == (3, ["SP002"])
    outcome = measured(tmp_path)
    assert (outcome.status, outcome.codes[0]) == (3, "SP002")


def test_a_socket_is_refused(measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.json")
        outcome = measured(tmp_path / "s.json")
        assert (outcome.status, outcome.codes) == (3, ["SP002"])


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/stdin"])
def test_a_device_is_refused_and_not_read(measured: Measured, device: str) -> None:
    outcome = measured(device)
    assert (outcome.status, outcome.codes) == (3, ["SP002"])
    assert outcome.cpu < 10


def test_a_file_that_may_not_be_read_is_no_pass(
    measured: Measured, tmp_path: Path, closed_to_all: Callable[[Path], None]
) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD)
    closed_to_all(path)
    outcome = measured(path, bound=True)
    assert (outcome.status, outcome.codes) == (3, ["SP002"])
    assert b"ermission" in outcome.out or b"denied" in outcome.out


def test_a_file_that_may_not_be_read_among_others_is_no_pass(
    measured: Measured, tmp_path: Path, closed_to_all: Callable[[Path], None]
) -> None:
    for name in ("a.json", "b.json", "c.jsonl"):
        (tmp_path / name).write_text(RECORD.replace('"r"', f'"{name[0]}"'))
    closed_to_all(tmp_path / "b.json")
    outcome = measured(tmp_path, bound=True)
    assert (outcome.status, outcome.codes) == (3, ["SP002"])
    assert b"b.json" in outcome.out
    assert b"2 records" in outcome.out + outcome.err


@pytest.mark.parametrize("named", [True, False], ids=["named", "met"])
def test_a_folder_that_may_not_be_read_is_no_pass(
    measured: Measured, tmp_path: Path, closed_to_all: Callable[[Path], None], *, named: bool
) -> None:
    (tmp_path / "ledger.json").write_text(RECORD)
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "other.json").write_text(RECORD)
    closed_to_all(closed)
    outcome = measured(closed if named else tmp_path, bound=True)
    assert (outcome.status, outcome.codes) == (3, ["SP002"])
    assert b"closed" in outcome.out


# Links


def test_a_broken_link_is_no_pass(measured: Measured, tmp_path: Path) -> None:
    (tmp_path / "gone.json").symlink_to("nowhere.json")
    outcome = measured(tmp_path / "gone.json")
    assert (outcome.status, len(outcome.codes)) == (3, 1)
    outcome = measured(tmp_path)
    assert outcome.status == 3


def test_links_in_a_circle_end(measured: Measured, tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("b.json")
    (tmp_path / "b.json").symlink_to("a.json")
    outcome = measured(tmp_path / "a.json")
    assert (outcome.status, outcome.codes) == (3, ["SP002"])
    assert measured(tmp_path).status == 3


def test_a_folder_that_holds_itself_is_read_once(measured: Measured, tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text(RECORD)
    (tmp_path / "again").symlink_to(".")
    (tmp_path / "up").mkdir()
    (tmp_path / "up/down").symlink_to("..")
    for argument in (tmp_path, f"{tmp_path}/**/*.json"):
        outcome = measured(argument)
        assert outcome.status == 0
        assert b"1 record " in outcome.out + outcome.err


# Names


NAMES = [
    b"new\nline.json",
    b"caf\xe9.json",
    b"\x1b[31mred\x1b[0m.json",
    b"tab\there.json",
    b"-rf.json",
    b"'q\".json",
]
NAMES += ["\u202egnp.json".encode(), b"%s{0}$(id).json", b" .json", b"a" * 250 + b".json"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse some of these names")
@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name.decode(errors="replace"))[:30])
@pytest.mark.parametrize("output_format", ["text", "json"])
def test_a_name_of_any_bytes_is_one_line_without_control_characters(
    measured: Measured, tmp_path: Path, name: bytes, output_format: str
) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("{")
    for arguments in (["--", name], ["."]):
        outcome = measured("--quiet", "--format", output_format, *arguments, cwd=tmp_path)
        assert outcome.status == 1
        # met in a folder, a name that is no UTF-8 may be refused instead
        assert b"SP103" in outcome.out or (arguments == ["."] and b"SP006" in outcome.out)
        shown = outcome.out + outcome.err
        assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", shown)
        assert b"backslash" not in shown  # there is none in any of them
        if output_format == "text":
            assert "\u202e".encode() not in shown  # it would turn round what follows
            assert len(outcome.out.splitlines()) == len(outcome.codes) == 1
        else:
            assert len(json.loads(outcome.out)["findings"]) == 1


def test_a_value_in_a_message_cannot_steer_the_terminal(measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    evil = "\x1b]0;owned\x07\x1b[2J\r\n::error::forged \u202e\x9b31m"
    path.write_text(json.dumps({"actionId": evil, "runId": evil, "recordType": evil, evil: evil}))
    outcome = measured(path)
    assert outcome.status == 1
    shown = (outcome.out + outcome.err).decode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert not any(line.startswith("::") for line in shown.splitlines())


# What changes while it is read


def busy(change: Callable[[], None], seconds: float) -> Callable[[], None]:
    def until_then() -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            change()

    return until_then


def test_files_that_come_and_go_bring_nothing_down(measured: Measured, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(300)]
    for path in paths:
        path.write_text(RECORD)
    chance = random.Random(2)

    def change() -> None:
        path = chance.choice(paths)
        if path.exists():
            path.unlink()
        else:
            path.write_text(RECORD)

    for _ in range(3):
        outcome = measured(tmp_path, meanwhile=busy(change, 0.5))
        assert outcome.status in {0, 1, 3}
        assert set(outcome.codes) <= {"SP001", "SP002", "SP103", "SP111"}


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_file_that_shrinks_and_grows_brings_nothing_down(
    measured: Measured, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"ledger{suffix}"
    line = (RECORD + "\n").encode()
    path.write_bytes(line * 40_000)
    chance = random.Random(3)

    def change() -> None:
        os.truncate(path, chance.randrange(len(line) * 40_000))

    for _ in range(3):
        outcome = measured(path, meanwhile=busy(change, 0.5))
        assert outcome.status in {0, 1, 3}


# The streams


def test_standard_output_that_closes_early_ends_it_quietly(measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"torn\n' * 20_000)
    reading, writing = os.pipe()
    with subprocess.Popen(["head", "-n", "1"], stdin=reading, stdout=subprocess.PIPE) as head:
        os.close(reading)
        outcome = measured("--limit", "0", path, stdout=writing)
        os.close(writing)
        assert head.communicate()[0].count(b"\n") == 1
    assert outcome.status == 141
    assert outcome.err == b""


def closed(descriptors: str, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    command: Sequence[str | Path] = ["sh", "-c", f'exec "$@" {descriptors}', "sh", *COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)


def test_closed_streams_are_one_error_or_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD)
    assert closed("<&-", "-").returncode == 3
    assert closed("<&- >&- 2>&-", path).returncode == 0
    path.write_text("{")
    assert closed("<&- >&- 2>&-", path).returncode == 1


@pytest.fixture
def full() -> Path:
    """A device without room for anything."""
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("no device that is always full")
    return device


@pytest.mark.parametrize("output_format", ["text", "json", "jsonl", "sarif", "junit", "github"])
def test_an_output_without_room_is_one_error(
    measured: Measured, tmp_path: Path, full: Path, output_format: str
) -> None:
    path = tmp_path / "ledger.json"
    path.write_text("{")
    outcome = measured("--format", output_format, "--output", full, path)
    assert (outcome.status, outcome.out) == (3, b"")
    assert b"No space left on device" in outcome.err
    assert b"/dev/full" in outcome.err
    descriptor = os.open(full, os.O_WRONLY)
    outcome = measured("--format", output_format, path, stdout=descriptor)
    os.close(descriptor)
    assert outcome.status == 3
    assert b"No space left on device" in outcome.err


@pytest.mark.parametrize("place", ["no/such/folder/out.json", ".", "ledger.json/out"])
def test_an_output_that_cannot_be_written_is_one_error(
    measured: Measured, tmp_path: Path, place: str
) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD)
    outcome = measured("--format", "json", "--output", place, path, cwd=tmp_path)
    assert outcome.status in {2, 3}
    assert len(outcome.err.decode().strip().splitlines()) <= 4
    assert path.read_text() == RECORD


# Arguments


@pytest.mark.parametrize(
    "argument",
    [
        "",
        "\n",
        "a" * 5000,
        "[",
        "**/" * 200,
        "://",
        "file://",
        "memory://",
        "nosuch://x",
        "a\\b",
        "~nobody/x",
    ],
    ids=ascii,
)
def test_an_argument_that_names_nothing_is_one_answer(
    measured: Measured, tmp_path: Path, argument: str
) -> None:
    outcome = measured(argument, cwd=tmp_path)
    assert outcome.status in {2, 3}
    assert len((outcome.out + outcome.err).splitlines()) <= 5


def test_ten_thousand_arguments_are_one_validation(measured: Measured, tmp_path: Path) -> None:
    names: list[Any] = [f"{number}.json" for number in range(10_000)]
    for name in names:
        (tmp_path / name).write_text(RECORD)
    outcome = measured(*names, cwd=tmp_path)
    assert outcome.status == 0
    assert b"10,000 records" in outcome.out + outcome.err
