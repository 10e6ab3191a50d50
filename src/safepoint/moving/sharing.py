"""The folders of runs, one after the other or shared among processes.

Decided here: that results come in the order of the folders, whoever is faster. Not decided here: what is done with one
(``writing``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from typing import Literal

from safepoint.moving import writing
from safepoint.moving.fates import Plan
from safepoint.moving.writing import Done
from safepoint.processes import in_order
from safepoint.store import Store, UnreadableError
from safepoint.store.local import LocalStore

_RUNS_AT_A_TIME = 4
"""Folders that a process is given at once."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done with each folder."""

    what: Literal["judge", "compare", "write"]
    source: Store
    target: Store | None
    plan: Plan
    jobs: int = 1

    def on(self, segment: str) -> Done:
        """One folder."""
        if self.what == "judge":
            return writing.judge_run(self.source, self.target, segment, self.plan)
        assert self.target is not None, "only judging needs no copy"
        if self.what == "compare":
            return writing.compare_run(self.source, self.target, segment, self.plan)
        return writing.write_run(self.source, self.target, segment, self.plan)


def work_on(work: Work, segments: Iterable[str]) -> Iterator[tuple[str, Done]]:
    """Each folder with what came of it, in their order.

    Raises:
        StoreError: of one folder; those before it are done.
    """
    # Elsewhere than on local disks the wait is for the network, and open connections do not survive a fork.
    local = isinstance(work.source, LocalStore) and isinstance(work.target, LocalStore | None)
    try:
        yield from in_order(work.on, segments, jobs=work.jobs if local else 1, at_a_time=_RUNS_AT_A_TIME)
    except BrokenExecutor:
        problem = "a process that shared its runs was killed, perhaps for want of memory"
        raise UnreadableError(work.source.url, problem, remedy="try again with fewer jobs") from None
