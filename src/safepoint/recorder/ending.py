"""Ending a run by a human: the wish to stop, and the end itself where no worker is left to write it.

Decided here: when the end may be written, and that the wish always goes before it, so that a worker that still lives
stops by itself. Not decided here: whether an owner may live and which effects are open (``guard``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from safepoint.guard import Reason
from safepoint.guard.undo import can_undo, to_undo
from safepoint.model.record import Record
from safepoint.reader import load_run
from safepoint.reader.documents import Document, FactsGiven
from safepoint.recorder.answering import Answers, Look, lease_of, look, require_filled_in, require_sound
from safepoint.recorder.approvals import wish_to_stop
from safepoint.recorder.episode import RecoveryLog, supersede
from safepoint.recorder.errors import RunEnded
from safepoint.recorder.evidence import Outcome, possible_outcomes
from safepoint.recorder.journal import Journal, require_claimable
from safepoint.recorder.log import Clock, StoreAt, new_nonce, open_at


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of the wish to stop a run."""

    written: tuple[Record, ...]
    """What was recorded, or of a dry run would be."""
    ended: bool
    """Whether the run is cancelled now."""
    unsettled: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)
    """Effects of which somebody has to say first how they ended, each with what a human may say; nothing of one whose
    compensation has begun."""
    to_undo: tuple[str, ...] = ()
    """Effects that a roll-back has still to undo."""
    alive: tuple[Reason, ...] = ()
    """Why its owner may live, which then ends the run itself."""
    lapses_at: int | None = None
    """From when nobody need wait for that owner, in nanoseconds; None: nobody knows."""
    asked: tuple[str, ...] = ()
    """Approvals that are still asked for."""


def cancel_run(
    store: StoreAt,
    run_id: str,
    *,
    by: str,
    reason: str | None = None,
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    dry_run: bool = False,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> Ending:
    """Ask a run to stop, and end it where nothing is open and no owner is left who could.

    Ask again once what was in the way is settled: the wish is recorded only once.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        by: who wants it to end.
        reason: why, for other humans.
        facts: a facts document, or its path or URL: may prove that the run's owner is dead.
        policy: a policy document, or its path or URL; None: the defaults.
        dry_run: check everything, and write nothing.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        RunEnded: it is completed, sealed or deleted.
        ResolutionRefused: the journal is damaged, so that something open may be hidden. Nothing was written.
        StaleDecision: the journal went on meanwhile; the wish may be recorded, and the run is not ended.
        RecorderError: nothing can be added to the run.
        ValueError: a text is still to be filled in.
        InputRefusedError: facts or policy are not sound.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    require_filled_in(by=by, reason=reason)
    seen = look(store, run_id, facts=facts, policy=policy, clock=clock)
    if seen.run.status == "cancelled":
        return Ending((), ended=True, asked=_asked(seen))
    if seen.run.status not in {"started", "failed"}:
        raise RunEnded(f"run {run_id} is {seen.run.status}: there is nothing left to stop")
    require_sound(seen.decision, owned=False)
    head = require_claimable(seen.run)
    journal = Answers(seen, nonce=nonce, clock=clock, rehearsed=dry_run)
    end = {**wish_to_stop(by, reason), "status": "cancelled"}
    lease = lease_of(seen, by)
    # Before anything is written: an end that no record can hold must not cost an epoch.
    for members in (journal.claiming(lease), end):
        journal.draft({"leaseEpoch": journal.next_epoch, **members})
    unsettled, left, alive = _in_the_way(seen)
    with journal.telling():
        if seen.run.cancel_requested is None:
            journal.append_unowned(wish_to_stop(by, reason))
        if not unsettled and not left and not alive:
            # At the number behind what was judged, and behind the wish: an effect in between would be cut off.
            journal.claim(lease, at=head + len(journal.written) + 1)
            # No release: behind an end nothing may follow but what settles, and its lease lapses by itself.
            journal.append_owned(partial(dict, end))
            if not dry_run:
                log = RecoveryLog(journal)
                log.follow(seen.run.recovery)
                supersede(log, seen.run)
    return Ending(
        tuple(journal.written),
        ended=not unsettled and not left and not alive,
        unsettled=unsettled,
        to_undo=left,
        alive=alive,
        lapses_at=seen.case.lease_ends if alive else None,
        asked=_asked(seen),
    )


def end_rounds(
    store: StoreAt, run_id: str, *, clock: Clock = time.time_ns, nonce: Callable[[], str] = new_nonce
) -> None:
    """Say in the recovery log of a run that is completed how its recovery ended, where its last owner did not live to.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    opened = open_at(store)
    run = load_run(opened, run_id).run
    if run is None or run.status != "completed" or all(e.ended for e in run.episodes.values()):
        return
    journal = Journal(opened, run_id, nonce=nonce(), clock=clock)
    journal.follow(run.records)
    log = RecoveryLog(journal)
    log.follow(run.recovery)
    supersede(log, run)


def _in_the_way(
    seen: Look,
) -> tuple[Mapping[str, tuple[Outcome, ...]], tuple[str, ...], tuple[Reason, ...]]:
    """Open effects, effects that a roll-back can still undo, and the reasons why an owner may live."""
    case = seen.case
    undoing = to_undo(case) if seen.run.roll_back_begun else ()
    # What no program can undo waits for a human, who says here that it shall be left as it is.
    left = undoing if all(can_undo(case, action) for action in undoing) else ()
    alive = [r for r in seen.decision.reasons if r.layer == "ownership" and r.verdict != "resume"]
    return (
        {action.action_id: possible_outcomes(action) for action in case.open_effects},
        tuple(action.action_id for action in left),
        tuple(alive),
    )


def _asked(seen: Look) -> tuple[str, ...]:
    waiting = (a for a in seen.run.approvals.values() if a.event == "requested")
    return tuple(a.approval_id for a in waiting if a.expires is None or seen.now < a.expires)
