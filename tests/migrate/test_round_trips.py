"""Every record of the fixtures on every way between the versions, with a canary in each of its objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migratable import V1_RECORDS, V2_RECORDS, V3_RECORDS, encoded, fixture_records, is_valid, version_of

from safepoint.core.digest import canonical
from safepoint.core.strictjson import parse
from safepoint.core.version import V1, V2, V3, Version
from safepoint.migrate import migrate_record

RECORDS = dict(fixture_records())
FOLDERS = sorted({name.partition("/")[0] for name in RECORDS})
WAYS = {
    V1: ((V2, V1), (V3, V1), (V2, V3, V1), (V3, V2, V1), (V2, V3, V2, V1)),
    V2: ((V3, V2), (V1, V2), (V3, V1, V2), (V3, V2, V1, V2)),
    V3: ((V2, V3), (V1, V3), (V2, V1, V3), (V1, V2, V3), (V2, V1, V2, V3)),
}
"""From each version away and back."""

REFUSED = {"SP602", "SP607"}
"""A newer minor version must not be lowered; and not every v3 checkpoint has the time that v2 wants."""


def lying_in(folder: str) -> Iterator[tuple[str, bytes]]:
    return ((name, data) for name, data in RECORDS.items() if name.startswith(f"{folder}/"))


def heard(data: bytes) -> int:
    """How many different canaries are in `data`; where an original is kept whole, they are there twice."""
    return len(set(re.findall(rb'"canary [^"]*"', data)))


def stops(data: bytes, way: tuple[Version, ...]) -> list[bytes] | None:
    """The record at each stop of its way; None where it is refused, for a reason that the format knows."""
    found = []
    for version in way:
        migrated = migrate_record(data, version, allow_loss=True)
        if migrated.data is None:
            assert {fault.code for fault in migrated.faults} & REFUSED
            return None
        found.append(data := migrated.data)
    return found


def comparable(value: dict[str, Any], back: dict[str, Any]) -> tuple[bytes, bytes]:
    """Both in canonical form; without the provenance of a record that was raised, and now is raised again."""
    one, two = dict(value), dict(back)
    if (
        version_of(value) == V3
        and one.get("orderEvidence") == "time"
        and {"migratedFrom"} <= one.keys() & two.keys()
    ):
        assert one.pop("migratedFrom").keys() <= two.pop("migratedFrom").keys()
    return canonical(one), canonical(two)


def planted(value: dict[str, Any], prefix: str) -> tuple[dict[str, Any], int]:
    """`value` with one more member in each object that may have it, at any depth; and how many there are."""
    paths = list(objects(value))
    whole = with_members(value, paths, prefix)
    if not is_valid(whole):
        paths = [path for path in paths if is_valid(with_members(value, [path], prefix))]
        whole = with_members(value, paths, prefix)
    return whole, len(paths)


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        yield path
    for name, part in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(part, dict | list):
            yield from objects(part, (*path, name))


def with_members(value: Any, paths: list[tuple[str | int, ...]], prefix: str) -> Any:
    changed = json.loads(json.dumps(value))
    for number, path in enumerate(paths):
        place = changed
        for step in path:
            place = place[step]
        place[f"{prefix}{number}"] = f"canary {prefix}{number} sings"
    return changed


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_records_of_the_fixtures_come_back_from_everywhere(folder: str) -> None:
    for name, data in lying_in(folder):
        value, _ = parse(data)
        for way in WAYS[version_of(value)]:
            found = stops(data, way)
            if found is not None:
                one, two = comparable(value, json.loads(found[-1]))
                assert one == two, (name, way)


def test_few_records_of_the_fixtures_are_refused_on_their_way() -> None:
    refused = {
        name
        for name, data in RECORDS.items()
        if any(stops(data, way) is None for way in WAYS[version_of(json.loads(data))])
    }
    assert len(refused) < len(RECORDS) / 20
    assert {version_of(json.loads(RECORDS[name])) for name in refused} <= {V2, V3}


@pytest.mark.parametrize("prefix", ["x-canary-", "canary"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_canary_in_every_object_survives_on_all_ways(folder: str, prefix: str) -> None:
    for name, data in lying_in(folder):
        value, count = planted(json.loads(data), prefix)
        for way in WAYS[version_of(value)]:
            found = stops(encoded(value), way)
            if found is not None:
                assert [heard(stop) for stop in found] == [count] * len(way), (name, way)
                one, two = comparable(value, json.loads(found[-1]))
                assert one == two, (name, way)


def test_canaries_are_really_planted_in_records_and_what_lies_in_them() -> None:
    own = {name: planted(json.loads(data), "x-canary-")[1] for name, data in RECORDS.items()}
    assert min(own.values()) >= 1
    assert sum(own.values()) > 2 * len(own)
    old = {name: data for name, data in RECORDS.items() if version_of(json.loads(data)) != V3}
    assert min(planted(json.loads(data), "canary")[1] for data in old.values()) >= 1


@given((V1_RECORDS | V2_RECORDS | V3_RECORDS).filter(is_valid), st.sampled_from(["x-canary-", "canary"]))
@settings(max_examples=60)
def test_a_canary_in_every_object_of_a_generated_record_survives(value: dict[str, Any], prefix: str) -> None:
    value, count = planted(value, prefix)
    for way in WAYS[version_of(value)]:
        data = encoded(value)
        for version in way:
            migrated = migrate_record(data, version, allow_loss=True)
            if migrated.data is None:  # also a residue that no migrator left
                assert {fault.code for fault in migrated.faults} & REFUSED
                break
            data = migrated.data
            assert heard(data) == count
        else:
            one, two = comparable(value, json.loads(data))
            assert one == two, way


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_jump_is_its_steps_and_up_twice_is_up_once(folder: str) -> None:
    for name, data in lying_in(folder):
        once, half = migrate_record(data, V3).data, migrate_record(data, V2).data
        if once is not None:
            again = migrate_record(once, V3)
            assert (again.data, again.changed) == (once, False), name
            assert migrate_record(data, V3).data == once, name
        if version_of(json.loads(data)) == V1 and once is not None and half is not None:
            twice = migrate_record(half, V3).data
            assert twice is not None, name
            one, two = json.loads(once), json.loads(twice)
            sources = [
                each.pop("migratedFrom", {"schemaVersion": None})["schemaVersion"] for each in (one, two)
            ]
            assert canonical(one) == canonical(two), name
            assert sources in (["v1", "v2"], [None, None]), name


@pytest.mark.parametrize(
    "number",
    [
        "1",
        "1.0",
        "-0.0",
        "0",
        "0.1",
        "1e300",
        "5e-324",
        "9007199254740991",
        "-9007199254740991",
        "1E2",
        "100.0",
    ],
)
@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_a_number_keeps_its_value_and_whether_it_is_a_whole_one(version: str, number: str) -> None:
    template = {"v1": "good/v1-checkpoint", "v2": "good/v2-checkpoint", "v3": "good/v3-checkpoint"}[version]
    (name,) = [name for name in RECORDS if name.startswith(f"{template}/input.json")]
    value = {**json.loads(RECORDS[name]), "inputSnapshot": {"n": ["@"]}, "x-n": "@"}
    data = encoded(value).replace(b'"@"', number.encode())
    wanted = json.loads(number)
    for way in WAYS[Version(int(version[1]))]:
        found = stops(data, way)
        assert found is not None
        for stop in found:
            assert repr(json.loads(stop)["inputSnapshot"]) == repr({"n": [wanted]})
        assert repr(json.loads(found[-1])["x-n"]) == repr(wanted)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9007199254740992", "12345678901234567890123", "NaN"])
@pytest.mark.parametrize("to", [V1, V2, V3])
def test_a_number_that_not_every_reader_has_is_refused(number: str, to: Version) -> None:
    (name,) = [name for name in RECORDS if name.startswith("good/v2-checkpoint/input.json")]
    value = {**json.loads(RECORDS[name]), "inputSnapshot": {"n": "@"}}
    migrated = migrate_record(encoded(value).replace(b'"@"', number.encode()), to)
    assert migrated.data is None
    assert {fault.code for fault in migrated.faults} <= {"SP105", "SP106", "SP107"}
