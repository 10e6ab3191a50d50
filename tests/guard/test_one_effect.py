"""One effect, everything that can be known of it, and an oracle that was written from first principles.

Doing something again is right only where it is proven that nothing happened and nothing will, or where the tool's own
declaration makes repeating harmless. The guard may refuse more than that; never less.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from journals import at, declares
from questions import facts, judge, started

from safepoint.guard import Decision

NOW, LEASE_ENDS, DEADLINE = 400, 73, 33
"""Seconds: when it is asked, when the lease (60 s, skew 5 s) has lapsed, and when the one attempt must have ended."""

PROGRESS = ("nothing", "planned", "attempting", "committed")
PROBES = ("none", "absentProven", "absentTooEarly", "absentWeak", "landed", "unreachable")
OWNERS = ("live", "lapsed", "dead")
TOOLS: Mapping[str, Mapping[str, Any]] = {
    "keyed": {"idempotency": "keyed", "dedupeWindowSeconds": 86_400},
    "keyLapsed": {"idempotency": "keyed", "dedupeWindowSeconds": 100},
    "unkeyed": {},
    "natural": {"effect": "write", "idempotency": "natural"},
    "read": {"effect": "read"},
}
CELLS = list(itertools.product(PROGRESS, PROBES, OWNERS, TOOLS))


def decide(progress: str, probe: str, owner: str, tool: str, *, declared: bool = True) -> Decision:
    """The guard's answer where the provider has been asked by a probe that found this."""
    how = "byQuery" if declared and probe != "none" else "none"
    journal, now = started(), LEASE_ENDS - 30 if owner == "live" else NOW
    members = {"declares": declares(**TOOLS[tool], probe=how, probeSettleSeconds=0)}
    if progress != "nothing":
        journal.ledger(3, "planned" if progress == "planned" else "attempting", **members)
    if progress == "committed":
        journal.ledger(4, "committed")
    known: dict[str, Any] = {}
    if owner == "dead":
        known["owners"] = [
            {"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": at(20)}
        ]
    if probe != "none" and progress != "nothing":
        late = {"absentTooEarly": DEADLINE - 10}.get(probe, now - 1)
        result = {"landed": "applied", "unreachable": "unknown"}.get(probe, "notApplied")
        strong = "eventual" if probe == "absentWeak" else "strong"
        known["probes"] = {"send": {"result": result, "consistency": strong, "observedAt": at(late)}}
    return judge(journal, now, facts(now - 0.5, **known) if known else None)


def may_repeat(progress: str, probe: str, owner: str, tool: str) -> bool:
    """Whether sending the request now can do no harm, from what a careful human would ask."""
    if progress in {"nothing", "planned"}:
        return True  # the record comes before the send: nothing was sent
    if progress == "committed" or probe == "landed":
        return False  # it is done
    if tool == "keyed":
        return True  # the provider promised to take this key once
    if tool in {"natural", "read"}:
        return True  # the same again changes nothing
    gone = owner == "dead"
    # a request that is still under way can land after the provider was asked, unless nobody is left who sends it
    absent = probe == "absentProven" and gone
    return absent and tool != "keyLapsed"  # a lapsed key with a new request would be another effect


def goes_forward(decision: Decision) -> bool:
    return decision.verdict == "resume" and any(
        item.do in {"replay", "run"} and item.action_id == "send" for item in decision.plan
    )


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_the_guard_is_never_laxer_than_a_careful_human(cell: tuple[str, str, str, str]) -> None:
    progress, _, owner, _ = cell
    decision = decide(*cell)
    if owner == "live":
        assert decision.verdict == "wait"  # whoever holds a live lease decides
    assert not goes_forward(decision) or may_repeat(*cell)
    named = [item.do for item in decision.plan if item.action_id == "send"]
    assert len(named) == (progress != "nothing")
    if progress == "committed":
        assert named == ["skip"]


ANYTHING = tuple(PROBES)
EXPECTED: list[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], str, str]] = [
    # what is recorded, what a probe found, the owner, the tool, the verdict, what is done about the action
    ("nothing", ANYTHING, ("lapsed", "dead"), tuple(TOOLS), "resume", ""),
    ("planned", tuple({*PROBES} - {"landed"}), ("lapsed", "dead"), tuple(TOOLS), "resume", "run"),
    ("planned", ("landed",), ("lapsed", "dead"), ("read",), "resume", "run"),
    ("planned", ("landed",), ("lapsed", "dead"), tuple({*TOOLS} - {"read"}), "hand_over", "handOver"),
    ("committed", ANYTHING, ("lapsed", "dead"), tuple(TOOLS), "resume", "skip"),
    ("attempting", ("landed",), ("lapsed", "dead"), tuple(TOOLS), "resume", "skip"),
    (
        "attempting",
        tuple({*PROBES} - {"landed"}),
        ("lapsed", "dead"),
        ("keyed", "natural", "read"),
        "resume",
        "replay",
    ),
    ("attempting", ("absentProven",), ("dead",), ("unkeyed",), "resume", "replay"),
    ("attempting", ("absentProven",), ("dead",), ("keyLapsed",), "hand_over", "handOver"),
    ("attempting", ("absentProven",), ("lapsed",), ("unkeyed", "keyLapsed"), "reconcile", "reconcile"),
    (
        "attempting",
        ("absentTooEarly", "absentWeak"),
        ("lapsed", "dead"),
        ("unkeyed", "keyLapsed"),
        "reconcile",
        "reconcile",
    ),
    ("attempting", ("unreachable",), ("lapsed", "dead"), ("unkeyed", "keyLapsed"), "reconcile", "reconcile"),
    ("attempting", ("none",), ("lapsed", "dead"), ("unkeyed", "keyLapsed"), "hand_over", "handOver"),
]
"""Every cell but those of a live lease, so that the guard refuses no more than the table of SPEC.md does."""


def expected(cell: tuple[str, str, str, str]) -> tuple[str, str]:
    progress, probe, owner, tool = cell
    rows = [r for r in EXPECTED if r[0] == progress and probe in r[1] and owner in r[2] and tool in r[3]]
    assert len(rows) == 1, f"{len(rows)} rows for {cell}"
    return rows[0][4], rows[0][5]


@pytest.mark.parametrize("cell", [c for c in CELLS if c[2] != "live"], ids="-".join)
def test_the_guard_is_not_stricter_than_its_table(cell: tuple[str, str, str, str]) -> None:
    decision = decide(*cell)
    done = "".join(item.do for item in decision.plan if item.action_id == "send")
    assert (decision.verdict, done) == expected(cell)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_an_answer_counts_for_no_more_where_no_probe_was_declared(cell: tuple[str, str, str, str]) -> None:
    decision = decide(*cell, declared=False)
    assert not goes_forward(decision) or may_repeat(*cell)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("probe", PROBES)
def test_death_is_proven_by_nothing_but_a_proof(probe: str, tool: str) -> None:
    """Whatever a lapsed lease allows, a proven death allows as well, and never less."""
    lapsed, dead = decide("attempting", probe, "lapsed", tool), decide("attempting", probe, "dead", tool)
    assert not (goes_forward(lapsed) and not goes_forward(dead))
    if tool in {"unkeyed", "keyLapsed"}:
        assert not goes_forward(lapsed)
