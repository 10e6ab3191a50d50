"""The recovery attempts of a run, counted from its journal, and what the recovery log adds to them (SPEC.md#recovery).

Decided here: what is an attempt, which of them got no further, and how long recovery pauses after them. Not decided
here: how many are allowed (``policy``), and what follows once they are spent (``guard``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from safepoint.core.timestamp import SECOND
from safepoint.model.episodes import Episode
from safepoint.model.record import Record
from safepoint.model.run import Run


@dataclass(frozen=True, slots=True)
class RecoveryAttempt:
    """One recovery attempt, as the journal shows it."""

    claim: Record
    start: str | None
    """The checkpoint that it went on from."""
    last: int
    """Time of its owner's newest record, in nanoseconds."""
    advanced: bool
    """Whether it made a checkpoint."""
    episode: Episode | None
    worked: bool
    """Whether its owner got as far as the run's own work: a checkpoint, an effect, or the word that the run failed."""
    excused: bool
    """Whether it failed by the fault of what lies under the run and its recovery, with evidence of that."""

    @property
    def failed_by(self) -> str:
        """What failed in it, as far as the journal shows: the business ``step``, or the ``recovery`` itself."""
        return "step" if self.worked else "recovery"


class Cooldown(Protocol):
    """The settings that say how long recovery pauses; a policy has them. This room does not see policies."""

    @property
    def cooldown_seconds(self) -> int:
        """The first pause."""

    @property
    def cooldown_factor(self) -> int:
        """By how much each further pause is longer."""

    @property
    def cooldown_cap_seconds(self) -> int:
        """The longest pause."""

    @property
    def cooldown_jitter_fraction(self) -> float:
        """By up to which part of itself a pause is longer."""

    @property
    def stable_seconds(self) -> int:
        """An attempt that made a checkpoint and lasted so long has held."""


def fold_attempts(run: Run) -> tuple[RecoveryAttempt, ...]:
    """All recovery attempts in order, in one pass over the journal."""
    claims = {claim.epoch: claim for claim in run.ownership.recoveries} if run.ownership else {}
    newest: dict[str | None, str] = {}
    starts: dict[int, str | None] = {}
    advanced: set[int] = set()
    worked: set[int] = set()
    for record in run.records if claims else ():
        branch = record.value.get("branch")
        if record.kind == "checkpoint":
            newest[branch] = str(record.value["checkpointId"])
            advanced.add(record.epoch)
        elif claims.get(record.epoch) is record:
            origin = record.value.get("forkFrom")
            starts[record.epoch] = origin["checkpointId"] if origin else newest.get(branch)
            if origin:
                newest[branch] = str(origin["checkpointId"])
        elif record.value.get("status") in {"attempting", "failed"} and not record.value.get("evidence"):
            worked.add(record.epoch)
    last = last_written(run) if claims else {}
    by_epoch = {episode.epoch: episode for episode in run.episodes.values() if episode.epoch is not None}
    return tuple(
        RecoveryAttempt(
            claim,
            starts.get(epoch),
            last.get(epoch, 0),
            epoch in advanced,
            by_epoch.get(epoch),
            epoch in advanced | worked,
            _excused(run, claim, by_epoch.get(epoch)),
        )
        for epoch, claim in claims.items()
    )


def _excused(run: Run, claim: Record, episode: Episode | None) -> bool:
    """Whether its outcome says so, or, while nobody has written one, the round that is to follow the last attempt."""
    if episode is not None and episode.ended:
        return episode.failed_by == "infrastructure"
    newest = run.ownership is not None and claim.epoch == run.ownership.recoveries[-1].epoch
    return newest and any(
        later.excuses and (later.record.created or 0) >= (claim.created or 0)
        for later in run.episodes.values()
        if later.episode_id != claim.value.get("episodeId")
    )


def last_written(run: Run) -> dict[int, int]:
    """When each epoch's owner last wrote; what others write without an epoch is no sign of the owner's life."""
    newest: dict[int, int] = {}
    for record in run.records:
        if (
            record.kind in {"approval", "evidence", "retract"}
            or record.value.get("status") == "cancelRequested"
        ):
            continue
        newest[record.epoch] = max(newest.get(record.epoch, 0), record.created or 0)
    return newest


def without_progress(attempts: Sequence[RecoveryAttempt], start: str | None) -> int:
    """The last attempts in a row that began at `start`; one without a recorded outcome has the same signature."""
    count, signature = 0, None
    for attempt in reversed(attempts):
        ended = attempt.episode is not None and attempt.episode.ended
        theirs = attempt.episode.failure_signature if attempt.episode and ended else None
        if attempt.start != start or (signature is not None and theirs is not None and theirs != signature):
            break
        signature = signature or theirs
        count += 1
    return count


def outages(attempts: Sequence[RecoveryAttempt]) -> int:
    """The attempts that failed by the fault of what lies under the run and its recovery."""
    return sum(attempt.excused for attempt in attempts)


def paused_until(attempts: Sequence[RecoveryAttempt], settings: Cooldown) -> int | None:
    """Until when recovery pauses after `attempts` (nanoseconds): longer with each one at the end that did not hold."""
    failed = 0
    for attempt in reversed(attempts):
        lasted = attempt.last - (attempt.claim.created or 0)
        if attempt.advanced and lasted >= settings.stable_seconds * SECOND:
            break
        failed += 1
    if not failed:
        return None
    pause: int = settings.cooldown_seconds * settings.cooldown_factor ** min(failed - 1, 60)
    pause = min(pause, settings.cooldown_cap_seconds) * SECOND
    drawn = settings.cooldown_jitter_fraction * _drawn(attempts[-1].claim)
    return attempts[-1].last + pause + int(pause * drawn)


def _drawn(claim: Record) -> float:
    """A number from 0 to 1 out of the random nonce of the claim: two runs that died together do not wake together."""
    return int((claim.nonce or "0")[:8], 16) / 2**32
