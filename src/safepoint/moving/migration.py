"""A whole store in another version, at another place: judged, written, read back, and sealed where that was asked for.

Decided here: the order of it all; that nothing is written before everything was found to be migratable; and how an
interrupted migration goes on. Not decided here: what becomes of an object (``folder``), how it is written
(``writing``), and how the progress is recorded (``progress``).

The source is read twice, first to judge and then to write: to keep every result in between would not fit a large store
into memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safepoint.core.fault import Fault, Place
from safepoint.core.version import Version
from safepoint.migrate import Migrator
from safepoint.moving import writing
from safepoint.moving.folder import Plan
from safepoint.moving.progress import WORKFLOW, Progress, is_own, own_name
from safepoint.moving.sealing import Sealed, seal_original
from safepoint.moving.sharing import Work, work_on
from safepoint.moving.tally import NOTHING, Tally, chained
from safepoint.reader import load_run
from safepoint.store import AbsentError, ConflictError, Store
from safepoint.store.copying import absolute, overlap
from safepoint.store.opening import local_path
from safepoint.version import __version__

_LOSSES = ("SP601", "SP605")
_STOPS = ("SP604", "SP614")


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be done to a store."""

    to: Version | None = None
    """The version of the format to write; None: each record keeps its own."""
    payloads: tuple[str, ...] = ()
    """The payload schemas to bring checkpoints to."""
    payload_digest: str | None = None
    """Of the users' steps that lead there: with other ones it is another migration."""
    allow_loss: bool = False
    """Leave out what the version lacks."""
    keep_going: bool = False
    """Copy what cannot be migrated as it is."""
    seal: bool = False
    """End the authority of each original, once its copy is whole."""
    sealed_by: str = ""
    """Who answers for that."""
    jobs: int = 1
    """Processes that share the runs, where both places are on a local disk."""

    def task(self, source: Store) -> dict[str, Any]:
        """What decides about the bytes of the copy, as its progress is started with it."""
        return {
            "source": absolute(source.url),
            "to": None if self.to is None else str(self.to),
            "payloads": sorted(self.payloads),
            "payloadDigest": self.payload_digest,
            "allowLoss": self.allow_loss,
            "keepGoing": self.keep_going,
            "tool": f"safepoint {__version__}",
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a store, or would."""

    outcome: Literal["planned", "refused", "done", "nothingToDo"]
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


Watch = Callable[[str, int, int], None]
"""Told what is being done, how many folders of how many are done."""


def _unwatched(_what: str, _done: int, _of: int) -> None:
    pass


def plan_store(
    source: Store,
    migrator: Migrator,
    request: Request,
    target: Store | None = None,
    *,
    watch: Watch = _unwatched,
) -> Report:
    """What a migration would do; nothing is written.

    Args:
        source: the store to read.
        migrator: how a record migrates.
        request: what is asked for.
        target: where it would be written; what is in the way there is a fault.
        watch: told how far it is.

    Raises:
        StoreError: one of the two cannot be read.
    """
    if target is not None and overlap(source.url, target.url):
        return Report("refused", _apart(target))
    plan = _plan(source, target, migrator, request)
    name = own_name(source.folders("runs"))
    tally = _judge(source, target, plan, name, request, watch)
    return Report("refused" if _refuses(tally, request, source) else "planned", tally)


def migrate_store(
    source: Store,
    target: Store,
    migrator: Migrator,
    request: Request,
    *,
    watch: Watch = _unwatched,
    clock: Callable[[], int] = time.time_ns,
) -> Report:
    """Every record of `source` as it is asked for, in `target`, which must be empty or hold a part of the same.

    `source` is never written to, but for the records that seal it. Names stay, unless a record loses its place in a
    journal; so do the bytes of all that needs no change.

    Args:
        source: the store to read.
        target: where to write; by put-if-absent only.
        migrator: how a record migrates.
        request: what is asked for.
        watch: told how far it is.
        clock: nanoseconds since the Unix epoch, for the records of progress and seals.

    Raises:
        AnotherMigrationError: another process is at work on the same migration.
        ConflictError: something was in the way when it was to be written.
        RecorderError: no progress can be recorded there.
        StoreError: one of the two cannot be read, or the target cannot be written to safely.
    """
    if overlap(source.url, target.url):
        return Report("refused", _apart(target))
    plan = _plan(source, target, migrator, request)
    name = own_name(source.folders("runs"))
    progress = Progress(target, name, request.task(source), clock=clock)
    if progress.differs:
        return _taken(target, progress.differs, name)
    if progress.completed:
        tally, digest = _compare(source, target, plan, request, watch), None
        if tally.codes["SP615"] or tally.refused:
            return Report("refused", tally, run_id=name)
    else:
        if not progress.begun:
            tally = _judge(source, target, plan, name, request, watch)
            if _refuses(tally, request, source):
                return Report("refused", tally)
            writing.write_description(source, target)
        with progress:
            if differs := progress.take():
                return _taken(target, differs, name)
            tally, digest = _write(source, target, plan, name, request, progress, watch)
            progress.complete()
    seals = tuple(_seal(source, target, plan, request, watch, clock)) if request.seal else ()
    tally.report(seal.fault for seal in seals if seal.fault is not None)
    outcome: Literal["done", "nothingToDo"] = "nothingToDo" if progress.completed else "done"
    return Report(outcome, tally, digest, name, seals, resumed=progress.begun and not progress.completed)


def _plan(source: Store, target: Store | None, migrator: Migrator, request: Request) -> Plan:
    copy = "" if target is None else _uri(target)
    return Plan(migrator, absolute(source.url), copy, request.to, request.keep_going)


def _uri(store: Store) -> str:
    """Its URL as a record may name it: a path is spelt as one."""
    url = absolute(store.url)
    path = local_path(url)
    return url if path is None else Path(path).as_uri()


def _taken(target: Store, differs: str, name: str) -> Report:
    tally = Tally()
    tally.report([Fault("SP604", differs, place=Place(target.url_of(f"runs/{name}")))])
    return Report("refused", tally)


def _apart(target: Store) -> Tally:
    tally = Tally()
    tally.report([Fault("SP604", "source and target lie in each other", place=Place(target.url))])
    return tally


def _refuses(tally: Tally, request: Request, source: Store) -> bool:
    """Whether there is a reason not to begin; a loss that nobody allowed becomes one."""
    lost = sum(tally.codes[code] for code in _LOSSES)
    if lost and not request.allow_loss:
        message = f"{lost} records or demands have no place in {request.to}: nothing was written"
        tally.report([Fault("SP601", message, place=Place(source.url))])
        return True
    return bool(tally.refused or any(tally.codes[code] for code in _STOPS))


def _judge(
    source: Store, target: Store | None, plan: Plan, name: str, request: Request, watch: Watch
) -> Tally:
    """The fates of all objects, and every reason not to begin."""
    tally = writing.judge_loose(source, target, plan).tally
    work = Work("judge", source, target, plan, request.jobs)
    total = _count(source)
    for number, (_, done) in enumerate(work_on(work, source.folders("runs")), start=1):
        tally.merge(done.tally)
        watch("looked at", number, total)
    if target is not None:
        tally.report(_strangers(source, target, name))
    tally.report(_half_made(source))
    return tally


def _half_made(source: Store) -> Iterator[Fault]:
    """A source that is a copy itself, and not whole yet."""
    for segment in filter(is_own, source.folders("runs")):
        run = load_run(source, segment).run
        if run is not None and run.workflow == WORKFLOW and run.status != "completed":
            why = "the source is a copy itself, and the migration that writes it has not finished"
            yield Fault("SP614", why, place=Place(source.url_of(f"runs/{segment}")))


def _strangers(source: Store, target: Store, own: str) -> Iterator[Fault]:
    """Folders of runs in the target that the source has not."""
    theirs = source.folders("runs")
    known = next(theirs, None)
    with suppress(AbsentError):
        for segment in target.folders("runs"):
            while known is not None and known < segment:
                known = next(theirs, None)
            if segment not in {known, own}:
                why = "the target already holds this run, and the source has none of its name"
                yield Fault("SP604", why, place=Place(target.url_of(f"runs/{segment}")))


def _compare(source: Store, target: Store, plan: Plan, request: Request, watch: Watch) -> Tally:
    """Whether a finished copy still holds what was written."""
    tally = writing.compare_loose(source, target, plan).tally
    work = Work("compare", source, target, plan, request.jobs)
    total = _count(source)
    for number, (_, done) in enumerate(work_on(work, source.folders("runs")), start=1):
        tally.merge(done.tally)
        watch("compared", number, total)
    return tally


def _write(
    source: Store,
    target: Store,
    plan: Plan,
    name: str,
    request: Request,
    progress: Progress,
    watch: Watch,
) -> tuple[Tally, str]:
    """All that is not there yet; the tally and the digest of all, also of what was there."""
    state = progress.state
    last, number = state.get("last"), int(state.get("folders", 0))
    if last is not None and number != sum(segment <= last for segment in source.folders("runs")):
        last, number = None, 0  # the source has more runs or fewer than then: nothing is taken for granted
    if last is None:
        loose = writing.write_loose(source, target, plan)
        tally, digest = loose.tally, chained(NOTHING, loose.digest)
        progress.tell(_state(tally, digest, "", 0), "write", now=True)
    else:
        tally, digest = Tally.of(state["counts"]), str(state["digest"])
    waiting = (segment for segment in source.folders("runs") if last is None or segment > last)
    total, latest = _count(source), last or ""
    for segment, done in work_on(Work("write", source, target, plan, request.jobs), waiting):
        number, latest = number + 1, segment
        tally.merge(done.tally)
        digest = chained(digest, done.digest)
        progress.tell(_state(tally, digest, segment, number), "write")
        progress.breathe()
        watch("written", number, total)
    if number != _count(source):
        problem = "runs came or went while it was migrated"
        raise ConflictError(source.url, problem, "", "stop its writers, then migrate again")
    for fault in _strangers(source, target, name):
        place = fault.place or Place(target.url)
        raise ConflictError(place.url, fault.message, "", "name an empty place for the copy")
    progress.tell(_state(tally, digest, latest, number), "whole", now=True)
    return tally, digest


def _state(tally: Tally, digest: str, last: str, folders: int) -> dict[str, Any]:
    return {"last": last, "folders": folders, "digest": digest, "counts": tally.counts()}


def _seal(
    source: Store,
    target: Store,
    plan: Plan,
    request: Request,
    watch: Watch,
    clock: Callable[[], int],
) -> Iterator[Sealed]:
    total = _count(source)
    for number, segment in enumerate(source.folders("runs"), start=1):
        found = seal_original(source, target, segment, plan, by=request.sealed_by, clock=clock)
        if found is not None:
            yield found
        watch("sealed", number, total)


def _count(source: Store) -> int:
    return sum(1 for _ in source.folders("runs"))
