"""Runs that are packed or deleted while a process stands still: it never acts on a number that was free again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from closed import LATER, filled, finished, objects
from crashing import Watched, objects_of
from journals import Journal

from safepoint.core.digest import encode_record
from safepoint.core.timestamp import SECOND
from safepoint.reader import load_run
from safepoint.recorder import PutAway, Unclear, log, request_cancel, resume_run, start_run
from safepoint.store import Store, UnreachableError
from safepoint.store.layout import journal_key, recovery_key
from safepoint.upkeep.pack import pack
from safepoint.upkeep.prune import prune
from safepoint.upkeep.retract import retract

SOON = LATER + 7200 * SECOND


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)


def crashed() -> Journal:
    return Journal().begin().checkpoint(2)


def gone_on() -> Journal:
    """The same run, once somebody else went on with it and ended it."""
    journal = crashed()
    return journal.checkpoint(4, "cp-2").add("run", 5, status="completed")


def packed(store: Store) -> None:
    assert [change.outcome for change in pack(store, now=SOON)] == ["done"]


def deleted(store: Store) -> None:
    assert [change.outcome for change in prune(store, closed_before=SOON, now=SOON, by="ann")] == ["done"]


@pytest.mark.parametrize(("put_away", "said"), [(packed, "counts for nothing"), (deleted, "it is of no use")])
def test_a_claim_that_comes_after_all_is_over_is_no_claim(
    put_away: Callable[[Store], None], said: str, tmp_path: Path
) -> None:
    inner = filled("memory", tmp_path, objects(crashed(), artifacts=False))
    claim = journal_key("run-1", 4)

    def stand_still(what: str, key: str) -> None:
        if (what, key) == ("before put", claim):
            # another process goes on, ends the run, and it is put away: the number is free again
            for value in gone_on().values[3:]:
                inner.put_if_absent(journal_key("run-1", value["sequence"]), encode_record(value))
            for entry in list(inner.list("runs/run-1/recovery")):
                inner.delete(entry.key)
            put_away(inner)

    with pytest.raises(PutAway, match=said):
        resume_run(Watched(inner, stand_still), "run-1", holder="worker", clock=lambda: LATER)
    assert claim in objects_of(inner)


def test_a_claim_that_finds_the_run_put_away_is_not_even_tried(tmp_path: Path) -> None:
    inner = filled("memory", tmp_path, objects(crashed(), artifacts=False))

    def stand_still(what: str, key: str) -> None:
        if (what, key) == ("before put", recovery_key("run-1", 3)):
            inner.delete(journal_key("run-1", 1))

    with pytest.raises(PutAway, match="nothing was written"):
        resume_run(Watched(inner, stand_still), "run-1", holder="worker", clock=lambda: LATER)
    assert journal_key("run-1", 4) not in objects_of(inner)


def test_a_record_that_was_packed_with_the_run_counts(tmp_path: Path) -> None:
    inner = filled("memory", tmp_path, objects(finished(), artifacts=False))

    def meanwhile(what: str, key: str) -> None:
        if (what, key) == ("after put", journal_key("run-1", 8)):
            packed(inner)

    done = retract(
        Watched(inner, meanwhile),
        "run-1",
        checkpoints=["cp-1"],
        by="ann",
        reason="erasure",
        clock=lambda: LATER,
    )
    assert done.sequence == 8
    found = load_run(inner, "run-1").run
    assert found is not None
    assert [record.kind for record in found.records][-1] == "retract"


def test_a_store_that_does_not_say_whether_the_run_is_there_leaves_it_unclear(tmp_path: Path) -> None:
    journal = crashed()
    inner = filled("memory", tmp_path, objects(journal, artifacts=False))
    written: list[str] = []

    def silent(what: str, key: str) -> None:
        if what == "after put" and key == journal_key("run-1", 4):
            written.append(key)
        elif written and what in {"before exists", "before list"}:
            raise UnreachableError(inner.url, "no answer", key)

    with pytest.raises(Unclear, match="record 4 was written"):
        request_cancel(Watched(inner, silent), "run-1", by="ann", clock=lambda: LATER)
    assert journal_key("run-1", 4) in objects_of(inner)


def test_an_owner_whose_lease_is_live_need_not_ask(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def count(what: str, key: str) -> None:
        asked[what] += 1

    now = [LATER]
    store = Watched(filled("memory", tmp_path, {}), count)
    run = start_run(store, "run-1", workflow="w", holder="worker", ttl_seconds=60, clock=lambda: now[0])
    asked.clear()
    run.checkpoint("cp-1", state="s", step_name="a", next_steps=["b"])
    run.beat()
    assert asked["before exists"] == 0
    now[0] += 61 * SECOND
    run.checkpoint("cp-2", state="s", step_name="b", next_steps=[])
    assert asked["before exists"] == 2


def test_an_owner_that_may_have_ended_the_run_asks_again_before_it_writes_more(tmp_path: Path) -> None:
    """Its lease is live, but the end was written, though the store did not say so, and the run was put away."""
    inner = filled("memory", tmp_path, {})
    end = journal_key("run-1", 3)
    silent = [True]

    def no_answer(what: str, key: str) -> None:
        if silent[0] and key == end and what in {"after put", "before get"}:
            raise UnreachableError(inner.url, "no answer", key)

    store = Watched(inner, no_answer)
    run = start_run(store, "run-1", workflow="w", holder="worker", clock=lambda: LATER)
    with pytest.raises((Unclear, UnreachableError)):
        run.complete()
    silent[0] = False
    before = objects_of(inner)
    assert end in before
    assert [change.outcome for change in pack(inner, now=LATER)] == ["done"]
    with pytest.raises(PutAway, match="nothing was written"):
        run.checkpoint("cp-1", state="s", step_name="a")
    assert end not in objects_of(inner)


def test_a_run_that_was_just_completed_is_packed_at_once(tmp_path: Path) -> None:
    store = filled("memory", tmp_path, {})
    run = start_run(store, "run-1", workflow="w", holder="worker", clock=lambda: LATER)
    with run:
        run.checkpoint("cp-1", state="s", step_name="a", next_steps=[])
        run.complete()
    assert [change.outcome for change in pack(store, now=LATER)] == ["done"]
    with pytest.raises(PutAway):
        run.approval_state("ap-1")


def test_a_run_that_is_packed_while_its_end_is_written_has_ended_all_the_same(tmp_path: Path) -> None:
    inner = filled("memory", tmp_path, {})

    def meanwhile(what: str, key: str) -> None:
        if (what, key) == ("after put", journal_key("run-1", 3)):
            assert [change.outcome for change in pack(inner, now=LATER)] == ["done"]

    run = start_run(Watched(inner, meanwhile), "run-1", workflow="w", holder="worker", clock=lambda: LATER)
    run.complete()
    found = load_run(inner, "run-1").run
    assert found is not None
    assert found.status == "completed"
