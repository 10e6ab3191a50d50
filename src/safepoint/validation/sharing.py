"""The runs of a store, shared among processes.

Decided here: how many runs a process is given at once, and that results come in the order of the folders, whoever is
faster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from safepoint.processes import workers
from safepoint.reader import scan_folder
from safepoint.store import StoreError, UnreadableError
from safepoint.store.local import LocalStore
from safepoint.validation.results import Options, Result, result

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_RUNS_AT_A_TIME = 16
"""Folders of runs that a process is given at once: enough that handing them over costs nothing."""

_shared: Options
"""What the processes check by. They find it here, where it was when they were forked: compiled schemas of payloads can
be handed over in no other way."""


def _begin(options: Options) -> None:
    global _shared  # noqa: PLW0603 - a process has no other place for what it began with
    _shared = options


def checkers(options: Options) -> AbstractContextManager[ProcessPoolExecutor | None]:
    """Processes that check by `options`; None for one job."""
    return workers(options.jobs, _begin, replace(options, selection=None))


def side_by_side(store: LocalStore, jobs: int, pool: ProcessPoolExecutor) -> Iterator[Result]:
    """The runs of a store, in the order of their folders, some of them checked by each process.

    Raises:
        StoreError: a folder cannot be listed; raised once all the others were checked.
    """
    from concurrent.futures.process import BrokenProcessPool

    segments = iter(store.folders("runs"))
    waiting: deque[Future[tuple[list[Result], StoreError | None]]] = deque()
    failure: StoreError | None = None
    while True:
        while len(waiting) < 4 * jobs and (some := list(islice(segments, _RUNS_AT_A_TIME))):
            waiting.append(pool.submit(_check_folders, store, some))
        if not waiting:
            break
        try:
            results, error = waiting.popleft().result()
        except BrokenProcessPool:
            problem = "a process that checked its runs was killed, perhaps for want of memory"
            raise UnreadableError(store.url, problem, remedy="try again with fewer jobs") from None
        failure = failure or error
        yield from results
    if failure:
        raise failure


def _check_folders(store: LocalStore, segments: Sequence[str]) -> tuple[list[Result], StoreError | None]:
    results: list[Result] = []
    failure: StoreError | None = None
    for segment in segments:
        found, error = scan_folder(store, segment, _shared.scrutiny)
        failure = failure or error
        if found is not None:
            results.append(result(found, store, _shared))
    return results, failure
