"""Point 9: a cap for each run, in force, and never exceeded in the records."""

from __future__ import annotations

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.audit.points.limits import GIVE_POLICY
from safepoint.core.timestamp import SECOND
from safepoint.model.action import Action
from safepoint.model.attempts import fold_attempts, outages

_LEASES = (
    "record the run with safepoint.recorder: attempts are counted by the leases that take a run over "
    "(SPEC.md#guard-budget)"
)
_CAP = "set attemptsInLife in the policy"
_KEEP = "ask the guard under this policy before each resume: it hands over where the cap is reached"


def judge(case: Case) -> Answer:
    """Attempts, retries, money and age beyond what the policy allows a run."""
    notes = Notes(case)
    if not case.fenced:
        notes.fail("no lease: attempts leave no trace, so that no cap can hold", _LEASES)
    place = case.given.place
    if place is None:
        notes.unsaid("no policy was given, so that nobody can tell what the cap is", GIVE_POLICY)
        return notes.answer("")
    if not case.given.says("attemptsInLife"):
        notes.fail("the policy sets no cap for a run's recovery attempts", _CAP, place)
    _attempts(notes)
    _retries(notes)
    _age(notes)
    _cost(notes)
    notes.unless_whole("nothing beyond the cap is there")
    return notes.answer("the policy caps each run's attempts, and no run went beyond")


def _attempts(notes: Notes) -> None:
    run, policy = notes.case.run, notes.case.policy
    claims = run.ownership.recoveries if run.ownership else ()
    excused = outages(fold_attempts(run))
    limit = policy.attempts_in_life + min(excused, policy.extra_infrastructure_attempts)
    if len(claims) > limit:
        message = f"{len(claims)} recovery attempts, where the policy allows {limit}"
        notes.fail(message, _KEEP, claims[limit].place)


def _retries(notes: Notes) -> None:
    for action in notes.case.run.actions.values():
        limit = notes.case.policy.for_action(action.action_id, action.step_name).tries
        tries = _tries(action)
        if tries > limit:
            message = (
                f"{action.action_id} was tried {tries} times after failures, where the policy allows {limit}"
            )
            notes.fail(message, _KEEP, action.attempts[-1].opened.place, "/attempt/number")


def _tries(action: Action) -> int:
    """The first attempt and those that followed a failure; one that followed a doubt is no retry."""
    before = action.attempts[:-1]
    return bool(action.attempts) + sum(attempt.status == "failed" for attempt in before)


def _age(notes: Notes) -> None:
    """A run that lay still beyond the hard limit, and was then taken over all the same."""
    run, limit = notes.case.run, notes.case.policy.hard_limit_seconds * SECOND
    claims = {id(claim) for claim in run.ownership.recoveries} if run.ownership else set[int]()
    last = 0
    for record in run.records:
        created = record.created or 0
        if id(record) in claims and last and created - last > limit:
            message = "taken over after the run had lain still beyond the policy's hardLimitSeconds"
            notes.fail(message, _KEEP, record.place, "/createdAt")
        last = max(last, created)


def _cost(notes: Notes) -> None:
    budget = notes.case.policy.run_budget_cost_micros
    for record in (*notes.case.run.checkpoints, *notes.case.run.retracted):
        spent = (record.value.get("usage") or {}).get("costMicros")
        if budget is not None and spent is not None and spent > budget:
            message = "the run has used more than the policy's runBudgetCostMicros"
            notes.fail(message, "stop the run where its budget is spent", record.place, "/usage/costMicros")
            return
