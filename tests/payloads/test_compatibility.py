"""Two payload schemas, compared: what is proven, what is shown, and what nobody can tell."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from safepoint.payloads import PayloadSchemaError
from safepoint.payloads.compatibility import Difference, compare_schemas, strings

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT_2019 = {"$schema": "https://json-schema.org/draft/2019-09/schema"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(old: Any, new: Any) -> list[Difference]:
    Path("old.json").write_text(json.dumps(old))
    Path("new.json").write_text(json.dumps(new))
    return list(compare_schemas("old.json", "new.json").differences)


def codes(old: Any, new: Any) -> list[str]:
    return [found.code for found in compared(old, new)]


def closed(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "additionalProperties": False}


def recursive(inner: Any, name: str = "node") -> dict[str, Any]:
    node = closed(value=inner, next={"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]})
    return {"$ref": f"#/$defs/{name}", "$defs": {name: node}}


def test_a_difference_says_where_in_the_payload_and_in_both_schemas(here: Path) -> None:
    old = closed(people={"type": "array", "items": closed(name={"type": ["string", "null"]})})
    new = closed(people={"type": "array", "items": closed(name=TEXT)})
    [found] = compared(old, new)
    assert (found.code, found.payload) == ("SP620", "/people/*/name")
    assert found.old is not None
    assert (found.old.path, found.old.pointer) == (
        "old.json",
        "/properties/people/items/properties/name/type",
    )
    assert (found.new.path, found.new.pointer) == (
        "new.json",
        "/properties/people/items/properties/name/type",
    )


def test_an_error_comes_with_a_payload_that_the_real_engine_accepts_and_refuses(here: Path) -> None:
    old = closed(people={"type": "array", "minItems": 2, "items": {**closed(age=WHOLE), "required": ["age"]}})
    new = closed(people={"type": "array", "items": closed(age={"type": "integer", "minimum": 18})})
    [found] = compared(old, new)
    assert found.code == "SP624"
    [example] = found.witness
    assert Draft202012Validator(old).is_valid(example)
    assert not Draft202012Validator(new).is_valid(example)


def test_what_no_payload_shows_is_never_an_error(here: Path) -> None:
    # nothing but an empty array fits the old one, which no rule sees
    old = {
        "type": "array",
        "items": {"allOf": [{"type": "string"}, {"pattern": "^a"}, {"not": {"pattern": "^a"}}]},
    }
    new = {"type": "array", "items": {"type": "string", "pattern": "^b"}}
    [found] = compared(old, new)
    assert found.code == "SP630"
    assert "pattern" in found.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (recursive(WHOLE), recursive({"type": "number"}, "tree")),
        ({"allOf": [{"minimum": 3}, {"type": "integer"}]}, {"type": "integer", "minimum": 3}),
        ({"type": "integer", "minimum": 3}, {"allOf": [{"minimum": 3}, {"type": "number"}]}),
        ({"enum": ["a", 1, None]}, {"anyOf": [TEXT, {"type": ["integer", "null"]}]}),
        ({"type": "boolean"}, {"oneOf": [{"const": True}, {"const": False}]}),
        ({**DRAFT_7, "if": {"required": ["a"]}, "then": {"required": ["b"]}, "type": "object"},
         {**DRAFT_7, "if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        ({**DRAFT_4, "id": "urn:x", "type": "integer"}, {**DRAFT_7, "$id": "http://example.org/x", "type": "integer"}),
        ({**DRAFT_2019, "$recursiveAnchor": True, "items": {"$recursiveRef": "#"}},
         {**DRAFT_2019, "$recursiveAnchor": True, "items": {"$recursiveRef": "#"}}),
        (closed(a=TEXT, b=TEXT), {"type": "object", "maxProperties": 2, "additionalProperties": TEXT}),
        ({"type": "object", "required": ["a", "b"]}, {"type": "object", "minProperties": 2}),
        ({"type": "array", "prefixItems": [TEXT, False]}, {"type": "array", "maxItems": 1}),
        ({"type": "object", "patternProperties": {"^x": WHOLE}, "additionalProperties": False},
         {"type": "object", "patternProperties": {"^x": {"type": "number"}}, "additionalProperties": False}),
        ({"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 4}},
         {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}),
        ({"not": {"type": "string"}}, {"not": {"type": "string", "minLength": 1}}),
        ({"type": "integer"}, {"not": {"type": "string"}}),
        ({"type": "array", "contains": {"const": 1}, "minContains": 2}, {"type": "array", "contains": WHOLE}),
        ({"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"]},
         {"if": {"properties": {"k": {"const": "b"}}, "required": ["k"]}, "then": False, "else": {"type": "object"}}),
    ],
    ids=lambda value: json.dumps(value)[:40],
)  # fmt: skip
def test_what_follows_is_proven(here: Path, old: Any, new: Any) -> None:
    assert codes(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (recursive({"type": "number"}), recursive(WHOLE), "SP620"),
        ({"anyOf": [WHOLE, TEXT]}, {"anyOf": [WHOLE, {"type": "string", "minLength": 1}]}, "SP624"),
        ({"type": "array", "items": WHOLE}, {"type": "array", "items": WHOLE, "minItems": 1}, "SP624"),
        ({"type": "number"}, {"type": "number", "multipleOf": 0.5}, "SP624"),
        ({"multipleOf": 0.1, "type": "number"}, {"multipleOf": 0.05, "type": "number"}, "SP630"),
        ({"type": "object"}, {"type": "object", "propertyNames": {"maxLength": 3}}, "SP626"),
        ({"type": "object", "patternProperties": {"^x": WHOLE}}, closed(), "SP626"),
        ({"type": "object"}, {"type": "object", "patternProperties": {"^x": WHOLE}}, "SP632"),
        ({"type": "array"}, {"type": "array", "contains": WHOLE}, "SP627"),
        ({"type": "array", "items": WHOLE},
         {"type": "array", "contains": WHOLE, "minContains": 0, "maxContains": 1}, "SP627"),
        ({"type": "array", "prefixItems": [WHOLE]}, {"prefixItems": [WHOLE], "unevaluatedItems": False}, "SP627"),
        ({"type": "object", "properties": {"a": WHOLE, "b": WHOLE}},
         {"type": "object", "properties": {"a": WHOLE, "b": WHOLE},
          "dependentSchemas": {"a": {"required": ["b"]}}}, "SP628"),
        ({"type": "object", "properties": {"k": {"enum": ["a", "b"]}, "v": {}}},
         {"type": "object", "properties": {"k": {"enum": ["a", "b"]}, "v": {}},
          "if": {"properties": {"k": {"const": "a"}}, "required": ["k"]}, "then": {"required": ["v"]}}, "SP629"),
        (TEXT, {"oneOf": [{"minLength": 2}, {"type": "string"}]}, "SP629"),
        ({"type": "object"}, {"enum": [{}]}, "SP623"),
        ({"enum": [1, 2]}, {"type": "integer", "maximum": 1}, "SP624"),
        ({"enum": ["a", 1]}, {"type": "string"}, "SP620"),
        ({"enum": [{"a": 1}, {}]}, {"required": ["a"]}, "SP622"),
        (closed(a=TEXT), {**closed(a=TEXT), "properties": {"a": False}}, "SP621"),
        ({"type": "object", "additionalProperties": WHOLE},
         {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}, "SP624"),
    ],
    ids=lambda value: json.dumps(value)[:40],
)  # fmt: skip
def test_what_does_not_follow_is_found(here: Path, old: Any, new: Any, code: str) -> None:
    assert set(codes(old, new)) == {code}


def test_a_renamed_member_is_guessed(here: Path) -> None:
    found = compared({"properties": {"customer_id": TEXT}}, {"properties": {"customerId": TEXT}})
    [unread] = [one for one in found if one.code == "SP631"]
    assert unread.message.endswith('was it renamed to "customerId"?')
    assert unread.payload == "/customer_id"
    [removed] = compared(closed(customer=TEXT), closed(customerId=TEXT))
    assert removed.message.endswith('was it renamed to "customerId"?')


def test_the_same_place_reached_twice_is_told_once(here: Path) -> None:
    def two(inner: Any) -> Any:
        return {**closed(a={"$ref": "#/$defs/x"}, b={"$ref": "#/$defs/x"}), "$defs": {"x": inner}}

    assert codes(two(TEXT), two({"type": "string", "maxLength": 3})) == ["SP624"]


def test_references_lead_into_other_files(here: Path) -> None:
    Path("parts").mkdir()
    Path("parts/old.json").write_text(json.dumps({"$defs": {"p": closed(n={"type": "number"})}}))
    Path("parts/new.json").write_text(json.dumps({"$defs": {"p": closed(n=WHOLE)}}))
    [found] = compared(
        closed(p={"$ref": "parts/old.json#/$defs/p"}), closed(p={"$ref": "parts/new.json#/$defs/p"})
    )
    assert (found.new.path, found.new.pointer) == ("parts/new.json", "/$defs/p/properties/n/type")


def test_an_embedded_resource_has_references_of_its_own(here: Path) -> None:
    def embedded(inner: Any) -> Any:
        return closed(p={"$id": "http://example.org/p", "$ref": "#/$defs/n", "$defs": {"n": inner}})

    assert codes(embedded(WHOLE), embedded({"type": "number"})) == []
    assert codes(embedded({"type": "number"}), embedded(WHOLE)) == ["SP620"]


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"$ref": "#"}, "without end"),
        ({"anyOf": [{"type": "null"}, {"not": {"$ref": "#"}}]}, "without end"),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"$ref": "#/$defs/b"}}}, "without end"),
        ({"pattern": "("}, "no JSON Schema"),
        ({**DRAFT_7, "items": True, "additionalItems": False}, "cannot judge"),
        ({"type": 7}, "no JSON Schema"),
        (
            {"patternProperties": {"^a$": {}, "(?i)B": {}}, "additionalProperties": False},
            "joins .* global flags",
        ),
        (
            {"patternProperties": {"(?i)B": {}, "^a$": {}}, "additionalProperties": False},
            "a flag for the whole",
        ),
        ({"patternProperties": {"b": {}, r"(a)\1": {}}, "additionalProperties": WHOLE}, "by name"),
        (
            {"items": {"patternProperties": {"(?P<x>a)": {}, "(?P<x>b)": {}}, "additionalProperties": WHOLE}},
            "a name of its own",
        ),
        ({**DRAFT_4, "patternProperties": {"(": {}}}, "no regular expression"),
        ({"pattern": "a{99999999999999999999}"}, "too large"),
        ({"pattern": "(" * 3000 + ")" * 3000}, "too deep"),
        ({"$ref": "#/x-shared/a", "x-shared": {"a": {"minimum": "three"}}}, "no JSON Schema"),
        ({**DRAFT_4, "$ref": "#/x/a", "x": {"a": {"patternProperties": {"(": {}}}}}, "no regular expression"),
    ],
)
def test_a_schema_that_nobody_can_judge_by_is_refused(here: Path, schema: Any, problem: str) -> None:
    with pytest.raises(PayloadSchemaError, match=problem) as caught:
        compared({}, schema)
    assert caught.value.path == "new.json"


def test_patterns_are_joined_only_where_additional_members_are_asked_for(here: Path) -> None:
    old = {"patternProperties": {"^a$": {}, "(?i)B": WHOLE}}
    assert "SP624" in codes(old, {**old, "maxProperties": 1})
    assert codes(old, {"patternProperties": {"^a$": {}}}) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ({**DRAFT_4, "multipleOf": 1e308}, {**DRAFT_4, "multipleOf": 2}, "SP630"),
        ({"type": "number", "multipleOf": 0.3, "minimum": 1e308}, TEXT, "SP630"),
        ({"type": "number", "multipleOf": 5e-324, "minimum": 1e308}, TEXT, "SP620"),
        ({"type": "number", "multipleOf": 2, "minimum": 1e308}, TEXT, "SP620"),
        ({"type": "number", "multipleOf": 1e308}, {"type": "number", "maximum": 1}, "SP624"),
        ({"type": "array", "minItems": 1e308}, TEXT, "SP630"),
        ({"maxLength": 1e308}, {"maxLength": 1e307}, "SP630"),
    ],
)
def test_numbers_at_the_end_of_their_range_are_compared(here: Path, old: Any, new: Any, code: str) -> None:
    assert codes(old, new) == [code]


def test_a_witness_is_a_number_that_a_record_can_hold(here: Path) -> None:
    [found] = compared({**WHOLE, "minimum": 1e300}, {**WHOLE, "exclusiveMinimum": 1e300})
    assert found.witness == (1e300,)
    assert isinstance(found.witness[0], float)


def fails_over(monkeypatch: pytest.MonkeyPatch, *values: Any) -> None:
    """Makes the reference engine fail over each of the values, wherever ``enum`` or ``minimum`` is asked."""
    from jsonschema import Draft202012Validator as Judge

    for keyword in ("enum", "minimum"):
        asked = Judge.VALIDATORS[keyword]

        def failing(validator: Any, bound: Any, value: Any, schema: Any, asked: Any = asked) -> Any:
            if value in values:
                raise OverflowError
            return asked(validator, bound, value, schema)

        monkeypatch.setitem(Judge.VALIDATORS, keyword, failing)  # type: ignore[arg-type]  # a dict, called a Mapping


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"enum": [1, 2]}, {"enum": [1]}),
        ({"enum": [2]}, {"type": "integer", "minimum": 3}),
        ({"const": 2}, {"enum": [2]}),
        ({"const": 2}, {"not": {"enum": [2, 3]}}),
        ({"const": 2}, {"anyOf": [{"enum": [2]}, TEXT]}),
        ({"const": 2}, {"oneOf": [{"type": "integer"}, {"enum": [2]}]}),
        ({"const": 2}, {"if": {"enum": [2]}, "then": WHOLE, "else": WHOLE}),
        ({"type": "integer", "minimum": 2, "maximum": 2}, {"type": "integer", "minimum": 3}),
    ],
)
def test_what_the_engine_fails_over_shows_nothing_and_proves_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, old: Any, new: Any
) -> None:
    fails_over(monkeypatch, 2, 2.0)
    assert set(codes(old, new)) == {"SP630"}


def chain(length: int, inner: Any) -> dict[str, Any]:
    """A schema for a payload of so many levels, each in a definition of its own."""
    levels = {f"n{n}": closed(a={"$ref": f"#/$defs/n{n + 1}"}) for n in range(length)}
    return {"$ref": "#/$defs/n0", "$defs": {**levels, f"n{length}": inner}}


def test_schemas_may_be_as_deep_as_their_definitions_lead(here: Path) -> None:
    assert codes(chain(1000, WHOLE), chain(1000, {"type": "number"})) == []
    assert codes(chain(60, {"type": "number"}), chain(60, WHOLE)) == ["SP620"]


def test_what_is_too_deep_to_be_proven_is_not_called_compatible(here: Path) -> None:
    new = chain(1000, {"type": "number"})
    choice = {"anyOf": [{"$ref": "#/$defs/n0"}, {"type": "object", "maxProperties": 0}]}
    assert codes(chain(1000, WHOLE), {**choice, "$defs": new["$defs"]}) == ["SP630"]


def test_many_alternatives_end_in_time(here: Path) -> None:
    def event(number: int, **more: Any) -> Any:
        return {**closed(kind={"const": f"k{number}"}, value={**WHOLE, **more}), "required": ["kind"]}

    old = {"type": "array", "items": {"oneOf": [event(n) for n in range(60)]}}
    new = {
        "type": "array",
        "items": {"oneOf": [event(n, minimum=0) if n == 7 else event(n) for n in range(60)]},
    }
    start = time.monotonic()
    assert codes(old, new) == ["SP624"]
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    "pattern",
    [
        "^cus_[0-9]+$",
        "a|b",
        r"^\d{4}-\d{2}$",
        "^(?:ab)*c?$",
        "[^a-z]",
        r"^\u0041\.\\$",
        "^(?P<x>y){2,3}$",
        "^[]a]$",
    ],
)
def test_texts_are_found_that_fit_a_pattern(pattern: str) -> None:
    assert strings.samples(pattern)


@pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", "(?i)a", "(", "a**", "[a", r"\p{L}"])
def test_of_other_patterns_there_are_none(pattern: str) -> None:
    assert strings.samples(pattern) == []
