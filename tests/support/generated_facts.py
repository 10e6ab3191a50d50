"""What the guard is told beside a run, as hypothesis draws it: facts of each kind, settings and requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from journals import Journal, at, declares, digest
from questions import facts, request

from safepoint.core.digest import digest_stored, encode_record

MOVED = {"part": "model", "from": digest("a"), "to": digest("c")}
SETTINGS: Mapping[str, tuple[Any, ...]] = {
    "attemptsWithoutProgress": (1, 3),
    "attemptsInLife": (1, 10),
    "onBudgetReached": ("give_up",),
    "attemptsPerAction": (1, 3),
    "cooldownSeconds": (0, 300),
    "automaticResumeSeconds": (10_000_000,),
    "hardLimitSeconds": (1000,),
    "maxFactAgeSeconds": (10, 1_000_000),
    "runBudgetCostMicros": (150, 10_000),
    "abandonedMaySkip": (True,),
    "externalMoved": ("rerun_reads",),
    "guardContext": ({"model": "warn"}, {"*": "ignore"}),
    "compatibleWith": ([MOVED],),
    "actions": ({"send": declares(probe="byQuery")},),
    "actionSettings": ({"send": {"probesPerAction": 1}, "notify": {"sendWindowFraction": 0.5}},),
}


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """A policy of few settings, most often of none."""
    names = (
        draw(st.lists(st.sampled_from(sorted(SETTINGS)), max_size=2, unique=True))
        if draw(st.booleans())
        else []
    )
    return {name: draw(st.sampled_from(SETTINGS[name])) for name in names}


requests: st.SearchStrategy[dict[str, Any] | None] = st.sampled_from(
    [
        *[None] * 6,
        request("continue", checkpointId="cp-1"),
        request("continue", epoch=1),
        request("retry_step", stepName="notify"),
        request("roll_back", checkpointId="cp-1"),
        request("roll_back"),
        request("unwind"),
        request("unwind"),
        request("inspect"),
    ]
)


@st.composite
def facts_of(draw: st.DrawFn, journal: Journal, now: float, *, ordered: bool) -> Mapping[str, Any] | None:
    """Facts about the run of `journal`, observed shortly before `now`; or None."""
    if not draw(st.sampled_from([*[True] * 9, False])):
        return None
    times = st.sampled_from([now - 1, now - 1, now - 2, now - 60, 5, now + 50])
    seen = times.map(at)
    optional: dict[str, st.SearchStrategy[Any]] = {
        "owners": _owners(journal, seen, ordered=ordered),
        "probes": _probes(journal, seen),
        "external": _external(seen),
        "outbox": st.just({"m-1": "pending"})
        | st.sampled_from(["already_sent", "unknown"]).map(lambda s: {"m-1": s}),
        "artifacts": st.sampled_from(["present", "present", "missing", "damaged"]).map(
            lambda s: {"plan": {"state": s}}
        ),
        "approvals": st.dictionaries(
            st.sampled_from(["ap-1", "ap-2"]),
            st.sampled_from(["granted", "granted", "pending", "revoked", "expired"]).map(
                lambda s: {"state": s}
            ),
            max_size=2,
        ),
        "heads": st.sampled_from(
            [*[newest(journal)] * 4, {"journal": {"sequence": 99, "digest": digest("a")}}]
        ),
        "ledgerComplete": st.sampled_from([True]),
        "fleet": st.sampled_from(
            [{"breakers": []}, {"recoveriesLastHour": 20, "startsLastHour": 100}, _BUSY, _OPEN]
        ),
        "guardContext": st.sampled_from(
            [
                {"model": digest("a"), "workflow": digest("b")},
                {"model": digest("c"), "workflow": digest("b")},
                {},
            ]
        ),
        "knownSteps": st.sampled_from(
            [*[["notify", "update_status", "draft", "approve", "look"]] * 4, ["notify", "draft"]]
        ),
        "knownPayloadSchemas": st.sampled_from([["agent/state@4"], ["agent/state@4", "agent/state@5"], []]),
    }
    # each member by a draw of its own, so that most facts say only a few things
    chosen = {
        name: strategy
        for name, strategy in optional.items()
        if (ordered or name != "heads") and draw(st.sampled_from(_MOSTLY[name]))
    }
    observed = draw(st.sampled_from([*[now - 0.5] * 9, now - 100_000]))
    return facts(observed, **draw(st.fixed_dictionaries(chosen)))


_MOSTLY: Mapping[str, tuple[bool, ...]] = {
    "owners": (True, True, True, False),
    "probes": (True, True, False),
    "external": (True, False),
    "outbox": (True, False),
    "artifacts": (True, False),
    "approvals": (True, False, False, False),
    "heads": (True, False, False),
    "ledgerComplete": (True, False),
    "fleet": (True, False, False, False),
    "guardContext": (True, False),
    "knownSteps": (True, False, False),
    "knownPayloadSchemas": (True, False, False, False),
}
"""How often facts have each member."""

_BUSY = {"recoveriesLastHour": 20, "startsLastHour": 100, "recoveriesLastTenMinutes": 9}
_OPEN = {"breakers": [{"workflow": "publish", "state": "open", "until": at(10_000_000)}]}


def newest(journal: Journal) -> dict[str, Any]:
    """``heads`` that name the last record of `journal`."""
    values = journal.values
    return {"journal": {"sequence": len(values), "digest": digest_stored(encode_record(values[-1]))}}


def _owners(journal: Journal, seen: st.SearchStrategy[str], *, ordered: bool) -> st.SearchStrategy[Any]:
    who = (
        {"leaseEpoch": st.integers(1, max(1, journal.epoch))}
        if ordered
        else {"holder": st.sampled_from(["w", "v"])}
    )
    entry = {**who, "state": st.sampled_from(["dead"] * 7 + ["alive"]), "proof": st.just("exit status -9")}
    return st.lists(st.fixed_dictionaries(entry, optional={"observedAt": seen}), min_size=1, max_size=3)


def _probes(journal: Journal, seen: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    names = {v["actionId"] for v in journal.values if v["recordType"] == "ledger"} or {"send"}
    probe = {
        "result": st.sampled_from(["applied", "notApplied", "notApplied", "unknown"]),
        "consistency": st.sampled_from(["strong", "strong", "strong", "eventual"]),
        "observedAt": seen,
    }
    more = {
        "attempts": st.sampled_from([1, 2, 3]),
        "externalRef": st.none(),
        "firstObservedAt": st.just(at(6)),
    }
    answers = st.fixed_dictionaries(probe, optional=more)
    return st.dictionaries(st.sampled_from(sorted(names)), answers, min_size=1, max_size=3)


def _external(seen: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    version = {"version": st.sampled_from(["7", "7", "8", None])}
    value = {"value": st.sampled_from([{"eur": 5}, {"eur": 5}, {"eur": 6}, None])}
    when = {"observedAt": seen}
    doc, price = st.fixed_dictionaries(version, optional=when), st.fixed_dictionaries(value, optional=when)
    return st.fixed_dictionaries({}, optional={"doc": doc, "price": price})
