"""The policy settings that stand in a run's way, as a policy document with gaps (SPEC.md#policy).

Decided here: which setting answers which reason, and the hint in each gap. No gap validates before it is filled, so
that nobody loosens a policy by copying alone. Not decided here: whether the run deserves it; that is the reader's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from safepoint.policy import Policy
from safepoint.render.template import FILL_IN

_SECONDS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}


def policy_to_fill_in(
    document: Mapping[str, Any],
    policy: Policy,
    saved: Mapping[str, str] | None = None,
    current: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What would let the run pass the reasons that hand it to a human; empty where no setting answers any.

    Args:
        document: the decision.
        policy: the settings that it was made under.
        saved: the checkpoint's guard context: part to digest.
        current: the same as the facts give it.
    """
    members: dict[str, Any] = {}
    for reason in document["reasons"]:
        if reason["verdict"] != "hand_over":
            continue
        members |= _gaps(reason, policy)
        if reason["code"] == "SP730":
            part = str(reason["pointer"]).rpartition("/")[2]
            members.setdefault("compatibleWith", []).append(_excuse(part, saved or {}, current or {}))
    if any(item["do"] == "handOver" and item["reason"] == "SP771" for item in document["plan"]):
        members["abandonedMaySkip"] = (
            f"{FILL_IN}: true, and a run goes on past every effect that was abandoned"
        )
    return _where_it_is_set(members, policy)


def _gaps(reason: Mapping[str, Any], policy: Policy) -> dict[str, str]:
    """The settings that a budget's reason rests on, each with its hint."""
    code, message = reason["code"], str(reason["message"])
    if code == "SP752":
        return {"attemptsWithoutProgress": _more(policy.attempts_without_progress, _attempts(message))}
    if code == "SP753":
        return {"attemptsInLife": _more(policy.attempts_in_life, _attempts(message))}
    if code in {"SP754", "SP757"}:
        return _ages(code, _age(message), policy)
    if code == "SP755" and policy.run_budget_cost_micros is None:
        fraction = policy.recovery_cost_fraction
        return {"recoveryCostFraction": f"{FILL_IN}: more than {fraction:g}, such as {2 * fraction or 1:g}"}
    if code == "SP755":
        return {"runBudgetCostMicros": _more(policy.run_budget_cost_micros or 0, 0)}
    if code == "SP756":
        limit = policy.run_budget_cost_micros
        return {"runBudgetCostMicros": f"{FILL_IN}: null, which is no limit (it is {limit} now)"}
    return {}


def _ages(code: str, age: int, policy: Policy) -> dict[str, str]:
    """Beyond the hard limit both stand in the way, as what is too old for that is too old to go on by itself."""
    gaps = {"automaticResumeSeconds": _more(policy.automatic_resume_seconds, age)}
    if code == "SP757":
        return {"hardLimitSeconds": _more(policy.hard_limit_seconds, age), **gaps}
    return gaps


def _more(now: int, needed: int) -> str:
    least = max(now, needed)
    return f"{FILL_IN}: more than {least} (it is {now} now), such as {2 * least or 1}"


def _attempts(message: str) -> int:
    found = re.match(r"[0-9]+", message)
    return int(found[0]) if found else 0


def _age(message: str) -> int:
    """The age that a reason names, in seconds; it is cut to its unit, so the next one is beyond it."""
    found = re.search(r"for ([0-9]+) (d|h|min|s)\b", message)
    return (int(found[1]) + 1) * _SECONDS[found[2]] if found else 0


def _excuse(part: str, saved: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    now = current.get(part) or "sha256:… of it as it is now"
    return {
        "part": part,
        "from": saved.get(part) or f"{FILL_IN}: sha256:… as the checkpoint has it",
        "to": f"{FILL_IN}: {now}, if it can go on with what was saved",
    }


def _where_it_is_set(members: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """A workflow's override wins over the policy's own setting, so it is the one to change."""
    placed: dict[str, Any] = {}
    for name, value in members.items():
        _, _, workflow = policy.origins.get(name, "").partition("workflow ")
        if workflow:
            placed.setdefault("workflows", {}).setdefault(workflow, {})[name] = value
        else:
            placed[name] = value
    return placed
