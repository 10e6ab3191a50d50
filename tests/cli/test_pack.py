"""``safepoint pack`` and ``safepoint unpack``, as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from journals import Journal

Run = Callable[..., Result]
RUN = "run_123"


def test_a_closed_run_is_packed_and_unpacked_again(run: Run, completed: Path) -> None:
    before = {path: path.read_bytes() for path in completed.rglob("*.json")}
    packed = run("pack", completed, "--run", RUN)
    assert (packed.exit_code, packed.stdout) == (0, f"packed  {RUN}: 3 records; 3 objects removed\n")
    assert packed.stderr == "1 run: 1 packed\n"
    assert [path.name for path in completed.rglob("*") if path.is_file()] == ["journal.jsonl"]
    assert run("validate", completed).exit_code == 0
    again = run("pack", completed, "--run", RUN)
    assert (again.exit_code, again.stdout) == (0, f"nothing to do  {RUN}: it is packed\n")
    unpacked = run("unpack", completed, "--run", RUN)
    assert (unpacked.exit_code, unpacked.stdout) == (0, f"unpacked  {RUN}: 3 records; 3 objects written\n")
    assert {path: path.read_bytes() for path in completed.rglob("*") if path.is_file()} == before


def test_a_dry_run_says_so(run: Run, completed: Path) -> None:
    tried = run("pack", completed, "--closed-before", "1d", "--dry-run")
    assert (tried.exit_code, tried.stdout) == (0, f"would pack  {RUN}: 3 records; 3 objects to be removed\n")
    assert tried.stderr == "1 run: 1 to pack; nothing was changed\n"


def test_what_is_refused_is_named_with_status_1(run: Run, crashed: Path) -> None:
    named = run("pack", crashed, "--run", RUN)
    assert (named.exit_code, named.stdout) == (1, f"left  {RUN}: it has not ended\n")
    swept = run("pack", crashed, "--closed-before", "1d")
    assert (swept.exit_code, swept.stdout) == (0, "")
    assert swept.stderr == "1 run: 1 passed over (1 not ended)\n"


def test_the_summary_counts_the_runs_that_were_passed_over_by_their_reasons(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    Journal("a").begin().add("run", 2, status="failed").write(store)
    Journal("b").begin().write(store)
    Journal("c").begin().write(store)
    settling = Journal("d").begin().ledger(2, "attempting").add("run", 3, status="completed")
    settling.claim(80, purpose="resolution", ttl=10**10).ledger(81, "committed").write(store)
    Journal("e").begin().add("run", 2, status="completed").write(store)
    swept = run("pack", store, "--closed-before", "2026-05-07T10:00:01Z")
    why = "1 failed, 2 not ended, 1 not that old, 1 with a live lease"
    assert (swept.exit_code, swept.stdout) == (0, "")
    assert swept.stderr == f"5 runs: 5 passed over ({why})\n"
    named = run("pack", store, "--run", "d")
    assert named.exit_code == 1
    assert named.stdout.startswith("left  d: the lease of epoch 2 is live until ")


def test_as_json_every_run_is_listed(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "store"
    Journal("a").begin().add("run", 2, status="completed").write(store)
    Journal("b").begin().write(store)
    document = json.loads(run("pack", store, "--closed-before", "1h", "--format", "json").stdout)
    assert document["summary"] == {"done": 1, "would": 0, "already": 0, "passed": 1, "left": 0}
    assert document["runs"][0] == {
        "runId": "a",
        "outcome": "done",
        "message": "packed",
        "counts": {"records": 3, "objects": 3},
    }
    assert (document["command"], document["dryRun"]) == ("pack", False)


@pytest.mark.parametrize("time", ["2026-05-07T10:00:04Z", "1h", "2d", "3w"])
def test_a_time_is_a_moment_or_an_age(time: str, run: Run, completed: Path) -> None:
    assert run("pack", completed, "--closed-before", time, "--dry-run").stdout.startswith("would pack")


def test_a_run_that_is_too_young_is_passed_over(run: Run, completed: Path) -> None:
    result = run("pack", completed, "--closed-before", "2026-05-07T10:00:03Z", "--run", RUN)
    assert (result.exit_code, result.stdout) == (
        0,
        f"passed over  {RUN}: its newest record is not that old\n",
    )


@pytest.mark.parametrize("time", ["90", "1y", "yesterday", "2026-05-07", "-1d"])
def test_what_is_neither_is_a_usage_error(time: str, run: Run, completed: Path) -> None:
    result = run("pack", completed, "--closed-before", time)
    assert result.exit_code == 2
    assert "or an age such as 90d" in result.stderr


def test_an_age_of_nothing_is_named_as_such(run: Run, completed: Path) -> None:
    result = run("pack", completed, "--closed-before", "0h")
    assert result.exit_code == 2
    assert "--closed-before: got '0h': an age must be more than 0, such as 1h" in result.stderr


@pytest.mark.parametrize("command", ["pack", "unpack"])
def test_which_runs_must_be_said(command: str, run: Run, completed: Path) -> None:
    result = run(command, completed)
    assert result.exit_code == 2
    assert "say which runs" in result.stderr


@pytest.mark.parametrize("command", ["pack", "unpack"])
def test_a_run_that_is_not_there_cannot_be_evaluated(command: str, run: Run, completed: Path) -> None:
    result = run(command, completed, "--run", "nobody")
    assert result.exit_code == 3
    assert "no folder of a run 'nobody' is there" in result.stderr


def test_a_wrong_path_is_no_success(run: Run, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        assert run("pack", path, "--closed-before", "1d").exit_code == 3


def test_a_folder_of_stores_lists_the_command_for_each(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Journal().begin().write(tmp_path / name)
        (tmp_path / name / "safepoint.json").write_text(
            '{"recordType":"store","schemaVersion":"v3","layout":1}'
        )
    result = run("pack", tmp_path, "--closed-before", "1d", "--dry-run", "--storage-option", "key=secret")
    assert result.exit_code == 3
    assert (
        f"  safepoint pack {tmp_path}/one --closed-before 1d --dry-run --storage-option key=…\n"
        in result.stderr
    )
    assert "secret" not in result.stderr
