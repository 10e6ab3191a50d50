"""The three readers agree on every text, and the scanner places its faults where they are."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safepoint.core import strictjson
from safepoint.core.fault import Fault
from safepoint.core.pointer import split
from safepoint.core.strictjson import Limits, parse

LIMITS = Limits(depth=6)

names = st.text(max_size=6)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
layouts = st.sampled_from(
    [
        orjson.dumps,
        lambda value: orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
        lambda value: json.dumps(value).encode(),
        lambda value: json.dumps(value, ensure_ascii=False, indent="\t").encode(),
    ]
)
pieces = st.sampled_from(
    [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b'"a"',
        b'"a":',
        b"\\",
        b"\\u",
        b"\\ud83d",
        b"\\ude00",
        b"\\n",
        b"1",
        b"-",
        b"0",
        b".",
        b"e",
        b"1e400",
        b"9007199254740993",
        b"NaN",
        b"-Infinity",
        b"true",
        b"nul",
        b" ",
        b"\n",
        b"\x00",
        b"\xef\xbb\xbf",
        b"\xe6\x87",
        b"\xff",
        "é😀".encode(),
    ]
)
soup = st.lists(pieces, max_size=14).map(b"".join)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Valid text with a few bytes cut out, put in or overwritten."""
    data: bytes = draw(layouts)(draw(values))
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(data)))
        end = draw(st.integers(begin, min(len(data), begin + 4)))
        data = data[:begin] + draw(pieces | st.binary(max_size=2)) + data[end:]
    return data


def fast(read: Any, data: bytes) -> tuple[Any] | None:
    """What one of the fast readers accepts, or None where it is not sure."""
    try:
        return (read(data, LIMITS.depth),)
    except strictjson._UNSURE:
        return None


def check_agreement(data: bytes) -> None:
    value, faults = strictjson._scan(data, LIMITS.depth)
    assert parse(data, LIMITS) == (value, faults)
    compact, standard = fast(strictjson._read_compact, data), fast(strictjson._read_standard, data)
    if faults:
        assert compact is standard is None
    else:
        # the middle reader is sure of every good text: the scanner is never needed to accept one
        assert standard is not None
        assert repr(standard[0]) == repr(value)
        assert compact is None or repr(compact[0]) == repr(value)
    check_places(data, faults)


def check_places(data: bytes, faults: tuple[Fault, ...]) -> None:
    offsets = [fault.offset for fault in faults]
    assert all(offset is not None and 0 <= offset <= len(data) for offset in offsets)
    assert offsets == sorted(offsets, key=lambda offset: offset or 0)
    for fault in faults:
        # printable in UTF-8, whatever the bytes were: no half characters
        assert f"{fault.pointer} {fault.message}".encode()


@given(values, layouts)
def test_whatever_json_can_hold_is_accepted_in_any_layout(value: Any, layout: Any) -> None:
    data = layout(value)
    read, faults = parse(data)
    assert faults == ()
    assert read == value
    check_agreement(data)


@given(mutated())
@settings(max_examples=400)
def test_the_readers_agree_on_mutated_text(data: bytes) -> None:
    check_agreement(data)


@given(soup)
@settings(max_examples=400)
def test_the_readers_agree_on_scraps_of_json(data: bytes) -> None:
    check_agreement(data)


@given(st.binary(max_size=40))
def test_the_readers_agree_on_arbitrary_bytes(data: bytes) -> None:
    check_agreement(data)


@given(values, layouts, st.integers(0))
def test_every_proper_beginning_of_an_object_is_cut(value: Any, layout: Any, length: int) -> None:
    data = layout({"member": value}).rstrip(b"\n")
    cut = data[: length % len(data)]
    _, faults = parse(cut)
    assert faults
    assert faults[-1].code == ("SP103" if cut.strip() else "SP111")
    assert faults[-1].offset == len(cut)


@given(st.dictionaries(names, scalars, min_size=1), st.data())
def test_a_member_that_is_repeated_is_named(members: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(members)))
    text = json.dumps(members)[:-1] + ", " + json.dumps(name) + ": 0}"
    _, (fault,) = parse(text.encode())
    assert (fault.code, split(fault.pointer)) == ("SP104", [name])
    assert fault.offset is not None
    assert json.loads(text[fault.offset : -4]) == name


@pytest.mark.parametrize("option", [0, orjson.OPT_APPEND_NEWLINE], ids=["bare", "with a line feed"])
@given(value=values)
def test_compact_text_is_accepted_by_the_first_reader(option: int, value: Any) -> None:
    data = orjson.dumps(value, option=option)
    assert fast(strictjson._read_compact, data) == (orjson.loads(data),) or value_is_deep(value)


def value_is_deep(value: Any, depth: int = LIMITS.depth) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(value_is_deep(item, depth - 1) for item in inner)
