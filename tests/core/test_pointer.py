"""JSON Pointers as RFC 6901 has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.pointer import join, resolve, split

VALUE = {"list": ["bar", {"x": 1}], "": 0, "a/b": 1, "m~n": 8, "~1": 9, "0": 7, " ": 6, "e^f": 3}


@pytest.mark.parametrize(
    ("pointer", "wanted"),
    [
        ("", VALUE),
        ("/list", VALUE["list"]),
        ("/list/0", "bar"),
        ("/list/1/x", 1),
        ("/", 0),
        ("/a~1b", 1),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/0", 7),
        ("/ ", 6),
        ("/e^f", 3),
    ],
)
def test_a_pointer_resolves_to_what_it_leads_to(pointer: str, wanted: Any) -> None:
    assert resolve(VALUE, pointer) == wanted


@pytest.mark.parametrize(
    "pointer",
    [
        "/no",
        "/list/2",
        "/list/-",
        "/list/00",
        "/list/-1",
        "/list/+1",
        "/list/\u0661",
        "/list/0/0",
        "list",
        "/~",
        "/~2",
        "/list/" + "9" * 5000,
    ],
)
def test_a_pointer_that_leads_nowhere_is_a_key_error(pointer: str) -> None:
    with pytest.raises(KeyError):
        resolve(VALUE, pointer)


@pytest.mark.parametrize("pointer", ["a", "a/b", "/~", "/~2", "/a~", "#/a"])
def test_what_is_no_pointer_cannot_be_split(pointer: str) -> None:
    with pytest.raises(ValueError, match="JSON Pointer"):
        split(pointer)


@given(st.lists(st.text(alphabet="~/01a\n") | st.text(max_size=4)))
def test_splitting_undoes_joining(tokens: list[str]) -> None:
    assert split(join(*tokens)) == tokens


def test_indices_join_as_digits() -> None:
    assert join("steps", 0, "a/b") == "/steps/0/a~1b"
