"""What a process may still do after an interrupt, and what it may not believe of a disk that fails."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from safepoint.reader import load_run
from safepoint.recorder import (
    RecordedRun,
    RecorderError,
    Unclear,
    log,
    request_cancel,
    resume_run,
    start_run,
)
from safepoint.recorder.journal import Journal
from safepoint.store import Outcome, Store, UnreachableError, local, open_store

RUN = "run-1"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)


def start(store: Store, clock: Any) -> RecordedRun:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"])
    return run


@pytest.mark.parametrize("what", ["fence", "cancel"])
def test_a_process_that_was_interrupted_while_it_read_believes_itself_no_more(
    store: Store, clock: Any, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    run = start(store, clock)
    if what == "fence":
        clock.sleep(60)
        resume_run(store, RUN, holder="w2", clock=clock)
    else:
        request_cancel(store, RUN, by="boss", clock=clock)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    name = "_learn_lease" if what == "fence" else "_learn_run"
    with monkeypatch.context() as patched:
        patched.setattr(Journal, name, interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.checkpoint("cp_02", state="s", step_name="b")
    effect = run.effect("pay", step_name="pay", request=1)
    for write in (lambda: effect.call(lambda: pytest.fail("sent")), run.beat, run.complete, run.release):
        with pytest.raises(RecorderError, match="open the run again"):
            write()


def test_an_interrupt_between_write_and_reading_back_loses_nothing(
    store: Store, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(store, clock)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "follow", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.effect("pay", step_name="pay", request=1).call(lambda: pytest.fail("sent"))
    assert run.effect("pay", step_name="pay", request=1).call(lambda: "sent") == "sent"
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    assert [attempt.status for attempt in found.actions["pay"].attempts] == ["failed", "committed"]


def test_what_is_there_but_not_durable_authorises_nothing(
    clock: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(open_store(str(tmp_path)), clock)

    def fail(_folder: int) -> None:
        raise OSError(errno.EIO, "I/O error")

    with monkeypatch.context() as patched:
        patched.setattr(local, "sync_names", fail)
        with pytest.raises(Unclear):
            run.effect("pay", step_name="pay", request=1).call(lambda: pytest.fail("sent"))
    assert run.effect("pay", step_name="pay", request=1).call(lambda: "sent") == "sent"


def test_an_error_behind_an_unclear_answer_leaves_it_unclear(world: Any, store: Store, clock: Any) -> None:
    class Fading(world.HookedStore):  # type: ignore[misc,name-defined]
        puts = -1

        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            self.puts += 1
            if self.puts == 0:
                self.inner.put_if_absent(key, data)
                return Outcome.UNKNOWN
            raise UnreachableError(self.url, "no answer", key)

        def get(self, key: str, limit: int | None = None) -> bytes:
            raise UnreachableError(self.url, "no answer", key)

    run = start(store, clock)
    run._journal.store = Fading(store, lambda moment: None)
    with pytest.raises(Unclear):
        run.checkpoint("cp_02", state="s", step_name="b")
    run._journal.store = store
    assert [c.value["checkpointId"] for c in load_run(store, RUN).run.checkpoints] == ["cp_01", "cp_02"]  # type: ignore[union-attr]  # None fails as well
