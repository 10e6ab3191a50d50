"""One question, every layer, one decision (SPEC.md#guard).

Layers 0 to 2 decide in order; of what layers 3 to 7 and the undecided reasons of the first three ask for, the gravest
wins. Every layer is evaluated and every reason reported, whatever the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.guard.case import Anchored, Case, Claims, Opinion, ask
from safepoint.guard.decision import GRAVITY, Decision, Missing, PlanItem, Reason
from safepoint.guard.layers import (
    budget,
    compatibility,
    compensation,
    effects,
    integrity,
    ownership,
    terminal,
    world,
)
from safepoint.guard.undo import can_undo, to_undo
from safepoint.model.action import Action
from safepoint.model.run import Run
from safepoint.policy import Policy

LAYERS: Sequence[tuple[str, Callable[[Case, Opinion], None]]] = (
    ("integrity", integrity.judge),
    ("terminal", terminal.judge),
    ("ownership", ownership.judge),
    ("compatibility", compatibility.judge),
    ("compensation", compensation.judge),
    ("budget", budget.judge),
    ("effects", effects.judge),
    ("world", world.judge),
)
"""Name and judge of each layer, in the order in which they decide."""

OF_THE_DELETED = (("terminal", terminal.judge),)
"""Of a run that was deleted there is nothing that another layer could look at."""


def evaluate(
    run: Run,
    facts: Mapping[str, Any] | None,
    policy: Policy,
    request: Mapping[str, Any] | None,
    now: int,
    *,
    artifacts: Mapping[str, str] | None = None,
    claims: Claims = "enforced",
    anchored: Anchored | None = None,
) -> Decision:
    """May `run` go on, from where, and what must not happen twice?

    Args:
        run: the folded run.
        facts: a valid ``facts`` document of this run, or None: nothing is known of the world.
        policy: the effective policy.
        request: a valid ``request`` document; None asks for ``continue``.
        now: nanoseconds since the Unix epoch.
        artifacts: artifact id to ``present``, ``missing``, ``damaged`` or ``unknown``; what is absent is unknown.
        claims: what keeps two claims of the run apart in the store that it was read from.
        anchored: what anchors of the store say of the run; None: none was consulted.

    Returns:
        The decision. Equal arguments give an equal decision.

    Raises:
        ValueError: the facts are another run's.
    """
    if facts is not None and facts.get("runId") != run.run_id:
        raise ValueError("the facts are of another run")
    case = ask(run, facts, policy, request, now, artifacts=artifacts, claims=claims, anchored=anchored)
    effects = to_undo(case)
    case = replace(case, to_undo=effects, undoable=all(can_undo(case, action) for action in effects))
    opinions = []
    for name, judge in LAYERS if run.deleted is None else OF_THE_DELETED:
        opinion = Opinion(name)
        judge(case, opinion)
        opinions.append(opinion)
    verdict = _verdict(case, opinions)
    reasons = [reason for opinion in opinions for reason in opinion.reasons]
    if verdict == "resume" and case.undoing:
        message = "a run that is being undone does not go forward; record what was found out, and end it"
        reasons.append(Reason("SP747", "compensation", "compensate", message))
        verdict = "compensate"
    if verdict == "resume" and not reasons:
        reasons.append(Reason("SP799", "world", "resume", "nothing stands against going on"))
    if case.goal == "inspect":
        reasons.append(Reason("SP716", "terminal", "no_op", "the request only asks to look"))
    waits = [time for opinion in opinions for time in opinion.not_before]
    valid = [time for opinion in opinions for time in opinion.valid_until]
    return Decision(
        run_id=run.run_id,
        evaluated_at=now,
        goal=case.goal,
        verdict=verdict,
        checkpoint_id=str(case.checkpoint.value["checkpointId"]) if case.checkpoint else None,
        plan=_plan(case, verdict, opinions),
        reasons=tuple(reasons),
        not_checked=tuple(text for opinion in opinions for text in opinion.unchecked),
        missing_evidence=_once([missing for opinion in opinions for missing in opinion.missing]),
        not_before=max(waits) if verdict == "wait" and waits else None,
        valid_until=min(valid) if verdict == "resume" and valid else None,
        head_sequence=run.head.sequence,
        head_digest=run.head.digest,
        lease_epoch=run.ownership.epoch if run.ownership else 0,
        policy_digest=policy.digest,
        facts_digest=digest_value(facts) if facts is not None else None,
        anchor_digest=anchored.digest if anchored is not None else None,
    )


def _verdict(case: Case, opinions: Sequence[Opinion]) -> str:
    if case.goal == "inspect":
        return "no_op"
    for opinion in opinions:
        if opinion.decisive:
            return opinion.decisive
    return max((opinion.gravest for opinion in opinions), key=lambda verdict: GRAVITY[verdict])


def _plan(case: Case, verdict: str, opinions: Sequence[Opinion]) -> tuple[PlanItem, ...]:
    """Each action once; where the run goes on, each next step with the actions that belong to it."""
    items = [item for opinion in opinions for item in opinion.plan]
    if verdict == "compensate":
        return _undo_plan(case, items)
    if verdict != "resume" or case.checkpoint is None:
        return tuple(items)
    steps = dict.fromkeys(case.checkpoint.value.get("nextSteps") or ())
    if case.request.get("stepName") is not None:
        steps = {str(case.request["stepName"]): None}
    by_step: dict[str, list[PlanItem]] = {step: [PlanItem("run", "SP761", step_name=step)] for step in steps}
    earlier: list[PlanItem] = []
    for item in items:
        step = case.run.actions[item.action_id].step_name if item.action_id else None
        by_step.get(step or "", earlier).append(item)
    return (*earlier, *(item for group in by_step.values() for item in group))


def _undo_plan(case: Case, items: Sequence[PlanItem]) -> tuple[PlanItem, ...]:
    """The committed effects that can be undone, last one first; then the rest as it is judged."""
    undo = {a.action_id: a for a in case.to_undo if can_undo(case, a) or a.status == "compensating"}
    undo |= {
        i.action_id: case.run.actions[i.action_id] for i in items if i.action_id and i.do == "compensate"
    }
    order = {name: index for index, name in enumerate(case.run.actions)}
    last_first = sorted(
        undo.values(), key=lambda a: (a.record.sequence or 0, order[a.action_id]), reverse=True
    )
    said = {item.action_id: item for item in items}
    first = [_undoing(said[action.action_id], action) for action in last_first]
    return (*first, *(item for item in items if item.action_id not in undo))


def _undoing(item: PlanItem, action: Action) -> PlanItem:
    """What layer 6 says of an action, unless it says to skip what has to be undone."""
    done = action.status == "committed" or item.reason == "SP776"
    return PlanItem("compensate", "SP742", action_id=action.action_id, key=action.key) if done else item


def _once(missing: Sequence[Missing]) -> tuple[Missing, ...]:
    return tuple(dict.fromkeys(missing))
