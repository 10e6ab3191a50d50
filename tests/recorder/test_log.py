"""The append protocol: unclear answers, lost numbers, and what nobody may write."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Barrier, Thread
from types import ModuleType
from typing import Any

import pytest

from safepoint import schemas
from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.reader import load_run
from safepoint.recorder import (
    CancelRequested,
    Declares,
    IllegalRecord,
    RecordedRun,
    RecorderError,
    RunEnded,
    RunExists,
    Unclear,
    log,
    request_cancel,
    start_run,
)
from safepoint.store import Outcome, Store, UnreachableError, open_store

RUN = "run-1"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)


class FaultyStore:
    """A store whose n-th put fails in one of the ways in which networks fail."""

    def __new__(cls, world: ModuleType, inner: Store, at: int, fault: str) -> Any:
        class Faulty(world.HookedStore):  # type: ignore[misc,name-defined]
            puts = 0

            def put_if_absent(self, key: str, data: bytes) -> Outcome:
                self.puts += 1
                if self.puts != at:
                    return self.inner.put_if_absent(key, data)
                if fault == "never arrived":
                    return Outcome.UNKNOWN
                outcome = self.inner.put_if_absent(key, data)
                # "reported as lost": the client retried, and met its own first write
                return (
                    Outcome.UNKNOWN
                    if fault == "answer lost"
                    else Outcome.LOST
                    if outcome is Outcome.WON
                    else outcome
                )

        return Faulty(inner, lambda moment: None)


@pytest.mark.parametrize("fault", ["never arrived", "answer lost", "reported as lost"])
@pytest.mark.parametrize("at", range(1, 11))
def test_an_unclear_answer_neither_doubles_nor_drops_a_record(
    world: ModuleType, store: Store, clock: Any, fault: str, at: int
) -> None:
    faulty = FaultyStore(world, store, at, fault)
    provider = world.Provider(store, lambda moment: None, keyed=False)
    world.work(world.begin(faulty, clock), provider, "unkeyed")
    run = load_run(store, RUN).run
    assert run is not None
    assert not run.faults
    assert [record.sequence for record in run.records] == list(range(1, 10))
    assert run.status == "completed"
    assert len(provider.applied) == 1


def test_nothing_is_sent_while_nobody_knows_whether_the_attempt_is_recorded(
    world: ModuleType, store: Store, clock: Any
) -> None:
    class Silent(world.HookedStore):  # type: ignore[misc,name-defined]
        silent = False

        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            return Outcome.UNKNOWN if self.silent else self.inner.put_if_absent(key, data)

        def get(self, key: str, limit: int | None = None) -> bytes:
            if self.silent:
                raise UnreachableError(self.url, "no answer", key)
            return bytes(self.inner.get(key, limit))

    silent = Silent(store, lambda moment: None)
    run = world.begin(silent, clock)
    silent.silent = True
    calls: list[int] = []
    with pytest.raises(Unclear), run.effect("pay", step_name="pay", request={}) as effect:
        effect.call(calls.append, 1)
    assert not calls
    silent.silent = False
    run.checkpoint("cp_01", state="s", step_name="pay")
    assert not load_run(store, RUN).run.faults  # type: ignore[union-attr]  # None fails as well


def test_a_number_that_another_took_is_followed_by_reading_on(store: Store, clock: Any) -> None:
    run = open_run(store, clock)
    request_cancel(store, RUN, by="somebody", clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin")
    folded = load_run(store, RUN).run
    assert folded is not None
    assert [record.kind for record in folded.records] == ["run", "lease", "run", "checkpoint"]
    assert not folded.faults


def test_an_attempt_that_lost_its_number_to_a_wish_to_stop_is_not_made(store: Store, clock: Any) -> None:
    run = open_run(store, clock)
    request_cancel(store, RUN, by="somebody", clock=clock)
    with pytest.raises(CancelRequested), run.effect("pay", step_name="pay", request={}) as effect:
        effect.call(lambda: pytest.fail("sent behind a wish to stop"))
    run.cancelled()
    folded = load_run(store, RUN).run
    assert folded is not None
    assert folded.status == "cancelled"
    assert "pay" not in folded.actions


def test_a_wish_to_stop_does_not_damage_a_run_that_has_ended(
    world: ModuleType, store: Store, clock: Any
) -> None:
    run = open_run(store, clock)
    left = [run.complete]

    def hook(moment: str) -> None:
        if moment == "before put" and left:
            left.pop()()

    for opened in (world.HookedStore(store, hook), store):
        with pytest.raises(RunEnded, match="nothing left to stop"):
            request_cancel(opened, RUN, by="somebody", clock=clock)
    assert not load_run(store, RUN).run.faults  # type: ignore[union-attr]  # None fails as well


def test_threads_of_one_process_share_one_queue(store: Store, clock: Any) -> None:
    run = open_run(store, clock)
    start = Barrier(4)

    def worker(name: int) -> None:
        start.wait()
        for number in range(5):
            tool = Declares(effect="write", idempotency="natural")
            action = f"a{name}.{number}"
            with run.effect(action, step_name="s", request={"n": number}, declares=tool) as effect:
                effect.call(lambda: None)

    threads = [Thread(target=worker, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folded = load_run(store, RUN).run
    assert folded is not None
    assert not folded.faults
    assert len(folded.actions) == 20
    assert {action.status for action in folded.actions.values()} == {"committed"}


def test_a_forked_process_may_not_write_under_its_parents_nonce(
    store: Store, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(store, clock)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    for write in (run.beat, lambda: run.checkpoint("cp_01", state="s", step_name="begin")):
        with pytest.raises(RecorderError, match="forked"):
            write()
    assert [entry.key for entry in store.list("runs/run-1/heartbeat/")] == []


def test_nothing_is_appended_behind_a_record_that_cannot_be_read(store: Store, clock: Any) -> None:
    run = open_run(store, clock)
    store.put_if_absent("runs/run-1/journal/0000000003.json", b'{"recordType":')
    with pytest.raises(IllegalRecord, match="cannot be read"):
        run.checkpoint("cp_01", state="s", step_name="begin")


def test_nothing_is_appended_behind_another_history(store: Store, clock: Any) -> None:
    run = open_run(store, clock)
    other = open_run(store.__class__(), clock)  # the same run elsewhere, with other digests
    other.checkpoint("cp_01", state="s", step_name="begin")
    theirs = other._journal.store.get("runs/run-1/journal/0000000003.json")
    store.put_if_absent("runs/run-1/journal/0000000003.json", theirs)
    with pytest.raises(IllegalRecord, match="does not follow"):
        run.checkpoint("cp_02", state="s", step_name="begin")


def test_a_run_begins_once(store: Store, clock: Any) -> None:
    open_run(store, clock)
    with pytest.raises(RunExists):
        open_run(store, clock)


def test_two_processes_that_begin_one_run_at_once_have_one_winner(
    world: ModuleType, store: Store, clock: Any
) -> None:
    late: list[Callable[[], object]] = [lambda: open_run(store, clock)]

    def hook(moment: str) -> None:
        if moment == "after list" and late:
            late.pop()()

    with pytest.raises(RunExists):
        open_run(world.HookedStore(store, hook), clock)
    assert not load_run(store, RUN).run.faults  # type: ignore[union-attr]  # None fails as well


def test_a_store_of_another_layout_is_not_written_to(store: Store, clock: Any) -> None:
    document = b'{"recordType":"store","schemaVersion":"v3","layout":1,"features":["packed"]}'
    store.put_if_absent("safepoint.json", document)
    with pytest.raises(RecorderError, match="features"):
        open_run(store, clock)


def test_a_record_that_does_not_fit_the_format_is_refused_before_it_is_written(
    store: Store, clock: Any
) -> None:
    run = open_run(store, clock)
    with pytest.raises(IllegalRecord, match="SP209"):
        run.checkpoint("cp_01", state="s", step_name="begin", reason="because")
    with pytest.raises(IllegalRecord, match="cannot be stored"):
        run.checkpoint("cp_01", state="s", step_name="begin", state_snapshot=float("nan"))
    run.checkpoint("cp_01", state="s", step_name="begin")


def test_on_disk_every_stored_object_fits_its_schema(world: ModuleType, clock: Any, tmp_path: Any) -> None:
    store = open_store(str(tmp_path))
    provider = world.Provider(store, lambda moment: None, keyed=True)
    run = world.begin(store, clock)
    run.beat()
    world.work(run, provider, "keyed")
    entries = list(store.list())
    assert {entry.key.split("/")[2] for entry in entries if "/" in entry.key} == {"journal", "heartbeat"}
    for entry in entries:
        value, faults = parse(store.get(entry.key))
        identity, more = recognise(value)
        assert identity is not None
        assert not [*faults, *more, *schemas.check(identity, value)]


def open_run(store: Store, clock: Any) -> RecordedRun:
    return start_run(store, RUN, workflow="billing", holder="w1", ttl_seconds=10, clock=clock)
