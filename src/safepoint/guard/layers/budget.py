"""Layer 5: has recovery been tried enough? (SPEC.md#guard-budget).

Attempts are the journal's recovery leases, so a crash between the claim and the recovery log loses none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from safepoint.core.timestamp import SECOND, parse_time
from safepoint.guard.case import Case, Opinion, in_words
from safepoint.model.episodes import Episode
from safepoint.model.record import Record


def judge(case: Case, opinion: Opinion) -> None:
    """Cooldown, attempts, age, cost and breaker."""
    owner = case.run.ownership
    attempts = owner.recoveries if owner else ()
    by_epoch = {episode.epoch: episode for episode in case.run.episodes.values() if episode.epoch is not None}
    _cooldown(case, opinion, attempts)
    _no_progress(case, opinion, attempts, by_epoch)
    _life(case, opinion, attempts, by_epoch)
    _age(case, opinion)
    _cost(case, opinion)
    _breaker(case, opinion)


def _reached(case: Case, opinion: Opinion, code: str, message: str, evidence: Record | None) -> None:
    """A limit is reached: to a human, or given up where the policy says so; but never while an effect is open."""
    opened = case.run.open_actions
    if not opened:
        verdict = case.policy.on_budget_reached
    elif any(case.can_probe(action) and case.probe(action) is None for action in opened):
        verdict = "reconcile"
    else:
        verdict = "hand_over"
    opinion.say(code, verdict, message, evidence=evidence)
    if verdict == "hand_over":
        opinion.need("human", case.run.run_id, "decide whether this run is worth another attempt")


def _signs(case: Case, attempt: Record) -> list[Record]:
    return [record for record in case.run.records if record.epoch == attempt.epoch]


def _made_checkpoint(case: Case, attempt: Record) -> bool:
    return any(record.kind == "checkpoint" for record in _signs(case, attempt))


def _cooldown(case: Case, opinion: Opinion, attempts: Sequence[Record]) -> None:
    """30 s, doubled with each attempt that did not hold; over after a new checkpoint and a stable while."""
    failed = 0
    for attempt in reversed(attempts):
        lasted = max(record.created or 0 for record in _signs(case, attempt)) - (attempt.created or 0)
        if _made_checkpoint(case, attempt) and lasted >= case.policy.stable_seconds * SECOND:
            break
        failed += 1
    if not failed:
        return
    last = max(record.created or 0 for record in _signs(case, attempts[-1]))
    pause = case.policy.cooldown_seconds * case.policy.cooldown_factor ** min(failed - 1, 60)
    until = last + min(pause, case.policy.cooldown_cap_seconds) * SECOND
    if case.now < until:
        opinion.say(
            "SP750",
            "wait",
            f"cooling down after recovery attempt {len(attempts)}: another {in_words(until - case.now)}",
            evidence=attempts[-1],
            until=until,
        )


def _no_progress(
    case: Case, opinion: Opinion, attempts: Sequence[Record], by_epoch: Mapping[int, Episode]
) -> None:
    """Attempts in a row from the same checkpoint; one without a recorded outcome counts with the same signature."""
    count, signature = 0, None
    for attempt in reversed(attempts):
        if _made_checkpoint(case, attempt):
            break
        episode = by_epoch.get(attempt.epoch)
        theirs = episode.failure_signature if episode else None
        if signature is not None and theirs is not None and theirs != signature:
            break
        signature = signature or theirs
        count += 1
    if count >= case.policy.attempts_without_progress:
        _reached(
            case,
            opinion,
            "SP752",
            f"{count} recovery attempts in a row ended without a new checkpoint "
            f"(limit {case.policy.attempts_without_progress})",
            attempts[-1],
        )


def _life(case: Case, opinion: Opinion, attempts: Sequence[Record], by_epoch: Mapping[int, Episode]) -> None:
    outages = sum(
        1 for a in attempts if (episode := by_epoch.get(a.epoch)) and episode.failure_of == "infrastructure"
    )
    limit = case.policy.attempts_in_life + min(outages, case.policy.extra_infrastructure_attempts)
    if len(attempts) >= limit:
        message = f"{len(attempts)} recovery attempts in this run's life (limit {limit})"
        _reached(case, opinion, "SP753", message, attempts[-1] if attempts else None)


def _age(case: Case, opinion: Opinion) -> None:
    """How long the run has lain still: since the last record of an owner, or of anybody where there is no owner."""
    owned = [r for r in case.run.records if r.epoch > 0] or list(case.run.records)
    dated = [record for record in owned if record.created is not None]
    if not dated:
        opinion.unchecked.append("age: no record says when it was written")
        return
    last = max(dated, key=lambda record: record.created or 0)
    age = case.now - (last.created or 0)
    if age > case.policy.hard_limit_seconds * SECOND:
        _reached(case, opinion, "SP757", f"nothing happened for {in_words(age)}, beyond the hard limit", last)
    elif age > case.policy.automatic_resume_seconds * SECOND:
        opinion.say(
            "SP754",
            "hand_over",
            f"nothing happened for {in_words(age)}; too old to go on by itself",
            evidence=last,
        )
        opinion.need("human", case.run.run_id, "decide whether a run this old should still go on")
    else:
        opinion.valid_until.append((last.created or 0) + case.policy.automatic_resume_seconds * SECOND)


def _cost(case: Case, opinion: Opinion) -> None:
    usage = (case.checkpoint.value.get("usage") or {}) if case.checkpoint else {}
    spent = usage.get("costMicros")
    recovering = [e.cost_micros for e in case.run.episodes.values() if e.cost_micros is not None]
    if spent is None:
        if recovering or case.policy.run_budget_cost_micros is not None:
            opinion.unchecked.append("cost: the checkpoint does not say what the run has spent")
        return
    limits = [int(spent * case.policy.recovery_cost_fraction)] if recovering else []
    if case.policy.run_budget_cost_micros is not None:
        limits.append(max(0, case.policy.run_budget_cost_micros - spent))
        if case.policy.run_budget_cost_micros <= spent:
            _reached(case, opinion, "SP755", "the run's budget is spent", case.checkpoint)
            return
    if limits and sum(recovering) > 0 and sum(recovering) >= min(limits):
        _reached(case, opinion, "SP755", "recovery has cost as much as the policy allows", case.checkpoint)


def _breaker(case: Case, opinion: Opinion) -> None:
    fleet = case.facts.value.get("fleet")
    if fleet is None:
        opinion.unchecked.append("breaker and fleet ratio: no facts.fleet")
        return
    first = next((r.value for r in case.run.records if r.kind == "run"), {})
    for breaker in fleet.get("breakers") or ():
        until = breaker.get("until")
        if breaker.get("state") != "open" or breaker.get("workflow") not in {None, first.get("workflow")}:
            continue
        ends = parse_time(until) if until else case.now + case.policy.max_fact_age_seconds * SECOND
        if case.now < ends:
            opinion.say("SP751", "wait", "the breaker for this workflow is open", until=ends)
