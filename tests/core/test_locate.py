"""From a pointer to a byte, and from a byte to a line and a column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.locate import line_and_column, lines_and_columns, offset_of, offsets_of
from safepoint.core.pointer import join
from safepoint.core.scanner import Scanner

PRETTY = b"""
{
  "a/b": [10, {"\\u0063~": "x"}, []],
  "" : {"": null},
  "last":1
}
"""

PLACES = {
    "": b"{\n",
    "/a~1b": b"[10",
    "/a~1b/0": b"10,",
    "/a~1b/1": b'{"\\u0063',
    "/a~1b/1/c~0": b'"x"',
    "/a~1b/2": b"[]],",
    "/": b'{"": null',
    "//": b"null",
    "/last": b"1\n",
}


@pytest.mark.parametrize("pointer", PLACES)
def test_a_pointer_leads_to_the_first_byte_of_its_value(pointer: str) -> None:
    assert PRETTY[offset_of(PRETTY, pointer) :].startswith(PLACES[pointer])


NAMES = {"/a~1b": b'"a/b"', "/a~1b/1/c~0": b'"\\u0063~"', "/": b'"" :', "//": b'"": null', "/last": b'"last"'}


@pytest.mark.parametrize("pointer", NAMES)
def test_a_name_is_found_at_its_opening_quote(pointer: str) -> None:
    assert PRETTY[offset_of(PRETTY, pointer, name=True) :].startswith(NAMES[pointer])


@pytest.mark.parametrize("pointer", ["", "/a~1b/0", "/a~1b/2"])
def test_what_has_no_name_is_found_at_its_value(pointer: str) -> None:
    assert offset_of(PRETTY, pointer, name=True) == offset_of(PRETTY, pointer)


@pytest.mark.parametrize(
    ("pointer", "ancestor"),
    [
        ("/nowhere", ""),
        ("/a~1b/3", "/a~1b"),
        ("/a~1b/01", "/a~1b"),
        ("/a~1b/-", "/a~1b"),
        ("/a~1b/1/d/e", "/a~1b/1"),
        ("/last/0", "/last"),
        ("/c~0", ""),
        ("/1", ""),
        ("no pointer", ""),
        ("/~2", ""),
    ],
)
@pytest.mark.parametrize("name", [False, True])
def test_a_pointer_into_nothing_leads_to_the_nearest_ancestor(
    pointer: str, ancestor: str, name: bool
) -> None:
    assert offset_of(PRETTY, pointer, name=name) == offset_of(PRETTY, ancestor)


def test_a_cousin_with_the_right_name_is_not_taken_for_the_child() -> None:
    data = b'{"a":{"y":1},"b":{"x":2}}'
    assert data[offset_of(data, "/a/x") :].startswith(b'{"y":1}')


def test_a_text_with_faults_is_searched_as_far_as_it_can_be_read() -> None:
    torn = b'\xef\xbb\xbf {"a": NaN, "a": [1, "\xff", {"b": 2}], "c": oops, "d": 1}'
    assert torn[offset_of(torn, "/a") :].startswith(b"NaN")
    assert torn[offset_of(torn, "/c") :].startswith(b"oops")
    assert torn[offset_of(torn, "/d") :].startswith(b'{"a"')


@pytest.mark.parametrize("data", [b"", b"   ", b"\xef\xbb\xbf", b"[" * 5000, b"\xff"])
def test_a_text_without_a_value_never_raises(data: bytes) -> None:
    assert 0 <= offset_of(data, "/a/0") <= len(data)


def members(value: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, value
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for token, child in children:
        yield from members(child, *path, token)


values = st.recursive(
    st.none() | st.integers(0, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(values, st.sampled_from([None, 0, 2]), st.booleans())
def test_every_value_and_name_is_found_in_any_layout(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    data = text.encode()
    decoder = json.JSONDecoder()
    for path, wanted in members(value):
        rest = data[offset_of(data, join(*path)) :].decode()
        assert decoder.raw_decode(rest)[0] == wanted
        if path and isinstance(path[-1], str):
            rest = data[offset_of(data, join(*path), name=True) :].decode()
            assert decoder.raw_decode(rest)[0] == path[-1]


@given(st.binary(max_size=60), st.text(max_size=8), st.integers(-5, 70), st.booleans())
def test_no_bytes_and_no_pointer_make_it_raise(data: bytes, pointer: str, offset: int, name: bool) -> None:
    assert 0 <= offset_of(data, pointer, name=name) <= len(data)
    line, column = line_and_column(data, offset)
    assert 1 <= line <= data.count(b"\n") + 1
    assert 1 <= column <= len(data) + 1


@pytest.mark.parametrize(
    ("before", "place"),
    [
        ("", (1, 1)),
        ("ab", (1, 3)),
        ("ab\n", (2, 1)),
        ("ab\r\ncd", (2, 3)),
        ("\n\nx", (3, 2)),
        ("é€😀", (1, 4)),
        ("a\u2028b", (1, 4)),
        ("é\né", (2, 2)),
    ],
)
def test_lines_end_with_a_line_feed_and_columns_count_code_points(
    before: str, place: tuple[int, int]
) -> None:
    data = before.encode() + b"!rest\nmore"
    assert line_and_column(data, len(before.encode())) == place


def test_an_offset_outside_of_the_text_counts_as_its_nearer_end() -> None:
    assert line_and_column(b"a\nbc", 99) == (2, 3)
    assert line_and_column(b"a\nbc", -1) == (1, 1)


def test_a_bad_byte_before_the_place_counts_as_one_column() -> None:
    assert line_and_column(b'"\xff"x', 3) == (1, 4)


@given(values, st.lists(st.lists(st.sampled_from(["", "a", "0", "1"]), max_size=3).map(lambda t: join(*t))))
def test_places_found_together_are_those_found_one_by_one(value: Any, pointers: list[str]) -> None:
    data = json.dumps(value, indent=1, ensure_ascii=False).encode()
    found = offsets_of(data, pointers)
    assert found == {p: (offset_of(data, p, name=True), offset_of(data, p)) for p in pointers}
    offsets = [offset for pair in found.values() for offset in pair]
    assert lines_and_columns(data, offsets) == {o: line_and_column(data, o) for o in offsets}


def test_of_a_name_that_occurs_twice_the_first_is_shown() -> None:
    data = b'{"a": 1, "a": {"b": 2}}'
    assert offsets_of(data, ["/a", "/a/b"]) == {"/a": (1, 6), "/a/b": (15, 20)}


def test_a_text_is_read_once_for_many_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    whole = Scanner.steps
    monkeypatch.setattr(Scanner, "steps", lambda self: (steps.append(step) or step for step in whole(self)))
    data = json.dumps({f"m{n}": n for n in range(500)}).encode()
    assert len(offsets_of(data, [f"/m{n}" for n in range(500)])) == 500
    assert len(steps) == 501
