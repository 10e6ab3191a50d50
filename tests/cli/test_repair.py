"""``safepoint repair``: what it prints, and what its exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from journals import Journal

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a record that is torn and two behind it, in the working folder."""
    Journal().begin().checkpoint(2).ledger(3, "attempting").ledger(4, "committed").checkpoint(
        5, "cp-2"
    ).write(tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def key(number: int) -> Path:
    return Path(f"store/runs/run-1/journal/{number:010}.json")


def test_a_store_without_damage_is_copied(here: Path, run: Run) -> None:
    result = run("repair", "store", "--output", "copy")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "done: 6 objects: 6 copied",
        "report: copy/repair.jsonl",
        "a run that has not ended could go on in both places now: make sure that nobody writes the original",
    ]
    assert run("validate", "copy").exit_code == 0
    assert (here / "copy/repair.jsonl").is_file()


def test_what_is_set_aside_is_told_with_its_reason(here: Path, run: Run) -> None:
    key(3).write_bytes(key(3).read_bytes()[:50])
    result = run("repair", "store", "--output", "copy")
    assert result.exit_code == 1
    behind = "sound, but behind the break at 4 (SP301 sequence-gap)"
    assert result.stdout.splitlines() == [
        "runs/run-1/journal/0000000003.json: set aside: SP103 malformed-json",
        "runs/run-1/journal/0000000004.json: set aside: SP301 sequence-gap (at /sequence)",
        f"runs/run-1/journal/0000000005.json to 0000000006.json: set aside (2 objects): {behind}",
    ]
    assert result.stderr.splitlines()[:2] == [
        "done: 6 objects: 2 copied, 4 set aside",
        "1 run lost something: the guard hands over run-1 (SP011)",
    ]
    assert run("repair", "store", "--output", "copy").stdout == result.stdout, "nothing is left to be done"
    assert (here / "copy/quarantine/runs/run-1/journal/0000000003.json.aside").is_file()
    guard = run("guard", "copy", "--run", "run-1")
    assert guard.exit_code == 13
    assert "SP011" in guard.stdout


def test_lines_of_a_file_are_named(here: Path, run: Run) -> None:
    records = [key(number).read_bytes() for number in range(1, 7)]
    for number in range(1, 7):
        key(number).unlink()
    bad = [b"{" + record for record in records[1:6]]
    (here / "store/runs/run-1/journal.jsonl").write_bytes(
        b"\n".join([records[0], *bad, b"[", b"{}", b"]]", b""])
    )
    result = run("repair", "store", "--dry-run")
    assert result.exit_code == 1
    assert result.stdout == (
        "runs/run-1/journal.jsonl: rebuilt: lines 2 to 6: SP114 torn-record; line 7: SP114 torn-record (at /0);"
        " line 8: SP003 not-a-safepoint-record; and 1 more\n"
    )
    assert result.stderr.startswith("would be: 1 object: 1 rebuilt\n")
    assert not (here / "copy").exists()


@pytest.mark.usefixtures("here")
def test_the_report_as_json_lists_every_object(run: Run) -> None:
    key(6).write_bytes(b"")
    document = json.loads(run("repair", "store", "--output", "copy", "--format", "json").stdout)
    assert (document["done"], document["dryRun"], document["runs"]) == (True, False, ["run-1"])
    assert document["totals"]["objects"] == len(document["objects"]) == 6
    report = json.loads(Path("copy", document["report"]).read_bytes())
    assert report["objects"] == document["objects"]
    assert report["totals"] == document["totals"]
    assert report["source"] == document["source"] == str(Path("store").resolve())


def test_what_cannot_be_read_is_named_and_nothing_is_written(here: Path, run: Run) -> None:
    key(6).unlink()
    key(6).symlink_to(here)
    (here / "store/notes.txt").symlink_to("/etc/hostname")
    result = run("repair", "store", "--output", "copy")
    assert result.exit_code == 3
    assert "SP006 leads-outside-store" in result.stderr
    assert "--leave-unreadable" in result.stderr
    assert "nothing was written" in result.stderr
    assert not (here / "copy").exists()
    result = run("repair", "store", "--output", "copy", "--leave-unreadable")
    assert result.exit_code == 1
    assert "notes.txt: left out: SP006 leads-outside-store" in result.stdout


def test_a_place_that_holds_something_else_is_refused(here: Path, run: Run) -> None:
    (here / "copy").mkdir()
    for number in range(30):
        (here / f"copy/{number}").write_bytes(b"")
    result = run("repair", "store", "--output", "copy")
    assert result.exit_code == 3
    assert result.stderr.count("SP604 target-not-empty") == 6
    assert json.loads(run("repair", "store", "--output", "copy", "--format", "json").stdout)["done"] is False
    assert run("repair", "store", "--output", "store/copy").stderr.endswith("nothing was written\n")


@pytest.mark.usefixtures("here")
def test_without_a_place_only_a_look_is_possible(run: Run) -> None:
    result = run("repair", "store")
    assert result.exit_code == 2
    assert "--dry-run" in result.stderr


def test_one_store_is_wanted_and_something_in_it(here: Path, run: Run) -> None:
    (here / "empty").mkdir()
    assert run("repair", "empty", "--dry-run").exit_code == 3
    assert run("repair", "nowhere", "--dry-run").exit_code == 3
    for name in ("a", "b"):
        (here / "many" / name).mkdir(parents=True)
        (here / "many" / name / "safepoint.json").write_bytes(b"{}")
    result = run("repair", "many", "--output", "copy")
    assert result.exit_code == 3
    assert "safepoint repair many/a --output copy" in result.stderr


def test_long_lists_are_cut_and_counted(here: Path, run: Run) -> None:
    for number in range(130):
        (here / f"store/{number:03}.json").write_bytes(b"{")
    result = run("repair", "store", "--dry-run")
    assert len(result.stdout.splitlines()) == 101
    assert result.stdout.endswith("and 30 more like these: the report lists all\n")
    assert "the guard hands over those in loose files" in result.stderr
