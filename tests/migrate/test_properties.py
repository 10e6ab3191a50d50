"""What must hold for every record: up and down undo each other, and nothing that anybody wrote is lost."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from safepoint.core.digest import canonical
from safepoint.core.kind import Identity, recognise
from safepoint.core.version import V1, V2, V3, Version
from safepoint.migrate import migrate_record, upgrade
from safepoint.migrate.steps import v1_to_v2, v2_to_v3
from safepoint.migrate.steps.exchange import same
from safepoint.schemas import check

HARMLESS = {"SP204", "SP205", "SP218", "SP220"}
IDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abx-~/", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
OWN = st.dictionaries(st.sampled_from(["x-a", "x-team.note", "x-v9"]), VALUES, max_size=2)
UNKNOWN = st.dictionaries(
    st.sampled_from(["legacy", "x-Upper", "a/b~c", "", "x-", "retries"]), VALUES, max_size=2
)
RESIDUES = st.dictionaries(
    st.sampled_from(["x-v1", "x-v2", "x-v3"]),
    VALUES
    | st.fixed_dictionaries(
        {"schemaVersion": st.sampled_from(["v1", "v2", "v3", "v3.0", "v4", None, 7])},
        optional={
            "recordType": st.sampled_from(["checkpoint", "ledger"]),
            "x-v2": VALUES,
            "x-v3": st.fixed_dictionaries({"schemaVersion": st.just("v3")}, optional={"x-v2": VALUES}),
            "status": IDS,
            "createdAt": st.sampled_from(["9999-12-31T23:59:59-01:00", "2026-01-01T00:00:00+01:00", 5]),
            "artifactRefs": st.sampled_from([None, ["a"], 5, [{"artifactId": {}}]]),
            "sideEffectStatus": VALUES,
            "legacy": VALUES,
        },
    ),
    max_size=2,
)
TRUTH = st.sampled_from([True, False, None])
Z_TIMES = st.sampled_from(
    ["2026-05-07T10:00:00Z", "0001-01-01T00:00:00.5Z", "2024-02-29T23:59:59.000000001Z"]
)
TIMES = Z_TIMES | st.sampled_from(
    ["2026-05-07T12:00:00+02:00", "2026-05-07T10:00:00+00:00", "1970-01-01T00:00:00.25-23:59"]
)
V3_STATUSES = [
    *("planned", "attempting", "inDoubt", "prepared", "committed", "failed", "compensating"),
    *("compensated", "compensationFailed", "cancelled", "abandoned"),
]
STATUSES = st.sampled_from([*V3_STATUSES, "pending", "started", "done?", "Committed"]) | IDS
DIGESTS = st.just("sha256:" + "0a" * 32)


def effects(extra: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    plain = st.fixed_dictionaries({"writePerformed": TRUTH, "externalMessageSent": TRUTH})
    return st.builds(lambda one, two: {**two, **one}, plain, extra)


def record(
    needed: dict[str, st.SearchStrategy[Any]],
    optional: dict[str, st.SearchStrategy[Any]],
    *more: st.SearchStrategy[dict[str, Any]],
) -> st.SearchStrategy[dict[str, Any]]:
    core = st.fixed_dictionaries(needed, optional=optional)
    parts = st.tuples(OWN, RESIDUES, *more)
    return st.builds(lambda own, rest: {k: v for part in (*rest, own) for k, v in part.items()}, core, parts)


CHECKPOINT = {"checkpointId": IDS, "runId": IDS, "state": IDS, "stepName": IDS}
LEDGER = {"actionId": IDS, "runId": IDS, "stepName": IDS}
REFERENCES = st.fixed_dictionaries(
    {
        "artifactId": st.sampled_from(["a", "b"]),
        "uri": st.none() | st.just("s3://bucket/a"),
        "digest": st.none() | DIGESTS,
        "size": st.none() | st.integers(0, 9),
        "mediaType": st.none(),
    },
    optional={"producedBy": IDS, "x-a": VALUES},
)
JOURNAL = {
    "sequence": st.integers(2, 99),
    "previousDigest": DIGESTS,
    "nonce": st.just("ab" * 16),
    "leaseEpoch": st.just(1),
}
PROVENANCE = st.fixed_dictionaries(
    {
        "schemaVersion": st.sampled_from(["v1", "v2", None]),
        "digest": DIGESTS,
        "tool": st.just("safepoint 0.0.1"),
    }
)

V1_RECORDS = record(
    CHECKPOINT | {"schemaVersion": st.sampled_from(["v1", "v1.0", "v1.3"]), "createdAt": TIMES},
    {"inputSnapshot": VALUES},
    UNKNOWN,
) | record(LEDGER | {"schemaVersion": st.just("v1"), "status": STATUSES}, {"createdAt": TIMES}, UNKNOWN)
V2_RECORDS = record(
    CHECKPOINT
    | {
        "schemaVersion": st.sampled_from(["v2", "v2.0", "v2.7"]),
        "createdAt": TIMES,
        "artifactRefs": st.none() | st.lists(IDS, max_size=3, unique=True),
        "sideEffectStatus": effects(OWN | UNKNOWN),
    },
    {"inputSnapshot": VALUES},
    UNKNOWN,
) | record(
    LEDGER | {"status": STATUSES, "idempotencyKey": st.none() | IDS},
    {"schemaVersion": st.just("v2"), "createdAt": TIMES, "externalRef": st.none() | IDS},
    UNKNOWN,
)
V3_RECORDS = record(
    CHECKPOINT
    | {
        "recordType": st.just("checkpoint"),
        "schemaVersion": st.sampled_from(["v3", "v3.0"]),
        "createdAt": Z_TIMES,
        "artifactRefs": st.none() | st.lists(REFERENCES, max_size=3),
        "sideEffectStatus": effects(OWN),
    },
    {"inputSnapshot": VALUES, "stateSnapshot": VALUES, "branch": st.none(), "nextSteps": st.just([])},
    st.just({}) | st.fixed_dictionaries(JOURNAL) | st.fixed_dictionaries({"orderEvidence": st.just("time")}),
) | record(
    LEDGER
    | {
        "recordType": st.just("ledger"),
        "schemaVersion": st.just("v3"),
        "createdAt": st.none() | Z_TIMES,
        "status": st.sampled_from(V3_STATUSES),
        "idempotencyKey": st.none() | IDS,
    },
    {
        "externalRef": st.none() | IDS,
        "orderEvidence": st.just("time"),
        "migratedFrom": PROVENANCE,
        "evidence": st.none(),
        "attempt": st.none(),
        "error": st.none(),
        "reservation": st.none(),
        "result": VALUES,
    },
)


def is_valid(value: dict[str, Any]) -> bool:
    identity, faults = recognise(value)
    assert identity is not None, faults
    return not [fault for fault in check(identity, value) if fault.code not in HARMLESS]


def kind_of(value: dict[str, Any]) -> str:
    return "checkpoint" if "checkpointId" in value else "ledger"


def encoded(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


@given(V1_RECORDS.filter(is_valid))
def test_a_v1_record_survives_the_way_up_and_back(value: dict[str, Any]) -> None:
    before, kind = copy.deepcopy(value), kind_of(value)
    raised = v1_to_v2.up(kind, value)
    assert same(v1_to_v2.down(kind, raised).value, value)
    higher = v2_to_v3.up(kind, raised)
    assert same(v1_to_v2.down(kind, v2_to_v3.down(kind, higher).value).value, value)
    assert same(value, before)


@given(V2_RECORDS.filter(is_valid))
def test_a_v2_record_survives_both_ways(value: dict[str, Any]) -> None:
    before, kind = copy.deepcopy(value), kind_of(value)
    assert same(v2_to_v3.down(kind, v2_to_v3.up(kind, value)).value, value)
    assert same(v1_to_v2.up(kind, v1_to_v2.down(kind, value).value), value)
    assert same(value, before)


@given(V3_RECORDS.filter(is_valid))
def test_a_v3_record_survives_the_way_down_and_back(value: dict[str, Any]) -> None:
    before, kind = copy.deepcopy(value), kind_of(value)
    lower = v2_to_v3.down(kind, value).value
    assert same(v2_to_v3.up(kind, lower), value)
    lowest = v1_to_v2.down(kind, lower).value
    assert same(v2_to_v3.up(kind, v1_to_v2.up(kind, lowest)), value)
    assert same(value, before)


@given(V1_RECORDS.filter(is_valid) | V2_RECORDS.filter(is_valid))
def test_the_engine_gives_the_original_back_in_canonical_form(value: dict[str, Any]) -> None:
    data, version = encoded(value), Version.parse(value.get("schemaVersion", "v2"))
    assert version is not None
    raised = migrate_record(data, V3)
    if raised.data is None:  # a residue that no migrator made, and that would restore to nonsense
        assert {"x-v2", "x-v3"} & value.keys()
        assert {fault.code for fault in raised.faults} >= {"SP607"}
        return
    assert raised.changed
    back = migrate_record(raised.data, Version(version.major))
    assert back.data is not None, back.faults
    assert canonical(json.loads(back.data)) == canonical(value)


@given(V1_RECORDS.filter(is_valid) | V2_RECORDS.filter(is_valid))
@settings(max_examples=50)
def test_reading_in_memory_always_gives_a_valid_v3_record(value: dict[str, Any]) -> None:
    version = Version.parse(value.get("schemaVersion", "v2"))
    assert version is not None
    read = upgrade(value, Identity(kind_of(value), version))
    assert is_valid(read)
    assert read["orderEvidence"] == "time"
    assert "sequence" not in read


@given(V1_RECORDS.filter(is_valid).filter(lambda value: not {"x-v1", "x-v2", "x-v3"} & value.keys()))
@settings(max_examples=50)
def test_one_jump_equals_two_steps(value: dict[str, Any]) -> None:
    half = migrate_record(encoded(value), V2)
    assert half.data is not None
    twice, once = migrate_record(half.data, V3), migrate_record(encoded(value), V3)
    assert twice.data is not None
    assert once.data is not None
    one, two = json.loads(once.data), json.loads(twice.data)
    assert one.pop("migratedFrom")["schemaVersion"] == value["schemaVersion"]
    assert two.pop("migratedFrom")["schemaVersion"] == "v2"
    assert same(one, two)


@given(V1_RECORDS.filter(is_valid) | V2_RECORDS.filter(is_valid) | V3_RECORDS.filter(is_valid))
@settings(max_examples=50)
def test_up_twice_is_up_once(value: dict[str, Any]) -> None:
    once = migrate_record(encoded(value), V3)
    if once.data is None:
        return
    twice = migrate_record(once.data, V3)
    assert (twice.data, twice.changed) == (once.data, False)


@given(V2_RECORDS.filter(is_valid))
@settings(max_examples=50)
def test_what_was_raised_goes_down_past_its_old_version_as_if_it_never_had_been(
    value: dict[str, Any],
) -> None:
    kind = kind_of(value)
    through = v1_to_v2.down(kind, v2_to_v3.down(kind, v2_to_v3.up(kind, value)).value)
    assert same(through.value, v1_to_v2.down(kind, value).value)


def through(value: dict[str, Any], *versions: Version) -> dict[str, Any] | None:
    """`value` migrated from version to version; None where a step refuses."""
    data: bytes | None = encoded(value)
    for version in versions:
        data = None if data is None else migrate_record(data, version, allow_loss=True).data
    return None if data is None else json.loads(data)


@given(V1_RECORDS.filter(is_valid) | V2_RECORDS.filter(is_valid) | V3_RECORDS.filter(is_valid))
@settings(max_examples=100)
def test_one_jump_down_equals_two_steps(value: dict[str, Any]) -> None:
    high = through(value, V3)
    if high is None:
        return
    low = through(high, V2, V1)
    if low is not None:
        jump = through(high, V1)
        assert jump is not None
        assert same(jump, low)


@given(V3_RECORDS.filter(is_valid), st.sampled_from([V2, V1]))
@settings(max_examples=100)
def test_the_engine_restores_a_v3_record_but_for_how_a_source_was_spelt(
    value: dict[str, Any], stop: Version
) -> None:
    back = through(value, stop, V3)
    if back is None:  # a checkpoint without a time, or a residue that would restore to nonsense
        return
    one, two = value.get("migratedFrom"), back.get("migratedFrom")
    if value.get("orderEvidence") == "time" and one is not None and two is not None:
        # Raised again, it names what it was raised from that time.
        assert two["schemaVersion"] in {one["schemaVersion"], str(stop)}
        back["migratedFrom"] = one
    assert same(back, value)
