"""A decision of the guard, written into the run's recovery log without a claim (SPEC.md#recovery).

Decided here: which state a verdict is, and that the recorder of a decision never stands in anybody's way: what it
leaves is released, and the next decision goes on with it. Not decided here: the decision (``guard``), and who gets the
run: only a claim in the journal says that (``opening``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.core.timestamp import format_time
from safepoint.guard import Decision
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder.cause import Cause, cause_of
from safepoint.recorder.episode import Episode, RecoveryLog, TakenUpError
from safepoint.recorder.errors import RecorderError, StaleDecision
from safepoint.recorder.journal import Journal, require_claimable
from safepoint.recorder.log import Clock, StoreAt, new_nonce, open_at
from safepoint.store import AbsentError
from safepoint.store.layout import run_prefix

STATES: Mapping[str, str] = {
    "resume": "authorized",
    "wait": "waiting",
    "reconcile": "reconciling",
    "compensate": "assessing",
    "hand_over": "awaitingHuman",
    "give_up": "gaveUp",
    "no_op": "notNeeded",
}
"""Verdict to the state that an episode is in by it. To undo a run needs a claim first: until then nothing is undone."""

_LIVE = frozenset({"SP710", "SP711", "SP713", "SP721"})
"""Reasons by which nothing has failed as far as anybody knows: the run is over, or its owner's lease is live."""

_OUTCOMES = {"gaveUp": "the guard gave the run up", "notNeeded": "there was nothing to recover"}


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """What a decision has left in the recovery log."""

    episode_id: str
    state: str
    """The state that the episode is in by it."""
    written: tuple[Record, ...]
    """What was appended; nothing where the log said so already."""


def record_decision(
    store: StoreAt,
    decision: Decision,
    *,
    holder: str | None = None,
    ttl_seconds: int | None = None,
    trigger: str | None = None,
    failure_signature: str | None = None,
    failure_of: str | None = None,
    failure_evidence: str | None = None,
    facts: Mapping[str, Any] | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> RecordedDecision | None:
    """Record what the guard has decided of a run: in its open round of recovery, or in a new one.

    The recovery log is no part of what a decision rests on: recording it does not void it. Nothing is claimed, and
    nobody waits for what is recorded here; `resume_run` goes on with the same round.

    Args:
        store: where the run is: an open store, or its path or URL.
        decision: what the guard answered about it, from the records as they are now.
        holder: who drives the recovery, for a human.
        ttl_seconds: for a human as well, since nobody waits for it; None: not said.
        trigger: what set the recovery off, such as ``leaseLapsed``; None: what the records show.
        failure_signature: what makes two failures the same; None: a digest of step and error class.
        failure_of: what failed: ``step``, ``recovery`` or ``infrastructure``; None: what the records show.
        failure_evidence: where the evidence for that can be looked up. The infrastructure is only blamed with some.
        facts: the facts that the decision was made from; their proof of the owner's death is such evidence.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Returns:
        What was recorded; None where the decision says nothing of the run: it was only looked at, or the caller is
        fenced.

    Raises:
        StaleDecision: the journal went on since the guard looked; judge again.
        RecorderError: the run is deleted or packed, its recovery log cannot be read, or nobody can claim it.
        IllegalRecord: no reader would accept one of the texts; nothing was written.
        ValueError: `failure_of` is none of the three, or comes without the evidence that it needs.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    if says_nothing(decision):
        return None
    opened = open_at(store)
    run = load_run(opened, decision.run_id).run
    if run is None:
        raise AbsentError(
            opened.url, f"there are no records of a run {decision.run_id}", run_prefix(decision.run_id)
        )
    _require_current(run, decision)
    codes = {reason.code for reason in decision.reasons}
    cause = cause_of(
        run,
        trigger=trigger,
        signature=failure_signature,
        failure_of=failure_of,
        evidence=failure_evidence,
        facts=facts,
        alive=bool(codes & _LIVE),
    )
    journal = Journal(opened, decision.run_id, nonce=nonce(), clock=clock)
    journal.follow(run.records)
    log = RecoveryLog(journal)
    log.follow(run.recovery)
    return _write(log, run, cause, decision, {"holder": holder, "ttlSeconds": ttl_seconds})


def says_nothing(decision: Decision) -> bool:
    """Whether the decision is about the caller alone."""
    return decision.goal == "inspect" or any(reason.code == "SP720" for reason in decision.reasons)


def _require_current(run: Run, decision: Decision) -> None:
    if run.deleted is not None:
        raise RecorderError(f"run {run.run_id} was deleted: nothing is recorded of it any more")
    require_claimable(run)
    if (run.head.sequence, run.head.digest) != (decision.head_sequence, decision.head_digest):
        raise StaleDecision(f"run {run.run_id}: the journal went on since the guard looked; judge again")


def _write(
    log: RecoveryLog, run: Run, cause: Cause, decision: Decision, common: Mapping[str, Any]
) -> RecordedDecision:
    """Go on with the round that is open, or begin one; whoever else does so meanwhile is followed."""
    state, written = STATES[decision.verdict], list[Record]()
    wait = None if decision.not_before is None else format_time(decision.not_before)
    decided = {
        "decisionDigest": digest_value(decision.document()),
        "notBefore": wait if state == "waiting" else None,
        "outcome": _OUTCOMES.get(state),
    }
    while True:
        going_on = log.left_open(run)
        if going_on is None and (said := _said_already(log, run, state)):
            return RecordedDecision(said, state, tuple(written))
        episode = Episode(log, run, cause, going_on=going_on, common=common, claims=False)
        start = {"fromCheckpointId": decision.checkpoint_id}
        log.draft(episode.record(state, **start, **decided))
        try:
            for step in episode.way_to(state):
                written.append(episode.enter(step, **start, **(decided if step == state else {})))
        except TakenUpError:
            log.read_on()
        else:
            return RecordedDecision(episode.episode_id, state, tuple(written))


def _said_already(log: RecoveryLog, run: Run, state: str) -> str | None:
    """The last round, where it ended in this very state, and nothing was recorded of the run since."""
    last = next(reversed([*log.episodes.values()]), None)
    if last is None or not last.ended or last.state != state:
        return None
    newest = max((record.created or 0 for record in run.records), default=0)
    return last.episode_id if newest <= (last.record.created or 0) else None
