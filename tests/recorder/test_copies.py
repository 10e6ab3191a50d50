"""A copy in the hands of the recorder: it goes on only with the authority of its original."""

from __future__ import annotations

from pathlib import Path

import pytest
from closed import objects
from copied import origin, seal
from journals import START
from questions import dead, facts, started

import safepoint
from safepoint.core.timestamp import SECOND
from safepoint.recorder import ResumeRefused, RunExists, resume_run, start_run
from safepoint.recorder.ending import cancel_run
from safepoint.recorder.errors import ResolutionRefused
from safepoint.recorder.evidence import resolve_action
from safepoint.store import Store, open_store

LATER = START + 200 * SECOND


def laid(path: Path, content: dict[str, bytes]) -> Store:
    for key, data in content.items():
        (path / key).parent.mkdir(parents=True, exist_ok=True)
        (path / key).write_bytes(data)
    return open_store(str(path))


def records(**members: str) -> dict[str, bytes]:
    journal = started().ledger(3, "attempting") if members else started()
    return {key: data for key, data in objects(journal, artifacts=False).items() if "heartbeat" not in key}


def test_it_is_resumed_only_once_its_original_is_sealed(tmp_path: Path) -> None:
    store = laid(tmp_path, {**records(), **origin(started())})
    with pytest.raises(ResumeRefused, match="SP726"):
        resume_run(store, "run-1", holder="w", clock=lambda: LATER)
    laid(tmp_path, seal(started()))
    run = resume_run(store, "run-1", holder="w", clock=lambda: LATER)
    assert run.epoch == 2
    assert list(safepoint.validate(str(tmp_path))) == []
    (tmp_path / "runs/run-1/seal.json").unlink()
    assert safepoint.guard(store, "run-1", now=LATER + 1000 * SECOND).verdict == "resume", (
        "it was claimed here"
    )


def test_a_proven_death_takes_the_place_of_a_seal(tmp_path: Path) -> None:
    store = laid(tmp_path, {**records(), **origin(started())})
    known = facts(190, owners=[dead()])
    assert resume_run(store, "run-1", holder="w", facts=known, clock=lambda: LATER).epoch == 2


def test_no_run_begins_where_a_copy_has(tmp_path: Path) -> None:
    store = laid(tmp_path, origin(started()))
    with pytest.raises(RunExists):
        start_run(store, "run-1", workflow="w", holder="h", clock=lambda: LATER)


def test_no_human_ends_it_or_answers_in_it_before(tmp_path: Path) -> None:
    doubtful = started().ledger(3, "attempting")
    store = laid(tmp_path, {**records(with_effect="yes"), **origin(doubtful)})
    with pytest.raises(ResolutionRefused, match="seal the original"):
        resolve_action(
            store,
            "run-1",
            "send",
            outcome="abandoned",
            by="eve",
            evidence="ticket",
            reason="lost",
            clock=lambda: LATER,
        )
    ending = cancel_run(store, "run-1", by="eve", dry_run=True, clock=lambda: LATER)
    assert not ending.ended
    assert [reason.code for reason in ending.alive] == ["SP726"]


def test_every_run_of_a_store_is_judged_as_the_copy_that_it_is(tmp_path: Path) -> None:
    laid(tmp_path, {**records(), **origin(started())})
    [judged] = safepoint.guard_all(str(tmp_path), now=LATER)
    assert judged.decision is not None
    assert judged.decision.verdict == "reconcile"
