"""How far a migration is: a run of its own in the copy, recorded as any other run is (SPEC.md#stores).

Decided here: what the run is called, what it was started with, and when another process may go on with it. The copy's
safety does not rest on its lease: whoever writes here writes the same bytes, and never over any.
Not decided here: what is written between two of its checkpoints (``migration``).
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from safepoint.core.timestamp import SECOND, format_time
from safepoint.core.version import CURRENT
from safepoint.guard import Decision
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import RecordedRun, ResumeRefused, RunExists, StaleDecision, resume_run, start_run
from safepoint.recorder.ending import end_rounds
from safepoint.store import AbsentError, ConflictError, Store, UnreachableError

WORKFLOW = "safepoint-migrate"
"""The workflow of every such run."""

_NAME = re.compile(r"migration-([1-9][0-9]*)")

_LEASE_SECONDS = 60
_PAUSE = 2 * SECOND
"""Nanoseconds between two checkpoints, at least: a record costs more than the copy of a small run."""

_BEAT = 15 * SECOND
"""After so many nanoseconds without a record the lease is renewed."""

_PATIENCE = 90 * SECOND
"""For so many nanoseconds a process waits for another one that is gone: a lease, and twice the skew of clocks."""

_LIMIT = 1_000_000
_POLICY: Mapping[str, Any] = {
    "recordType": "policy",
    "schemaVersion": str(CURRENT),
    # It does nothing to the world but write what it would write again: however often it is killed, it may go on.
    "attemptsWithoutProgress": _LIMIT,
    "attemptsInLife": _LIMIT,
    "cooldownSeconds": 0,
    "cooldownJitterFraction": 0,
    "automaticResumeSeconds": 10 * 365 * 86_400,
    "hardLimitSeconds": 20 * 365 * 86_400,
}


class AnotherMigrationError(ConflictError):
    """Another process is at work on this migration."""


def own_name(segments: Iterable[str]) -> str:
    """What the run of a migration is called whose source has these folders of runs.

    A source that was migrated itself has such a run already, which is copied like all others.
    """
    found = (_NAME.fullmatch(segment) for segment in segments)
    return f"migration-{max((int(match[1]) for match in found if match), default=0) + 1}"


def is_own(segment: str) -> bool:
    """Whether a folder bears the name of a migration's run."""
    return _NAME.fullmatch(segment) is not None


class Progress(AbstractContextManager["Progress"]):
    """The run of one migration, in the copy that it writes."""

    def __init__(
        self,
        target: Store,
        name: str,
        task: Mapping[str, Any] | None,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Reads what is there.

        Args:
            target: the copy.
            name: the run's id.
            task: what is to be done, as JSON: it goes on only with the very same; None: whatever was begun.
            clock: nanoseconds since the Unix epoch.

        Raises:
            StoreError: the copy cannot be read.
        """
        self._target, self._name, self._clock = target, name, clock
        self._run: RecordedRun | None = None
        self._told = 0
        self._found = _load(target, name)
        started = next(iter(self._found.records), None) if self._found else None
        begun = None if started is None else started.value.get("input")
        self.task: Mapping[str, Any] = dict(task if task is not None else begun or {})
        """What is to be done."""
        self.differs = ""
        """How the migration that began here differs from this one; empty where it does not."""
        if started is not None and begun != self.task:
            told = _differences(begun, self.task)
            self.differs = f"another migration writes here, {told}: ask for the same, or name an empty place"
        checkpoint = self._found.newest_checkpoint if self._found else None
        self.state: Mapping[str, Any] = (checkpoint.value.get("stateSnapshot") if checkpoint else None) or {}
        """What the last checkpoint says."""

    @property
    def begun(self) -> bool:
        """Whether this migration has written anything here before."""
        return self._found is not None

    @property
    def completed(self) -> bool:
        """Whether it has written everything."""
        return self._found is not None and self._found.status == "completed"

    def settle(self) -> None:
        """Let the log of a finished migration say so, where its process was killed right behind its last word."""
        end_rounds(self._target, self._name, clock=self._clock)

    @property
    def copy_id(self) -> str:
        """What tells this copy from any other at the same place: its first record was written by one process once."""
        found = _load(self._target, self._name)
        return "" if found is None else found.records[0].digest

    def take(self) -> str:
        """Begin the run, or go on with it; how another migration differs that has begun there just now, else nothing.

        Raises:
            AnotherMigrationError: another process is at work on it.
            RecorderError: nothing can be recorded there.
            StoreError: the copy cannot be read or written.
        """
        holder = f"{socket.gethostname()} {os.getpid()}"
        try:
            if self._found is None:
                self._run = start_run(
                    self._target,
                    self._name,
                    workflow=WORKFLOW,
                    holder=holder,
                    ttl_seconds=_LEASE_SECONDS,
                    input=self.task,
                    policy=_POLICY,
                    clock=self._clock,
                )
            else:
                self._run = self._resume(self._found, holder)
        except RunExists as exists:
            there = Progress(self._target, self._name, self.task, clock=self._clock)
            if there.differs:
                return there.differs
            raise self._outrun() from exists
        except StaleDecision as stale:
            raise self._outrun() from stale
        self._told = self._clock()
        return ""

    def _resume(self, found: Run, holder: str) -> RecordedRun:
        """Goes on with the run; where its last owner is gone, it waits for what that one had begun to recover."""
        for last in (False, True):
            death = self._death(found)
            try:
                return resume_run(
                    self._target,
                    self._name,
                    holder=holder,
                    ttl_seconds=_LEASE_SECONDS,
                    facts=death,
                    policy=_POLICY,
                    clock=self._clock,
                )
            except ResumeRefused as refused:
                until = refused.decision.not_before
                pause = 0 if until is None else until - self._clock()
                # a clock of somebody's own does not go on while this process sleeps
                patient = self._clock is time.time_ns and 0 < pause < _PATIENCE
                if last or death is None or not patient:
                    raise self._refused(refused.decision) from refused
                time.sleep(pause / SECOND)
        raise AssertionError("the second time it is one of the two")

    def tell(self, state: Mapping[str, Any], step: str, *, now: bool = False) -> None:
        """Record how far it is, unless that was done a moment ago.

        Args:
            state: what a process that goes on needs to know.
            step: what is being done.
            now: in any case.
        """
        at = self._clock()
        self.state = state
        if not now and at - self._told < _PAUSE:
            return
        run = self._running
        here = run.last_checkpoint
        number = int(str(here["checkpointId"]).rpartition("-")[2]) + 1 if here else 1
        run.checkpoint(
            f"{step}-{number}", state=step, step_name=step, reason="periodic", state_snapshot=dict(state)
        )
        self._told = self._clock()

    def breathe(self) -> None:
        """Renew the lease where nothing was recorded for a while."""
        if self._clock() - self._told > _BEAT:
            self._running.beat()
            self._told = self._clock()

    def complete(self) -> None:
        """Record that everything is there."""
        self._running.complete()

    @property
    def _running(self) -> RecordedRun:
        if self._run is None:
            raise RuntimeError("take() comes first")
        return self._run

    def _outrun(self) -> AnotherMigrationError:
        problem = "another process has just begun this migration, or gone on with it"
        return AnotherMigrationError(self._target.url, problem, self._name, self._remedy)

    def _refused(self, decision: Decision) -> AnotherMigrationError:
        if decision.verdict == "no_op":
            problem = "another process has just finished this migration"
            return AnotherMigrationError(self._target.url, problem, self._name, "give the same command again")
        why = "; ".join(r.message for r in decision.reasons if r.verdict == decision.verdict)
        lease = self._found.ownership.lease.value if self._found and self._found.ownership else {}
        who = f"; it is held by {lease['holder']}" if lease.get("holder") else ""
        until = decision.not_before
        when = "" if until is None else f"; if that process is gone, this can go on from {format_time(until)}"
        problem = f"another process may be at work on this migration: {why}{who}{when}"
        return AnotherMigrationError(self._target.url, problem, self._name, self._remedy)

    @property
    def _remedy(self) -> str:
        look = f"safepoint show {self._target.url} --run {self._name}"
        return f"wait for it, or look with {look}, then give the same command again"

    def _death(self, run: Run) -> Mapping[str, Any] | None:
        """Facts that say that the last owner is dead, if it ran on this machine and is gone, or there was never one."""
        owner = run.ownership
        holder = str(owner.lease.value.get("holder") or "") if owner else ""
        host, _, process = holder.rpartition(" ")
        if owner is None:
            # Killed between its first two records, or about to claim, and then it loses that claim to this process.
            gone: dict[str, Any] = {
                "holder": "nobody",
                "proof": "no lease was claimed, and without one nothing is written",
            }
        elif host == socket.gethostname() and process.isdigit() and not _is_alive(int(process)):
            gone = {"leaseEpoch": owner.epoch, "holder": holder, "proof": f"no process {process} on {host}"}
        else:
            return None
        now = format_time(self._clock())
        return {
            "recordType": "facts",
            "schemaVersion": str(CURRENT),
            "runId": self._name,
            "observedAt": now,
            "owners": [{**gone, "state": "dead", "observedAt": now}],
        }

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._run is not None and not self.completed:
            self._run.__exit__(kind, error, trace)


def _load(target: Store, name: str) -> Run | None:
    try:
        found = load_run(target, name)
    except AbsentError:
        return None
    for fault in found.faults:
        if fault.code == "SP002":  # with a record that was not read the run would look like another one
            raise UnreachableError(target.url, fault.message, name, "give the same command again")
    return found.run


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_SAID = {
    "source": "the source",
    "to": "--to",
    "payloads": "--payload",
    "payloadDigest": "the steps of --payload",
    "allowLoss": "--allow-loss",
    "keepGoing": "--keep-going",
    "tool": "the version of this tool",
}
"""What a member of the task is called by whoever gives the command."""


def _differences(before: Any, now: Mapping[str, Any]) -> str:
    if not isinstance(before, Mapping):
        return "nothing says how it was asked for"
    told = [
        _SAID.get(name, name) + ("" if name == "payloadDigest" else f" ({_word(before.get(name))} there)")
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]
    return f"it differs in {', '.join(told)}"


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return {None: "none", True: "given", False: "not given"}.get(value) or str(value)
