"""How the JSON Schemas are written: what every engine understands, and a code beside whatever can fail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from safepoint import schemas
from safepoint.core.version import V1, V2, V3, Version
from safepoint.rules import catalogue

SCHEMA = Path(__file__).parents[1] / "schema"
FILES = sorted(SCHEMA.glob("v*/*.json"))
EXTENSION = r"^x-[a-z0-9._-]+(?!\n)$"
ASSERTING = frozenset(
    {"type", "enum", "const", "pattern", "not", "required", "dependentRequired", "uniqueItems"}
    | {
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    }
    | {"exclusiveMinimum", "exclusiveMaximum", "contains", "minContains", "maxContains"}
)
APPLYING = frozenset(
    {"properties", "patternProperties", "additionalProperties", "propertyNames", "items"}
    | {"allOf", "if", "then", "else", "$ref", "$defs"}
)
SPEAKING = frozenset({"$schema", "$id", "title", "description", "x-code"})
SILENT = frozenset({"if", "not"})
"""Keywords whose subschemas fail without an error of their own."""


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def subschemas(
    schema: Any, pointer: str = "", *, silent: bool = False
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Every schema object in `schema` with its place, and whether it can only fail in silence."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema, silent
    for keyword, inner in schema.items():
        below = silent or keyword in SILENT
        if keyword in {"properties", "patternProperties", "$defs"}:
            for name, member in inner.items():
                yield from subschemas(member, f"{pointer}/{keyword}/{name}", silent=below)
        elif keyword == "allOf":
            for index, member in enumerate(inner):
                yield from subschemas(member, f"{pointer}/{keyword}/{index}", silent=below)
        elif keyword in APPLYING | SILENT:
            yield from subschemas(inner, f"{pointer}/{keyword}", silent=below)


def asserting(schema: dict[str, Any]) -> set[str]:
    closed = {"additionalProperties"} if schema.get("additionalProperties") is False else set()
    return (ASSERTING & schema.keys()) | closed


every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")


@every_file
def test_a_schema_is_valid_and_named_after_its_place(path: Path) -> None:
    schema = load(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:safepoint:{path.parent.name}:{path.stem}"


@every_file
def test_only_keywords_of_the_house_are_used(path: Path) -> None:
    used = {keyword for _, schema, _ in subschemas(load(path)) for keyword in schema}
    assert used <= ASSERTING | APPLYING | SPEAKING


@every_file
def test_whatever_can_fail_has_a_code_that_is_explained(path: Path) -> None:
    known = {code.id for code in catalogue.codes()}
    for pointer, schema, silent in subschemas(load(path)):
        codes = schema.get("x-code", {})
        assert codes.keys() == (set() if silent else asserting(schema)), pointer
        for keyword, code in codes.items():
            wanted = [code] if isinstance(code, str) else list(code.values())
            assert set(wanted) <= known, pointer
            assert isinstance(code, str) or keyword == "required", pointer
            assert isinstance(code, str) or code.keys() <= {*schema["required"], "*"}, pointer
            assert isinstance(code, str) or "*" in code, pointer


@every_file
def test_an_object_that_lists_its_members_is_closed_but_for_extensions(path: Path) -> None:
    for pointer, schema, silent in subschemas(load(path)):
        if "additionalProperties" in schema and schema["additionalProperties"] is False:
            assert schema["patternProperties"] == {EXTENSION: True}, pointer
        elif "properties" in schema and not silent:
            # a branch of a condition, or the discriminating schema: the closed schema stands beside it
            assert "/then" in pointer or "/else" in pointer or path.stem in {"record", "common"}, pointer


@every_file
def test_every_member_is_described_in_one_line(path: Path) -> None:
    for pointer, schema, silent in subschemas(load(path)):
        if silent:
            continue
        for name, member in schema.get("properties", {}).items():
            text = member.get("description", "")
            assert text, f"{pointer}/properties/{name}"
            assert "\n" not in text, f"{pointer}/properties/{name}"
            assert not text.endswith("."), f"{pointer}/properties/{name}"


@every_file
def test_a_member_that_may_be_null_says_what_null_means(path: Path) -> None:
    for pointer, schema, silent in subschemas(load(path)):
        for name, member in schema.get("properties", {}).items():
            types = member.get("type", ())
            nullable = (
                str(member.get("$ref", "")).endswith("OrNull")
                or None in member.get("enum", ())
                or (isinstance(types, list) and "null" in types)
            )
            assert silent or not nullable or "null" in member["description"], f"{pointer}/{name}"


@every_file
def test_patterns_mean_the_same_in_every_engine(path: Path) -> None:
    for pointer, schema, _ in subschemas(load(path)):
        for pattern in [*filter(None, [schema.get("pattern")]), *schema.get("patternProperties", ())]:
            assert pattern.startswith("^"), pointer
            assert pattern.endswith(r"(?!\n)$"), pointer
            outside_classes = re.sub(r"\[(?:\\.|[^\]\\])*\]", "", pattern)
            assert "." not in outside_classes, pointer
            assert not re.search(r"\\(?![nu\[\]])", pattern), pointer
            re.compile(pattern)
            jsonschema_rs.Draft202012Validator({"pattern": pattern})


@pytest.mark.parametrize("version", [V1, V2, V3], ids=str)
def test_there_is_one_file_for_each_kind_and_no_other(version: Version) -> None:
    names = {path.stem for path in SCHEMA.glob(f"{version}/*.json")}
    assert names == {*schemas.kinds(version), "common", "record"}


@pytest.mark.parametrize("version", [V1, V2, V3], ids=str)
def test_every_shared_definition_is_used(version: Version) -> None:
    shared = load(SCHEMA / str(version) / "common.json")["$defs"]
    texts = "".join(path.read_text() for path in SCHEMA.glob(f"{version}/*.json"))
    assert [name for name in shared if f'common#/$defs/{name}"' not in texts] == []


def test_the_schema_of_any_record_knows_every_kind() -> None:
    branches = load(SCHEMA / "v3" / "record.json")["allOf"]
    assert tuple(sorted(branch["then"]["$ref"].rpartition(":")[2] for branch in branches)) == schemas.kinds(
        V3
    )
