"""``safepoint prune``, and what the other commands say of a run that was deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
RUN = "run_123"
PRUNE = ("--closed-before", "30d", "--by", "ann")


def test_a_closed_run_is_deleted_but_for_the_word_about_it(run: Run, completed: Path) -> None:
    result = run("prune", completed, *PRUNE, "--reason", "a year is over")
    assert (result.exit_code, result.stdout) == (0, f"deleted  {RUN}: 3 records; 3 objects removed\n")
    assert result.stderr == "1 run: 1 deleted\n"
    [left] = (path for path in completed.rglob("*") if path.is_file())
    assert left == completed / "runs" / RUN / "deleted.json"
    marker = json.loads(left.read_bytes())
    assert (marker["by"], marker["reason"], marker["status"]) == ("ann", "a year is over", "completed")


def test_the_other_commands_know_that_it_was_deleted(run: Run, completed: Path) -> None:
    run("prune", completed, *PRUNE, "--reason", "a year is over")
    assert run("validate", completed).exit_code == 0
    listed = run("runs", completed).stdout
    assert f"{RUN}  deleted  -" in listed
    assert "1 run: 1 deleted" in listed
    [entry] = json.loads(run("runs", completed, "--format", "json").stdout)["runs"]
    assert (entry["state"], entry["level"], entry["deleted"]["by"]) == ("deleted", None, "ann")
    shown = run("show", completed, "--run", RUN).stdout
    assert "state   deleted: it had ended, and its records were deleted on purpose" in shown
    assert "by ann: a year is over" in shown
    assert "it held 3 records, 0 checkpoints, 0 actions, 0 artifacts" in shown
    assert "next:" not in shown
    judged = run("guard", completed, "--run", RUN)
    assert judged.exit_code == 15
    assert "stands on deleted.json alone, no records" in judged.stdout
    assert run("prune", completed, *PRUNE, "--run", RUN).stdout == f"nothing to do  {RUN}: it was deleted\n"
    assert run("pack", completed, "--run", RUN).exit_code == 1


def test_an_interrupted_deletion_is_a_warning_and_is_finished(run: Run, completed: Path) -> None:
    last = completed / "runs" / RUN / "journal/0000000003.json"
    data = last.read_bytes()
    run("prune", completed, *PRUNE)
    last.parent.mkdir()
    last.write_bytes(data)
    found = run("validate", completed)
    assert found.exit_code == 0
    assert "SP010 deletion-unfinished: the run was deleted, and 1 other object" in found.stdout
    assert run("prune", completed, *PRUNE).stdout == f"deleted  {RUN}: 3 records; 1 object removed\n"
    assert not last.exists()


def test_a_dry_run_deletes_nothing(run: Run, completed: Path) -> None:
    result = run("prune", completed, *PRUNE, "--dry-run")
    assert (result.exit_code, result.stdout) == (0, f"would delete  {RUN}: 3 records\n")
    assert len([path for path in completed.rglob("*") if path.is_file()]) == 3


def test_a_damaged_run_is_named_with_status_1(run: Run, completed: Path) -> None:
    (completed / "runs" / RUN / "journal/0000000002.json").write_bytes(b"{")
    result = run("prune", completed, *PRUNE)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"left  {RUN}: its records are not sound: SP103 ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "ann"), "--closed-before"),
        (("--closed-before", "1d"), "--by"),
        (("--closed-before", "1d", "--by", ""), "--by: "),
        (("--closed-before", "1d", "--by", "ann", "--reason", ""), "--reason: "),
    ],
)
def test_what_is_missing_or_does_not_fit_is_a_usage_error(
    options: tuple[str, ...], said: str, run: Run, completed: Path
) -> None:
    result = run("prune", completed, *options)
    assert result.exit_code == 2
    assert said in result.stderr
