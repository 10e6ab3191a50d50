"""The settings that a decision is made under, each with its origin (SPEC.md#policy).

Decided here: names, defaults and how a workflow's overrides win. Not decided here: what a setting means for a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.core.timestamp import SECOND


@dataclass(frozen=True, slots=True)
class Policy:
    """An effective policy. Durations are whole seconds, money is micros of the run's currency, fractions are 0 to 1.

    The member names are those of the policy document, in Python's spelling; the defaults are SPEC.md's.
    """

    attempts_without_progress: int = 3
    attempts_in_life: int = 10
    extra_infrastructure_attempts: int = 5
    cooldown_seconds: int = 30
    cooldown_factor: int = 2
    cooldown_cap_seconds: int = 3600
    cooldown_jitter_fraction: float = 0.1
    stable_seconds: int = 600
    automatic_resume_seconds: int = 86_400
    hard_limit_seconds: int = 1_209_600
    on_budget_reached: str = "hand_over"
    attempts_per_action: int | None = None
    """Attempts of one action that may be retried; None: as many as `attempts_in_life`."""
    probes_per_action: int = 3
    probe_pause_seconds: int = 1
    probe_pause_cap_seconds: int = 60
    probe_budget_seconds: int = 1800
    lease_seconds: int = 60
    lease_renewal_seconds: int = 20
    clock_skew_seconds: int = 5
    max_fact_age_seconds: int = 900
    send_window_fraction: float = 0.8
    run_budget_cost_micros: int | None = None
    recovery_cost_fraction: float = 0.5
    fleet_recovery_fraction: float = 0.1
    fleet_recovery_floor: int = 3
    abandoned_may_skip: bool = False
    external_moved: str = "hand_over"
    guard_context: Mapping[str, str] = field(default_factory=dict)
    """Part, or ``*`` for all others, to ``block`` (the default), ``warn`` or ``ignore``."""
    compatible_with: tuple[Mapping[str, str], ...] = ()
    actions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared capabilities for actions whose records lack them."""
    action_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings for single actions, by actionId or stepName: the members that `PER_ACTION` names."""
    breaker: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    """Document name of each setting to ``default``, ``policy``, ``workflow NAME`` or ``action NAME``.

    They are no part of the digest.
    """

    @property
    def skew(self) -> int:
        """The clock skew in nanoseconds."""
        return self.clock_skew_seconds * SECOND

    @property
    def digest(self) -> str:
        """SHA-256 of the effective settings in RFC 8785 form, defaults included."""
        return digest_value(self.settings())

    def settings(self) -> dict[str, Any]:
        """The effective settings under their document names."""
        return {
            _document_name(f.name): _plain(getattr(self, f.name)) for f in fields(self) if f.name != "origins"
        }

    def context_rule(self, part: str) -> str:
        """What a difference in `part` of the guard context does: ``block``, ``warn`` or ``ignore``."""
        return self.guard_context.get(part) or self.guard_context.get("*") or "block"

    @property
    def tries(self) -> int:
        """How often one action that failed and may be retried is attempted."""
        return self.attempts_in_life if self.attempts_per_action is None else self.attempts_per_action

    def for_action(self, action_id: str, step_name: str) -> Policy:
        """The policy for one action: its entry in ``actionSettings`` wins, else its step's."""
        name = action_id if action_id in self.action_settings else step_name
        own = self.action_settings.get(name)
        if not own:
            return self
        known = {_field_name(member): value for member, value in own.items() if member in PER_ACTION}
        origins = {**self.origins, **{_document_name(member): f"action {name}" for member in known}}
        return replace(self, **known, origins=origins)

    def excuses(self, part: str, recorded: str, current: str) -> bool:
        """Whether ``compatibleWith`` lists this change of `part`."""
        return any(
            entry.get("part") == part and entry.get("from") == recorded and entry.get("to") == current
            for entry in self.compatible_with
        )


PER_ACTION = frozenset(
    {
        "abandonedMaySkip",
        "attemptsPerAction",
        "probeBudgetSeconds",
        "probePauseCapSeconds",
        "probePauseSeconds",
        "probesPerAction",
        "sendWindowFraction",
    }
)
"""Settings that one action may have for itself."""


def parse_policy(document: Mapping[str, Any] | None, *, workflow: str | None = None) -> Policy:
    """The effective policy of a valid policy `document`; None is all defaults.

    Args:
        document: a policy document that has passed its schema.
        workflow: the run's workflow; its overrides in ``workflows`` win.
    """
    document = document or {}
    layers = [("policy", document)]
    overrides = (document.get("workflows") or {}).get(workflow) if workflow else None
    if overrides:
        layers.append((f"workflow {workflow}", overrides))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in fields(Policy):
        if setting.name == "origins":
            continue
        name = _document_name(setting.name)
        origins[name] = "default"
        for origin, layer in layers:
            if name in layer:
                value = layer[name]
                values[setting.name] = tuple(value) if isinstance(value, list) else value
                origins[name] = origin
    return Policy(**values, origins=origins)


def _document_name(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def _field_name(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
