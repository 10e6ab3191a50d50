"""The accused line: its caret stands below the place, whatever the letters are, and it fits on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from safepoint.core.finding import Excerpt
from safepoint.render.lines import excerpt_lines
from safepoint.render.terminal import Screen


def lines(before: str, accused: str, after: str, width: int | None = None) -> list[str]:
    return excerpt_lines(Excerpt(before, accused, after), 7, "red", Screen(width=width))


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (('  "a": ', "12", ","), ['7 |   "a": 12,', "  |        ^^"]),
        (('\t\t"a": ', "12", ","), ['7 |         "a": 12,', "  |              ^^"]),
        (('{"a": "x\t', "12", '"}'), ['7 | {"a": "x\\t12"}', "  |           ^^"]),
        (('{"日本": ', "12", "}"), ['7 | {"日本": 12}', "  |          ^^"]),
        (('{"e\u0301": ', "12", "}"), ['7 | {"e\u0301": 12}', "  |       ^^"]),
        (("{", '"日"', ": 1}"), ['7 | {"日": 1}', "  |  ^^^^"]),
        (("{", "\x1b[2J", "}"), ["7 | {\\x1b[2J}", "  |  ^^^^^^^"]),
        (("{", "\u202e", "}"), ["7 | {\\u202e}", "  |  ^^^^^^"]),
        (('{"a": ', "", ""), ['7 | {"a":', "  |       ^"]),
    ],
    ids=["plain", "tabs", "inner tab", "wide", "combining", "wide accused", "escape", "override", "end"],
)
def test_the_caret_stands_below_the_place(parts: tuple[str, str, str], shown: list[str]) -> None:
    assert lines(*parts) == shown


@pytest.mark.parametrize("parts", [("", "{", ""), ("  ", "[", ""), ("", "", ""), (" ", " ", " ")])
def test_a_line_that_says_nothing_is_left_out(parts: tuple[str, str, str]) -> None:
    assert lines(*parts) == []


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (("b" * 50, "xx", "a" * 5), "…bbbbbbbbbbbbbbbbbbxxaaaaa"),
        (("b" * 5, "xx", "a" * 50), "bbbbbxxaaaaaaaaaaaaaaaaaa…"),
        (("b" * 50, "xx", "a" * 50), "…bbbbbbbbbbbbbbbxxaaaaaaa…"),
        (("b" * 50, "x" * 50, "a" * 50), "…bbbbbxxxxxxxxxxxxxxxx…aa…"),
    ],
    ids=["left", "right", "both", "all"],
)
def test_a_long_line_is_cut_around_the_caret(parts: tuple[str, str, str], shown: str) -> None:
    line, caret = lines(*parts, width=30)
    assert line == f"7 | {shown}"
    assert caret.index("^") == line.index("x")
    assert caret.count("^") == min(len(parts[1]), 17)


@pytest.mark.parametrize(
    "parts",
    [
        ('"long":"' + "…" * 3 + '","b":', '"…"', ',"c":"…"' * 9),
        ('{"a":"…","b":"…","c":', '"…"', ',"d":"…"}'),
        ("b" * 40, "x" * 60, "a" * 40),
    ],
)
@pytest.mark.parametrize("width", range(24, 60))
def test_where_a_line_is_cut_there_is_one_mark(parts: tuple[str, str, str], width: int) -> None:
    before, accused, after = parts
    line, _ = lines(before.replace("………", "…"), accused, after, width)
    assert "……" not in line


@given(st.text(), st.text(), st.text(), st.integers(10, 90))
def test_no_line_is_wider_than_the_screen(before: str, accused: str, after: str, width: int) -> None:
    found = lines(before, accused, after, width)
    assert all(cell_len(line) <= max(width, 24) for line in found)
    assert all(line.isprintable() for line in found)
