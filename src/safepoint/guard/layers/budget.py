"""Layer 5: has recovery been tried enough? (SPEC.md#guard-budget).

Attempts are the journal's leases that took the run over, so a crash between the claim and the recovery log loses none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from safepoint.core.timestamp import SECOND, parse_time
from safepoint.guard.case import Case, Opinion, in_words
from safepoint.guard.member import Member
from safepoint.model.attempts import (
    RecoveryAttempt,
    fold_attempts,
    outages,
    paused_until,
    without_progress,
)
from safepoint.model.record import Record


def judge(case: Case, opinion: Opinion) -> None:
    """Cooldown, attempts, age and cost; the fleet is judged apart, by `judge_fleet`."""
    attempts = fold_attempts(case.run)
    _cooldown(case, opinion, attempts)
    _no_progress(case, opinion, attempts)
    _life(case, opinion, attempts)
    _age(case, opinion)
    _cost(case, opinion)


def _reached(case: Case, opinion: Opinion, code: str, message: str, evidence: Record | None) -> None:
    """A limit is reached: to a human, or given up where the policy says so; but never while an effect is open."""
    opened = case.open_effects
    probes = [action for action in opened if case.can_probe(action) and case.probe(action) is None]
    verdict = "reconcile" if probes else "hand_over" if opened else case.policy.on_budget_reached
    opinion.say(code, verdict, message, evidence=evidence)
    for action in probes:
        opinion.need("probe", action.action_id, "ask the provider whether it was applied")
    if verdict == "hand_over":
        opinion.need("human", case.run.run_id, "decide whether this run is worth another attempt")


def _cooldown(case: Case, opinion: Opinion, attempts: Sequence[RecoveryAttempt]) -> None:
    """30 s, doubled with each attempt that did not hold; over after a new checkpoint and a stable while."""
    until = paused_until(attempts, case.policy)
    if until is not None and case.now < until:
        message = f"cooling down after recovery attempt {len(attempts)}: another {in_words(until - case.now)}"
        opinion.say("SP750", "wait", message, evidence=attempts[-1].claim, until=until)


def _no_progress(case: Case, opinion: Opinion, attempts: Sequence[RecoveryAttempt]) -> None:
    """Attempts in a row from where this one would begin."""
    start = str(case.checkpoint.value["checkpointId"]) if case.checkpoint else None
    count = without_progress(attempts, start)
    limit = case.policy.attempts_without_progress
    if count >= limit:
        message = (
            f"{count} recovery attempts in a row began at this checkpoint and got no further (limit {limit})"
        )
        _reached(case, opinion, "SP752", message, attempts[-1].claim if attempts else case.checkpoint)


def _life(case: Case, opinion: Opinion, attempts: Sequence[RecoveryAttempt]) -> None:
    limit = case.policy.attempts_in_life + min(outages(attempts), case.policy.extra_infrastructure_attempts)
    if len(attempts) >= limit:
        message = f"{len(attempts)} recovery attempts in this run's life (limit {limit})"
        _reached(case, opinion, "SP753", message, attempts[-1].claim if attempts else None)


def _age(case: Case, opinion: Opinion) -> None:
    """How long the run has lain still: since the last record of anybody, a human's answer included."""
    dated = [record for record in case.run.records if record.created is not None]
    if not dated:
        opinion.unchecked.append("age: no record says when it was written")
        return
    last = max(dated, key=lambda record: record.created or 0)
    age = case.now - (last.created or 0)
    if age > case.policy.hard_limit_seconds * SECOND:
        message = f"nothing happened for {in_words(age)}, beyond the hard limit"
        _reached(case, opinion, "SP757", message, last)
    elif age > case.policy.automatic_resume_seconds * SECOND:
        message = f"nothing happened for {in_words(age)}; too old to go on by itself"
        opinion.say("SP754", "hand_over", message, evidence=last)
        opinion.need("human", case.run.run_id, "decide whether a run this old should still go on")
    else:
        opinion.valid_until.append((last.created or 0) + case.policy.automatic_resume_seconds * SECOND)


def _cost(case: Case, opinion: Opinion) -> None:
    """What was spent is the most that any checkpoint says: going back to an older one gives no money back."""
    costs = [
        (c.value.get("usage") or {}).get("costMicros") for c in (*case.run.checkpoints, *case.run.retracted)
    ]
    spent = max((cost for cost in costs if cost is not None), default=None)
    recovering = sum(e.cost_micros for e in case.run.episodes.values() if e.cost_micros is not None)
    budget = case.policy.run_budget_cost_micros
    if spent is None:
        if budget is not None:
            message = "the policy sets a budget, and no checkpoint says what the run has spent"
            _reached(case, opinion, "SP756", message, case.checkpoint)
        elif recovering:
            opinion.unchecked.append("cost: no checkpoint says what the run has spent")
    elif budget is not None and spent + recovering >= budget:
        _reached(case, opinion, "SP755", "the run's budget is spent", case.checkpoint)
    elif recovering > 0 and recovering >= min(case.policy.recovery_cost_fraction, 2.0**53) * spent:
        _reached(case, opinion, "SP755", "recovery has cost as much as the policy allows", case.checkpoint)


def judge_fleet(member: Member, fleet: Mapping[str, Any] | None, now: int, opinion: Opinion) -> None:
    """The breakers, and how much of the fleet is recovering (SPEC.md#fleet).

    It is apart from `judge`: over a whole store the fleet's state is only known once every run was looked at.

    Args:
        member: the run.
        fleet: the ``fleet`` of the facts; None: nobody looked.
        now: nanoseconds since the Unix epoch.
        opinion: the layer's.
    """
    if fleet is None:
        opinion.unchecked.append("breaker and fleet ratio: no facts.fleet")
        return
    if fleet.get("observedAt") is not None:
        _age_of_fleet(parse_time(fleet["observedAt"]), member, now, opinion)
    # who looks for what nobody announces looks again once facts are stale
    again = now + max(SECOND, member.freshness)
    for breaker in fleet.get("breakers") or ():
        if breaker.get("state") != "closed" and member.meets(breaker):
            _breaker(breaker, member, now, again, opinion)
    hour, starts = fleet.get("recoveriesLastHour"), fleet.get("startsLastHour")
    recent = fleet.get("recoveriesLastTenMinutes")
    if hour is None or starts is None or recent is None:
        opinion.unchecked.append("fleet ratio: facts.fleet does not say how many runs started and recovered")
    elif hour > member.fraction * starts and recent >= member.floor:
        message = (
            f"{hour} recoveries for {starts} starts in the last hour; too much of the fleet is recovering"
        )
        opinion.say("SP758", "wait", message, until=now + 600 * SECOND)


def _age_of_fleet(observed: int, member: Member, now: int, opinion: Opinion) -> None:
    if now - member.freshness < observed <= now:
        opinion.valid_until.append(observed + member.freshness)
        return
    when = "too old" if now > observed else "from the future"
    message = f"what the facts say of the fleet is {when}; look at the fleet again, or leave it out"
    opinion.say("SP790", "reconcile", message)
    opinion.need("fact", "fleet", f"the fleet's state, no older than {member.freshness // SECOND} s")


def _breaker(breaker: Mapping[str, Any], member: Member, now: int, again: int, opinion: Opinion) -> None:
    """An open breaker holds up every run; a half open one all but its trial."""
    if breaker["state"] == "open":
        until = breaker.get("until")
        ends = parse_time(until) if until else again
        if now < ends:
            opinion.say("SP751", "wait", "the breaker for this workflow is open", until=ends)
            return
    trial = breaker.get("trialRunId")
    if trial == member.run_id:
        return
    message = "the breaker for this workflow lets one trial through, and "
    message += f"that is run {trial!r}" if trial is not None else "no run is named: look at the fleet again"
    opinion.say("SP751", "wait", message, until=again)
