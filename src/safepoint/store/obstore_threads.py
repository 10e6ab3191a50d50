"""Threads that wait for obstore's answers, so that whoever asked can be interrupted.

obstore's calls do not end at Ctrl-C, and Python's own pool is waited for before a process ends: with a server that
sends a byte now and then, both may take for ever. The threads here are left behind instead. Not decided here: how long
an answer may take (``obstores``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Thread
from typing import Any, TypeVar

_T = TypeVar("_T")

_KEPT = 10.0
"""Seconds that a thread waits for work before it ends."""

_Job = tuple[Future[Any], Callable[[], Any]]


class Threads:
    """As many threads as have something to wait for, up to `most`; none keeps the process alive."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = Condition()
        self._jobs: deque[_Job] = deque()
        self._idle = 0
        self._alive = 0

    def begin(self, work: Callable[[], _T], *, at_once: bool = False) -> Future[_T]:
        """What `work` returns or raises, when it has; until it has begun, it can be cancelled.

        Args:
            work: called in another thread.
            at_once: begin although `most` have begun and none has ended; for whoever waits for this one.
        """
        future: Future[_T] = Future()
        job = future, work
        with self._changed:
            if self._idle > len(self._jobs):
                self._jobs.append(job)
                self._changed.notify()
            elif at_once or self._alive < self._most:
                Thread(target=self._run, args=[job], name="safepoint-obstore", daemon=True).start()
                self._alive += 1
            else:
                self._jobs.append(job)
        return future

    def _run(self, job: _Job | None) -> None:
        while job is not None:
            _do(*job)
            job = None  # it holds the answer, which nobody here waits for
            job = self._next()

    def _next(self) -> _Job | None:
        with self._changed:
            self._idle += 1
            found = self._changed.wait_for(lambda: self._jobs, _KEPT)
            self._idle -= 1
            if found:
                return self._jobs.popleft()
            self._alive -= 1
            return None


def _do(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
        future.set_exception(error)
    else:
        future.set_result(result)
