"""Whatever two schemas say: what is called compatible is, and what is called an error is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from safepoint.payloads import PayloadSchemaError
from safepoint.payloads.compatibility import compare_schemas
from safepoint.rules import severity

NAMES = st.sampled_from(["a", "b", "ab", "c", "B"])
PATTERNS = st.sampled_from(["^a", "b$", "^[ab]+$", "^x", "(?i)B", "(?i:B)"])
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, 2, -1, 1.0, 0.5, 6, "", "a", "ab", "abc", "b", "B", 1e308, -1e308]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SMALL = st.integers(0, 3)
BOUNDS = st.sampled_from([-1, 0, 1, 2, 0.5, 1e308, -1e308])
TYPES = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])
NEWER = (
    "prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems",
    "minContains", "maxContains",
)  # fmt: skip


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    closing = st.just(value=False) | inner
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
            "additionalProperties": closing,
            "unevaluatedProperties": closing,
            "required": st.lists(NAMES, max_size=2, unique=True),
            "propertyNames": st.fixed_dictionaries({"pattern": PATTERNS}) | inner,
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
            "dependentSchemas": st.dictionaries(NAMES, inner, max_size=1),
            "items": inner,
            "prefixItems": some,
            "unevaluatedItems": closing,
            "contains": inner,
            "minContains": SMALL,
            "maxContains": SMALL,
            "uniqueItems": st.booleans(),
            **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties"), SMALL),
            **dict.fromkeys(("minLength", "maxLength"), SMALL),
            **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), BOUNDS),
            "multipleOf": st.sampled_from([1, 2, 3, 6, 0.5, 0.3, 1e308, 5e-324]),
            "pattern": PATTERNS,
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "$ref": st.just("#/definitions/x"),
        },
    ).map(lambda schema: {word: schema[word] for word in list(schema)[:: max(1, len(schema) // 3)]})


SCHEMAS = st.recursive(
    st.booleans() | st.just({}) | st.fixed_dictionaries({"type": TYPES}), keywords, max_leaves=6
)


@st.composite
def roots(draw: st.DrawFn) -> dict[str, Any]:
    top, shared = draw(keywords(SCHEMAS)), draw(SCHEMAS)
    return {**top, "definitions": {"x": shared}}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two schemas, mostly alike: else hardly any pair would be compatible."""
    old = draw(roots())
    if draw(st.booleans()):
        return old, draw(roots())
    new = json.loads(json.dumps(old))
    more = draw(roots())
    for word in list(new):
        if word != "definitions" and draw(st.integers(0, 3)) == 0:
            del new[word]
    if draw(st.booleans()):
        new = {"anyOf": [new, {word: said for word, said in more.items() if word != "$ref"}], **new}
    return old, new


def dated(schema: dict[str, Any], *, draft_7: bool) -> dict[str, Any]:
    if not draft_7:
        return schema

    def older(value: Any) -> Any:
        if isinstance(value, list):
            return [older(one) for one in value]
        if isinstance(value, dict):
            return {name: older(one) for name, one in value.items() if name not in NEWER}
        return value

    return {"$schema": "http://json-schema.org/draft-07/schema#", **older(schema)}


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@given(pair=pairs(), draft_7=st.booleans(), values=st.lists(VALUES, min_size=10, max_size=30))
def test_what_is_called_compatible_refuses_nothing_that_was_accepted(
    tmp_path_factory: pytest.TempPathFactory,
    pair: tuple[dict[str, Any], dict[str, Any]],
    draft_7: bool,
    values: list[Any],
) -> None:
    old, new = (dated(schema, draft_7=draft_7) for schema in pair)
    folder = tmp_path_factory.getbasetemp()
    before, after = Path(folder / "old.json"), Path(folder / "new.json")
    before.write_text(json.dumps(old))
    after.write_text(json.dumps(new))
    try:
        found = compare_schemas(before, after).differences
    except PayloadSchemaError:
        reject()
    engine = Draft7Validator if draft_7 else Draft202012Validator
    accepts, still = engine(old).is_valid, engine(new).is_valid
    for one in found:
        assert bool(one.witness) == (severity(one.code) == "error"), one
        assert all(accepts(value) and not still(value) for value in one.witness), one
    if {one.code for one in found} <= {"SP631"}:
        assert [value for value in values if accepts(value) and not still(value)] == []
