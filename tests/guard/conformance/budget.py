"""Layer 5, budget: attempts, cooldown, age, money, breaker and fleet."""

from __future__ import annotations

from collections.abc import Iterator

from journals import at
from questions import PROBED, facts, started

from conformance.case import Case, policy


def cases() -> Iterator[Case]:
    once = started().claim(100, purpose="recovery")
    recovering = started(usage={"seconds": 1, "tokens": 1, "costMicros": 100, "attempts": 1}).claim(
        100, purpose="recovery"
    )
    recovering.recover(101, "detected", trigger="crash", cost={"costMicros": 60}).recover(102, "superseded")
    yield Case(
        "recovery-too-dear",
        "Recovery has cost more than half of what the run did.",
        recovering,
        "hand_over",
        ["SP755"],
        now=1000,
    )
    yield Case(
        "cooling-down",
        "The last attempt was moments ago.",
        once,
        "wait",
        ["SP750"],
        now=120,
        facts=facts(119, owners=[{"leaseEpoch": 2, "state": "dead", "proof": "exit status 1"}]),
    )
    thrice = started()
    for seconds in (100, 1000, 2000):
        thrice.claim(seconds, purpose="recovery")
    yield Case(
        "no-progress",
        "Three recoveries in a row made no new checkpoint.",
        thrice,
        "hand_over",
        ["SP752"],
        now=5000,
        source="fabrik#1414",
    )
    yield Case(
        "no-progress-given-up",
        "The policy gives such a run up.",
        thrice,
        "give_up",
        ["SP752"],
        now=5000,
        policy=policy(onBudgetReached="give_up"),
    )
    yield Case(
        "no-progress-with-an-open-effect",
        "A run with an open effect is never given up.",
        started()
        .ledger(3, "attempting", declares=PROBED)
        .claim(100, purpose="recovery")
        .claim(1000, purpose="recovery")
        .claim(2000, purpose="recovery"),
        "reconcile",
        ["SP752", "SP765"],
        now=5000,
        policy=policy(onBudgetReached="give_up"),
    )
    often = started()
    for number in range(10):
        often.claim(1000 * (number + 1), purpose="recovery").checkpoint(
            1000 * (number + 1) + 700, f"cp-{number + 2}"
        )
    yield Case(
        "attempts-spent", "The tenth recovery was the last.", often, "hand_over", ["SP753"], now=20_000
    )
    yield Case(
        "lain-too-long", "After a day a human decides.", started(), "hand_over", ["SP754"], now=100_000
    )
    yield Case(
        "beyond-the-hard-limit",
        "After a fortnight nothing holds any more.",
        started(),
        "hand_over",
        ["SP757"],
        now=2_000_000,
    )
    spent = started(usage={"seconds": 10, "tokens": 10, "costMicros": 1000, "attempts": 1})
    yield Case(
        "budget-spent",
        "The run has no money left.",
        spent,
        "hand_over",
        ["SP755"],
        policy=policy(runBudgetCostMicros=1000),
    )
    yield Case(
        "cost-unknown",
        "The policy sets a budget, and the run does not say what it has spent.",
        started(),
        "hand_over",
        ["SP756"],
        policy=policy(runBudgetCostMicros=1000),
    )
    yield Case(
        "fleet-recovering",
        "More than a tenth of the fleet is recovering.",
        started(),
        "wait",
        ["SP758"],
        facts=facts(fleet={"recoveriesLastHour": 20, "startsLastHour": 100, "recoveriesLastTenMinutes": 9}),
    )
    yield Case(
        "fleet-counted-too-long-ago",
        "What is said of the fleet is half an hour old, and the rest is of now.",
        started(),
        "reconcile",
        ["SP790"],
        now=3000,
        facts=facts(2999, fleet={"breakers": [], "observedAt": at(1000)}),
    )
    yield Case(
        "breaker-open",
        "Recoveries of this workflow fail at the moment.",
        started(),
        "wait",
        ["SP751"],
        facts=facts(fleet={"breakers": [{"workflow": "publish", "state": "open", "until": at(900)}]}),
    )
