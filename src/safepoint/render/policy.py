"""The settings in force, each with its unit and its origin, for a human and as JSON (SPEC.md#policy).

Decided here: units, order and words. Not decided here: which setting wins (``policy``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safepoint.policy import Policy
from safepoint.render.terminal import Cell, Screen, plain

UNITS: Mapping[str, str] = {
    "attemptsWithoutProgress": "attempts",
    "attemptsInLife": "attempts",
    "extraInfrastructureAttempts": "attempts",
    "cooldownSeconds": "s",
    "cooldownFactor": "times",
    "cooldownCapSeconds": "s",
    "cooldownJitterFraction": "fraction",
    "stableSeconds": "s",
    "automaticResumeSeconds": "s",
    "hardLimitSeconds": "s",
    "attemptsPerAction": "attempts",
    "probesPerAction": "probes",
    "probePauseSeconds": "s",
    "probePauseCapSeconds": "s",
    "probeBudgetSeconds": "s",
    "leaseSeconds": "s",
    "leaseRenewalSeconds": "s",
    "clockSkewSeconds": "s",
    "maxFactAgeSeconds": "s",
    "sendWindowFraction": "fraction",
    "runBudgetCostMicros": "micros",
    "recoveryCostFraction": "fraction",
    "fleetRecoveryFraction": "fraction",
    "fleetRecoveryFloor": "recoveries",
    "breaker.window": "recoveries",
    "breaker.minimum": "recoveries",
    "breaker.failedFraction": "fraction",
    "breaker.openSeconds": "s",
}
"""Settings that are measured in something; micros are millionths of the run's currency."""

_JUDGEMENT = frozenset(
    {
        "attemptsInLife",
        "extraInfrastructureAttempts",
        "cooldownJitterFraction",
        "maxFactAgeSeconds",
        "sendWindowFraction",
        "recoveryCostFraction",
    }
)
"""Settings whose default has no outside source: SPEC.md marks them with a dagger."""

_NULL: Mapping[str, str] = {
    "attemptsPerAction": "as attemptsInLife",
    "runBudgetCostMicros": "no limit",
}

_BREAKER: Mapping[str, Any] = {"window": 20, "minimum": 10, "failedFraction": 0.5, "openSeconds": 900}

_APART = frozenset({"actions", "actionSettings", "guardContext", "compatibleWith", "breaker"})

_DECLARED = (
    "effect",
    "idempotency",
    "dedupeWindowSeconds",
    "probe",
    "probeSettleSeconds",
    "reversibility",
    "compensation",
    "compensationConsumesKey",
)


def policy_json(policy: Policy, about: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """The settings, their origins and the digest that a decision names; `about` says whose they are."""
    return {**about, "settings": policy.settings(), "origins": dict(policy.origins), "digest": digest}


def policy_text(
    policy: Policy,
    screen: Screen,
    *,
    title: str,
    digest: str,
    file: str | None = None,
    declared: tuple[str, Mapping[str, Any] | None] | None = None,
) -> str:
    """A table of the settings, then what the policy declares of actions.

    Args:
        policy: the settings in force.
        screen: where it goes.
        title: for what they are in force.
        digest: as a decision under them names it.
        file: where the policy was read.
        declared: for one action: who declares what it is, and what.
    """
    rows = list(_rows(policy, file))
    text = f"{screen.paint(plain(title), 'bold')}\n"
    text += screen.table(("setting", "value", "unit", "origin"), rows)
    if declared is not None:
        text += _declaration(*declared, screen)
    else:
        text += _catalogue(policy, screen) + _own(policy, screen)
    marked = any(policy.origins.get(name) == "default" for name in _JUDGEMENT)
    notes = ["† a judgement of ours, without an outside source"] if marked else []
    return text + "\n" + "".join(screen.paint(f"{n}\n", "dim") for n in (*notes, f"digest {digest}"))


def _rows(policy: Policy, file: str | None) -> Iterator[list[Cell]]:
    for name, value in policy.settings().items():
        origin = _origin(name, policy, file)
        if name == "guardContext":
            parts = dict(value) if "*" in value else {**value, "*": "block"}
            for part, rule in parts.items():
                yield [f"guardContext.{part}", rule, "-", origin if part in value else ("default", "dim")]
        elif name == "compatibleWith":
            for excuse in value:
                change = f"{excuse['from'][:19]}… to {excuse['to'][:19]}…"
                yield [f"compatibleWith {excuse['part']}", change, "-", origin]
        elif name == "breaker":
            for member, default in _BREAKER.items():
                path = f"breaker.{member}"
                own = member in value
                yield [
                    path,
                    _value(path, value.get(member, default)),
                    UNITS[path],
                    origin if own else ("default", "dim"),
                ]
        elif name not in _APART:
            yield [name, _value(name, value), UNITS.get(name, "-"), origin]


def _origin(name: str, policy: Policy, file: str | None) -> Cell:
    origin = policy.origins.get(name, "default")
    if origin == "default":
        return ("default †" if name in _JUDGEMENT else "default", "dim")
    return (f"{origin} ({file})" if origin == "policy" and file else origin, "yellow")


def _value(name: str, value: Any) -> str:
    if value is None:
        return _NULL.get(name, "none")
    return value if isinstance(value, str) else json.dumps(value)


def _catalogue(policy: Policy, screen: Screen) -> str:
    if not policy.actions:
        return ""
    names = [
        n for n in _DECLARED if any((entry or {}).get(n) is not None for entry in policy.actions.values())
    ]
    rows = [
        [name, *(_word((entry or {}).get(member)) for member in names)]
        for name, entry in policy.actions.items()
    ]
    head = screen.paint("\ndeclared for actions whose records declare nothing", "bold")
    return f"{head}\n{screen.table(('action or step', *names), rows)}"


def _own(policy: Policy, screen: Screen) -> str:
    """What single actions have for themselves."""
    rows: list[Sequence[Cell]] = [
        [name, member, _value(member, value), UNITS.get(member, "-")]
        for name, own in policy.action_settings.items()
        for member, value in own.items()
    ]
    if not rows:
        return ""
    head = screen.paint("\nsettings of single actions", "bold")
    return f"{head}\n{screen.table(('action or step', 'setting', 'value', 'unit'), rows)}"


def _declaration(who: str, declares: Mapping[str, Any] | None, screen: Screen) -> str:
    head = screen.paint(f"\ndeclared by {plain(who)}", "bold")
    if declares is None:
        return f"{head}\n"
    rows: list[Sequence[Cell]] = [[name, _word(declares[name])] for name in _DECLARED if name in declares]
    return f"{head}\n{screen.table(('member', 'value'), rows)}"


def _word(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)
