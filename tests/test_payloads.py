"""Users' own schemas for what their checkpoints carry."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from safepoint.core.fault import Fault
from safepoint.core.scanner import MOST_FAULTS
from safepoint.payloads import PayloadSchemaError, PayloadSchemas

NAME = "support-agent/state@4"
ENGINES: tuple[Literal["auto", "jsonschema"], ...] = ("auto", "jsonschema")
DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]
STATE = {
    "type": "object",
    "required": ["customer"],
    "properties": {
        "customer": {"$ref": "parts/customer.json"},
        "tier": {"enum": ["gold", "silver"]},
        "kind": {"const": "of-its-own"},
        "tags": {"type": "array", "uniqueItems": True, "maxItems": 3},
        "either": {
            "oneOf": [
                {"type": "integer"},
                {"type": "string", "pattern": "^x"},
                {"type": "integer", "minimum": 5},
            ]
        },
        "nothing": False,
        "map": {"propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1},
        "pair": {"dependentRequired": {"a": ["b"]}},
        "some": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        "not": {"not": {"type": "null"}},
    },
    "additionalProperties": False,
}
CUSTOMER = {
    "type": "object",
    "required": ["age"],
    "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "id": {"type": "string", "pattern": "^c_[0-9]+$", "maxLength": 8},
        "friend": {"$ref": "#"},
    },
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Literal["auto", "jsonschema"]:
    found: Literal["auto", "jsonschema"] = request.param
    return found


def write(folder: Path, name: str, schema: Any) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return str(path)


@pytest.fixture
def state(tmp_path: Path) -> str:
    write(tmp_path, "schemas/parts/customer.json", CUSTOMER)
    return write(tmp_path, "schemas/state-4.json", STATE)


def check(schemas: PayloadSchemas, value: Any, member: str = "stateSnapshot") -> list[Fault]:
    return list(schemas.check({"payloadSchema": NAME, member: value}))


def places(faults: list[Fault]) -> dict[str, str]:
    return {fault.pointer: fault.message for fault in faults}


def test_a_payload_that_fits_has_no_fault(state: str, engine: Literal["auto", "jsonschema"]) -> None:
    schemas = PayloadSchemas.load({NAME: state}, engine=engine)
    assert check(schemas, {"customer": {"age": 3, "friend": {"age": 4}}, "tier": "gold"}) == []


@pytest.mark.parametrize(
    ("value", "pointer", "said"),
    [
        ({}, "", 'member "customer" is missing'),
        ([], "", "expected object, found an empty array"),
        ({"customer": {"age": -7}}, "/customer/age", "expected a number of at least 0, found a smaller one"),
        ({"customer": {"age": 7.5}}, "/customer/age", "expected integer, found a number"),
        (
            {"customer": {"age": 1, "friend": {"age": None}}},
            "/customer/friend/age",
            "expected integer, found null",
        ),
        ({"customer": {"age": 1, "id": "s3cret"}}, "/customer/id", 'expected text that fits "^c_[0-9]+$"'),
        (
            {"customer": {"age": 1, "id": "c_12345678"}},
            "/customer/id",
            "expected at most 8 characters, found 10",
        ),
        (
            {"customer": {"age": 1}, "tier": "s3cret"},
            "/tier",
            'expected "gold" or "silver", found another: a string',
        ),
        (
            {"customer": {"age": 1}, "kind": "s3cret"},
            "/kind",
            'expected "of-its-own", found another: a string',
        ),
        ({"customer": {"age": 1}, "tags": [1, 1]}, "/tags", "items that all differ"),
        ({"customer": {"age": 1}, "tags": [1, 2, 3, 4]}, "/tags", "at most 3 items, found 4"),
        (
            {"customer": {"age": 1}, "either": "s3cret"},
            "/either",
            "exactly one of 3 alternatives, found a string",
        ),
        ({"customer": {"age": 1}, "either": 7}, "/either", "that fits more than one"),
        ({"customer": {"age": 1}, "nothing": True}, "/nothing", "expected nothing here"),
        ({"customer": {"age": 1}, "map": {}}, "/map", "at least 1 member, found 0"),
        ({"customer": {"age": 1}, "map": {"A-1": 1}}, "/map", 'the name of member "A-1" is not allowed'),
        ({"customer": {"age": 1}, "pair": {"a": 1}}, "/pair", 'member "b" is missing'),
        (
            {"customer": {"age": 1}, "some": "s3cret"},
            "/some",
            "one of 2 alternatives, found a string that fits none",
        ),
        ({"customer": {"age": 1}, "not": None}, "/not", "breaks not: found null"),
        (
            {"customer": {"age": 1}, "a/b~": 1},
            "/a~1b~0",
            'member "a/b~" is not known to support-agent/state@4',
        ),
    ],
)
def test_a_payload_that_does_not_fit_is_told_where_and_what_was_expected(
    state: str, engine: Literal["auto", "jsonschema"], value: Any, pointer: str, said: str
) -> None:
    [fault] = check(PayloadSchemas.load({NAME: state}, engine=engine), value)
    assert (fault.code, fault.pointer) == ("SP231", f"/stateSnapshot{pointer}")
    assert said in fault.message
    assert NAME in fault.message
    assert "s3cret" not in fault.message


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"const": None}, "s3cret", "expected null, found another: a string"),
        ({"const": True}, False, "expected true, found another: true or false"),
        ({"enum": [1, 2.5, "a\x1b"]}, "s3cret", 'expected 1, 2.5 or "a\\u001b", found another: a string'),
        (
            {"enum": list("abcdef")},
            "s3cret",
            "expected a value that the schema lists, found another: a string",
        ),
        ({"enum": ["x" * 61]}, "s3cret", "expected a value that the schema lists, found another: a string"),
        ({"const": {"a": 1}}, "s3cret", "expected a value that the schema lists, found another: a string"),
        ({"maximum": 7}, 7331, "expected a number of at most 7, found a greater one"),
        ({"exclusiveMinimum": 7}, 7, "expected a number greater than 7, found one that is not"),
        ({"multipleOf": 5}, 7331, "expected a multiple of 5, found a number that is none"),
        ({"minLength": 9}, "s3cret", "expected at least 9 characters, found 6"),
        ({"minItems": 1}, [], "expected at least 1 item, found 0"),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, "expected at most 1 member, found 2"),
    ],
)
def test_what_the_schema_allows_is_shown_where_it_is_short_and_the_value_never(
    tmp_path: Path, schema: Any, value: Any, said: str
) -> None:
    [fault] = check(PayloadSchemas.load({NAME: write(tmp_path, "s.json", schema)}), value)
    assert fault.message == f"{said} ({NAME})"


def test_both_snapshots_are_described_by_one_schema(state: str) -> None:
    schemas = PayloadSchemas.load({NAME: state})
    found = schemas.check({"payloadSchema": NAME, "inputSnapshot": 1, "stateSnapshot": 2})
    assert [fault.pointer for fault in found] == ["/inputSnapshot", "/stateSnapshot"]
    assert [fault.pointer for fault in check(schemas, None)] == ["/stateSnapshot"], (
        "null is a value like any other"
    )


def test_each_snapshot_may_have_a_schema_of_its_own(state: str, tmp_path: Path) -> None:
    given = write(tmp_path, "input.json", {"type": "string"})
    schemas = PayloadSchemas.load({NAME: {"stateSnapshot": state, "inputSnapshot": given}})
    assert check(schemas, "text", "inputSnapshot") == []
    assert len(check(schemas, "text")) == 1
    only = PayloadSchemas.load({NAME: {"stateSnapshot": state}})
    assert check(only, 7, "inputSnapshot") == []


def test_a_name_that_is_not_configured_is_warned_of_and_not_checked(state: str) -> None:
    schemas = PayloadSchemas.load({NAME: state})
    [fault] = schemas.check({"payloadSchema": "support-agent/state@5", "stateSnapshot": 1})
    assert (fault.code, fault.pointer) == ("SP232", "/payloadSchema")
    assert fault.message.endswith("did you mean support-agent/state@4?")
    [other] = schemas.check({"payloadSchema": "z@1"})
    assert "did you mean" not in other.message


@pytest.mark.parametrize("record", [{}, {"payloadSchema": None, "stateSnapshot": 1}, {"stateSnapshot": 1}])
def test_a_record_that_names_no_schema_is_not_checked(state: str, record: Mapping[str, Any]) -> None:
    assert list(PayloadSchemas.load({NAME: state}).check(record)) == []


def test_where_nothing_is_configured_nothing_is_wrong() -> None:
    assert list(PayloadSchemas().check({"payloadSchema": NAME, "stateSnapshot": 1})) == []
    assert list(PayloadSchemas.load({}).check({"payloadSchema": NAME})) == []


def test_of_very_many_faults_some_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "s.json", {"items": {"type": "integer"}})
    faults = check(PayloadSchemas.load({NAME: path}), ["s3cret"] * (MOST_FAULTS + 5))
    assert len(faults) == MOST_FAULTS + 1
    assert faults[-1].message == f"5 more faults of this payload are not listed ({NAME})"


@pytest.mark.parametrize("draft", DRAFTS)
def test_schemas_of_every_draft_are_understood(
    tmp_path: Path, engine: Literal["auto", "jsonschema"], draft: str
) -> None:
    schema = {
        "$schema": draft,
        "definitions": {"n": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/definitions/n"}},
        "dependencies": {"x": ["y"]},
    }
    schemas = PayloadSchemas.load({NAME: write(tmp_path, "s.json", schema)}, engine=engine)
    assert check(schemas, {"a": 1}) == []
    assert [fault.pointer for fault in check(schemas, {"a": "b"})] == ["/stateSnapshot/a"]
    if "2019" not in draft and "2020" not in draft:
        assert 'member "y" is missing' in check(schemas, {"x": 1})[0].message


def test_files_of_different_drafts_may_refer_to_each_other(
    tmp_path: Path, engine: Literal["auto", "jsonschema"]
) -> None:
    write(tmp_path, "old.json", {"$schema": DRAFTS[2], "items": [{"type": "integer"}]})
    path = write(tmp_path, "new.json", {"properties": {"a": {"$ref": "old.json"}}})
    schemas = PayloadSchemas.load({NAME: path}, engine=engine)
    assert [fault.pointer for fault in check(schemas, {"a": ["x"]})] == ["/stateSnapshot/a/0"]


@pytest.mark.parametrize(
    "own", ["https://example.com/schemas/state-4.json", "state-4.json", "urn:example:state:4", "#here"]
)
def test_what_a_schema_calls_itself_does_not_move_its_files(
    tmp_path: Path, engine: Literal["auto", "jsonschema"], own: str
) -> None:
    write(
        tmp_path,
        "schemas/parts/customer.json",
        {**CUSTOMER, "$id": "https://example.com/schemas/parts/customer.json"},
    )
    path = write(tmp_path, "schemas/state-4.json", {**STATE, "$id": own} if own != "#here" else STATE)
    schemas = PayloadSchemas.load({NAME: path}, engine=engine)
    assert [fault.pointer for fault in check(schemas, {"customer": {}})] == ["/stateSnapshot/customer"]


def test_a_reference_to_where_the_schema_is_published_leads_to_the_file_beside_it(
    tmp_path: Path, engine: Literal["auto", "jsonschema"]
) -> None:
    base = "https://example.com/schemas"
    write(tmp_path, "parts/customer.json", CUSTOMER)
    path = write(
        tmp_path,
        "s.json",
        {
            "$id": f"{base}/s.json",
            "$ref": f"{base}/parts/customer.json",
            "$defs": {"x": {"$ref": f"{base}/s.json"}},
        },
    )
    assert places(check(PayloadSchemas.load({NAME: path}, engine=engine), {})).keys() == {"/stateSnapshot"}


def test_a_payload_may_be_a_schema_itself(tmp_path: Path, engine: Literal["auto", "jsonschema"]) -> None:
    schemas = PayloadSchemas.load({NAME: write(tmp_path, "s.json", {"$ref": DRAFTS[4]})}, engine=engine)
    assert check(schemas, {"type": "string"}) == []
    assert check(schemas, {"minLength": -1}) != []


def test_a_schema_inside_a_schema_may_have_a_name_of_its_own(
    tmp_path: Path, engine: Literal["auto", "jsonschema"]
) -> None:
    inner = {
        "$id": "https://example.com/inner",
        "$defs": {"n": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/$defs/n"}},
    }
    schema = {"$defs": {"inner": inner}, "$ref": "https://example.com/inner"}
    schemas = PayloadSchemas.load({NAME: write(tmp_path, "s.json", schema)}, engine=engine)
    assert [fault.pointer for fault in check(schemas, {"a": ""})] == ["/stateSnapshot/a"]


def test_what_only_the_reference_engine_understands_it_judges_alone(tmp_path: Path) -> None:
    schemas = PayloadSchemas.load({NAME: write(tmp_path, "s.json", {"pattern": r"(?P<a>x)(?P=a)"})})
    assert check(schemas, "xx") == []
    assert len(check(schemas, "xy")) == 1


def test_what_only_looks_like_a_reference_is_none(tmp_path: Path) -> None:
    schema = {"properties": {"$ref": {"type": "integer"}, "a": {"const": {"$ref": "https://example.com/x"}}}}
    schemas = PayloadSchemas.load({NAME: write(tmp_path, "s.json", schema)})
    assert check(schemas, {"$ref": 1, "a": {"$ref": "https://example.com/x"}}) == []


@pytest.mark.parametrize(
    ("schema", "place", "problem"),
    [
        ("{", "", "it is no JSON"),
        ("[]", "", "expected an object, or true or false"),
        ({"type": "strng"}, "/type", "it is no JSON Schema"),
        ({"properties": {"a": {"pattern": "["}}}, "/properties/a/pattern", "is not a 'regex'"),
        ({"$schema": "https://example.com/x"}, "/$schema", "is no known draft"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "/$schema", "is no known draft"),
        ({"items": {"$ref": "https://example.com/x.json"}}, "/items/$ref", "nothing is fetched"),
        ({"allOf": [{"$ref": "#/$defs/absent"}]}, "/allOf/0/$ref", '"#/$defs/absent" leads to nothing'),
        ({"$ref": "#absent"}, "/$ref", "leads to nothing"),
        ({"$ref": "absent.json"}, "/$ref", "absent.json: it cannot be read: No such file"),
        ({"$ref": "broken.json"}, "/$ref", "broken.json: it is no JSON Schema"),
        ({"$ref": "#"}, "", "refers to itself without end"),
        (
            {
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
                "$ref": "#/$defs/a",
            },
            "",
            "without end",
        ),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_at_once(
    tmp_path: Path, engine: Literal["auto", "jsonschema"], schema: Any, place: str, problem: str
) -> None:
    write(tmp_path, "broken.json", {"type": 1})
    path = write(tmp_path, "s.json", schema)
    with pytest.raises(PayloadSchemaError) as caught:
        PayloadSchemas.load({NAME: path}, engine=engine)
    assert (caught.value.path, caught.value.pointer) == (path, place)
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


def test_a_fault_in_a_file_further_on_names_that_file(tmp_path: Path) -> None:
    write(tmp_path, "b.json", {"items": {"$ref": "http://example.com/c.json"}})
    path = write(tmp_path, "a.json", {"$ref": "b.json"})
    with pytest.raises(PayloadSchemaError, match="not on this machine") as caught:
        PayloadSchemas.load({NAME: path})
    assert (Path(caught.value.path), caught.value.pointer) == (tmp_path / "b.json", "/items/$ref")


def test_without_the_fast_engine_the_reference_judges(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    schemas = PayloadSchemas.load({NAME: state})
    assert check(schemas, {"customer": {"age": 1}}) == []
    assert len(check(schemas, {"customer": {"age": ""}})) == 1


def values(chance: random.Random, depth: int = 3) -> Any:
    plain = [None, True, 0, -1, 3, 151, 7.5, "", "gold", "c_1", "x", "c_123456789"]
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(plain)
    if chance.random() < 0.2:
        return [values(chance, depth - 1) for _ in range(chance.randrange(4))]
    names = [*STATE["properties"], "age", "id", "friend", "a", "b", "other"]  # type: ignore[misc]
    return {name: values(chance, depth - 1) for name in chance.sample(names, chance.randrange(5))}


def test_both_engines_find_the_same(state: str) -> None:
    fast, reference = (PayloadSchemas.load({NAME: state}, engine=engine) for engine in ENGINES)
    chance = random.Random(20260507)

    def cases() -> Iterator[Any]:
        for _ in range(1500):
            yield values(chance)
            yield {
                "customer": {"age": 1},
                "either": values(chance),
                "tags": values(chance),
                "pair": values(chance),
            }

    found = [(check(fast, value), check(reference, value)) for value in cases()]
    assert [one for one, other in found if one != other] == []
    assert {not one for one, _ in found} == {True, False}
