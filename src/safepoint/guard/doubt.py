"""An effect that may or may not have happened: may it be sent again, can somebody tell, or must a human?

Decided here: the rows "in doubt" of SPEC.md#guard-effects, the cut-off of a key, and rule N.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.timestamp import SECOND, format_time, parse_time
from safepoint.guard.case import Case, Opinion, in_words
from safepoint.guard.undo import can_undo
from safepoint.model.action import Action


def in_doubt(case: Case, opinion: Opinion, action: Action) -> None:
    """Decide an action of which nobody can say whether it was applied."""
    declares = case.declares(action)
    backwards = case.undoing and action.compensates is None
    if case.found_applied(action):
        opinion.decide(
            action,
            "skip",
            "SP776",
            "resume",
            "a probe found it applied; record that evidence, then use its result",
        )
    elif declares.effect == "read" and backwards:
        not_begun(case, opinion, action)
    elif declares.effect == "read":
        opinion.decide(action, "replay", "SP762", "resume", "in doubt, but only a read")
    elif declares.idempotency == "natural" and not backwards:
        _natural(case, opinion, action)
    elif not backwards and _key_holds(case, opinion, action):
        opinion.decide(
            action,
            "replay",
            "SP763",
            "resume",
            "in doubt; the provider honours its key, so the same request with the same key cannot be applied twice",
            pointer="/idempotencyKey",
        )
    elif declares.probe != "none":
        _probe(case, opinion, action)
    elif declares.compensation_consumes_key and can_undo(case, action) and action.key and case.undoable:
        opinion.decide(
            action,
            "compensate",
            "SP772",
            "compensate",
            "in doubt; its compensation does nothing where nothing happened, and uses the key up",
        )
    elif declares.idempotency == "keyed" and action.key is not None and not backwards:
        opinion.decide(
            action,
            "handOver",
            "SP767",
            "hand_over",
            f"in doubt, and {_why_key_fails(case, action)}: a re-send would be a new request",
        )
        opinion.need("outcome", action.action_id, "find out at the provider whether it was applied")
    else:
        opinion.decide(
            action,
            "handOver",
            "SP766",
            "hand_over",
            "it may or may not have happened, and neither a key nor a probe can tell",
        )
        opinion.need(
            "outcome", action.action_id, "find out whether it was applied, and record what was found"
        )


def _key_holds(case: Case, opinion: Opinion, action: Action) -> bool:
    """Whether the same key may be sent again now; adds the cut-off to the decision's validity."""
    if case.declares(action).idempotency != "keyed" or action.key is None or action.fingerprint is None:
        return False
    cut_off = send_before(case, action)
    if cut_off is None or case.now >= cut_off:
        return False
    opinion.valid_until.append(cut_off)
    return True


def _why_key_fails(case: Case, action: Action) -> str:
    if case.declares(action).dedupe_window is None:
        return "its tool does not declare for how long the provider honours the key"
    if action.fingerprint is None:
        return "the request's fingerprint is not recorded, so that nobody can tell the same request"
    return "the time is over in which the provider honours its key"


def send_before(case: Case, action: Action) -> int | None:
    """The last moment (nanoseconds) to send this action's key: what its first attempt fixed, else by declaration.

    None where no window is declared, or no attempt says when it began: then the key is not to be relied on.
    """
    declares = case.declares(action)
    if declares.dedupe_window is None or action.first_start is None:
        return None
    window = int(case.policy_for(action).send_window_fraction * declares.dedupe_window)
    computed = action.first_start + window - declares.probe_settle - 2 * case.policy.skew
    return computed if action.send_before is None else min(action.send_before, computed)


def _quiet_since(case: Case, action: Action) -> int | None:
    """When no open attempt can still take effect (nanoseconds), were all their workers to keep their deadlines.

    Its deadline, or the proven death of its worker where that came before, plus the settle time and twice the skew.
    None where neither is known of one.
    """
    ends = []
    for attempt in action.open_attempts:
        known = [time for time in (attempt.deadline, case.death_of(attempt.epoch)) if time is not None]
        if not known:
            return None
        ends.append(max(min(known), attempt.started or 0))
    return max(ends) + _settle(case, action) if ends else None


def _settle(case: Case, action: Action) -> int:
    return case.declares(action).probe_settle + 2 * case.policy.skew


def _natural(case: Case, opinion: Opinion, action: Action) -> None:
    """Repeating is harmless, but a late first attempt behind later work is not: wait until it can no longer land."""
    quiet = _quiet_since(case, action)
    if quiet is None and not action.open_attempts:
        opinion.decide(
            action, "reconcile", "SP773", "reconcile", "repeatable, but no record says when it was attempted"
        )
        opinion.need("outcome", action.action_id, "find out whether it was applied")
    elif quiet is None:
        opinion.decide(
            action,
            "reconcile",
            "SP773",
            "reconcile",
            "repeatable, but a late older attempt could undo later work",
        )
        _need_deaths(case, opinion, action, "proof that whoever attempted it is dead")
    elif case.now < quiet:
        message = f"repeatable, once no older attempt can land any more, in {in_words(quiet - case.now)}"
        opinion.decide(action, "wait", "SP773", "wait", message, until=quiet)
    else:
        opinion.decide(action, "replay", "SP762", "resume", "in doubt, and harmless to repeat")


def _probe(case: Case, opinion: Opinion, action: Action) -> None:
    """Rule N: "not found" becomes "failed" only if the probe is strong, late enough, and every writer is dead."""
    probe = case.probe(action)
    how = case.declares(action).probe
    wanting = _rule_n(case, action, probe) if probe and probe.get("result") == "notApplied" else None
    spent = _probes_spent(case, action, probe)
    if spent and (probe is None or wanting or probe.get("result") == "unknown"):
        message = f"it may or may not have happened, and {spent} could not tell"
        opinion.decide(action, "handOver", "SP774", "hand_over", message)
        opinion.need("outcome", action.action_id, "find out at the provider whether it was applied")
    elif probe is None or probe.get("result") != "notApplied":
        found = "its probe could not tell" if probe else f"its tool declares a probe ({how})"
        opinion.decide(action, "reconcile", "SP765", "reconcile", f"it may or may not have happened; {found}")
        when = f", not before {_next_probe(case, action, probe)}" if probe else ""
        opinion.need(
            "probe", action.action_id, f"ask the provider {_by(how, action)} whether it was applied{when}"
        )
    elif wanting:
        opinion.decide(
            action,
            "reconcile",
            "SP775",
            "reconcile",
            f"a probe did not find it, which proves nothing yet: {wanting}",
        )
        opinion.need("probe", action.action_id, f"ask again: {wanting}")
        _need_deaths(case, opinion, action, "proof that the worker of this open attempt is dead")
    elif case.undoing and action.compensates is None:
        not_begun(case, opinion, action)
    elif case.declares(action).idempotency == "keyed" and not _key_holds(case, opinion, action):
        message = (
            f"proven never applied, but {_why_key_fails(case, action)}: a re-send would be a new request"
        )
        opinion.decide(action, "handOver", "SP767", "hand_over", message)
        opinion.need("human", action.action_id, "decide on a new action with a key of its own")
    else:
        opinion.decide(
            action,
            "replay",
            "SP777",
            "resume",
            "a strong and late probe, and its workers' death, prove it never happened",
        )


def _need_deaths(case: Case, opinion: Opinion, action: Action, message: str) -> None:
    """Ask for the death of each worker of an open attempt that is not proven."""
    for epoch in sorted({a.epoch for a in action.open_attempts if case.death_of(a.epoch) is None}):
        opinion.need("owner", case.owner_named(epoch), message)


def _probes_spent(case: Case, action: Action, probe: Mapping[str, Any] | None) -> str | None:
    """What was spent on probes of `action`, where that is as much as the policy allows; None: one more may be made."""
    policy = case.policy_for(action)
    made = _made(probe) if probe else 0
    if made >= policy.probes_per_action:
        return f"{made} probes (limit {policy.probes_per_action})"
    first = (probe or {}).get("firstObservedAt")
    if probe is None or first is None:
        return None
    took = parse_time(probe["observedAt"]) - parse_time(first)
    if took < policy.probe_budget_seconds * SECOND:
        return None
    return f"probes over {in_words(took)} (limit {in_words(policy.probe_budget_seconds * SECOND)})"


def _made(probe: Mapping[str, Any]) -> int:
    return int(probe.get("attempts") or 1)


def _next_probe(case: Case, action: Action, probe: Mapping[str, Any]) -> str:
    """When the provider may be asked again: a pause after the last time that doubles with each."""
    policy = case.policy_for(action)
    pause = min(policy.probe_pause_seconds * 2 ** min(_made(probe) - 1, 60), policy.probe_pause_cap_seconds)
    return _whole_second(parse_time(probe["observedAt"]) + pause * SECOND)


def _whole_second(time: int) -> str:
    """The first whole second that is not before `time` (nanoseconds)."""
    return format_time(-(-time // SECOND) * SECOND)


def _by(how: str, action: Action) -> str:
    return f"by its key {action.key!r}" if how == "byKey" and action.key else "by a query"


def _rule_n(case: Case, action: Action, probe: Mapping[str, Any]) -> str | None:
    """What a negative probe lacks; None where it proves that the effect did not and will not happen."""
    if probe.get("consistency") != "strong":
        return "the provider's answer must be strongly consistent"
    deaths = [case.death_of(attempt.epoch) for attempt in action.open_attempts]
    if not deaths:
        return "no record says when it was attempted"
    if any(death is None for death in deaths):
        return "the worker of an open attempt is not proven dead and may still send"
    limits = [time for attempt in action.open_attempts for time in (attempt.deadline, attempt.started)]
    earliest = max(time for time in (*limits, *deaths) if time is not None) + _settle(case, action)
    seen = parse_time(probe.get("observedAt") or case.facts.value["observedAt"])
    if not earliest < seen <= case.now:
        return f"it must be made after {_whole_second(earliest)}"
    return None


def not_begun(_case: Case, opinion: Opinion, action: Action) -> None:
    """Decide an action that was not applied, of a run that goes backwards."""
    opinion.decide(
        action, "skip", "SP745", "resume", "the run is being undone; what was not done is not begun"
    )
