"""The recovery log's side of a resumed run: one episode, kept by the process that drives it (SPEC.md#recovery).

Decided here: which states are entered when. Not decided here: whether the run may go on (``guard``), nor what a
recovery attempt is: those are counted from the journal's leases, so that a crash in here loses none. The log authorises
nothing, so that once the run is claimed no trouble with it stops the run: what could not be written is caught up with.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from threading import RLock
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND
from safepoint.model.episodes import TRANSITIONS, fold_episodes
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.recorder.errors import IllegalRecord, RecorderError
from safepoint.recorder.log import Log
from safepoint.store import StoreError
from safepoint.store.layout import recovery_key


class RecoveryLog(Log):
    """The run's second chain, for the records of recoveries."""

    def __init__(self, journal: Log) -> None:
        """The chain beside `journal`, of the same run and by the same writer."""
        super().__init__(
            journal.store, journal.run_id, recovery_key, nonce=journal.nonce, clock=journal.clock
        )
        self._journal = journal
        self._of_episode: dict[str, list[Record]] = {}

    @property
    def held(self) -> bool:
        """Whether the journal is: they are packed and deleted together."""
        return self._journal.held

    def _has_begun(self) -> bool:
        return True

    def learn(self, record: Record) -> None:
        """Keep the record with its episode."""
        self._of_episode.setdefault(str(record.value["episodeId"]), []).append(record)

    def judge(self, record: Record) -> None:
        """Raise where the episode may not enter this state."""
        faults: list[Fault] = []
        fold_episodes([*self._of_episode.get(str(record.value["episodeId"]), ()), record], faults)
        if own := [fault for fault in faults if fault.place == record.place]:
            raise IllegalRecord("this recovery record may not follow", own)


class Episode:
    """One round of recovery, from the crash that was found to its outcome."""

    def __init__(
        self,
        log: RecoveryLog,
        run: Run,
        *,
        holder: str,
        ttl_seconds: int,
        stable_seconds: int,
        signature: str | None,
    ) -> None:
        self._log = log
        self.number = len(run.ownership.recoveries) + 1 if run.ownership else 1
        self.episode_id = f"ep_{self.number}_{log.nonce[:8]}"
        self._state: str | None = None
        self._lock = RLock()
        self._due: deque[dict[str, Any]] = deque()
        self._stable = stable_seconds * SECOND
        self._progress: int | None = None
        self._common: dict[str, Any] = {
            "holder": holder,
            "ttlSeconds": ttl_seconds,
            "trigger": _trigger(run),
            "failureSignature": signature or _signature(run),
            "failureOf": _failure_of(run),
            "attemptNumber": self.number,
        }

    def record(self, state: str, **members: Any) -> dict[str, Any]:
        """The members of the record that the episode enters `state`."""
        return {
            "recordType": "recovery",
            "episodeId": self.episode_id,
            "state": state,
            **self._common,
            **members,
        }

    def enter(self, state: str, **members: Any) -> None:
        """Write that the episode enters `state`: before the claim, where it must not be another's turn.

        Raises:
            IllegalRecord: another process has ended this episode.
            StoreError: nothing was written.
        """
        with self._lock:
            self._log.append(partial(self.record, state, **members))
            self._common.update(members)
            self._state = state

    def say(self, state: str, **members: Any) -> None:
        """Write that the episode enters `state`, now or with the next state."""
        with self._lock:
            self._due.append(self.record(state, **members))
            self._common.update(members)
            self._state = state
            self.catch_up()

    def catch_up(self) -> None:
        """Write what the log still lacks."""
        with self._lock:
            while self._due:
                try:
                    self._log.append(partial(dict, self._due[0]))
                except IllegalRecord:
                    pass  # it is there, its answer was lost; or another process has ended the episode
                except (RecorderError, StoreError):
                    return
                self._due.popleft()

    def end(self, state: str, outcome: str) -> None:
        """Enter the last `state`, unless the episode is over or cannot get there any more."""
        with self._lock:
            if state in TRANSITIONS[self._state]:
                self.say(state, outcome=outcome)

    def progressed(self, now: int) -> None:
        """A new checkpoint, past the one that the recovery started from."""
        with self._lock:
            if self._state == "resuming":
                self._progress = now
                self.say("probation")
            elif self._progress is not None and now - self._progress >= self._stable:
                self.end("recovered", "went on from a new checkpoint, and was stable")

    def completed(self) -> None:
        """The run came to its end."""
        with self._lock:
            if self._state == "resuming":
                self.say("probation")
            self.end("recovered", "the run was completed")


def supersede(log: RecoveryLog, run: Run) -> None:
    """End the episodes that never came to a claim; the guard has found them lapsed."""
    for episode_id in [episode.episode_id for episode in run.episodes.values() if episode.unclaimed]:
        members = {
            "recordType": "recovery",
            "episodeId": episode_id,
            "state": "superseded",
            "outcome": "lapsed before its claim",
        }
        # Its own writer may have said so in the meantime; and the run is claimed, whatever the log says.
        with suppress(RecorderError, StoreError):
            log.append(partial(dict, members))


def _trigger(run: Run) -> str:
    if run.status == "failed":
        return "runFailed"
    if run.ownership is None:
        return "noOwner"
    return "leaseReleased" if run.ownership.released else "ownerGone"


def _signature(run: Run) -> str:
    """Digest of step and error class: the same crash at the same step is the same failure."""
    checkpoint = run.newest_checkpoint
    steps = (checkpoint.value.get("nextSteps") or [checkpoint.value["stepName"]]) if checkpoint else [None]
    error = (run.ended_by.value.get("error") or {}) if run.ended_by else {}
    return digest_value([steps[0], error.get("class", "crash")])


def _failure_of(run: Run) -> str:
    """``recovery`` where the last recovery attempt died before it got past its checkpoint, else ``step``."""
    if run.ownership is None or run.ownership.lease.value.get("purpose") != "recovery":
        return "step"
    claimed = run.ownership.lease.sequence or 0
    progressed = any((checkpoint.sequence or 0) > claimed for checkpoint in run.checkpoints)
    return "step" if progressed else "recovery"
