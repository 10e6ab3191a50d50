"""``safepoint retract``, as a user meets it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from closed import reference
from journals import Journal

from safepoint.cli import retract as module
from safepoint.recorder import PutAway

Run = Callable[..., Result]
RUN = "run_123"
WHO = ("--by", "ann", "--reason", "wrong customer")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Two checkpoints, each with an artifact of its own and one that both have."""
    journal = Journal(RUN).begin()
    for second, own in enumerate(("one", "two"), 2):
        both = [reference(own, own.encode()), reference("both", b"both")]
        journal.checkpoint(second, f"cp_{own}", artifactRefs=both)
    store = tmp_path / "saved"
    journal.write(store)
    folder = store / "runs" / RUN / "artifacts/sha256"
    folder.mkdir(parents=True)
    for data in (b"one", b"two", b"both"):
        (folder / hashlib.sha256(data).hexdigest()).write_bytes(data)
    return store


def test_what_was_hidden_deleted_and_kept_is_said(run: Run, saved: Path) -> None:
    result = run("retract", saved, "--run", RUN, "--checkpoint", "cp_two", "--delete-artifacts", *WHO)
    two = hashlib.sha256(b"two").hexdigest()
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "retracted  cp_two  (record 5 of the journal)",
        f"deleted  runs/{RUN}/artifacts/sha256/{two}",
        "kept  the bytes of both: the artifact both, which is not retracted, has the same bytes",
    ]
    assert not (saved / "runs" / RUN / "artifacts/sha256" / two).exists()
    judged = run("guard", saved, "--run", RUN)
    assert "SP703" in judged.stdout


def test_a_second_time_there_is_nothing_to_retract(run: Run, saved: Path) -> None:
    arguments = ("retract", saved, "--run", RUN, "--artifact", "one", *WHO)
    assert run(*arguments).exit_code == 0
    again = run(*arguments)
    assert (again.exit_code, again.stdout) == (0, "retracted before  one\n")


def test_a_dry_run_says_what_would_be_done(run: Run, saved: Path) -> None:
    arguments = ("retract", saved, "--run", RUN, "--artifact", "one", "--delete-artifacts", "--dry-run", *WHO)
    said = run(*arguments).stdout.splitlines()
    assert said[0] == "to be retracted  one"
    assert said[1].startswith("to be deleted  runs/")
    document = json.loads(run(*arguments, "--format", "json").stdout)
    assert (document["dryRun"], document["sequence"], document["targets"]) == (True, None, ["one"])
    assert len(document["deleted"]) == 1
    assert not (saved / "runs" / RUN / "journal/0000000005.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--run", RUN), "say what to retract"),
        (("--checkpoint", "cp_one"), "say which run"),
    ],
)
def test_what_is_missing_is_a_usage_error(options: tuple[str, ...], said: str, run: Run, saved: Path) -> None:
    result = run("retract", saved, *options, *WHO)
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_is_refused_is_status_1_with_the_reason(run: Run, saved: Path) -> None:
    result = run("retract", saved, "--run", RUN, "--checkpoint", "cp_9", *WHO)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "refused, nothing was changed: " in result.stderr
    assert "its checkpoints are: cp_one, cp_two" in result.stderr
    longer = run("retract", saved, "--run", RUN, "--checkpoint", "cp_one", "--by", "", "--reason", "x")
    assert longer.exit_code == 1


def test_without_a_run_the_whole_command_is_offered_for_each_that_is_left(run: Run, saved: Path) -> None:
    Journal("gone").begin().add("run", 3, status="completed").write(saved)
    assert run("prune", saved, "--run", "gone", "--closed-before", "1h", "--by", "ann").exit_code == 0
    result = run("retract", saved, "--artifact", "one", "--delete-artifacts", *WHO)
    offered = f"--run {RUN} --artifact one --by ann --reason 'wrong customer' --delete-artifacts"
    assert [line for line in result.stderr.splitlines() if line.startswith("  safepoint")] == [
        f"  safepoint retract {saved} {offered}"
    ]


def test_of_what_was_written_nobody_says_that_nothing_was(
    run: Run, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deleted(*_: object, **__: object) -> None:
        raise PutAway("all was retracted with record 5, and the run was deleted right after")

    monkeypatch.setattr(module, "retract", deleted)
    result = run("retract", saved, "--run", RUN, "--artifact", "one", *WHO)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == ("Error: all was retracted with record 5, and the run was deleted right after\n")


def test_a_run_that_is_not_there_cannot_be_evaluated(run: Run, saved: Path) -> None:
    assert run("retract", saved, "--run", "nobody", "--checkpoint", "cp_one", *WHO).exit_code == 3
