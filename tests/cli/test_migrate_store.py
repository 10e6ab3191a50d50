"""``safepoint migrate`` of a whole store: what is said, the exit status, and how it looks on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from journals import Journal
from mixed_stores import write_steps
from moved import OLD, V2_CHECKPOINT, contents, encode, write
from questions import started

Run = Callable[..., Result]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

NOTE = (
    "old/runs/r/ledger.jsonl:1:84: note SP603 residue-kept: no place in v3 for what stands here; kept for the way "
    "back (at /status)"
)
LEFT = "1 left behind (they speak of the original alone)"
EXPLAIN = "what a code means and how to fix it: safepoint explain"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store of v2 in it."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old", OLD)
    return tmp_path


def lines(result: Result) -> list[str]:
    assert result.stdout == ""
    return [DIGEST.sub("DIGEST", line) for line in result.stderr.splitlines()]


def open_run(folder: Path) -> Journal:
    journal = started()
    journal.write(folder)
    return journal


def test_a_store_is_migrated_and_what_was_done_is_told(run: Run, here: Path) -> None:
    result = run("migrate", "old", "--to", "v3", "--output", "new")
    head, sizes, *rest = lines(result)[1:]
    assert (result.exit_code, lines(result)[0]) == (0, NOTE)
    assert head == f"done: of 7 objects in 1 run, 2 migrated, 4 copied as they are, {LEFT}"
    assert re.fullmatch(r"\d+ bytes read, [\d,]+ in the copy", sizes)
    assert rest == ["findings: 1 SP603", f"{EXPLAIN} SP603", "digest of the copy: DIGEST"]
    again = run("migrate", "old", "--to", "v3", "--output", "new")
    assert (again.exit_code, lines(again)) == (0, ["the copy is whole already: 7 objects in 1 run"])


def test_the_report_is_for_programs(run: Run, here: Path) -> None:
    (here / "old/README.md").unlink()
    result = run("migrate", "old", "--to", "v3", "--output", "new", "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert [finding["code"] for finding in report["findings"]] == ["SP603"]
    summary = report["summary"]
    assert DIGEST.fullmatch(summary.pop("digest"))
    assert summary.pop("bytesRead") < summary.pop("bytesWritten")
    assert summary == {
        "outcome": "done",
        "done": True,
        "resumed": False,
        "objects": 6,
        "migrated": 2,
        "copied": 3,
        "asIs": 0,
        "dropped": 0,
        "left": 1,
        "refused": 0,
        "runs": 1,
        "openRuns": 0,
        "codes": {"SP603": 1},
        "run": "migration-1",
        "sealed": {},
        "seals": [],
    }
    again = json.loads(run("migrate", "old", "--to", "v3", "--output", "new", "--format", "json").stdout)
    assert (again["summary"]["outcome"], again["summary"]["digest"]) == ("nothingToDo", None)


@pytest.mark.parametrize("option", ["--dry-run", "--check"])
@pytest.mark.parametrize("output", [[], ["--output", "new"]])
def test_only_looking_writes_nothing(run: Run, here: Path, option: str, output: list[str]) -> None:
    result = run("migrate", "old", "--to", "v3", *output, option)
    assert result.exit_code == (1 if option == "--check" else 0)
    assert lines(result)[1].startswith("nothing was written: of 7 objects in 1 run, 2 would be migrated, ")
    result = run("migrate", "old", "--to", "v2", *output, option)
    assert (result.exit_code, lines(result)[0]) == (
        0,
        f"nothing would change: of 7 objects in 1 run, 6 copied as they are, {LEFT}",
    )
    assert [path.name for path in here.iterdir()] == ["old"]


def test_a_look_at_what_is_in_the_way(run: Run, here: Path) -> None:
    write(here / "new", {"keep.txt": b"mine"})
    for option in ("--dry-run", "--check"):
        result = run("migrate", "old", "--to", "v3", "--output", "new", option)
        assert result.exit_code == 1
        assert "SP604 target-not-empty" in result.stderr
        assert lines(result)[2] == "nothing would be written"
    assert contents(here / "new") == {"keep.txt": b"mine"}


def test_a_refusal_names_every_place_and_the_way_on(run: Run, here: Path) -> None:
    write(
        here / "old", {"runs/r/bad.json": b'{"torn', "runs/s/bad.json": encode(V2_CHECKPOINT | {"runId": 7})}
    )
    result = run("migrate", "old", "--to", "v3", "--output", "new")
    assert result.exit_code == 1
    told = lines(result)
    assert any(line.startswith("old/runs/r/bad.json:1:7: SP103 malformed-json: ") for line in told)
    assert any(re.match(r"old/runs/s/bad\.json:1:\d\d: SP201 wrong-type: ", line) for line in told)
    assert told[-4:] == [
        "refused, nothing was written: 2 of 9 objects in 2 runs cannot be migrated",
        "findings: 1 SP103, 1 SP201, 1 SP603, 1 SP606",
        f"{EXPLAIN} SP103",
        "to copy what cannot be migrated as it is, and migrate the rest: the same with --keep-going",
    ]
    assert not (here / "new").exists()
    result = run("migrate", "old", "--to", "v3", "--output", "new", "--keep-going")
    assert result.exit_code == 1
    assert any(
        line.startswith("done, but not all is migrated: of 9 objects in 2 runs, 2 migrated, ")
        for line in lines(result)
    )
    assert run("migrate", "old", "--to", "v3", "--output", "new", "--keep-going").exit_code == 1


def test_a_loss_is_refused_until_it_is_allowed(run: Run, here: Path) -> None:
    open_run(here / "v3")
    result = run("migrate", "v3", "--to", "v2", "--output", "new")
    assert (result.exit_code, lines(result)[-1]) == (
        1,
        "to leave out what the version cannot hold: the same with --allow-loss",
    )
    result = run("migrate", "v3", "--to", "v2", "--output", "new", "--allow-loss")
    assert result.exit_code == 0
    assert lines(result)[-5].startswith("done: of 3 objects in 1 run, 1 migrated, 2 dropped")
    assert not any("--seal" in line for line in lines(result))


def test_a_damaged_copy_is_told_and_left(run: Run, here: Path) -> None:
    run("migrate", "old", "--to", "v3", "--output", "new")
    write(here / "new", {"policy.json": b"{}"})
    result = run("migrate", "old", "--to", "v3", "--output", "new")
    assert result.exit_code == 1
    assert "new/policy.json:1:1: SP615 copy-changed: " in result.stderr
    assert "refused, nothing was written" in lines(result)


def test_the_seal_is_offered_and_given(run: Run, here: Path) -> None:
    open_run(here / "v3")
    asked = ["migrate", "v3", "--to", "v3", "--output", "new"]
    result = run(*asked)
    assert (result.exit_code, lines(result)[-1]) == (
        0,
        "1 copied run has no end; to let it go on, seal its original: the same with --seal --by WHO",
    )
    result = run(*asked, "--seal", "--by", "ops")
    sealed = ["the originals are sealed: 3 objects in 1 run", "originals: 1 sealed"]
    assert (result.exit_code, lines(result)) == (0, sealed)
    result = run(*asked, "--seal", "--by", "ops")
    before = ["the copy is whole already: 3 objects in 1 run", "originals: 1 sealed before"]
    assert (result.exit_code, lines(result)) == (0, before)
    report = json.loads(run(*asked, "--seal", "--by", "ops", "--format", "json").stdout)
    assert report["summary"]["sealed"] == {"alreadySealed": 1}
    assert report["summary"]["seals"] == [{"runId": "run-1", "outcome": "alreadySealed", "message": None}]


def test_an_original_that_may_not_be_sealed_is_no_success(run: Run, here: Path) -> None:
    journal = started()
    journal.values[1]["previousDigest"] = "sha256:" + "0" * 64
    journal.write(here / "v3")
    result = run("migrate", "v3", "--to", "v3", "--output", "new", "--seal", "--by", "ops")
    assert result.exit_code == 1
    assert "v3/runs/run-1:1:1: SP616 seal-refused: the original is not sealed: " in result.stderr
    assert any(line.startswith("done, but 1 original not sealed: ") for line in lines(result))
    assert "originals: 1 that must not be sealed" in lines(result)


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_processes_share_the_runs(run: Run, here: Path, jobs: str) -> None:
    assert run("migrate", "old", "--to", "v3", "--output", "one").exit_code == 0
    assert run("migrate", "old", "--to", "v3", "--output", "two", "--jobs", jobs).exit_code == 0
    one, two = (
        {key: data for key, data in contents(here / name).items() if "/migration-1/" not in key}
        for name in ("one", "two")
    )
    assert one == two


# payloads


def test_checkpoints_are_brought_to_another_payload_schema(run: Run, here: Path) -> None:
    settings = write_steps(here / "project")
    started(payloadSchema="agent/state@1", stateSnapshot={"turn": 1}).write(here / "v3")
    asked = ["migrate", "v3", "--payload", "agent/state@2", "--config", settings]
    assert run(*asked, "--check").exit_code == 1
    assert run(*asked, "--output", "new").exit_code == 0
    record = json.loads(contents(here / "new")["runs/run-1/journal/0000000003.json"])
    assert (record["payloadSchema"], record["stateSnapshot"]) == (
        "agent/state@2",
        {"turn": 1, "channel": "mail"},
    )
    assert run("validate", "new", "--config", settings).exit_code == 0
    check = ["migrate", "new", "--payload", "agent/state@2", "--config", settings, "--check"]
    assert run(*check).exit_code == 0
    other = run(
        "migrate", "v3", "--payload", "agent/state@2", "--config", settings, "--output", "new", "--to", "v3"
    )
    assert other.exit_code == 1
    assert "another migration writes here, it differs in --to (none there)" in other.stderr


def test_a_payload_schema_that_nobody_knows_is_a_usage_error(run: Run, here: Path) -> None:
    settings = write_steps(here / "project")
    result = run("migrate", "old", "--payload", "agent/state@3", "--config", settings, "--dry-run")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "agent/state@3 is no payload schema of this project; did you mean agent/state@2?" in result.stderr


# what cannot be looked at


def test_a_store_that_is_not_there_cannot_be_looked_at(run: Run, here: Path) -> None:
    result = run("migrate", "nowhere", "--to", "v3", "--dry-run")
    assert (result.exit_code, lines(result)) == (
        3,
        ["Error: nowhere: no such file or folder; check the name"],
    )


def test_a_file_is_no_place_for_a_store(run: Run, here: Path) -> None:
    (here / "new").write_text("mine")
    result = run("migrate", "old", "--to", "v3", "--output", "new")
    assert (result.exit_code, lines(result)) == (3, ["Error: new: not a folder; name a folder"])
    assert (here / "new").read_text() == "mine"


def test_a_place_in_the_source_is_refused(run: Run, here: Path) -> None:
    result = run("migrate", "old", "--to", "v3", "--output", "old/new")
    assert result.exit_code == 1
    assert lines(result)[:2] == [
        "old/new:1:1: SP604 target-not-empty: source and target lie in each other",
        "refused, nothing was written",
    ]


def test_names_that_could_move_the_cursor_are_escaped(run: Run, here: Path) -> None:
    write(here / "old", {"runs/r/\x1b[2Jx.json": b"{"})
    result = run("migrate", "old", "--to", "v3", "--output", "new")
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert "runs/r/\\x1b[2Jx.json" in result.stderr


def test_no_value_of_a_payload_is_shown(run: Run, here: Path) -> None:
    secret = V2_CHECKPOINT | {"inputSnapshot": {"token": "s3cret"}, "state": 5}
    write(here / "old", {"runs/r/bad.json": encode(secret), "runs/r/worse.json": b'{"token":"s3cret'})
    for output in ("text", "json"):
        result = run("migrate", "old", "--to", "v3", "--output", "new", "--format", output)
        assert result.exit_code == 1
        assert "s3cret" not in result.stdout + result.stderr


# on a terminal


def on_terminal(folder: Path, *arguments: str, width: int = 80, **environment: str) -> tuple[int, str]:
    """The status, and all that the terminal was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    inherited = {
        k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR"}
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "safepoint", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**inherited, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    said = b""
    try:
        while more := os.read(ours, 65_536):
            said += more
    except OSError:
        pass  # Linux says so when the last writer is gone
    os.close(ours)
    return process.wait(60), said.decode()


def printed(said: str) -> list[str]:
    """What is left on the screen once the bar is gone, without its colours."""
    last = said.rpartition("\x1b[2K")[2]
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", last).replace("\r", "").splitlines()


def test_a_terminal_shows_how_far_it_is_and_then_only_what_came_of_it(here: Path) -> None:
    open_run(here / "old")
    status, said = on_terminal(here, "migrate", "old", "--to", "v3", "--output", "new")
    assert status == 0
    assert "runs looked at" in said
    assert "runs written" in said
    assert "2/2" in said
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h")
    assert printed(said)[1:3] == [
        "done: of 10 objects in 2 runs, 2 migrated, 7 copied as they are, 1 left behind",
        "  (they speak of the original alone)",
    ]
    assert "\x1b[32mdone\x1b[0m" in said


def test_colours_can_be_switched_off(here: Path) -> None:
    status, said = on_terminal(here, "migrate", "old", "--to", "v3", "--output", "new", NO_COLOR="1")
    assert status == 0
    assert not re.search(r"\x1b\[[0-9;]*m", said)


def test_a_narrow_terminal_cuts_no_command(here: Path) -> None:
    write(here / "old", {"runs/r/bad.json": b"{"})
    status, said = on_terminal(here, "migrate", "old", "--to", "v3", "--output", "new", width=44)
    assert status == 1
    assert printed(said)[-7:] == [
        "refused, nothing was written: 1 of 8 objects",
        "  in 1 run cannot be migrated",
        "findings: 1 SP103, 1 SP603",
        f"{EXPLAIN} SP103",
        "to copy what cannot be migrated as it is,",
        "  and migrate the rest: the same with",
        "  --keep-going",
    ]


def test_a_pipe_gets_no_bar(run: Run, here: Path) -> None:
    assert "looked at" not in run("migrate", "old", "--to", "v3", "--output", "new").stderr
