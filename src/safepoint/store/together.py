"""Many objects put at once.

Decided here: how many are put at the same time, so that neither memory nor open files run out, and that whoever is
interrupted does not wait for the rest. Not decided here: how one is put (the stores).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

_T = TypeVar("_T")

_MOST = 64
"""Objects; on a disk each has its file open, and a process may have 256 of them on macOS."""

_SIZE = 8 * 2**20
"""Bytes; a larger object is put alone."""


def batches(items: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    """Keys with their data, in their order, as many together as are put at the same time."""
    batch: list[tuple[str, bytes]] = []
    size = 0
    for item in items:
        if batch and (len(batch) == _MOST or size + len(item[1]) > _SIZE):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item[1])
    if batch:
        yield batch


def side_by_side(
    items: Iterable[tuple[str, bytes]], at_once: int, put: Callable[[str, bytes], _T]
) -> list[_T]:
    """What `put`, which raises nothing, returns for each of `items`, called in up to `at_once` threads."""
    from safepoint.store.obstore_threads import Threads  # work on a disk starts without importing them

    results: list[_T] = []
    for batch in batches(items):
        threads = Threads(min(at_once, len(batch)))
        begun = [threads.begin(partial(put, *item)) for item in batch]
        try:
            results += (each.result() for each in begun)
        finally:
            for each in begun:  # who was interrupted wants none of those that have not begun
                each.cancel()
    return results
