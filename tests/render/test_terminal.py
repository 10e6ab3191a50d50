"""What text may look like on an output, and what never reaches it raw."""

from __future__ import annotations

import json

import pytest

from safepoint.render.overview import quote, when
from safepoint.render.terminal import Screen, ago, count, plain, to_json

PIPE = Screen()
TERMINAL = Screen(colour=True, width=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode 漢字", "plain ünïcode 漢字"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2028", "\\u2028"),
        ("\udce9", "\\udce9"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_control_characters_are_written_as_escapes(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_colour_is_only_painted_where_it_can_be_seen() -> None:
    assert PIPE.paint("x", "bold red") == "x"
    assert TERMINAL.paint("x", "bold red") == "\x1b[1;31mx\x1b[0m"
    assert TERMINAL.paint("x", "") == "x"


def test_on_a_pipe_a_row_is_one_line_however_long() -> None:
    table = PIPE.table(("id", "what"), [("a", "x" * 500), ("longer", ("y\n", "red"))])
    assert table.splitlines() == ["  id      what", "  a       " + "x" * 500, "  longer  y\\n"]


def test_on_a_terminal_the_last_column_wraps_and_colours_stay() -> None:
    table = TERMINAL.table(("id", "what"), [("an-id", "word " * 30), ("b", ("y", "red"))])
    lines = table.splitlines()
    assert len(lines) > 3
    assert "\x1b[31my" in table
    assert all(line.startswith("  ") for line in lines)


def test_markup_in_a_cell_is_text() -> None:
    assert "[red]x[/red]" in Screen(width=60).table(("id",), [("[red]x[/red]",)])


def test_a_table_without_rows_is_its_heading() -> None:
    assert PIPE.table(("id", "what"), []) == "  id  what\n"


def test_json_holds_even_what_is_no_unicode() -> None:
    assert json.loads(to_json({"url\udce9": ["caf\udce9", {"a": 1}]})) == {
        "url\\udce9": ["caf\\udce9", {"a": 1}]
    }
    assert to_json({"b": 1, "a": "ä"}) == '{\n  "b": 1,\n  "a": "ä"\n}\n'.encode()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3_600, "1 h"),
        (11_520, "3 h 12 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_a_length_of_time_has_two_units(seconds: int, words: str) -> None:
    assert ago(seconds * 1_000_000_000) == words


def test_a_time_is_said_from_now() -> None:
    now = 1_778_148_000_000_000_000  # 2026-05-07T10:00:00Z
    assert when("2026-05-07T09:00:00Z", now) == "1 h ago"
    assert when("2026-05-07T10:00:30Z", now) == "in 30 s"
    assert when("2026-05-07T10:00:30.1Z", now) == "in 31 s"
    assert when("2026-05-07T09:59:59.1Z", now) == "0 s ago"


def test_counts_agree_with_their_noun() -> None:
    assert (count(1, "record"), count(2_000, "record")) == ("1 record", "2,000 records")


@pytest.mark.parametrize(
    ("argument", "quoted"),
    [
        ("run_1", "run_1"),
        ("r 1", "'r 1'"),
        ("", "''"),
        ("it's", "'it'\"'\"'s'"),
        ("$(rm)", "'$(rm)'"),
        ("=41", "=41"),
    ],
)
def test_a_command_to_copy_is_quoted(argument: str, quoted: str) -> None:
    assert quote(argument) == quoted


def test_prose_is_cut_between_words_and_stays_one_line_on_a_pipe() -> None:
    words = "one two-three " * 8
    assert Screen().prose(words, "- ") == [f"- {words}"]
    lines = Screen(width=40).prose(words, "- ")
    assert max(map(len, lines)) <= 40
    assert [line[:2] for line in lines] == ["- ", *["  "] * (len(lines) - 1)]
    assert " ".join(line.strip("- ") for line in lines).split() == words.split()
