"""Point 3: recovery modelled separately: in a log of its own, with an outcome, and not as a state of the run."""

from __future__ import annotations

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.model.episodes import Episode
from safepoint.model.record import Record

_RULES = ("SP507", "SP522", "SP523", "SP527")

_LEASES = (
    "record the run with safepoint.recorder (start_run, resume_run), or write lease records and a recovery log "
    "(SPEC.md#recovery)"
)
_EPISODE = "write an episode into the recovery log before the claim, and name it as the lease's episodeId"
_OUTCOME = "end the episode in the recovery log: recovered, failedAttempt, compensated or superseded"


def judge(case: Case) -> Answer:
    """Every claim that took the run over has its episode, and every episode that is over its outcome."""
    notes = Notes(case)
    owner = case.run.ownership
    if owner is None:
        notes.fail("no lease and no recovery log: a restart looks like the run itself", _LEASES)
        return notes.answer("")
    notes.break_of(_RULES)
    for claim in owner.recoveries:
        episode = _episode_of(case, claim)
        if episode is not None:
            _look_at(episode, claim, notes)
        elif case.log_whole:
            message = (
                f"epoch {claim.epoch} was claimed for recovery, and the recovery log has no episode for it"
            )
            notes.fail(message, _EPISODE, claim.place, "/episodeId" if claim.value.get("episodeId") else "")
        else:
            message = f"no episode of epoch {claim.epoch} is there, but something of the recovery log cannot be read"
            notes.doubt(message, case.cure, case.hole)
    if not owner.recoveries:
        notes.unless_whole("no recovery is there")
        return notes.answer("nothing to record: the run has leases, and nobody ever took it over")
    notes.unless_whole()
    return notes.answer("each recovery has its episode and its outcome in the recovery log")


def _episode_of(case: Case, claim: Record) -> Episode | None:
    named = case.run.episodes.get(str(claim.value.get("episodeId")))
    return named or next((e for e in case.run.episodes.values() if e.epoch == claim.epoch), None)


def _look_at(episode: Episode, claim: Record, notes: Notes) -> None:
    """An episode without an end is at work, as long as its claim is the newest and the run goes on."""
    run = notes.case.run
    newest = run.ownership is not None and run.ownership.epoch == claim.epoch
    if not episode.ended and not (newest and run.status == "started"):
        message = f"the episode of epoch {claim.epoch} is still {episode.state}, although it is over"
        notes.fail(message, _OUTCOME, episode.record.place, "/state")
