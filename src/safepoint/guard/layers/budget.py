"""Layer 5: has recovery been tried enough? (SPEC.md#guard-budget).

Attempts are the journal's leases that took the run over, so a crash between the claim and the recovery log loses none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from safepoint.core.timestamp import SECOND, parse_time
from safepoint.guard.case import Case, Opinion, in_words, pause
from safepoint.model.episodes import Episode
from safepoint.model.record import Record


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One recovery attempt, as the journal shows it."""

    claim: Record
    start: str | None
    """The checkpoint that it went on from."""
    last: int
    """Time of its owner's newest record, in nanoseconds."""
    advanced: bool
    """Whether it made a checkpoint."""
    episode: Episode | None


def judge(case: Case, opinion: Opinion) -> None:
    """Cooldown, attempts, age, cost, breaker and fleet."""
    attempts = _attempts(case)
    _cooldown(case, opinion, attempts)
    _no_progress(case, opinion, attempts)
    _life(case, opinion, attempts)
    _age(case, opinion)
    _cost(case, opinion)
    _fleet(case, opinion)


def _attempts(case: Case) -> list[_Attempt]:
    """All recovery attempts in order, in one pass over the journal."""
    owner = case.run.ownership
    claims = {claim.epoch: claim for claim in owner.recoveries} if owner else {}
    by_epoch = {episode.epoch: episode for episode in case.run.episodes.values() if episode.epoch is not None}
    newest: dict[str | None, str] = {}
    starts: dict[int, str | None] = {}
    advanced: set[int] = set()
    for record in case.run.records if claims else ():
        branch = record.value.get("branch")
        if record.kind == "checkpoint":
            newest[branch] = str(record.value["checkpointId"])
            advanced.add(record.epoch)
        elif claims.get(record.epoch) is record:
            origin = record.value.get("forkFrom")
            starts[record.epoch] = origin["checkpointId"] if origin else newest.get(branch)
            if origin:
                newest[branch] = str(origin["checkpointId"])
    return [
        _Attempt(
            claim, starts.get(epoch), case.last_written.get(epoch, 0), epoch in advanced, by_epoch.get(epoch)
        )
        for epoch, claim in claims.items()
    ]


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


def _cooldown(case: Case, opinion: Opinion, attempts: Sequence[_Attempt]) -> None:
    """30 s, doubled with each attempt that did not hold; over after a new checkpoint and a stable while."""
    failed = 0
    for attempt in reversed(attempts):
        lasted = attempt.last - (attempt.claim.created or 0)
        if attempt.advanced and lasted >= case.policy.stable_seconds * SECOND:
            break
        failed += 1
    if not failed:
        return
    wait = case.policy.cooldown_seconds * case.policy.cooldown_factor ** min(failed - 1, 60)
    pause = min(wait, case.policy.cooldown_cap_seconds) * SECOND
    until = attempts[-1].last + pause + int(pause * _jitter(case, attempts[-1].claim))
    if case.now < until:
        message = f"cooling down after recovery attempt {len(attempts)}: another {in_words(until - case.now)}"
        opinion.say("SP750", "wait", message, evidence=attempts[-1].claim, until=until)


def _jitter(case: Case, claim: Record) -> float:
    """By which part of itself a pause is longer: drawn from the random nonce of the claim before it."""
    drawn = int((claim.nonce or "0")[:8], 16) / 2**32
    return case.policy.cooldown_jitter_fraction * drawn


def _no_progress(case: Case, opinion: Opinion, attempts: Sequence[_Attempt]) -> None:
    """Attempts in a row from where this one would begin; one without a recorded outcome has the same signature."""
    start = str(case.checkpoint.value["checkpointId"]) if case.checkpoint else None
    count, signature = 0, None
    for attempt in reversed(attempts):
        theirs = attempt.episode.failure_signature if attempt.episode else None
        if attempt.start != start or (signature is not None and theirs is not None and theirs != signature):
            break
        signature = signature or theirs
        count += 1
    limit = case.policy.attempts_without_progress
    if count >= limit:
        message = (
            f"{count} recovery attempts in a row began at this checkpoint and got no further (limit {limit})"
        )
        _reached(case, opinion, "SP752", message, attempts[-1].claim if attempts else case.checkpoint)


def _life(case: Case, opinion: Opinion, attempts: Sequence[_Attempt]) -> None:
    outages = sum(1 for a in attempts if a.episode and a.episode.failure_of == "infrastructure")
    limit = case.policy.attempts_in_life + min(outages, case.policy.extra_infrastructure_attempts)
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


def _fleet(case: Case, opinion: Opinion) -> None:
    """The breaker, and how much of the fleet is recovering: at most 10 % of the starts of an hour, but 3 in 10 min."""
    fleet = case.facts.value.get("fleet")
    if fleet is None:
        opinion.unchecked.append("breaker and fleet ratio: no facts.fleet")
        return
    for breaker in fleet.get("breakers") or ():
        until = breaker.get("until")
        if breaker.get("state") != "open" or breaker.get("workflow") not in {None, case.run.workflow}:
            continue
        ends = parse_time(until) if until else pause(case)
        if case.now < ends:
            opinion.say("SP751", "wait", "the breaker for this workflow is open", until=ends)
    hour, starts = fleet.get("recoveriesLastHour"), fleet.get("startsLastHour")
    recent = fleet.get("recoveriesLastTenMinutes")
    if hour is None or starts is None or recent is None:
        opinion.unchecked.append("fleet ratio: facts.fleet does not say how many runs started and recovered")
    elif hour * 10 > starts and recent >= 3:
        message = (
            f"{hour} recoveries for {starts} starts in the last hour; too much of the fleet is recovering"
        )
        opinion.say("SP758", "wait", message, until=case.now + 600 * SECOND)
