"""Which runs may be packed, deleted or retracted from: what has ended, and what is still open in it.

Decided here: why a run is not closed, why somebody may be at work on it, and why its records are not sound enough to
be touched; in doubt there is always a reason. Not decided here: what is done to it (``pack``, ``prune``, ``retract``).
"""

from __future__ import annotations

from safepoint import rules
from safepoint.core.timestamp import SECOND, format_time
from safepoint.model.journal import ENDED, Level
from safepoint.model.run import Run
from safepoint.policy import Policy
from safepoint.reader import Scan


def why_unsound(found: Scan) -> str:
    """What is wrong with the records of a run, so that they must not be touched; empty where nothing is."""
    run = found.run
    if run is None:
        return "none of its records can be read"
    faults = [*found.faults, *rules.check(run)]
    grave = next((fault for fault in faults if rules.severity(fault.code) == "error"), None)
    if grave is not None:
        return (
            f"its records are not sound: {grave.code} {grave.message}; validate the run, and repair it first"
        )
    if run.unread:
        return f"{run.unread[0].name} cannot be read, and may hide a record; repair the run first"
    if run.level is Level.RECORDS:
        return "its records are not numbered, so that nobody can tell whether they are all there"
    return ""


def why_at_work(run: Run, now: int) -> str:
    """Why somebody may still write to the run as its owner; empty where nobody may.

    Whoever has written the run's end under its own lease is done, and need not be waited for: nothing may follow.

    Args:
        run: the folded run.
        now: nanoseconds since the Unix epoch.
    """
    if run.status == "failed":
        return "it failed, and may still be taken up again; end it first"
    if run.status not in ENDED:
        return "it has not ended"
    return "" if _ended_by_owner(run) else why_owned(run, now)


def at_work(run: Run) -> str:
    """The reason of `why_at_work` in few words, which many runs have in common."""
    if run.status == "failed":
        return "failed"
    return "with a live lease" if run.status in ENDED else "not ended"


def _ended_by_owner(run: Run) -> bool:
    """Whether the newest owner itself wrote the end, with nothing left that it would write behind it.

    Behind an end that another owner wrote, the newest one is there to settle what was open, and may be at it still.
    """
    owner, end = run.ownership, run.ended_by
    if owner is None or end is None or owner.lease.value.get("purpose") == "resolution":
        return False
    own = (end.epoch, end.nonce) == (owner.epoch, owner.lease.nonce)
    return own and all(episode.ended or episode.unclaimed for episode in run.episodes.values())


def why_owned(run: Run, now: int) -> str:
    """How long the owner of a run may still be alive; empty where its lease was given back or has lapsed."""
    owner, skew = run.ownership, Policy().skew
    if owner is None or owner.released or now >= owner.lapses_at(now, skew):
        return ""
    return f"the lease of epoch {owner.epoch} is live until {format_time(owner.lapses_at(now, skew))}"


def why_alive(run: Run, now: int) -> str:
    """Why somebody may be at work on the run, and go on from what is there now; empty where nobody is."""
    if run.status in ENDED:
        return ""
    if run.ownership is None:
        return "it has not ended, and no lease says whether somebody is at work on it"
    return why_owned(run, now)


def why_open(run: Run, now: int) -> str:
    """Why the run is not closed: not ended, or something in it is still open; empty where it is closed.

    Args:
        run: the folded run.
        now: nanoseconds since the Unix epoch.
    """
    if why := why_at_work(run, now):
        return why
    policy = Policy()
    effects = [action.action_id for action in run.open_actions if action.declares.effect != "read"]
    if effects:
        return f"the end of {', '.join(effects)} is not known; settle it first"
    asked = (a for a in run.approvals.values() if a.event == "requested")
    if pending := [a.approval_id for a in asked if a.expires is None or now < a.expires]:
        return f"a human was asked for {', '.join(pending)} and has not answered"
    for episode in run.episodes.values():
        ttl = policy.lease_seconds * SECOND if episode.ttl is None else episode.ttl
        if episode.deciding and now < (episode.record.created or 0) + ttl + 2 * policy.skew:
            return f"recovery {episode.episode_id} is under way ({episode.state})"
    return ""


def last_written(run: Run) -> int:
    """The time of the run's newest record, whichever log holds it, in nanoseconds."""
    return max(record.created or 0 for record in (*run.records, *run.recovery))
