"""Excerpts: the accused line around its place, and that no value gets through the mask."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from safepoint.core.excerpt import AFTER, BEFORE, FAR, excerpt, excerpts
from safepoint.core.excerpt import _Reading as Reading
from safepoint.core.finding import Excerpt


def masked(text: str, at: str) -> tuple[str, str, str]:
    """The parts of the excerpt of `text` at the place that is marked by the first occurrence of `at`."""
    cut = excerpt(text.encode(), text.encode().index(at.encode()))
    return cut.before, cut.accused, cut.after


def line_of(cut: Excerpt) -> str:
    return cut.before + cut.accused + cut.after


@pytest.mark.parametrize(
    ("text", "at", "parts"),
    [
        ('{"a": "secret", "b": 12}', '"secret"', ('{"a": ', '"…"', ', "b": …}')),
        ('{"a": "secret", "b": 12}', "12", ('{"a": "…", "b": ', "…", "}")),
        ('{"a": "secret", "b": 12}', '"b"', ('{"a": "…", ', '"b"', ": …}")),
        ('{"a": [true, false, null, -1.5e3]}', "false", ('{"a": [true, ', "false", ", null, …]}")),
        ('{"a": {"b": {}}}', "{}", ('{"a": {"b": ', "{", "}}}")),
        ('{"a": ""}', '""', ('{"a": ', '""', "}")),
        ('"secret"', '"', ("", '"…"', "")),
        ('{\n  "a": 1,\r\n  "b" : "x"\r\n}', '"b"', ("  ", '"b"', ' : "…"')),
        ('{"a": "x"\r\n}', "\r", ('{"a": "…"', "\r", "")),
        ("\ufeff{}", "\ufeff", ("", "\ufeff", "{}")),
    ],
    ids=[
        "text",
        "number",
        "name",
        "word",
        "object",
        "empty text",
        "whole text",
        "line",
        "carriage return",
        "bom",
    ],
)
def test_names_stay_and_values_are_masked(text: str, at: str, parts: tuple[str, str, str]) -> None:
    assert masked(text, at) == parts


@pytest.mark.parametrize(
    ("text", "at", "parts"),
    [
        # behind the damage nothing is a name
        ('{"a": 1 "b": 2, "c": 3}', '"b"', ('{"a": … ', '"…"', ": …, …: …}")),
        ('{"a": secret, "b": 2}', "secret", ('{"a": ', "…", ", …: …}")),
        ('{"a": "secret', '"secret', ('{"a": ', '"…', "")),
        ('{"a": "bad \\x", "b": 1}', '"bad', ('{"a": ', '"…', ", …: …}")),
        ('["secret": "b"]', "secret", ("[", '"…"', ": …]")),
        ('{"a": "secret": "b"}', '"secret', ('{"a": ', '"…"', ": …}")),
        ('{"a", "secret": "b"}', '"secret', ('{"…", ', "…", ": …}")),
        ('{"a": 01}', "01", ('{"a": ', "…", "}")),
        ('{"a": 1}}, "b": 2}', '"b"', ('{"a": …}}, ', "…", ": …}")),
        # a name that swallowed a value, up to a name that begins with a colon
        ('{"a1234, ": ": 1}', '"a1234', ("{", '"…"', ': "…')),
        ('{"a": nullified}', "null", ('{"a": ', "…", "}")),
    ],
)
def test_in_doubt_all_is_masked(text: str, at: str, parts: tuple[str, str, str]) -> None:
    assert masked(text, at) == parts


def test_words_of_the_format_stay_at_the_top_of_a_record() -> None:
    text = '{"recordType":"ledger","schemaVersion":"v3","status":"committed","x":{"status":"committed"}}'
    expected = '{"recordType":"ledger","schemaVersion":"v3","status":"committed","x":{"status":"…"}}'
    assert line_of(excerpt(text.encode(), 0)) == expected


def test_other_words_in_their_members_are_masked() -> None:
    text = '{"recordType":"my secret","schemaVersion":"v4012888888881881","status":"sold","step":"ledger"}'
    expected = '{"recordType":"…","schemaVersion":"…","status":"…","step":"…"}'
    assert line_of(excerpt(text.encode(), 0)) == expected


def test_the_accused_columns_are_those_of_the_file() -> None:
    text = '{"a": "sécret", "b": [1]}'
    columns = [excerpt(text.encode(), text.encode().index(at)).columns for at in (b'"s', b'"b"', b"[", b"1")]
    assert columns == [8, 3, 1, 1]


def test_values_are_shown_where_that_is_asked_for() -> None:
    text = '{"a": "sécret", "b": 12}'
    assert excerpt(text.encode(), 6, show_values=True) == Excerpt('{"a": ', '"sécret"', ', "b": 12}', 8)
    assert excerpt(text.encode(), 6, 8, show_values=True) == Excerpt('{"a": ', '"s', 'écret", "b": 12}', 2)


def test_a_place_behind_the_text_has_nothing_accused() -> None:
    assert excerpt(b'{"a": ', 6) == Excerpt('{"a": ', "", "")
    assert excerpt(b'{"a": ', 60) == Excerpt('{"a": ', "", "")
    assert excerpt(b"", 0, show_values=True) == Excerpt("", "", "")


def test_an_end_that_is_given_counts() -> None:
    assert excerpt(b'{"a": [1, 2], "b": 3}', 6, 12) == Excerpt('{"a": ', "[…, …]", ', "b": …}', 6)


def test_several_places_of_a_text_come_in_the_order_they_were_asked_for() -> None:
    text = b'{"a": "x",\n"b": "y",\n"c": "z"}'
    found = excerpts(
        text, [(text.index(b'"z"'), None), (text.index(b'"a"'), None), (text.index(b'"y"'), None)]
    )
    assert [line_of(cut) for cut in found] == ['"c": "…"}', '{"a": "…",', '"b": "…",']


@pytest.mark.parametrize("show_values", [True, False])
def test_of_a_long_line_only_a_window_is_shown(*, show_values: bool) -> None:
    text = ('{"a": ["' + "é" * 5000 + '", 1234], "b": [' + "1," * 5000 + '2], "c": 3}').encode()
    cut = excerpt(text, text.index(b"1234"), show_values=show_values)
    assert cut.before.startswith("…")
    assert cut.after.endswith("…")
    assert len(line_of(cut).encode()) < BEFORE + AFTER + 100
    assert "\ufffd" not in line_of(cut)
    assert cut.accused == ("1234" if show_values else "…")
    assert cut.columns == 4


def test_the_end_of_what_is_longer_than_the_window_is_not_known() -> None:
    text = b'{"a": "' + b"x" * 5000 + b'"}'
    assert excerpt(text, 6) == Excerpt('{"a": ', '"…', "…", 0)


def test_names_far_into_a_text_are_masked() -> None:
    text = b'["' + b"x" * (FAR + BEFORE) + b'", {"name": "secret"}]'
    near = b'["' + b"x" * (FAR - BEFORE) + b'", {"name": "secret"}]'
    assert not {"name", "secret"} & set(re.findall("[a-z]+", line_of(excerpt(text, text.index(b'"name"')))))
    assert line_of(excerpt(near, near.index(b'"name"'))).endswith('{"name": "…"}]')


@pytest.mark.parametrize(
    "text",
    [
        b'["' + b"x" * 2**24 + b'"]',
        b'["' + b"\\n" * 2**23 + b'"]',
        b"[" * 2**24,
        b"[" + b"1," * 2**23 + b"1]",
        b'"' * 2**24,
        b"\\" * 2**24,
        b" " * 2**24,
        b"\xff" * 2**24,
        b"\x80" * 2**24,
    ],
    ids=["text", "escapes", "depth", "numbers", "quotes", "junk", "blank", "no utf-8", "continuation"],
)
@pytest.mark.parametrize("show_values", [True, False])
def test_of_a_line_of_16_mb_no_more_is_read_than_its_beginning(
    text: bytes, monkeypatch: pytest.MonkeyPatch, *, show_values: bool
) -> None:
    taken = 0

    class Counting(Reading):
        __slots__ = ()

        def take(self, token: re.Match[bytes]) -> str | None:
            nonlocal taken
            taken += 1
            return super().take(token)

    monkeypatch.setattr("safepoint.core.excerpt._Reading", Counting)
    monkeypatch.setattr("safepoint.core.excerpt.FAR", far := 2**12)
    places = [(place, None) for place in (0, far, far + 5, 2**23, 2**24)]
    found = excerpts(text, places, show_values=show_values)
    assert all(len(line_of(cut)) < BEFORE + AFTER + 100 for cut in found)
    assert taken < far + len(places) * (BEFORE + AFTER)


# Nothing that stands in a value may come through, whatever happens to the text around it.

LETTERS = st.sampled_from('abc "\\{}[]:,\n\té€😀\u2028\x7f')
NAMES = st.text(LETTERS, max_size=4)
SECRET = "sEcReT"
SECRETS = st.tuples(NAMES, NAMES).map(SECRET.join)
DIGITS = 90807060504
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | SECRETS | st.sampled_from([DIGITS, -DIGITS, DIGITS + 0.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
SPELLINGS = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1])})
SPLINTERS = st.text(st.sampled_from('"\\{}[]:, \n\rae0-ntf\x00é'), max_size=3).map(str.encode)


def assert_keeps_secrets(text: bytes, place: int) -> None:
    cut = excerpt(text, place)
    # across the parts too: their borders must not hide it from this test
    for shown in (line_of(cut), f"{cut.before}{cut.after}"):
        assert SECRET not in shown
        assert str(DIGITS) not in shown


@given(VALUES, SPELLINGS, st.data())
def test_no_value_of_a_sound_text_is_shown(value: Any, spelling: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, **spelling).encode()
    assert_keeps_secrets(text, data.draw(st.integers(0, len(text))))


@given(VALUES, SPELLINGS, st.data())
@example({"": SECRET}, {}, None)
def test_no_value_of_a_damaged_text_is_shown(
    value: Any, spelling: dict[str, Any], data: st.DataObject | None
) -> None:
    text = json.dumps(value, **spelling).encode()
    if data is None:
        begin, end, splinter, place = 1, 4, b"", 0
    else:
        begin = data.draw(st.integers(0, len(text)), "begin")
        end = data.draw(st.integers(begin, min(len(text), begin + 4)), "end")
        splinter = data.draw(SPLINTERS | st.binary(max_size=3), "splinter")
        place = data.draw(st.integers(0, len(text)), "place")
    damaged = text[:begin] + splinter + text[end:]
    assume(SECRET.encode() in damaged or str(DIGITS).encode() in damaged)
    assert_keeps_secrets(damaged, place)


@given(st.binary(max_size=60), st.integers(-1, 70), st.none() | st.integers(0, 70), st.booleans())
def test_any_bytes_and_any_place_have_an_excerpt(
    text: bytes, place: int, end: int | None, show_values: bool
) -> None:
    assert "\n" not in line_of(excerpt(text, place, end, show_values=show_values))


@given(st.text(LETTERS, max_size=40), st.data())
def test_without_masks_the_parts_together_are_the_line(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    before, after = text[:at], text[at:]
    cut = excerpt(text.encode(), len(before.encode()), show_values=True)
    assert cut.before == before.rpartition("\n")[2]
    assert cut.accused + cut.after == after.partition("\n")[0]
