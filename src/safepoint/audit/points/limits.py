"""Point 8: budget, cooldown and breaker are defined: by the project, not by this tool's defaults."""

from __future__ import annotations

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case

_BUDGET = ("attemptsWithoutProgress", "runBudgetCostMicros", "recoveryCostFraction")

GIVE_POLICY = "name the policy that the guard is given: safepoint audit STORE --policy FILE"


def judge(case: Case) -> Answer:
    """Each of the three that the policy leaves to the defaults, or sets so that it limits nothing."""
    notes, given, policy = Notes(case), case.given, case.policy
    place = given.place
    if place is None:
        message = "no policy was given: the guard goes by its defaults, and nothing shows that the project wants those"
        notes.unsaid(message, GIVE_POLICY)
        return notes.answer("")
    if not any(map(given.says, _BUDGET)):
        remedy = f"set one of {', '.join(_BUDGET)} in the policy"
        notes.fail("the policy sets no budget for recovery", remedy, place)
    if not given.says("cooldownSeconds"):
        notes.fail("the policy sets no cooldown", "set cooldownSeconds in the policy", place)
    elif policy.cooldown_seconds == 0 or policy.cooldown_cap_seconds == 0:
        message = "the policy's cooldown is 0 s, which is none"
        notes.fail(message, "set cooldownSeconds, and cooldownCapSeconds, to more than 0", place)
    if not given.says("breaker") or not policy.breaker:
        remedy = "set breaker in the policy: window, minimum, failedFraction and openSeconds"
        notes.fail("the policy defines no breaker", remedy, place)
    else:
        window, minimum = policy.breaker.get("window", 20), policy.breaker.get("minimum", 10)
        if minimum > window or policy.breaker.get("openSeconds") == 0:
            message = "the policy's breaker can never hold anything up"
            notes.fail(
                message,
                "set breaker.minimum to at most breaker.window, and openSeconds to more than 0",
                place,
            )
    return notes.answer("the policy sets a budget, a cooldown and a breaker")
