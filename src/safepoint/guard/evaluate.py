"""One question, every layer, one decision (SPEC.md#guard).

Layers 0 to 2 decide in order; of what layers 3 to 7 and the undecided reasons of the first three ask for, the gravest
wins. Every layer is evaluated and every reason reported, whatever the verdict.

A question has two halves: all that the run and its facts say (`assess`), and then how the fleet fares (`conclude`).
Over a whole store the second is known only once the last run was read, and each run is read but once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.guard.case import Anchored, Case, Claims, Opinion, ask
from safepoint.guard.decision import GRAVITY, REMADE, Decision, Missing, PlanItem, Reason
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
from safepoint.guard.member import Member, member_of
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


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a decision says as far as the fleet does not count. It holds nothing of the run itself, and stays small."""

    run_id: str
    evaluated_at: int
    """Nanoseconds since the Unix epoch, as all times here."""
    goal: str
    verdict: str
    """That of all reasons so far."""
    settled: bool
    """Whether the fleet cannot change the verdict: a layer decided, or the request only looks."""
    undoing: bool
    """Whether the run goes backwards, so that it never resumes."""
    checkpoint_id: str | None
    plan: tuple[PlanItem, ...]
    """What is done if the fleet holds nothing up."""
    items: tuple[PlanItem, ...]
    """The plan where it does: each action as its layer judges it."""
    reasons: tuple[Reason, ...]
    not_checked: tuple[str, ...]
    spoken: tuple[int, int]
    """How many of the reasons, and of what was not checked, come before the fleet's."""
    missing: tuple[Missing, ...]
    not_before: int | None
    """The latest time that a reason waits for."""
    valid_until: int | None
    head_sequence: int | None
    head_digest: str | None
    lease_epoch: int
    policy_digest: str
    anchor_digest: str | None
    member: Member | None
    """The run as a member of its fleet; None where the fleet is not asked: it was deleted."""


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
    assessment = assess(
        run, facts, policy, request, now, artifacts=artifacts, claims=claims, anchored=anchored
    )
    fleet = None if facts is None else facts.get("fleet")
    return conclude(assessment, fleet, None if facts is None else digest_value(facts))


def assess(
    run: Run,
    facts: Mapping[str, Any] | None,
    policy: Policy,
    request: Mapping[str, Any] | None,
    now: int,
    *,
    artifacts: Mapping[str, str] | None = None,
    claims: Claims = "enforced",
    anchored: Anchored | None = None,
    policy_digest: str | None = None,
) -> Assessment:
    """All opinions but the fleet's; ``facts.fleet`` is not looked at. Arguments and errors are those of `evaluate`.

    `policy_digest` is that of `policy`, where it is at hand; making it takes as long as judging a small run.
    """
    if facts is not None and facts.get("runId") != run.run_id:
        raise ValueError("the facts are of another run")
    case = ask(run, facts, policy, request, now, artifacts=artifacts, claims=claims, anchored=anchored)
    undo = to_undo(case)
    if undo:
        case = replace(case, to_undo=undo, undoable=all(can_undo(case, action) for action in undo))
    opinions = []
    spoken = (0, 0)
    for name, judge in LAYERS if run.deleted is None else OF_THE_DELETED:
        opinion = Opinion(name)
        judge(case, opinion)
        opinions.append(opinion)
        if name == "budget":
            spoken = (sum(len(o.reasons) for o in opinions), sum(len(o.unchecked) for o in opinions))
    verdict, settled = _verdict(case, opinions)
    undoing = verdict == "resume" and case.undoing
    items = [item for opinion in opinions for item in opinion.plan]
    waits = [time for opinion in opinions for time in opinion.not_before]
    valid = [time for opinion in opinions for time in opinion.valid_until]
    return Assessment(
        run_id=run.run_id,
        evaluated_at=now,
        goal=case.goal,
        verdict=verdict,
        settled=settled,
        undoing=undoing,
        checkpoint_id=str(case.checkpoint.value["checkpointId"]) if case.checkpoint else None,
        plan=_plan(case, "compensate" if undoing else verdict, items),
        items=tuple(items),
        reasons=tuple(reason for opinion in opinions for reason in opinion.reasons),
        not_checked=tuple(text for opinion in opinions for text in opinion.unchecked),
        spoken=spoken,
        missing=tuple(missing for opinion in opinions for missing in opinion.missing),
        not_before=max(waits, default=None),
        valid_until=min(valid, default=None),
        head_sequence=run.head.sequence,
        head_digest=run.head.digest,
        lease_epoch=run.ownership.epoch if run.ownership else 0,
        policy_digest=policy.digest if policy_digest is None else policy_digest,
        anchor_digest=anchored.digest if anchored is not None else None,
        member=member_of(case) if run.deleted is None else None,
    )


def conclude(assessment: Assessment, fleet: Mapping[str, Any] | None, facts_digest: str | None) -> Decision:
    """The decision that an assessment comes to, now that it is known how the fleet fares.

    Args:
        assessment: what all else says.
        fleet: the ``fleet`` of the facts; None: nobody looked.
        facts_digest: of the whole facts document, `fleet` included; None: there is none.
    """
    said = Opinion("budget")
    if assessment.member is not None:
        budget.judge_fleet(assessment.member, fleet, assessment.evaluated_at, said)
    verdict, plan = assessment.verdict, assessment.plan
    held = not assessment.settled and GRAVITY[said.gravest] > GRAVITY[verdict]
    if held:
        verdict, plan = said.gravest, assessment.items
    before, unchecked = assessment.spoken
    reasons = (*assessment.reasons[:before], *said.reasons, *assessment.reasons[before:])
    if assessment.undoing and not held:
        message = "a run that is being undone does not go forward; record what was found out, and end it"
        reasons += (Reason("SP747", "compensation", "compensate", message),)
        verdict = "compensate"
    if verdict == "resume" and not reasons:
        reasons = (Reason("SP799", "world", "resume", "nothing stands against going on"),)
    if assessment.goal == "inspect":
        reasons += (Reason("SP716", "terminal", "no_op", "the request only asks to look"),)
    waits = [*said.not_before, *(() if assessment.not_before is None else (assessment.not_before,))]
    valid = [*said.valid_until, *(() if assessment.valid_until is None else (assessment.valid_until,))]
    return Decision(
        run_id=assessment.run_id,
        evaluated_at=assessment.evaluated_at,
        goal=assessment.goal,
        verdict=verdict,
        checkpoint_id=assessment.checkpoint_id,
        plan=plan,
        reasons=reasons,
        not_checked=(
            *assessment.not_checked[:unchecked],
            *said.unchecked,
            *assessment.not_checked[unchecked:],
        ),
        missing_evidence=_once([*assessment.missing, *said.missing]),
        not_before=max(waits) if verdict == "wait" and waits else None,
        valid_until=min(valid) if verdict == "resume" and valid else None,
        head_sequence=assessment.head_sequence,
        head_digest=assessment.head_digest,
        lease_epoch=assessment.lease_epoch,
        policy_digest=assessment.policy_digest,
        facts_digest=facts_digest,
        anchor_digest=assessment.anchor_digest,
    )


def _verdict(case: Case, opinions: Sequence[Opinion]) -> tuple[str, bool]:
    """The verdict, and whether nothing that is said later can change it."""
    if case.goal == "inspect":
        return "no_op", True
    for opinion in opinions:
        if opinion.decisive:
            return opinion.decisive, True
    return max((opinion.gravest for opinion in opinions), key=lambda verdict: GRAVITY[verdict]), False


def _plan(case: Case, verdict: str, items: Sequence[PlanItem]) -> tuple[PlanItem, ...]:
    """Each action once; where the run goes on, each next step with the actions that belong to it."""
    if verdict == "compensate":
        return _undo_plan(case, items)
    if verdict != "resume" or case.checkpoint is None:
        return tuple(items)
    retried = case.step_to_retry
    next_ones = (case.checkpoint.value.get("nextSteps") or ()) if retried is None else (retried,)
    remade = {str(item.step_name): [item] for item in items if item.reason == REMADE}
    by_step = {step: [PlanItem("run", "SP761", step_name=step)] for step in next_ones if step not in remade}
    groups, earlier = remade | by_step, list[PlanItem]()
    for item in items:
        if item.action_id is not None:
            groups.get(case.run.actions[item.action_id].step_name, earlier).append(item)
    first, rest = ([item for group in part.values() for item in group] for part in (remade, by_step))
    return (*first, *earlier, *rest)


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
