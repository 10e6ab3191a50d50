"""Packing and unpacking interrupted, or done by several at once: nothing is lost, and nobody appends to a part."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from closed import LATER, filled, finished, objects
from crashing import KilledError, Watched, kills, moments_of, objects_of
from journals import Journal

import safepoint
from safepoint import api
from safepoint.recorder import RecorderError, RunExists, request_cancel, start_run
from safepoint.store import Store
from safepoint.upkeep.pack import pack, unpack
from safepoint.upkeep.runs import Change

BOTH = pytest.mark.parametrize("kind", ["local", "memory"])


def packed(store: Store) -> list[Change]:
    return list(pack(store, now=LATER))


def outcomes(changes: list[Change]) -> dict[str, str]:
    return {change.run_id: change.outcome for change in changes}


def codes(store: Store) -> list[str]:
    return [finding.code for finding in api.findings_of(api.load(store, "run-1"))]


def records(store: Store) -> list[str]:
    run = api.load(store, "run-1").run
    assert run is not None
    return [record.digest for record in (*run.records, *run.recovery)]


EVERY = {"local": 7, "memory": 1}
"""Of the moments of work every so-manieth is tried: on a disk some of them, in memory all."""


def unpacked(store: Store) -> list[Change]:
    return list(unpack(store, ["run-1"], now=LATER))


def whole(store: Store) -> bool:
    """Whether every record can still be read, and validates."""
    return codes(store) == [] and records(store) == WHOLE


WHOLE = [record.digest for record in (*finished().fold().records, *finished().fold().recovery)]


@BOTH
def test_a_kill_at_any_moment_of_packing_loses_nothing_and_the_next_time_finishes(
    kind: str, tmp_path: Path
) -> None:
    content = objects(finished())
    expected = filled("memory", tmp_path, content)
    packed(expected)
    for moment, store in kills(lambda: filled(kind, tmp_path, content), packed, EVERY[kind]):
        assert whole(store), moment
        assert outcomes(packed(store))["run-1"] in {"done", "already"}
        assert objects_of(store) == objects_of(expected)


@BOTH
def test_a_kill_at_any_moment_of_unpacking_loses_nothing_and_the_next_time_finishes(
    kind: str, tmp_path: Path
) -> None:
    content = objects(finished())
    start = filled("memory", tmp_path, content)
    packed(start)
    lines = objects_of(start)
    for moment, store in kills(lambda: filled(kind, tmp_path, lines), unpacked, EVERY[kind]):
        assert whole(store), moment
        assert outcomes(list(unpack(store, ["run-1"], now=LATER)))["run-1"] in {"done", "already"}
        assert objects_of(store) == content


@pytest.mark.parametrize("back", [False, True], ids=["pack", "unpack"])
def test_no_writer_takes_a_part_of_the_journal_for_the_whole_whenever_packing_was_killed(
    back: bool,
    tmp_path: Path,
) -> None:
    content = objects(finished())
    if back:
        start = filled("memory", tmp_path, content)
        packed(start)
        content = objects_of(start)
    work = unpacked if back else packed
    for _, store in kills(lambda: filled("memory", tmp_path, content), work):
        before = objects_of(store)
        # either the whole journal is there as objects, and it has ended; or there is none to append to
        with pytest.raises(RecorderError):
            request_cancel(store, "run-1", by="ann")
        with pytest.raises(RunExists):
            start_run(store, "run-1", workflow="publish", holder="worker")
        after = objects_of(store)
        after.pop("safepoint.json", None)
        assert after == before


def test_a_run_is_judged_no_laxer_at_any_moment(tmp_path: Path) -> None:
    content = objects(finished())
    for _, store in kills(lambda: filled("memory", tmp_path, content), packed):
        assert safepoint.guard(store, "run-1", now=LATER).verdict == "no_op"


# Others at the same time


def interleaved(store: Store, at_moment: int, other: Any) -> Watched:
    """A store in which `other` is done as a whole at one moment of whoever works in it."""
    seen = iter(range(1, 10_000))

    def moment(what: str, key: str) -> None:
        if next(seen) == at_moment:
            other(store)

    return Watched(store, moment)


@pytest.mark.parametrize("first", ["pack", "unpack"])
@pytest.mark.parametrize("second", ["pack", "unpack"])
def test_two_at_once_lose_nothing_and_one_of_them_can_be_repeated(
    first: str, second: str, tmp_path: Path
) -> None:
    journal = Journal().begin().checkpoint(2).add("run", 3, status="completed")
    journal.recover(400, "detected").recover(401, "assessing").recover(402, "notNeeded")
    content = objects(journal, artifacts=False)
    run = journal.fold()
    expected = [record.digest for record in (*run.records, *run.recovery)]
    start = filled("memory", tmp_path, content)
    packed(start)
    lines = objects_of(start)
    work = {"pack": packed, "unpack": unpacked}
    before = content if first == "pack" else lines
    for moment in range(1, moments_of(filled("memory", tmp_path, before), work[first]) + 1):
        store = filled("memory", tmp_path, before)
        with suppress(safepoint.StoreError):  # what was to be read went away; nothing was removed for it
            work[first](interleaved(store, moment, work[second]))
        assert codes(store) == [], moment
        assert records(store) == expected
        work["unpack"](store)
        assert objects_of(store) == content


def test_a_kill_is_no_exception_that_anybody_catches(tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        for _, _ in kills(
            lambda: filled("memory", tmp_path, {}), lambda s: (_ for _ in ()).throw(KilledError)
        ):
            pass
