"""Where the reference engine fails itself, nothing passes by it, and nobody sees a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from journals import Journal
from jsonschema import Draft202012Validator

import safepoint
from safepoint.payloads import PayloadSchemaError, PayloadSchemas

NAME = "support-agent/state@4"
JOINED = {"patternProperties": {"^a$": {}, "(?i)B": {}}, "additionalProperties": False}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, schema: Any) -> str:
    Path(name).write_text(json.dumps(schema))
    return name


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine fails over 13, and jsonschema-rs is not there."""
    asked = Draft202012Validator.VALIDATORS["minimum"]

    def fail(validator: Any, bound: Any, value: Any, schema: Any) -> Any:
        if value == 13:
            raise OverflowError("13")
        return asked(validator, bound, value, schema)

    monkeypatch.setitem(Draft202012Validator.VALIDATORS, "minimum", fail)  # type: ignore[arg-type]  # it is a dict
    monkeypatch.setitem(__import__("sys").modules, "jsonschema_rs", None)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        (JOINED, "/patternProperties"),
        ({"properties": {"a": {"items": JOINED}}}, "/properties/a/items/patternProperties"),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "patternProperties": {"(": {}},
                "default": JOINED,
            },
            "/patternProperties/(",
        ),
        ({"pattern": "a{99999999999999999999}"}, ""),
        ({"pattern": "(" * 3000 + ")" * 3000}, ""),
    ],
)
def test_patterns_that_the_engine_cannot_look_for_are_known_before_the_first_record(
    schema: Any, place: str
) -> None:
    with pytest.raises(PayloadSchemaError) as caught:
        PayloadSchemas.load({NAME: write("s.json", schema)})
    assert (caught.value.path, caught.value.pointer) == ("s.json", place)


def test_a_schema_that_fails_over_every_object_is_refused_at_once() -> None:
    draft_7 = "http://json-schema.org/draft-07/schema#"
    with pytest.raises(PayloadSchemaError, match="fails with TypeError"):
        PayloadSchemas.load(
            {NAME: write("s.json", {"$schema": draft_7, "items": True, "additionalItems": False})}
        )


@pytest.mark.parametrize("number", [1e308, -1e308, 5e-324, 2**53 - 1, 0])
@pytest.mark.parametrize("divisor", [1e308, 0.3, 5e-324, 2])
def test_numbers_at_the_end_of_their_range_are_judged(number: float, divisor: float) -> None:
    for engine in ("auto", "jsonschema"):
        schemas = PayloadSchemas.load({NAME: write("s.json", {"multipleOf": divisor})}, engine=engine)  # type: ignore[arg-type]  # one of the two
        found = list(schemas.check({"payloadSchema": NAME, "stateSnapshot": number}))
        assert "judged" not in str(found)


@pytest.mark.usefixtures("failing")
def test_a_payload_that_the_engine_fails_over_is_a_fault_beside_those_that_were_found() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"minimum": 1}}}
    schemas = PayloadSchemas.load({NAME: write("s.json", schema)})
    found = list(schemas.check({"payloadSchema": NAME, "stateSnapshot": {"a": 1, "b": 13}}))
    assert [(fault.code, fault.pointer) for fault in found] == [
        ("SP231", "/stateSnapshot"),
        ("SP231", "/stateSnapshot/a"),
    ]
    assert found[0].message == (
        f"it cannot be judged: the reference engine fails over it with OverflowError ({NAME})"
    )


def test_what_the_fast_engine_fails_over_the_reference_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")

    class Failing:
        def is_valid(self, value: Any) -> bool:
            raise ValueError(value)

    monkeypatch.setattr(jsonschema_rs, "validator_for", lambda *_, **__: Failing())
    schemas = PayloadSchemas.load({NAME: write("s.json", {"type": "string"})})
    assert not list(schemas.check({"payloadSchema": NAME, "stateSnapshot": "a"}))
    assert len(list(schemas.check({"payloadSchema": NAME, "stateSnapshot": 1}))) == 1


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("stored_only", [True, False])
def test_a_stored_payload_that_the_engine_fails_over_is_never_compatible(stored_only: bool) -> None:
    journal = Journal("ticket-1").begin().checkpoint(2, "cp-1", payloadSchema=NAME, stateSnapshot={"n": 13})
    journal.write(Path("store"))
    old, new = write("old.json", {}), write("new.json", {"properties": {"n": {"minimum": 0}}})
    found = safepoint.compat(old, new, "store", payloads=[NAME], stored_only=stored_only)
    [message] = [finding.message for finding in found if finding.code == "SP633"]
    assert "run ticket-1: it cannot be judged" in message
    assert (found.accepted, found.verdict) == (0, "incompatible")
