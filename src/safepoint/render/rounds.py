"""How recoveries themselves went: each round with its states and times, and what the budget has left.

Decided here: which words sum up a round. Not decided here: what counts as an attempt (``model.attempts``), and what
follows from a spent budget (``guard``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.model.attempts import (
    RecoveryAttempt,
    fold_attempts,
    outages,
    paused_until,
    without_progress,
)
from safepoint.model.episodes import Episode
from safepoint.model.run import Run
from safepoint.policy import Policy
from safepoint.render.overview import short, when
from safepoint.render.terminal import Cell, Screen, count

_ENDS = {
    "recovered": "recovered",
    "compensated": "undone",
    "superseded": "superseded",
    "gaveUp": "gave up",
    "notNeeded": "not needed",
}

_OPEN = {
    "detected": "being judged",
    "assessing": "being judged",
    "waiting": "waiting",
    "reconciling": "waiting for evidence",
    "awaitingHuman": "waiting for a human",
    "authorized": "allowed to go on",
    "compensating": "being undone",
}

_FAILED = {
    "step": "failed in a step",
    "recovery": "failed in recovery",
    "infrastructure": "failed by the infrastructure",
    None: "failed",
}

DIED = "died without a word"
"""Of an attempt without an outcome whose owner is gone; it counts as failed."""

_STYLES = {"recovered": "green", "undone": "green", "superseded": "dim", "not needed": "dim"}


def recovery_rounds(run: Run, policy: Policy, now: int) -> list[dict[str, Any]]:
    """All episodes of the recovery log, the first one first, each with every state and its time."""
    attempts = fold_attempts(run)
    return [_round(run, episode, attempts, policy, now) for episode in run.episodes.values()]


def _round(
    run: Run, episode: Episode, attempts: Sequence[RecoveryAttempt], policy: Policy, now: int
) -> dict[str, Any]:
    said = episode.record.value
    named = {name: value for record in episode.records for name, value in record.value.items() if value}
    return {
        "episodeId": episode.episode_id,
        "state": episode.state,
        "ended": episode.ended,
        "result": _result(run, episode, attempts, policy, now),
        "failedBy": episode.failed_by,
        "trigger": named.get("trigger"),
        "failureOf": _before(episode),
        "failureEvidence": named.get("failureEvidence"),
        "failureSignature": episode.failure_signature,
        "holder": named.get("holder"),
        "attemptNumber": named.get("attemptNumber"),
        "fromCheckpointId": episode.checkpoint_id,
        "leaseEpoch": episode.epoch,
        "notBefore": said.get("notBefore") if episode.state == "waiting" else None,
        "cost": next((r.value["cost"] for r in reversed(episode.records) if r.value.get("cost")), None),
        "outcome": said.get("outcome"),
        "states": [
            {
                "state": record.value["state"],
                "at": record.value["createdAt"],
                "sequence": record.sequence,
                "decisionDigest": record.value.get("decisionDigest"),
                "notBefore": record.value.get("notBefore"),
                "key": record.place.key,
                "line": record.place.line,
            }
            for record in episode.records
        ],
    }


def _before(episode: Episode) -> str | None:
    """What failed before the round began; how it ended itself is another matter."""
    before = [r.value.get("failureOf") for r in episode.records if r.value["state"] != "failedAttempt"]
    return next((failed for failed in reversed(before) if failed), None)


def _result(run: Run, episode: Episode, attempts: Sequence[RecoveryAttempt], policy: Policy, now: int) -> str:
    if episode.ended:
        return _ENDS.get(episode.state) or _FAILED[episode.failed_by]
    attempt = next((a for a in attempts if _is_of(a, episode)), None)
    if attempt is None:
        return _OPEN.get(episode.state, DIED)
    owner = run.ownership
    works = owner is not None and owner.lease is attempt.claim and run.status == "started"
    if owner is None or not works or owner.released or now >= owner.lapses_at(now, policy.skew):
        return DIED
    return "under way"


def _is_of(attempt: RecoveryAttempt, episode: Episode) -> bool:
    return attempt.claim.epoch == episode.epoch or attempt.claim.value.get("episodeId") == episode.episode_id


def recovery_budget(run: Run, policy: Policy, now: int) -> dict[str, Any]:
    """How much of what the policy allows recovery has used; None where nothing limits it, or nobody measured."""
    attempts = fold_attempts(run)
    extra = min(outages(attempts), policy.extra_infrastructure_attempts)
    start = str(run.newest_checkpoint.value["checkpointId"]) if run.newest_checkpoint else None
    until = paused_until(attempts, policy)
    told = [a for a in attempts if any(_is_of(a, episode) for episode in run.episodes.values())]
    costs = [e.cost_micros for e in run.episodes.values() if e.cost_micros is not None]
    return {
        "attempts": len(attempts),
        "attemptsAllowed": policy.attempts_in_life + extra,
        "extraInfrastructureAttempts": extra,
        "withoutProgress": without_progress(attempts, start),
        "withoutProgressAllowed": policy.attempts_without_progress,
        "attemptsWithoutRound": len(attempts) - len(told),
        "cooldownUntil": format_time(until) if until is not None and now < until else None,
        "costMicros": sum(costs) if costs else None,
        "costMicrosAllowed": _cost_allowed(run, policy),
    }


def _cost_allowed(run: Run, policy: Policy) -> int | None:
    """What recovering may cost: a part of what the run has used, and no more than is left of its own budget."""
    usages = [c.value.get("usage") or {} for c in (*run.checkpoints, *run.retracted)]
    spent = max((u["costMicros"] for u in usages if u.get("costMicros") is not None), default=None)
    if spent is None:
        return None
    part = int(min(policy.recovery_cost_fraction, 2.0**53) * spent)
    budget = policy.run_budget_cost_micros
    return part if budget is None else max(0, min(part, budget - spent))


def rounds_text(document: Mapping[str, Any], now: int, screen: Screen) -> str:
    """The rounds at a glance, what is left, and a line for each; empty where recovery was never tried.

    Args:
        document: made by `history.history`.
        now: nanoseconds since the Unix epoch.
        screen: where it goes.
    """
    rounds, budget = document["recoveries"], document["recoveryBudget"]
    if not rounds and not budget["attempts"]:
        return ""
    lines = [screen.paint("rounds of recovery", "bold"), *(f"  {line}" for line in _glance(document, now))]
    table = screen.table(_HEADINGS, [_row(entry) for entry in rounds]) if rounds else ""
    return "\n".join(lines) + "\n" + table


_HEADINGS = ("episode", "epoch", "from", "after a failure of", "how it ended")


def _row(entry: Mapping[str, Any]) -> list[Cell]:
    result = str(entry["result"])
    outcome = f": {entry['outcome']}" if entry["outcome"] else ""
    until = f" until {short(entry['notBefore'], up=True)}" if entry["notBefore"] else ""
    said = f"{result}{outcome}" if entry["ended"] or result == DIED else f"not ended: {result}{until}"
    last = short(entry["states"][-1]["at"])
    return [
        str(entry["episodeId"]),
        "-" if entry["leaseEpoch"] is None else str(entry["leaseEpoch"]),
        str(entry["fromCheckpointId"] or "-"),
        str(entry["failureOf"] or "not said"),
        (
            f"{said} ({entry['state']} {last})",
            _STYLES.get(result, "red" if result.startswith(("failed", "died")) else "yellow"),
        ),
    ]


def _glance(document: Mapping[str, Any], now: int) -> Iterator[str]:
    rounds, budget = document["recoveries"], document["recoveryBudget"]
    used, allowed = budget["attempts"], budget["attemptsAllowed"]
    still, at_most = budget["withoutProgress"], budget["withoutProgressAllowed"]
    results = Counter(str(entry["result"]) for entry in rounds)
    parts = [f"{number} {result}" for result, number in results.items()]
    if missing := budget["attemptsWithoutRound"]:
        parts.append(f"{count(missing, 'attempt')} that the recovery log does not tell of")
    extra = budget["extraInfrastructureAttempts"]
    granted = f" ({extra} of them for the infrastructure's failures)" if extra else ""
    tried = f"attempt {used} of {allowed}{granted} in this run's life" if used else "no attempt so far"
    progress = f", {still} of {at_most} without progress" if used else ""
    yield f"{count(len(rounds), 'round')}: {', '.join(parts)}; {tried}{progress}"
    if document["state"] in {"completed", "cancelled", "sealed"}:
        return
    left, row = max(0, allowed - used), max(0, at_most - still)
    more = "no attempt" if not min(left, row) else count(left, "attempt")
    rest = f"; {min(left, row)} if none gets further" if 0 < min(left, row) < left else ""
    yield f"left: {more}{rest}"
    if budget["costMicros"] is not None and budget["costMicrosAllowed"] is not None:
        yield f"recovering has cost {budget['costMicros']:,} of at most {budget['costMicrosAllowed']:,} costMicros"
    if until := budget["cooldownUntil"]:
        yield f"cooling down until {short(until, up=True)} ({when(until, now)}): the guard says wait before"
