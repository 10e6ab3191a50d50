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


def test_show_lists_the_artifacts_that_can_be_retracted(run: Run, saved: Path) -> None:
    run("retract", saved, "--run", RUN, "--artifact", "one", *WHO)
    shown = run("show", saved, "--run", RUN).stdout
    table = shown[shown.index("\nartifacts\n") :].splitlines()[2:6]
    assert [line.split() for line in table] == [
        ["artifact", "bytes", "media", "type", "named", "by"],
        ["one", "3", "text/plain", "cp_one", "retracted"],
        ["both", "4", "text/plain", "cp_one,", "cp_two"],
        ["two", "3", "text/plain", "cp_two"],
    ]
    listed = json.loads(run("show", saved, "--run", RUN, "--format", "json").stdout)["artifacts"]
    assert listed[0] == {
        **reference("one", b"one"),
        "namedBy": ["cp_one"],
        "retracted": True,
    }
    assert [artifact["retracted"] for artifact in listed] == [True, False, False]


def test_an_artifact_goes_with_every_checkpoint_that_names_it(run: Run, saved: Path) -> None:
    run("retract", saved, "--run", RUN, "--checkpoint", "cp_two", *WHO)
    listed = json.loads(run("show", saved, "--run", RUN, "--format", "json").stdout)["artifacts"]
    hidden = {artifact["artifactId"]: artifact["retracted"] for artifact in listed}
    assert hidden == {"one": False, "both": False, "two": True}


def test_the_guard_says_of_a_retracted_artifact_that_it_was_retracted(run: Run, saved: Path) -> None:
    run("retract", saved, "--run", RUN, "--artifact", "two", *WHO)
    judged = run("guard", saved, "--run", RUN).stdout
    assert "SP786 world: an artifact of the checkpoint was retracted" in judged
    assert "restore the artifact" not in judged


def test_a_check_counts_the_artifacts_that_it_has_verified(run: Run, saved: Path) -> None:
    checked = run("validate", saved, "--artifacts")
    assert checked.stdout.endswith("4 records and 3 verified artifacts in 4 files, 1 run: nothing wrong\n")
    summary = json.loads(run("validate", saved, "--artifacts", "--format", "json").stdout)["summary"]
    assert summary["artifacts"] == 3
    assert "artifacts" not in json.loads(run("validate", saved, "--format", "json").stdout)["summary"]
    (damaged,) = saved.rglob(hashlib.sha256(b"two").hexdigest())
    damaged.write_bytes(b"owt")
    run("retract", saved, "--run", RUN, "--artifact", "one", *WHO)
    again = run("validate", saved, "--artifacts", "--jobs", "2")
    assert again.exit_code == 1
    assert "5 records and 1 verified artifact in" in again.stdout


def test_the_list_of_runs_says_how_to_see_what_is_wrong(run: Run, saved: Path) -> None:
    assert "what is wrong" not in run("runs", saved).stdout
    (saved / "runs" / RUN / "journal/0000000003.json").write_bytes(b"{")
    listed = run("runs", saved, "--storage-option", "token=hush").stdout
    assert f"what is wrong:  safepoint validate {saved} --storage-option token=…\n" in listed
    assert f"look closer:  safepoint show {saved} --run {RUN} --storage-option token=…\n" in listed
