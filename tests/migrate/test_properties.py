"""What must hold for every record: up and down undo each other, and nothing that anybody wrote is lost."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from migratable import V1_RECORDS, V2_RECORDS, V3_RECORDS, encoded, is_valid, kind_of

from safepoint.core.digest import canonical
from safepoint.core.kind import Identity
from safepoint.core.version import V1, V2, V3, Version
from safepoint.migrate import migrate_record, upgrade
from safepoint.migrate.steps import v1_to_v2, v2_to_v3
from safepoint.migrate.steps.exchange import same


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
