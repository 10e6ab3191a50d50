"""A run as a member of its fleet: how its recoveries went, and what a breaker can know it by (SPEC.md#fleet).

Decided here: what counts as a recovery that failed, and by which code and which failure it counts. Not decided here:
when a breaker opens (``fleet``), and what an open one means for a run (``layers.budget``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from safepoint.core.timestamp import SECOND
from safepoint.guard.case import Case
from safepoint.model.attempts import RecoveryAttempt, fold_attempts
from safepoint.model.record import Record
from safepoint.model.run import Run

_LEFT_OUT = frozenset({"superseded", "compensated", "gaveUp", "notNeeded"})
"""How an episode ends that says nothing of whether recovering helps."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """One recovery attempt, as the fleet counts it."""

    claimed: int
    """Nanoseconds since the Unix epoch, as all times here."""
    ended: int | None
    """When it was known how it went; None: it is under way, or says nothing of the fleet."""
    outcome: Literal["recovered", "failed", "running", "leftOut"]
    code: str | None
    """Digest of the workflow's code at the checkpoint that it went on from; None: not recorded."""
    signature: str | None
    """Of the failure that it was to recover from; None: not recorded."""


@dataclass(frozen=True, slots=True)
class Member:
    """What the fleet knows of one run, and the run's own settings by which the fleet's state counts for it."""

    run_id: str
    workflow: str | None
    codes: tuple[str, ...]
    """Digests of the workflow's code, at its checkpoint and today; empty: unknown."""
    signature: str | None
    """Of the failure that it lies still with; None: unknown, since it is not the one that it was recovered from."""
    started: int | None
    recoveries: tuple[Recovery, ...]
    still_since: int | None
    """Since when nobody holds it though it has not ended; None: somebody does, or it ended."""
    fraction: float
    """Which part of the starts may be recoveries."""
    floor: int
    """As many recoveries in ten minutes as are too few to speak of a crowd."""
    freshness: int
    """How long an observation counts as of now."""

    def meets(self, breaker: Mapping[str, Any]) -> bool:
        """Whether a breaker of ``facts.fleet`` is one for this run; what is not known of the run agrees with any."""
        workflow, code = breaker.get("workflow"), breaker.get("codeDigest")
        signature = breaker.get("failureSignature")
        return (
            (workflow is None or self.workflow in {None, workflow})
            and (code is None or not self.codes or code in self.codes)
            and (signature is None or self.signature in {None, signature})
        )


def member_of(case: Case) -> Member:
    """The run of a question as the fleet sees it."""
    run = case.run
    attempts = fold_attempts(run)
    current = case.facts.part("guardContext").get("workflow")
    codes = (_code(run, case.checkpoint), current)
    return Member(
        run_id=run.run_id,
        workflow=run.workflow,
        codes=tuple(dict.fromkeys(str(code) for code in codes if code is not None)),
        signature=_signature(attempts),
        started=_started(run),
        recoveries=tuple(_recoveries(run, attempts, case.now, case.policy.skew)) if attempts else (),
        still_since=_still_since(case),
        fraction=case.policy.fleet_recovery_fraction,
        floor=case.policy.fleet_recovery_floor,
        freshness=case.policy.max_fact_age_seconds * SECOND,
    )


def _code(run: Run, checkpoint: Record | None) -> str | None:
    """Digest of the workflow's code at `checkpoint`, else the one that the run was started with."""
    saved = checkpoint.value.get("guardContext") if checkpoint else None
    first = run.records[0].value if run.records and run.records[0].kind == "run" else {}
    digest = (saved or {}).get("workflow") or (first.get("definition") or {}).get("workflow")
    return None if digest is None else str(digest)


def _signature(attempts: Sequence[RecoveryAttempt]) -> str | None:
    """What the last attempt was to recover from, as long as it got no further."""
    last = attempts[-1] if attempts else None
    if last is None or last.advanced or last.episode is None:
        return None
    return last.episode.failure_signature


def _started(run: Run) -> int | None:
    first = next((r for r in run.records if r.kind == "run" and r.value.get("status") == "started"), None)
    return first.created if first else None


def _still_since(case: Case) -> int | None:
    owner = case.run.ownership
    if case.run.status not in {"started", "failed"} or case.run.cancel_requested or owner is None:
        return None
    ends = case.lease_ends
    held = ends is not None and case.now < ends and case.owner_death is None
    return None if held else owner.last_record


def _recoveries(run: Run, attempts: Sequence[RecoveryAttempt], now: int, skew: int) -> Iterator[Recovery]:
    """Each attempt; one without a recorded outcome failed, with the signature of the one before (SPEC.md#recovery)."""
    assert run.ownership is not None
    taken_over = {before.epoch: after.created or 0 for before, after in pairwise(run.ownership.leases)}
    by_id = {str(c.value["checkpointId"]): c for c in (*run.checkpoints, *run.retracted)}
    signature: str | None = None
    for attempt in attempts:
        if attempt.episode is not None and attempt.episode.failure_signature is not None:
            signature = attempt.episode.failure_signature
        outcome, ended = _ended(run, attempt, taken_over.get(attempt.claim.epoch), now, skew)
        yield Recovery(
            claimed=attempt.claim.created or 0,
            ended=ended,
            outcome=outcome,
            code=_code(run, by_id.get(attempt.start or "")),
            signature=signature,
        )


def _ended(
    run: Run, attempt: RecoveryAttempt, taken_over: int | None, now: int, skew: int
) -> tuple[Literal["recovered", "failed", "running", "leftOut"], int | None]:
    """How an attempt went, and when that was known."""
    owner, episode = run.ownership, attempt.episode
    assert owner is not None
    if episode is not None and episode.ended:
        if episode.state in _LEFT_OUT:
            return "leftOut", None
        return ("recovered" if episode.state == "recovered" else "failed"), episode.record.created or 0
    if run.ended_by is not None and run.ended_by.epoch == attempt.claim.epoch:
        if run.status in {"completed", "failed"}:
            return ("recovered" if run.status == "completed" else "failed"), run.ended_by.created or 0
        return "leftOut", None
    ttl = int(attempt.claim.value.get("ttlSeconds") or 0) * SECOND
    silent = attempt.last + ttl + 2 * skew
    if taken_over is not None:
        return "failed", min(silent, taken_over)
    if owner.released:
        return "failed", attempt.last
    silent = owner.lapses_at(now, skew)
    return ("running", None) if now < silent else ("failed", silent)
