"""Work that several processes share.

Decided here: that they are forked from this one, end with it, and that results come in the order of the work, whoever
is faster. Not decided here: what the work is.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MOST = 4
"""Processes for each processor, at most; more only cost."""

_task: Callable[[Any], Any]
"""What the processes do. They find it here, where it was when they were forked: compiled schemas can be handed over
in no other way."""


@contextmanager
def workers(jobs: int, begin: Callable[[Any], None], given: Any) -> Iterator[ProcessPoolExecutor | None]:
    """Processes that were forked from this one; None for one job, or where there is no fork.

    Threads would be slower than none: orjson and the schema engine hold the interpreter's lock.

    Args:
        jobs: how many; never more than a few for each processor.
        begin: called with `given` in each of them, which is not copied but inherited.
        given: anything.
    """
    if jobs < 2 or not hasattr(os, "fork"):
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    number, fork = min(jobs, _MOST * (os.cpu_count() or 1)), get_context("fork")
    with ProcessPoolExecutor(number, fork, initializer=_begin, initargs=(os.getpid(), begin, given)) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)  # waited for: a thread that outlives it complains at exit


def in_order(
    task: Callable[[_Item], _Result], items: Iterable[_Item], *, jobs: int, at_a_time: int
) -> Iterator[tuple[_Item, _Result]]:
    """Each item with what `task` makes of it, in the order of the items; some of them are ahead of what was taken.

    Args:
        task: inherited by the processes; its results are handed over as pickles.
        items: taken as they are needed.
        jobs: how many processes; 1: this one does it all.
        at_a_time: items that a process is given at once.

    Raises:
        BrokenProcessPool: a process was killed.
        Exception: what `task` raised, once all items before it came.
    """
    with workers(jobs, _take, task) as pool:
        if pool is None:
            for item in items:
                yield item, task(item)
            return
        rest = iter(items)
        waiting: deque[tuple[list[_Item], Future[tuple[list[_Result], Exception | None]]]] = deque()
        while True:
            while len(waiting) < 4 * jobs and (some := list(islice(rest, at_a_time))):
                waiting.append((some, pool.submit(_do, some)))
            if not waiting:
                return
            some, future = waiting.popleft()
            results, error = future.result()
            yield from zip(some, results, strict=False)  # fewer results where one of them failed
            if error is not None:
                raise error


def _begin(parent: int, begin: Callable[[Any], None], given: Any) -> None:
    begin(given)
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this process once its parent is gone: killed, it can tell nobody, and would be waited for for ever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _take(task: Callable[[Any], Any]) -> None:
    global _task  # noqa: PLW0603 - a process has no other place for what it began with
    _task = task


def _do(items: Sequence[Any]) -> tuple[list[Any], Exception | None]:
    results: list[Any] = []
    for item in items:
        try:
            results.append(_task(item))
        except Exception as error:  # noqa: BLE001 - raised where the results are taken, behind those before it
            return results, error
    return results, None
