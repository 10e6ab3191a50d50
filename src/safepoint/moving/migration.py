"""A whole store in another version, at another place: judged, written, read back, and sealed where that was asked for.

Decided here: the order of it all; that nothing is written before everything was found to be migratable; and how an
interrupted migration goes on. Not decided here: what becomes of an object (``fates``), how it is written
(``writing``), and how the progress is recorded (``progress``).

The source is read twice, first to judge and then to write: to keep every result in between would not fit a large store
into memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from safepoint.core.fault import Fault, Place
from safepoint.core.version import CURRENT, Version
from safepoint.migrate import Migrator
from safepoint.moving import writing
from safepoint.moving.fates import LOSSES, Plan
from safepoint.moving.progress import WORKFLOW, Progress, is_own, own_name
from safepoint.moving.sealing import Sealed, seal_original
from safepoint.moving.sharing import Work, work_on
from safepoint.moving.tally import NOTHING, Tally, chained
from safepoint.reader import load_run
from safepoint.store import AbsentError, ConflictError, Store
from safepoint.store.copying import absolute, overlap
from safepoint.store.opening import local_path
from safepoint.version import __version__

_STOPS = ("SP604", "SP614")

Clock = Callable[[], int]
"""Nanoseconds since the Unix epoch."""

Watch = Callable[[str, int, int], None]
"""Told what is being done, and how many folders of how many are done."""

Outcome = Literal["planned", "refused", "done", "nothingToDo"]


class NeverGoesOnError(ValueError):
    """Originals are to be sealed whose copies can never go on."""

    def __init__(self) -> None:
        super().__init__(
            "copies in a lower version lose their journals and never go on: the originals keep their authority"
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a store, or would."""

    outcome: Outcome
    tally: Tally
    digest: str | None = None
    """Of every object of the copy, in the order of the folders; None: nothing was written."""
    run_id: str | None = None
    """The migration's own run in the copy."""
    seals: tuple[Sealed, ...] = ()
    """What became of each original that was to be sealed."""
    resumed: bool = False
    """Whether an interrupted migration went on."""

    @property
    def unsealed(self) -> tuple[Sealed, ...]:
        """Originals that still have authority, although they should not."""
        return tuple(seal for seal in self.seals if seal.fault is not None)


def _unwatched(_what: str, _done: int, _of: int) -> None:
    pass


def plan_store(
    source: Store,
    migrator: Migrator,
    target: Store | None = None,
    *,
    jobs: int = 1,
    watch: Watch = _unwatched,
) -> Report:
    """What `migrate_store` would do; nothing is written.

    Args:
        source: the store to read.
        migrator: how a record migrates, and what is allowed.
        target: where it would be written; what is in the way there is a fault.
        jobs: processes that share the runs, where both places are on a local disk.
        watch: told how far it is.

    Raises:
        StoreError: one of the two cannot be read.
    """
    if target is not None and overlap(source.url, target.url):
        return _refused(target.url, _APART)
    work = _Migration(source, target, migrator, jobs, watch)
    if target is not None:
        progress = Progress(target, work.name, _task(source, migrator))
        if progress.differs:
            return _refused(work.own_url, progress.differs)
        if progress.completed:
            work.know(target, progress)
            tally = work.compare(target)
            refused = tally.codes["SP615"] or tally.refused
            return Report("refused" if refused else "nothingToDo", tally, run_id=work.name)
    tally = work.judge()
    return Report("refused" if work.refuses(tally) else "planned", tally)


def migrate_store(
    source: Store,
    target: Store,
    migrator: Migrator,
    *,
    sealed_by: str | None = None,
    jobs: int = 1,
    watch: Watch = _unwatched,
    clock: Clock = time.time_ns,
) -> Report:
    """Every record of `source` as it is asked for, in `target`, which must be empty or hold a part of the same.

    `source` is never written to, but for the records that seal it. Names stay, unless a record loses its place in a
    journal; so do the bytes of all that needs no change.

    Args:
        source: the store to read.
        target: where to write; by put-if-absent only.
        migrator: how a record migrates, and what is allowed.
        sealed_by: who ends the authority of each original, once its copy is whole; None: nobody.
        jobs: processes that share the runs, where both places are on a local disk.
        watch: told how far it is.
        clock: for the records of progress and seals.

    Raises:
        NeverGoesOnError: the originals are to be sealed, and the copies lose their journals.
        AnotherMigrationError: another process is at work on the same migration.
        ConflictError: something was in the way when it was to be written.
        RecorderError: no progress can be recorded there.
        StoreError: one of the two cannot be read, or the target cannot be written to safely.
    """
    if overlap(source.url, target.url):
        return _refused(target.url, _APART)
    work = _Migration(source, target, migrator, jobs, watch)
    if sealed_by is not None and work.plan.lowers:
        raise NeverGoesOnError
    progress = Progress(target, work.name, _task(source, migrator), clock=clock)
    if progress.differs:
        return _refused(work.own_url, progress.differs)
    digest: str | None = None
    outcome: Outcome = "nothingToDo"
    if progress.completed:
        work.know(target, progress)
        tally = work.compare(target)
        if tally.codes["SP615"] or tally.refused:
            return Report("refused", tally, run_id=work.name)
        writing.clear(source, target)
        progress.settle()
    else:
        if not progress.begun:
            tally = work.judge()
            if work.refuses(tally):
                return Report("refused", tally)
            writing.write_description(source, target)
        with progress:
            if differs := progress.take():
                return _refused(work.own_url, differs)
            tally, digest = work.write(target, progress)
            progress.complete()
        outcome = "done"
        work.know(target, progress)
    tally.report(work.unreached(tally))
    seals = () if sealed_by is None else tuple(work.seal(target, sealed_by, clock, frozenset(tally.kept)))
    tally.report(seal.fault for seal in seals if seal.fault is not None)
    resumed = progress.begun and outcome == "done"
    return Report(outcome, tally, digest, work.name, seals, resumed)


def seal_store(
    source: Store, target: Store, *, sealed_by: str, watch: Watch = _unwatched, clock: Clock = time.time_ns
) -> Report:
    """End the authority of the originals of a finished copy, whatever migration made it.

    Args:
        source: the store that was copied.
        target: its copy.
        sealed_by: who answers for that.
        watch: told how far it is.
        clock: for the records that seal.

    Raises:
        NeverGoesOnError: the copies have lost their journals.
        StoreError: one of the two cannot be read or written.
    """
    work = _Migration(source, target, Migrator(), 1, watch)
    progress = Progress(target, work.name, None, clock=clock)
    if not progress.completed or progress.task.get("source") != absolute(source.url):
        why = f"no finished copy of {source.url} lies here: finish its migration first, by the command that began it"
        return _refused(work.own_url, why)
    to = Version.parse(progress.task.get("to") or "")
    if to is not None and to < CURRENT:
        raise NeverGoesOnError
    work.know(target, progress)
    kept = frozenset(progress.state.get("counts", {}).get("kept", ()))
    seals = tuple(work.seal(target, sealed_by, clock, kept))
    tally = Tally(runs=len(seals))
    tally.report(seal.fault for seal in seals if seal.fault is not None)
    return Report("nothingToDo", tally, None, work.name, seals)


_APART = "source and target lie in each other"


def _refused(url: str, why: str) -> Report:
    tally = Tally()
    tally.report([Fault("SP604", why, place=Place(url))])
    return Report("refused", tally)


def _task(source: Store, migrator: Migrator) -> dict[str, Any]:
    """What decides about the bytes of the copy: what goes on must have the same."""
    payloads = migrator.payloads
    return {
        "source": absolute(source.url),
        "to": None if migrator.to is None else str(migrator.to),
        "payloads": [] if payloads is None else sorted(payloads.targets),
        "payloadDigest": None if payloads is None else payloads.digest,
        "allowLoss": migrator.allow_loss,
        "keepGoing": migrator.keep_going,
        "tool": f"safepoint {__version__}",
    }


class _Migration:
    """The passes over the folders of one store."""

    def __init__(
        self, source: Store, target: Store | None, migrator: Migrator, jobs: int, watch: Watch
    ) -> None:
        self._source, self._target, self._jobs, self._watch = source, target, jobs, watch
        asked = () if migrator.payloads is None else migrator.payloads.targets
        targets = tuple(f'"{name}"'.encode() for name in asked)
        self.plan = Plan(migrator, absolute(source.url), targets=targets)
        self.name = own_name(source.folders("runs"))
        """Of the migration's own run."""
        self.own_url = "" if target is None else target.url_of(f"runs/{self.name}")

    def know(self, target: Store, progress: Progress) -> None:
        """The copy is finished: a seal can name it."""
        self.plan = replace(self.plan, copy={"uri": _uri(target), "copy": progress.copy_id})

    def judge(self) -> Tally:
        """The fates of all objects, and every reason not to begin."""
        tally = writing.judge_loose(self._source, self._target, self.plan).tally
        self._pass("judge", "looked at", tally)
        if self._target is not None:
            tally.report(self._strangers(self._target))
        tally.report(self._half_made())
        tally.report(self.unreached(tally))
        return tally

    def unreached(self, tally: Tally) -> Iterator[Fault]:
        """Payload schemas that were asked for, and that no record names."""
        if self.plan.targets and not tally.reached and not tally.refused:
            asked = ", ".join(name.decode() for name in self.plan.targets)
            why = f"no checkpoint carries {asked} or can be brought to it; look which payloadSchema they name"
            yield Fault("SP617", why, place=Place(self._source.url))

    def refuses(self, tally: Tally) -> bool:
        """Whether there is a reason not to begin; a loss that nobody allowed becomes one."""
        lost = sum(tally.codes[code] for code in LOSSES)
        if lost and not self.plan.migrator.allow_loss:
            message = (
                f"{lost} records or demands have no place in {self.plan.migrator.to}: nothing was written"
            )
            tally.report([Fault("SP601", message, place=Place(self._source.url))])
            return True
        return bool(tally.refused or any(tally.codes[code] for code in _STOPS))

    def compare(self, target: Store) -> Tally:
        """Whether a finished copy still holds what was written."""
        tally = writing.compare_loose(self._source, target, self.plan).tally
        self._pass("compare", "compared", tally)
        return tally

    def _pass(self, what: Literal["judge", "compare"], told: str, tally: Tally) -> None:
        total = self._count()
        work = Work(what, self._source, self._target, self.plan, self._jobs)
        for number, (_, done) in enumerate(work_on(work, self._source.folders("runs")), start=1):
            tally.merge(done.tally)
            self._watch(told, number, total)

    def write(self, target: Store, progress: Progress) -> tuple[Tally, str]:
        """All that is not there yet; the tally and the digest of all, also of what was there."""
        source, state = self._source, progress.state
        last, number = state.get("last"), int(state.get("folders", 0))
        if last is not None and number != sum(segment <= last for segment in source.folders("runs")):
            last, number = (
                None,
                0,
            )  # the source has more runs or fewer than then: nothing is taken for granted
        if last is None:
            loose = writing.write_loose(source, target, self.plan)
            tally, digest = loose.tally, chained(NOTHING, loose.digest)
            progress.tell(_state(tally, digest, "", 0), "write", now=True)
        else:
            tally, digest = Tally.of(state["counts"]), str(state["digest"])
        waiting = (segment for segment in source.folders("runs") if last is None or segment > last)
        total, latest = self._count(), last or ""
        for segment, done in work_on(Work("write", source, target, self.plan, self._jobs), waiting):
            number, latest = number + 1, segment
            tally.merge(done.tally)
            digest = chained(digest, done.digest)
            progress.tell(_state(tally, digest, segment, number), "write")
            progress.breathe()
            self._watch("written", number, total)
        if number != self._count():
            problem = "runs came or went while it was migrated"
            raise ConflictError(source.url, problem, "", "stop its writers, then migrate again")
        for fault in self._strangers(target):
            place = fault.place or Place(target.url)
            raise ConflictError(place.url, fault.message, "", "name an empty place for the copy")
        progress.tell(_state(tally, digest, latest, number), "whole", now=True)
        return tally, digest

    def seal(self, target: Store, by: str, clock: Clock, kept: Collection[str]) -> Iterator[Sealed]:
        """Ends the authority of each original that has a copy."""
        total = self._count()
        for number, segment in enumerate(self._source.folders("runs"), start=1):
            found = seal_original(
                self._source, target, segment, self.plan, kept=segment in kept, by=by, clock=clock
            )
            if found is not None:
                yield found
            self._watch("sealed", number, total)

    def _count(self) -> int:
        return sum(1 for _ in self._source.folders("runs"))

    def _half_made(self) -> Iterator[Fault]:
        """A source that is a copy itself, and not whole yet."""
        for segment in filter(is_own, self._source.folders("runs")):
            run = load_run(self._source, segment).run
            if run is not None and run.workflow == WORKFLOW and run.status != "completed":
                why = "the source is a copy itself, and the migration that writes it has not finished"
                yield Fault("SP614", why, place=Place(self._source.url_of(f"runs/{segment}")))

    def _strangers(self, target: Store) -> Iterator[Fault]:
        """Folders of runs in the target that the source has not."""
        theirs = self._source.folders("runs")
        known = next(theirs, None)
        with suppress(AbsentError):
            for segment in target.folders("runs"):
                while known is not None and known < segment:
                    known = next(theirs, None)
                if segment not in {known, self.name}:
                    why = "the target already holds this run, and the source has none of its name"
                    yield Fault("SP604", why, place=Place(target.url_of(f"runs/{segment}")))


def _uri(store: Store) -> str:
    """Its URL as a record may name it: a path is spelt as one."""
    url = absolute(store.url)
    path = local_path(url)
    return url if path is None else Path(path).as_uri()


def _state(tally: Tally, digest: str, last: str, folders: int) -> dict[str, Any]:
    return {"last": last, "folders": folders, "digest": digest, "counts": tally.counts()}
