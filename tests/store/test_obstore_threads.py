"""The threads that wait for obstore: what they promise to those who ask, and to the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, wait
from functools import partial
from threading import Event

import pytest

from safepoint.store import obstore_threads
from safepoint.store.obstore_threads import Threads


@pytest.fixture
def answered() -> Iterator[Event]:
    """Set in the end, so that no thread of a test stays behind."""
    event = Event()
    yield event
    event.set()


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "safepoint-obstore"]


def test_an_answer_and_an_error_reach_the_one_who_asked() -> None:
    threads = Threads(2)
    assert threads.begin(lambda: 7).result() == 7
    with pytest.raises(ZeroDivisionError):
        threads.begin(lambda: 1 // 0).result()


def test_all_are_begun_in_their_order_and_no_more_at_once_than_was_said() -> None:
    threads, begun, running, most = Threads(3), [], [0], [0]
    lock = threading.Lock()

    def work(number: int) -> int:
        with lock:
            begun.append(number)
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.001)
        with lock:
            running[0] -= 1
        return number

    futures = [threads.begin(partial(work, number)) for number in range(60)]
    assert [future.result(20) for future in futures] == list(range(60))
    assert sorted(begun) == list(range(60))
    assert most[0] <= 3


def test_what_has_not_begun_can_be_cancelled_and_never_begins(answered: Event) -> None:
    threads, begun = Threads(1), []
    first = threads.begin(lambda: answered.wait(20))
    second = threads.begin(lambda: begun.append("second"))
    third = threads.begin(lambda: begun.append("third"))
    assert second.cancel()
    answered.set()
    assert first.result(20)
    third.result(20)
    assert begun == ["third"]
    with pytest.raises(CancelledError):
        second.result(20)


def test_who_waits_is_not_held_up_by_those_who_stall(answered: Event) -> None:
    threads = Threads(1)
    stalled = threads.begin(lambda: answered.wait(20))
    queued = threads.begin(lambda: "queued")
    assert threads.begin(lambda: "now", at_once=True).result(20) == "now"
    assert queued.result(20) == "queued"
    assert not stalled.done()


def test_no_thread_is_waited_for_when_the_process_ends(answered: Event) -> None:
    before = set(ours())
    Threads(1).begin(lambda: answered.wait(20))
    assert [thread.daemon for thread in set(ours()) - before] == [True]


def test_threads_without_work_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obstore_threads, "_KEPT", 0.01)
    before = set(ours())
    threads = Threads(4)
    wait([threads.begin(partial(Event().wait, 0.01)) for _ in range(8)], 20)
    for thread in set(ours()) - before:
        thread.join(20)
    assert not set(ours()) - before
    assert threads.begin(lambda: "again").result(20) == "again"
