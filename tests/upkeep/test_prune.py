"""Deleting runs: only what is closed, never without a word about it, and to the end whenever it was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from closed import LATER, filled, finished, objects, said
from crashing import Watched, kills, moments_of, objects_of
from journals import START, Journal, at

import safepoint
from safepoint import api
from safepoint.core.digest import encode_record
from safepoint.core.kind import recognise
from safepoint.core.timestamp import SECOND, format_time
from safepoint.recorder import RecorderError, ResumeRefused, RunExists, request_cancel, resume_run, start_run
from safepoint.schemas import check
from safepoint.store import Store, UnsupportedError
from safepoint.store.capabilities import capabilities_of
from safepoint.store.layout import artifact_key, deleted_key, journal_key, recovery_key
from safepoint.upkeep.pack import pack
from safepoint.upkeep.prune import prune
from safepoint.upkeep.runs import Change

BOTH = pytest.mark.parametrize("kind", ["local", "memory"])
MARKER = deleted_key("run-1")


def pruned(store: Store, **options: Any) -> list[Change]:
    return list(prune(store, **{"closed_before": LATER, "now": LATER, "by": "ann", **options}))


def outcomes(changes: list[Change]) -> dict[str, str]:
    return {change.run_id: change.outcome for change in changes}


def codes(store: Store) -> list[str]:
    return [finding.code for found in api.scan_store(store) for finding in api.findings_of(found)]


@BOTH
def test_all_that_is_left_of_a_run_says_that_it_was_deleted(kind: str, tmp_path: Path) -> None:
    journal = finished()
    store = filled(kind, tmp_path, objects(journal))
    [change] = pruned(store, reason="a year is over")
    counts = {"records": 10, "checkpoints": 2, "actions": 1, "artifacts": 2}
    assert (change.outcome, change.counts) == ("done", {**counts, "objects": 13})
    left = objects_of(store)
    assert left.keys() == {MARKER}
    marker, run = said(left[MARKER]), journal.fold()
    assert marker == {
        "recordType": "deleted",
        "schemaVersion": "v3",
        "runId": "run-1",
        "deletedAt": format_time(LATER),
        "by": "ann",
        "reason": "a year is over",
        "status": "completed",
        "endedAt": at(6),
        "heads": {
            "journal": {"sequence": 7, "digest": run.head.digest},
            "recovery": {"sequence": 3, "digest": run.recovery[-1].digest},
        },
        "counts": counts,
    }
    identity, faults = recognise(marker)
    assert identity is not None
    assert (*faults, *check(identity, marker)) == ()


def test_a_packed_run_can_be_deleted(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    assert outcomes(list(pack(store, now=LATER))) == {"run-1": "done"}
    assert outcomes(pruned(store)) == {"run-1": "done"}
    assert objects_of(store).keys() == {MARKER}


def test_a_deleted_run_is_listed_validates_and_never_goes_on(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    pruned(store)
    assert codes(store) == []
    [found] = api.scan_store(store)
    assert found.run is not None
    assert found.run.status == "deleted"
    decision = safepoint.guard(store, "run-1", now=LATER)
    assert (decision.verdict, [reason.code for reason in decision.reasons]) == ("no_op", ["SP717"])
    with pytest.raises(RunExists):
        start_run(store, "run-1", workflow="publish", holder="worker")
    with pytest.raises(ResumeRefused):
        resume_run(store, "run-1", holder="worker")
    with pytest.raises(RecorderError):
        request_cancel(store, "run-1", by="ann")
    assert outcomes(pruned(store)) == {"run-1": "already"}


def test_a_dry_run_deletes_nothing(tmp_path: Path) -> None:
    content = objects(finished())
    store = filled("memory", tmp_path, content)
    [change] = pruned(store, dry_run=True)
    assert (change.outcome, change.counts["records"]) == ("would", 10)
    assert objects_of(store) == content


# What is not deleted


def open_runs() -> dict[str, dict[str, bytes]]:
    doubtful = Journal().begin().checkpoint(2).ledger(3, "attempting").add("run", 4, status="completed")
    asked = Journal().begin().checkpoint(2)
    asked.add("approval", 3, approvalId="ap-1", checkpointId="cp-1", event="requested")
    asked.add("run", 4, status="cancelled")
    damaged = objects(finished())
    damaged[journal_key("run-1", 4)] = b"{"
    gap = objects(finished())
    del gap[journal_key("run-1", 4)]
    return {
        "an effect in doubt": objects(doubtful),
        "a question": objects(asked),
        "a text that cannot be read": damaged,
        "a gap": gap,
        "an object that no run holds": {**objects(finished()), "runs/run-1/notes.txt": b"mine"},
        "a marker that cannot be read": {**objects(finished()), MARKER: b"{"},
    }


@pytest.mark.parametrize("why", open_runs())
def test_what_is_open_or_not_sound_is_left_and_named(why: str, tmp_path: Path) -> None:
    content = open_runs()[why]
    store = filled("memory", tmp_path, content)
    [change] = pruned(store)
    assert change.outcome == "left"
    assert change.message
    assert objects_of(store) == content


@pytest.mark.parametrize("status", ["started", "failed"])
def test_what_may_go_on_is_passed_over(status: str, tmp_path: Path) -> None:
    journal = Journal().begin()
    content = objects(
        journal if status == "started" else journal.add("run", 3, status=status), artifacts=False
    )
    store = filled("memory", tmp_path, content)
    assert outcomes(pruned(store)) == {"run-1": "passed"}
    assert objects_of(store) == content


def test_what_was_written_to_lately_is_too_young_even_if_it_ended_long_ago(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    assert outcomes(pruned(store, closed_before=START + 402 * SECOND)) == {"run-1": "passed"}
    assert outcomes(pruned(store, closed_before=START + 402 * SECOND + 1)) == {"run-1": "done"}


def test_a_live_lease_holds_a_run(tmp_path: Path) -> None:
    journal = Journal().begin().ledger(2, "attempting").add("run", 3, status="completed")
    journal.claim(80, purpose="resolution").ledger(81, "committed")
    store = filled("memory", tmp_path, objects(journal, artifacts=False))
    [change] = pruned(store, now=START + 150 * SECOND)
    assert (change.outcome, change.brief) == ("passed", "with a live lease")
    assert outcomes(pruned(store, now=START + 151 * SECOND)) == {"run-1": "done"}


def test_an_owner_that_wrote_the_end_itself_is_not_waited_for(tmp_path: Path) -> None:
    journal = Journal().begin().add("run", 3, status="completed")
    store = filled("memory", tmp_path, objects(journal, artifacts=False))
    assert outcomes(pruned(store, now=START + 4 * SECOND)) == {"run-1": "done"}


def test_the_parent_of_a_run_that_is_not_closed_is_left(tmp_path: Path) -> None:
    child = Journal("child").begin(parentRunId="run-1")
    store = filled("memory", tmp_path, objects(finished(), child, artifacts=False))
    [passed, left] = pruned(store)
    assert (passed.run_id, passed.outcome) == ("child", "passed")
    assert (left.run_id, left.outcome) == ("run-1", "left")
    assert left.message == "its child child is not closed, and names it as its parent"
    assert outcomes(pruned(store, runs=["run-1"])) == {"run-1": "left"}


def test_parents_and_children_that_are_closed_go_together(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished(), finished("child", parentRunId="run-1")))
    list(pack(store, now=LATER, runs=["child"]))
    assert outcomes(pruned(store)) == {"child": "done", "run-1": "done"}
    assert objects_of(store).keys() == {MARKER, deleted_key("child")}


def test_a_name_that_no_record_could_hold_is_refused_before_anything_is_looked_at(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    for wrong in ({"by": ""}, {"by": "a\nb"}, {"reason": ""}, {"reason": "x" * 5000}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            pruned(store, **wrong)
    assert MARKER not in objects_of(store)


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    with pytest.raises(safepoint.StoreError, match="no folder of a run 'run-2'"):
        pruned(store, runs=["run-1", "run-2"])
    assert MARKER not in objects_of(store)


def test_a_store_that_cannot_claim_is_refused(tmp_path: Path) -> None:
    store = Watched(filled("memory", tmp_path, objects(finished())), lambda what, key: None)
    store.capabilities = capabilities_of("http")
    with pytest.raises(UnsupportedError):
        pruned(store)


# Kills, and others at the same time

EVERY = {"local": 5, "memory": 1}


@BOTH
def test_a_kill_at_any_moment_leaves_a_run_or_a_word_about_it_and_the_next_time_finishes(
    kind: str, tmp_path: Path
) -> None:
    content = objects(finished())
    for moment, store in kills(lambda: filled(kind, tmp_path, content), pruned, EVERY[kind]):
        left = objects_of(store)
        if MARKER in left:
            assert codes(store) == (["SP010"] if len(left) > 1 else []), moment
        else:
            assert left == content, moment
        assert safepoint.guard(store, "run-1", now=LATER).verdict == "no_op"
        with pytest.raises(RunExists):
            start_run(store, "run-1", workflow="publish", holder="worker")
        assert outcomes(pruned(store, by="bob"))["run-1"] in {"done", "already"}
        left = objects_of(store)
        left.pop("safepoint.json")
        assert left.keys() == {MARKER}


def test_no_writer_appends_to_what_is_left_whenever_it_was_killed(tmp_path: Path) -> None:
    content = objects(finished())
    for _, store in kills(lambda: filled("memory", tmp_path, content), pruned):
        before = objects_of(store)
        with pytest.raises(RecorderError):
            request_cancel(store, "run-1", by="ann")
        assert objects_of(store) == before


def test_an_unfinished_deletion_is_finished_in_a_dry_run_only_by_word(tmp_path: Path) -> None:
    content = objects(finished())
    half = [store for _, store in kills(lambda: filled("memory", tmp_path, content), pruned)]
    marked = next(store for store in half if MARKER in objects_of(store))
    before = objects_of(marked)
    [change] = pruned(marked, dry_run=True)
    assert (change.outcome, change.counts["objects"]) == ("would", 13)
    assert objects_of(marked) == before


@pytest.mark.parametrize("log", [journal_key, recovery_key])
def test_what_was_written_behind_the_word_is_kept_and_named(log: Any, tmp_path: Path) -> None:
    content = objects(finished())
    late = log("run-1", 8)
    started = [store for _, store in kills(lambda: filled("memory", tmp_path, content), pruned)]
    store = next(store for store in started if MARKER in objects_of(store))
    store.put_if_absent(late, b"{}")
    before = objects_of(store)
    [change] = pruned(store)
    assert (change.outcome, change.message) == (
        "left",
        f"{late} was written after it was marked as deleted; nothing of it is removed",
    )
    assert objects_of(store) == before


def test_two_at_once_delete_it_once(tmp_path: Path) -> None:
    content = objects(finished())
    # every second moment: two reads in a row tell no more than one
    for moment in range(1, moments_of(filled("memory", tmp_path, content), pruned) + 1, 2):
        store = filled("memory", tmp_path, content)
        seen = iter(range(1, 1000))

        def meanwhile(what: str, key: str, at: int = moment, store: Store = store, seen: Any = seen) -> None:
            if next(seen) == at:
                pruned(store, by="bob")

        pruned(Watched(store, meanwhile))
        assert outcomes(pruned(store))["run-1"] == "already"
        assert objects_of(store).keys() == {MARKER}


def test_the_bytes_of_artifacts_go_last(tmp_path: Path) -> None:
    content = objects(finished())
    gone: list[str] = []
    store = filled("memory", tmp_path, content)
    pruned(Watched(store, lambda what, key: gone.append(key) if what == "before delete" else None))
    assert gone[0] == journal_key("run-1", 1)
    assert gone[:7] == [journal_key("run-1", number) for number in range(1, 8)]
    assert all(key.startswith("runs/run-1/artifacts/") for key in gone[-2:])
    assert artifact_key("run-1", "sha256:" + "0" * 64).rpartition("/")[0] == gone[-1].rpartition("/")[0]


@pytest.mark.parametrize(
    ("change", "code"),
    [({"runId": "run-2"}, "SP007"), ({"recordType": "store", "layout": 1}, "SP009"), ({"by": ""}, "SP206")],
)
def test_a_word_that_is_not_sound_deletes_nothing(change: dict[str, Any], code: str, tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished()))
    pruned(store)
    marker = {**said(store.get(MARKER)), **change}
    if "layout" in change:
        marker = {"schemaVersion": "v3", **change}
    doubtful = filled("memory", tmp_path, {**objects(finished()), MARKER: encode_record(marker)})
    assert code in codes(doubtful)
    assert safepoint.guard(doubtful, "run-1", now=LATER).verdict == "hand_over"
    before = objects_of(doubtful)
    assert outcomes(pruned(doubtful)) == {"run-1": "left"}
    assert objects_of(doubtful) == before
