"""One function over many things, several at once, with what it makes of them in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from threading import Event
from typing import TypeVar

_In = TypeVar("_In")
_Out = TypeVar("_Out")

AT_ONCE = 8
"""Threads: enough to hide the way to a bucket and back, few enough for a disk."""


def ahead(work: Callable[[_In], _Out], things: Sequence[_In], stop: Event) -> Iterator[_Out]:
    """What `work` makes of each of `things`, in their order; a bounded number of them is under way.

    Args:
        work: safe to be called from several threads; it looks at `stop` from time to time, and ends early.
        things: what is worked on.
        stop: set once nobody wants the rest.
    """
    if len(things) < 2:
        yield from map(work, things)
        return
    from concurrent.futures import ThreadPoolExecutor

    coming = iter(things)
    with ThreadPoolExecutor(min(AT_ONCE, len(things)), "artifacts") as pool:
        try:
            waiting = deque(pool.submit(work, thing) for thing in islice(coming, 2 * AT_ONCE))
            while waiting:
                done = waiting.popleft().result()
                waiting.extend(pool.submit(work, thing) for thing in islice(coming, 1))
                yield done
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
