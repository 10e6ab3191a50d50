"""Several facts documents as one: the same whatever their order, and never younger or older than observed."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import at, digest
from questions import dead, facts

from safepoint import schemas
from safepoint.core.digest import canonical
from safepoint.core.kind import Identity
from safepoint.core.version import V3
from safepoint.reader.documents import InputRefusedError
from safepoint.reader.merging import group_facts, load_facts


def merged(*documents: Any) -> dict[str, Any]:
    found = load_facts(documents)
    assert found is not None
    assert list(schemas.check(Identity("facts", V3), found)) == []
    return dict(found)


def refused(*documents: Any) -> str:
    messages = []
    for order in permutations(documents):
        with pytest.raises(InputRefusedError) as refusal:
            load_facts(order)
        messages.append(str(refusal.value))
    return messages[0]


def probe(result: str, seen: float, **members: Any) -> dict[str, Any]:
    return {"send": {"result": result, "consistency": "strong", "observedAt": at(seen), **members}}


def test_maps_are_merged_by_key_and_lists_are_united() -> None:
    one = facts(100, guardContext={"model": digest("a")}, knownSteps=["b", "a"], owners=[dead(1)])
    other = facts(120, guardContext={"workflow": digest("b")}, knownSteps=["a", "b"], owners=[dead(2)])
    found = merged(one, other)
    assert found["guardContext"] == {"model": digest("a"), "workflow": digest("b")}
    assert found["knownSteps"] == ["a", "b"]
    assert "knownSteps" in refused(one, {**other, "knownSteps": ["a", "b", "c"]})
    assert [owner["leaseEpoch"] for owner in found["owners"]] == [1, 2]


def test_the_document_is_as_old_as_the_oldest_and_what_is_younger_says_so_itself() -> None:
    one = facts(100, external={"doc": {"version": "1"}})
    other = facts(120, artifacts={"a": {"state": "present"}}, owners=[{**dead(1), "observedAt": at(50)}])
    found = merged(one, other)
    assert found["observedAt"] == at(100)
    assert found["external"]["doc"] == {"version": "1", "observedAt": at(100)}
    assert found["artifacts"]["a"] == {"state": "present", "observedAt": at(120)}
    assert found["owners"][0]["observedAt"] == at(50)


def test_two_who_saw_the_same_count_as_the_older_look() -> None:
    one, other = (facts(seen, external={"doc": {"version": "1"}}) for seen in (100, 120))
    assert merged(one, other)["external"]["doc"]["observedAt"] == at(100)


def test_the_fleet_counts_as_the_older_look_and_says_so_itself() -> None:
    one, other = (facts(seen, fleet={"startsLastHour": 5}) for seen in (100, 120))
    assert merged(one, other)["fleet"] == {"startsLastHour": 5, "observedAt": at(100)}
    assert "/fleet/startsLastHour" in refused(one, facts(120, fleet={"startsLastHour": 6}))


def test_members_of_one_subject_come_together_with_the_older_time() -> None:
    one, other = facts(100, external={"doc": {"version": "1"}}), facts(120, external={"doc": {"value": None}})
    assert merged(one, other)["external"]["doc"] == {"version": "1", "value": None, "observedAt": at(100)}


def test_one_document_alone_stays_as_it_is_also_given_twice() -> None:
    one = facts(100, external={"doc": {"version": "1"}})
    assert merged(one) == merged(one, dict(one)) == one
    assert load_facts(None) is None
    assert load_facts([]) is None


@pytest.mark.parametrize(
    ("one", "other", "pointer"),
    [
        (
            {"guardContext": {"model": digest("a")}},
            {"guardContext": {"model": digest("b")}},
            "/guardContext/model",
        ),
        (
            {"owners": [dead(1)]},
            {"owners": [dead(1, state="alive")]},
            "/owners/0/state is dead, and is alive",
        ),
        (
            {"approvals": {"ap": {"state": "granted"}}},
            {"approvals": {"ap": {"state": "revoked"}}},
            "/approvals/ap/state",
        ),
        (
            {"artifacts": {"a": {"state": "present"}}},
            {"artifacts": {"a": {"state": "missing"}}},
            "/artifacts/a/state",
        ),
        ({"probes": probe("applied", 90)}, {"probes": probe("notApplied", 90)}, "/probes/send/result"),
        ({"probes": probe("unknown", 80)}, {"probes": probe("unknown", 90)}, "count both in its attempts"),
        (
            {"outbox": {"m": "unknown"}},
            {"outbox": {"m": "delivered"}},
            "/outbox/m is unknown, and is delivered",
        ),
        ({"ledgerComplete": True}, {"ledgerComplete": False}, "/ledgerComplete"),
        (
            {"heads": {"journal": {"sequence": 7, "digest": digest("a")}}},
            {"heads": {"journal": {"sequence": 9, "digest": digest("b")}}},
            "/heads/journal/sequence",
        ),
        (
            {"fleet": {"breakers": [{"workflow": "w", "state": "open"}]}},
            {"fleet": {"breakers": [{"workflow": "w", "state": "closed"}]}},
            "/fleet/breakers/0/state",
        ),
        ({"x-note": "a"}, {"x-note": "b"}, "/x-note"),
    ],
)
def test_a_contradiction_is_refused_in_either_order(
    one: dict[str, Any], other: dict[str, Any], pointer: str
) -> None:
    said = refused(facts(100, **one), facts(120, **other))
    assert pointer.partition(" is ")[0] in said
    assert said.startswith("facts that contradict each other")


def test_a_contradiction_names_both_files_both_places_and_the_newer(tmp_path: Path) -> None:
    for name, seen, state in (("a.json", 100, "granted"), ("b.json", 120, "revoked")):
        value = facts(seen, approvals={"ap": {"state": state}})
        (tmp_path / name).write_text(json.dumps(value, indent=1))
    said = refused(tmp_path / "a.json", str(tmp_path / "b.json"))
    assert (
        f"{tmp_path}/a.json:8:13 and {tmp_path}/b.json:8:13: /approvals/ap/state is granted, and is revoked"
        in said
    )
    assert f"keep the newer one ({tmp_path}/b.json), and delete the other" in said


def test_of_two_answers_of_one_time_none_is_called_newer() -> None:
    for said in ({"probes": probe(result, 90)} for result in ("applied", "unknown")):
        words = refused(facts(100, **said), facts(120, probes=probe("notApplied", 90)))
        assert "newer" not in words
        assert "both are of one time: find out which is true, and delete the other" in words


def test_no_value_of_the_world_is_shown() -> None:
    one, other = (facts(100, external={"doc": {"value": value}}) for value in ("s3cret", "other"))
    assert "s3cret" not in refused(one, other)


def test_facts_of_two_runs_are_not_merged_but_can_be_grouped() -> None:
    one, other = facts(100), {**facts(100), "runId": "run-2"}
    assert "'run-2'" in refused(one, other)
    assert group_facts([one, other, facts(90)]) == {"run-1": facts(90), "run-2": other}


TIMES = st.sampled_from([100, 120, 140])
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "guardContext": st.dictionaries(st.sampled_from("ab"), st.sampled_from([digest("a"), digest("b")])),
        "knownSteps": st.lists(st.sampled_from("abc"), unique=True),
        "owners": st.lists(
            st.builds(dead, st.integers(1, 2), TIMES, st.sampled_from(["dead", "dead", "alive"])), max_size=2
        ),
        "external": st.dictionaries(
            st.sampled_from("ab"),
            st.fixed_dictionaries(
                {},
                optional={
                    "version": st.sampled_from(["1", "2"]),
                    "value": st.just(1),
                    "observedAt": TIMES.map(at),
                },
            ),
        ),
        "artifacts": st.dictionaries(
            st.sampled_from("ab"), st.fixed_dictionaries({"state": st.sampled_from(["present", "missing"])})
        ),
        "probes": TIMES.map(lambda seen: probe("unknown", seen)),
        "ledgerComplete": st.booleans(),
        "requires": st.just({"read": []}),
    },
)
DOCUMENTS = st.builds(lambda seen, parts: facts(seen, **parts), TIMES, PARTS)


def outcome(*documents: dict[str, Any]) -> bytes | None:
    try:
        return canonical(load_facts(documents))
    except InputRefusedError:
        return None


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_neither_order_nor_repetition_counts(
    one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    answers = {outcome(*order) for order in permutations([one, two, three])}
    assert len(answers) == 1
    assert outcome(one, two, three, one) in answers
    whole = answers.pop()
    if whole is not None:
        assert outcome(json.loads(whole), two) == whole
        assert list(schemas.check(Identity("facts", V3), json.loads(whole))) == []


@given(DOCUMENTS, DOCUMENTS)
def test_nothing_looks_younger_or_older_than_it_was_observed(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    whole = outcome(one, two)
    if whole is None or canonical(one) == canonical(two):
        return
    found = json.loads(whole)
    assert found["observedAt"] == min(one["observedAt"], two["observedAt"])
    for subject, entry in (found.get("external") or {}).items():
        said = [
            d["external"][subject].get("observedAt", d["observedAt"])
            for d in (one, two)
            if subject in d.get("external", {})
        ]
        assert entry["observedAt"] == min(said)
