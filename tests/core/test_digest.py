"""Digests of stored bytes and of meanings, and the bytes of a new record."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from types import MappingProxyType
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.digest import (
    canonical,
    digest_bytes,
    digest_stored,
    digest_value,
    encode_parsed,
    encode_record,
)
from safepoint.core.strictjson import parse

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

texts = st.text(alphabet='ab\u0080\ue000\uffff😀\U0010ffff\x00\x1f\x7f"\\/', max_size=4) | st.text(max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


def test_a_digest_names_its_algorithm_and_covers_every_byte() -> None:
    assert digest_bytes(b"") == EMPTY
    assert digest_bytes(b"\n") != EMPTY


def test_the_digest_of_a_stored_record_leaves_out_one_final_line_feed() -> None:
    assert digest_stored(b"\n") == EMPTY
    assert digest_stored(b"{}\n") == digest_stored(b"{}") == digest_bytes(b"{}")
    assert digest_stored(b"{}\n\n") == digest_bytes(b"{}\n")
    assert digest_stored(b"{}\r\n") == digest_bytes(b"{}\r")


@given(values | st.dictionaries(texts, texts))
def test_canonical_form_is_what_rfc8785_says_by_whichever_way_it_is_made(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(st.dictionaries(texts, values))
def test_equal_values_have_equal_digests_however_they_were_written(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))
    reread, faults = parse(orjson.dumps(backwards, option=orjson.OPT_INDENT_2))
    assert faults == ()
    assert digest_value(reread) == digest_value(value)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**53,
        "\ud83d",
        {"\ud83d": 1},
        {"a": "\ud83d"},
        {"\ud83d": "a"},
        {1: 2},
        {1: "a"},
        object(),
    ],
    ids=lambda value: "object" if type(value) is object else repr(value),
)
def test_what_is_no_json_value_has_no_canonical_form(value: Any) -> None:
    with pytest.raises(ValueError):
        canonical(value)


@given(st.dictionaries(texts, values, max_size=4))
def test_a_new_record_is_one_compact_line_that_reads_back_equal(value: dict[str, Any]) -> None:
    data = encode_record(value)
    assert b"\n" not in data
    assert b"\r" not in data
    read, faults = parse(data)
    assert faults == ()
    assert read == value
    assert data == orjson.dumps(value)


def test_members_keep_their_order_and_any_mapping_will_do() -> None:
    assert encode_record(MappingProxyType({"b": 1, "a": (1, 2)})) == b'{"b":1,"a":[1,2]}'


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    "item",
    [
        float("nan"),
        float("inf"),
        2**53,
        -(2**53),
        2**70,
        "\ud83d",
        b"bytes",
        {1, 2},
        {1: "a"},
        {"\ud83d": 1},
        uuid.UUID(int=1),
        dt.datetime(2026, 5, 7, tzinfo=dt.UTC),
        Point(1),
    ],
    ids=repr,
)
def test_a_record_that_would_not_read_back_is_not_written(item: Any) -> None:
    with pytest.raises(ValueError):
        encode_record({"inputSnapshot": item})


def test_a_record_deeper_than_readers_accept_is_not_written() -> None:
    item: Any = []
    for _ in range(99):
        item = [item]
    with pytest.raises(ValueError, match=r"nested too deeply: expected at most 100 levels \(at '/a/0/0"):
        encode_record({"a": item})
    assert encode_record({"a": item[0]}) == b'{"a":' + b"[" * 99 + b"]" * 99 + b"}"
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="JSON values only"):
        encode_record({"a": loop})


def test_parts_of_strict_texts_are_encoded_alike_by_the_short_way() -> None:
    value = {"a": [1, 2.5, None, {"b": "é"}], "c": 1e300}
    assert encode_parsed(value) == encode_record(value)


@pytest.mark.parametrize("limit", ["deep", "large"])
def test_parts_of_strict_texts_may_be_too_much_together(limit: str) -> None:
    part: Any = "x" * 2**23
    if limit == "deep":
        for _ in range(100):
            part = [part[:1]]
    with pytest.raises(ValueError, match="expected at most"):
        encode_parsed({"a": part, "b": part, "c": part})
