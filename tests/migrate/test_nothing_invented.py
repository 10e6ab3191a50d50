"""Unknown stays unknown: each value of a raised record stands in its source, or in the tables of SPEC.md#migration.

The tables are written down here once more, from the page and not from the steps.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from migratable import V1_RECORDS, V2_RECORDS, encoded, fixture_records, is_valid, kind_of, version_of

from safepoint.core.kind import Identity
from safepoint.core.version import V1, V2, V3
from safepoint.migrate import migrate_record, upgrade
from safepoint.version import __version__

Path = tuple[str | int, ...]

OLD = {name: data for name, data in fixture_records() if version_of(json.loads(data)) != V3}
SENDING = {"pending", "started", "attempting"}
KEPT = {"planned", "inDoubt", "prepared", "committed", "failed"} | {
    *("compensating", "compensated", "compensationFailed", "cancelled", "abandoned")
}
OWED = {
    "committed": "evidence",
    "attempting": "attempt",
    "failed": "error",
    "prepared": "reservation",
    "abandoned": "evidence",
}
NEW_IN_V2 = {
    "checkpoint": {
        ("artifactRefs",),
        ("sideEffectStatus", "writePerformed"),
        ("sideEffectStatus", "externalMessageSent"),
    },
    "ledger": {("idempotencyKey",)},
}
"""All of them null."""

NOWHERE = object()


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that has no parts, also empty arrays and objects."""
    if isinstance(value, dict | list) and value:
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, name))
    else:
        yield path, value


def at(value: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(value, dict | list):
            return NOWHERE
        try:
            value = value[step]
        except (LookupError, TypeError):
            return NOWHERE
    return value


def is_said(source: dict[str, Any], path: Path, leaf: Any) -> bool:
    """Whether the source says this itself, in its own words: here, or where the original lies in a residue or lay."""
    places = [path]
    if path[0] in {"x-v1", "x-v2"}:
        places.append(path[1:])
    places += [(residue, *path) for residue in ("x-v1", "x-v2", "x-v3")] + [("x-v2", "x-v3", *path)]
    return any(repr(at(source, place)) == repr(leaf) for place in places if place)


def is_in_the_tables(source: dict[str, Any], path: Path, leaf: Any, data: bytes) -> bool:
    kind, version = kind_of(source), version_of(source)
    match path:
        case ("schemaVersion",):
            return leaf == "v3"
        case ("recordType",):
            return leaf == kind
        case ("orderEvidence",):
            return leaf == "time"
        case ("migratedFrom", "schemaVersion"):
            return leaf == source.get("schemaVersion")
        case ("migratedFrom", "digest"):
            return leaf == f"sha256:{hashlib.sha256(data).hexdigest()}"
        case ("migratedFrom", "tool"):
            return leaf == f"safepoint {__version__}"
        case ("x-v2", "schemaVersion"):
            return leaf is None and "schemaVersion" not in source
        case ("createdAt",) if "createdAt" in source:
            # what Python cannot tell to the nanosecond is only compared to the microsecond
            one, two = (datetime.fromisoformat(time) for time in (leaf, source["createdAt"]))
            return leaf.endswith("Z") and one == two
        case ("createdAt",):
            return kind == "ledger" and leaf is None
        case ("status",):
            return leaf == status_of(source)
        case ("artifactRefs", int(), "artifactId"):
            return leaf == at(source, path[:2])
        case ("artifactRefs", int(), "uri" | "digest" | "size" | "mediaType"):
            return leaf is None and isinstance(at(source, path[:2]), str)
        case (name,) if kind == "ledger" and name == OWED.get(status_of(source)):
            return leaf is None
    return version == V1 and leaf is None and path in NEW_IN_V2[kind]


def status_of(source: dict[str, Any]) -> str:
    said = source["status"]
    return "attempting" if said in SENDING else said if said in KEPT else "inDoubt"


def invented(source: dict[str, Any], result: dict[str, Any], data: bytes) -> list[tuple[Path, Any]]:
    return [
        (path, leaf)
        for path, leaf in leaves(result)
        if not is_said(source, path, leaf) and not is_in_the_tables(source, path, leaf, data)
    ]


@pytest.mark.parametrize("name", OLD)
def test_nothing_in_a_raised_record_of_the_fixtures_is_invented(name: str) -> None:
    source = json.loads(OLD[name])
    migrated = migrate_record(OLD[name], V3)
    if migrated.data is not None:
        assert invented(source, json.loads(migrated.data), OLD[name].removesuffix(b"\n")) == []
    read = upgrade(source, Identity(kind_of(source), version_of(source)))
    assert invented(source, read, b"") == []


@given((V1_RECORDS | V2_RECORDS).filter(is_valid))
@settings(max_examples=150)
def test_nothing_in_a_raised_record_is_invented(source: dict[str, Any]) -> None:
    data = encoded(source)
    migrated = migrate_record(data, V3)
    if migrated.data is not None:
        assert invented(source, json.loads(migrated.data), data) == []
    assert invented(source, upgrade(source, Identity(kind_of(source), version_of(source))), b"") == []


@pytest.mark.parametrize(
    ("path", "leaf"),
    [
        (("sideEffectStatus", "writePerformed"), False),
        (("artifactRefs",), []),
        (("usage",), 0),
        (("stepAttempt",), 0),
        (("stateSnapshot",), {}),
        (("state",), ""),
        (("createdAt",), "2026-01-01T00:00:00Z"),
    ],
)
def test_a_value_that_was_made_up_would_be_noticed(path: Path, leaf: Any) -> None:
    (name,) = [name for name in OLD if name.startswith("good/v1-checkpoint/input.json")]
    raised = migrate_record(OLD[name], V3)
    assert raised.data is not None
    result = json.loads(raised.data)
    place = result
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = leaf
    found = invented(json.loads(OLD[name]), result, OLD[name].removesuffix(b"\n"))
    assert found == [(path, leaf)]


def test_what_a_naive_record_never_said_is_null_one_version_up_too() -> None:
    checked = 0
    for data in OLD.values():
        source = json.loads(data)
        migrated = migrate_record(data, V2)
        if version_of(source) != V1 or migrated.data is None or "x-v2" in source:
            continue
        result, checked = json.loads(migrated.data), checked + 1
        for path in NEW_IN_V2[kind_of(source)]:
            assert at(result, path) is None
        new = result.keys() - source.keys()
        assert new <= {"artifactRefs", "sideEffectStatus", "idempotencyKey", "x-v1"}
    assert checked > 3
