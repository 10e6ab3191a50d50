"""Point 10: a way to a human: a spent budget is handed over, and whoever is asked can answer."""

from __future__ import annotations

from collections.abc import Iterator

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.audit.points.limits import GIVE_POLICY
from safepoint.model.episodes import Episode
from safepoint.model.record import Record

_HAND_OVER = "set onBudgetReached to hand_over in the policy"
_AWAIT = "enter awaitingHuman before an episode gives up, and let a human say so"
_ANSWER = "answer it: safepoint approve or safepoint reject, safepoint resolve for an effect in doubt"


def judge(case: Case) -> Answer:
    """A policy or an episode that gives up without asking; a question that is still without an answer."""
    notes, given = Notes(case), case.given
    for episode in case.run.episodes.values():
        if episode.state == "gaveUp" and not _awaited(case, episode):
            message = "this episode gave up, and no human was asked"
            notes.fail(message, _AWAIT, episode.record.place, "/state")
    if given.place is None:
        message = (
            "no policy was given, so that nobody can tell whether a spent budget reaches a human or gives up"
        )
        notes.unsaid(message, GIVE_POLICY)
    elif given.policy.on_budget_reached != "hand_over":
        message = (
            f"onBudgetReached is {given.policy.on_budget_reached}: a run out of budget ends without a human"
        )
        notes.fail(message, _HAND_OVER, given.place, "/onBudgetReached")
    if next(_answers(case), None):
        if not case.log_whole:
            message = (
                f"humans have answered, but {case.why_not_whole}: an episode may have given up without one"
            )
            notes.doubt(message, case.cure, case.hole)
        return notes.answer(
            "what the guard cannot decide is handed over, and humans have answered in the records"
        )
    for record in _waiting(case):
        notes.doubt("a human was asked, and nobody has answered so far", _ANSWER, record.place)
    notes.unless_whole("no human's answer is there")
    return notes.answer("what the guard cannot decide is handed over; so far no human was needed")


def _awaited(case: Case, episode: Episode) -> bool:
    states = (r.value["state"] for r in case.run.recovery if r.value["episodeId"] == episode.episode_id)
    return "awaitingHuman" in states


def _answers(case: Case) -> Iterator[Record]:
    """What humans have said: to a question, about an effect in doubt, or of the run."""
    for record in case.run.records:
        value = record.value
        proof = value if record.kind == "evidence" else value.get("evidence") or {}
        answered = value.get("event") in {"granted", "rejected", "revoked"} and value.get("actor")
        resolved = record.kind == "lease" and value.get("purpose") == "resolution"
        if (record.kind == "approval" and answered) or resolved or proof.get("kind") == "human":
            yield record


def _waiting(case: Case) -> Iterator[Record]:
    yield from (a.record for a in case.run.approvals.values() if a.event == "requested")
    yield from (e.record for e in case.run.episodes.values() if e.state == "awaitingHuman")
