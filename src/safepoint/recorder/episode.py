"""The recovery log's side of a resumed run: one episode, kept by the process that drives it (SPEC.md#recovery).

Decided here: which states are entered when, by whoever has the run. Not decided here: whether the run may go on
(``guard``), what a decision without a claim leaves (``assessment``), nor what a recovery attempt is: those are counted
from the journal's leases, so that a crash in here loses none. The log authorises nothing, so that once the run is
claimed no trouble with it stops the run: what could not be written is caught up with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from threading import RLock
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND
from safepoint.model.attempts import RecoveryAttempt, fold_attempts
from safepoint.model.episodes import TRANSITIONS, fold_episodes
from safepoint.model.episodes import Episode as Round
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.recorder.cause import Cause
from safepoint.recorder.errors import IllegalRecord, RecorderError, StaleDecision
from safepoint.recorder.log import Log
from safepoint.recorder.spending import spent_since
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

    @property
    def episodes(self) -> Mapping[str, Round]:
        """The episodes as far as this process has read, the one that began first before all."""
        return fold_episodes([record for records in self._of_episode.values() for record in records], [])

    def newest(self, episode_id: str) -> Record | None:
        """The last record of an episode."""
        return next(reversed(self._of_episode.get(episode_id, ())), None)

    def left_open(self, run: Run) -> Round | None:
        """The episode that whoever decides next goes on with: the oldest that was released and never claimed."""
        claimed = _claimed_by(run)
        free = (e for e in self.episodes.values() if e.unclaimed and e.released)
        return next((e for e in free if e.episode_id not in claimed), None)


class TakenUpError(StaleDecision):
    """Another process went on with the episode, or ended it, since it was read."""


class Episode:
    """One round of recovery, from the crash that was found to its outcome."""

    def __init__(
        self,
        log: RecoveryLog,
        run: Run,
        cause: Cause,
        *,
        going_on: Round | None,
        common: Mapping[str, Any],
        claims: bool,
        stable_seconds: int = 0,
    ) -> None:
        """A new episode, or the next part of one that another process has released.

        Args:
            log: where it is kept.
            run: the run as it was judged.
            cause: what made it begin.
            going_on: the episode as it was left; None: a new one.
            common: members of all its records from here on.
            claims: whether this process is about to claim the run by it; else others need not wait for it.
            stable_seconds: how long a recovery must last behind its first checkpoint.
        """
        self._log = log
        self._run = run
        self._claims = claims
        self.number = len(run.ownership.recoveries) + 1 if run.ownership else 1
        self.episode_id = going_on.episode_id if going_on else _new_id(log, self.number)
        self._seen = going_on.record if going_on else None
        self._state = going_on.state if going_on else None
        self._lock = RLock()
        self._due: deque[dict[str, Any]] = deque()
        self._stable = stable_seconds * SECOND
        self._progress: int | None = None
        self._usage: Mapping[str, Any] | None = None
        self._cost: dict[str, Any] | None = None
        part = {"attemptNumber": self.number} if claims else {"released": True}
        self._common: dict[str, Any] = {**cause.members(going_on), **common, **part}

    @property
    def log(self) -> RecoveryLog:
        """Where it is kept."""
        return self._log

    def record(self, state: str, **members: Any) -> dict[str, Any]:
        """The members of the record that the episode enters `state`."""
        said = {**self._common, **members}
        return {
            "recordType": "recovery",
            "episodeId": self.episode_id,
            "state": state,
            **{name: value for name, value in said.items() if value is not None},
        }

    def way_to(self, state: str) -> tuple[str, ...]:
        """The states on the way from where it is to `state`, which a decision leads to; none where it is there."""
        if self._state == "assessing":
            way: tuple[str, ...] = (state,)
        else:
            way = ("assessing", state) if self._state else ("detected", "assessing", state)
        return way[:-1] if state == "assessing" else way

    def enter(self, state: str, **members: Any) -> Record:
        """Write that the episode enters `state`: before the claim, where it must not be another's turn.

        Raises:
            TakenUpError: another process went on with this episode, or has ended it.
            StoreError: nothing was written.
        """

        def build() -> Mapping[str, Any]:
            # Whoever claims next ends what it did not go on with; a recorder must not leave two rounds open.
            others = self._seen is None and not self._claims and self._log.left_open(self._run) is not None
            if others or self._log.newest(self.episode_id) is not self._seen:
                raise TakenUpError(
                    f"run {self._log.run_id}: another process went on with this recovery, or ended it; judge again"
                )
            return self.record(state, **members)

        with self._lock:
            self._seen = self._log.append(build)
            self._common.update(members)
            self._state = state
            return self._seen

    def say(self, state: str, **members: Any) -> None:
        """Write that the episode enters `state`, now or with the next state."""
        with self._lock:
            self._due.append(self.record(state, **members))
            self._state = state
            self.catch_up()

    def claimed(self, epoch: int, usage: Mapping[str, Any] | None) -> None:
        """The journal's lease is won; `usage` is what the run had used at the checkpoint that it goes on from."""
        with self._lock:
            self._common["leaseEpoch"] = epoch
            self._usage = usage
            if self._state == "authorized":
                self.say("claimed")

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

    def end(self, state: str, outcome: str, **members: Any) -> None:
        """Enter the last `state`, unless the episode is over or cannot get there any more."""
        with self._lock:
            if state in TRANSITIONS[self._state]:
                self.say(state, outcome=outcome, cost=self._cost, **members)

    def progressed(self, now: int, usage: Mapping[str, Any] | None) -> None:
        """A new checkpoint, past the one that the recovery started from."""
        with self._lock:
            self._cost = spent_since(self._usage, usage) or self._cost
            if self._state == "resuming":
                self._progress = now
                self.say("probation", cost=self._cost)
            elif self._progress is not None and now - self._progress >= self._stable:
                self.end("recovered", "went on from a new checkpoint, and was stable")

    def completed(self) -> None:
        """The run came to its end."""
        with self._lock:
            if self._state == "resuming":
                self.say("probation", cost=self._cost)
            self.end("recovered", "the run was completed")
            self.end("superseded", "the run was completed")

    def failed(self, outcome: str, *, worked: bool) -> None:
        """The attempt failed: in a step where it got to work, else in the recovery itself."""
        with self._lock:
            step = worked or self._state == "probation"
            self.end("failedAttempt", outcome, failureOf="step" if step else "recovery", failureEvidence=None)

    def cancelled(self, *, undone: bool) -> None:
        """The run stopped on request; `undone`: with nothing left that was to be undone."""
        with self._lock:
            if undone:
                self.end("compensated", "what was to be undone is undone")
            self.end("failedAttempt", "the run was cancelled", failureOf=None, failureEvidence=None)
            self.end("superseded", "the run was cancelled")


def close_rounds(log: RecoveryLog, outcome: str) -> None:
    """End every episode that never came to a claim: the run is over, and there is nothing left to decide."""
    # Whatever the log says, the run has ended; the next decision that is recorded closes what is still open.
    with suppress(RecorderError, StoreError):
        log.read_on()
        for episode in log.episodes.values():
            if episode.unclaimed:
                _end_other(log, episode.episode_id, "superseded", outcome=outcome)


def supersede(
    log: RecoveryLog,
    run: Run,
    *,
    own: str | None = None,
    cause: Cause | None = None,
    stable_seconds: int = 600,
) -> None:
    """End what earlier processes left open, now that the run is this process's: nobody else will.

    Args:
        log: where it is kept.
        run: the run as it was before this process claimed it.
        own: the episode of this process.
        cause: what is known of the failure that this process recovers from; None: what the records show.
        stable_seconds: how long a recovery must have lasted behind its first checkpoint.
    """
    # Their own writers may have said so in the meantime; and the run is claimed, whatever the log says.
    with suppress(RecorderError, StoreError):
        ends = {attempt.claim.epoch: attempt for attempt in fold_attempts(run)}
        claims = _claimed_by(run)
        for name, episode in log.episodes.items():
            if episode.ended or name == own:
                continue
            epoch = episode.epoch or (claims[name].epoch if name in claims else None)
            attempt = None if epoch is None or episode.state not in _AT_RISK else ends.get(epoch)
            if attempt is None:
                _end_other(log, name, "superseded", outcome="another process has the run now")
            else:
                newest = attempt.claim is next(reversed(ends.values())).claim
                _tell_end(log, run, episode, attempt, cause if newest else None, stable_seconds * SECOND)


_AT_RISK = frozenset({"authorized", "claimed", "resuming", "probation"})
"""States in which a claimed attempt may have died."""


_TO_THE_END = ("authorized", "claimed", "resuming", "probation", "recovered")
"""The states of an attempt under which the run came to its end."""


def _tell_end(
    log: RecoveryLog, run: Run, episode: Round, attempt: RecoveryAttempt, cause: Cause | None, stable: int
) -> None:
    """How an attempt ended whose process did not live to say so, as its journal shows it."""
    name, epoch = episode.episode_id, attempt.claim.epoch
    start = run.checkpoint(attempt.start) if attempt.start is not None else None
    made = [c for c in (*run.checkpoints, *run.retracted) if c.epoch == epoch]
    usages = [c.value.get("usage") for c in made]
    cost = spent_since(start.value.get("usage") if start else None, usages[-1] if usages else None)
    common: dict[str, Any] = {"leaseEpoch": epoch, "cost": cost}
    if run.status == "completed" and run.ended_by is not None and run.ended_by.epoch == epoch:
        # The journal has the end; only the log's last entries were lost.
        rest = _TO_THE_END[_TO_THE_END.index(episode.state) + 1 :]
        for state in rest[:-1]:
            _end_other(log, name, state, leaseEpoch=epoch)
        _end_other(log, name, rest[-1], outcome="the run was completed", **common)
        return
    if episode.state == "authorized":
        # The journal holds the claim; only the log's entry was lost.
        _end_other(log, name, "claimed", leaseEpoch=epoch)
    elif episode.state == "probation" and made and attempt.last - (made[0].created or 0) >= stable:
        outcome = "went on from a new checkpoint, and was stable; its process ended later"
        _end_other(log, name, "recovered", outcome=outcome, **common)
        return
    blamed = cause.failure_of if cause is not None and cause.said else None
    evidence = cause.evidence if cause is not None and blamed else None
    outcome = "its process ended without a word"
    failed = {"failureOf": blamed or attempt.failed_by, "failureEvidence": evidence}
    _end_other(log, name, "failedAttempt", outcome=outcome, **failed, **common)


def _end_other(log: RecoveryLog, episode_id: str, state: str, **members: Any) -> None:
    """Write what became of an episode that another process has left, unless it has said so itself meanwhile."""
    said = {"recordType": "recovery", "episodeId": episode_id, "state": state, **members}
    with suppress(IllegalRecord):
        log.append(partial(dict, {name: value for name, value in said.items() if value is not None}))


def _claimed_by(run: Run) -> Mapping[str, Record]:
    """Ids of episodes and the leases that name them."""
    leases = run.ownership.leases if run.ownership else ()
    return {str(lease.value["episodeId"]): lease for lease in leases if lease.value.get("episodeId")}


def _new_id(log: RecoveryLog, number: int) -> str:
    taken = log.episodes
    name = f"ep_{number}_{log.nonce[:8]}"
    return name if name not in taken else f"{name}_{len(taken)}"
