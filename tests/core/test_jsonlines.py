"""One bad line hides no other, and a torn one is told apart from a mistyped one."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.jsonlines import Line, parse_lines, split
from safepoint.core.strictjson import Limits

GOOD = b'{"sequence":40}\n'
NEXT = b'{"sequence":42,"status":"planned"}\n'


def codes(data: bytes) -> list[list[str]]:
    return [[fault.code for fault in faults] for _, _, faults in parse_lines(data)]


def test_lines_know_their_number_and_their_first_byte() -> None:
    assert list(split(b"a\n\nbc")) == [
        Line(1, 0, b"a", terminated=True),
        Line(2, 2, b"", terminated=True),
        Line(3, 3, b"bc", terminated=False),
    ]


def test_an_empty_file_has_no_lines_and_none_is_behind_the_last_line_feed() -> None:
    assert list(split(b"")) == []
    assert [line.data for line in split(b"a\n")] == [b"a"]


@given(st.lists(st.binary(max_size=5).map(lambda part: part.replace(b"\n", b"")), max_size=6), st.booleans())
def test_lines_put_together_are_the_file(parts: list[bytes], terminated: bool) -> None:
    data = b"\n".join(parts) + (b"\n" if terminated else b"")
    lines = list(split(data))
    assert b"".join(line.data + b"\n" * line.terminated for line in lines) == data
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert all(data[line.offset :].startswith(line.data) for line in lines)
    assert all(line.terminated for line in lines[:-1])


def test_good_lines_give_their_values() -> None:
    read = list(parse_lines(GOOD + b' { "sequence" : 41 } \n' + NEXT[:-1]))
    assert [value["sequence"] for _, value, _ in read] == [40, 41, 42]
    assert [faults for _, _, faults in read] == [(), (), ()]


def test_a_whole_last_line_without_a_line_feed_is_not_torn() -> None:
    assert codes(GOOD + NEXT[:-1]) == [[], []]


@given(st.integers(1, len(NEXT) - 2))
def test_a_last_line_cut_anywhere_is_a_torn_tail(length: int) -> None:
    assert codes(GOOD * 3 + NEXT[:length]) == [[], [], [], ["SP113"]]


def test_a_last_line_of_zero_bytes_is_a_torn_tail() -> None:
    assert codes(GOOD + bytes(512)) == [[], ["SP113"]]


@given(st.integers(1, len(NEXT) - 2))
def test_a_line_cut_anywhere_with_a_line_feed_behind_it_is_a_torn_record(length: int) -> None:
    assert codes(GOOD + NEXT[:length] + b"\n" + NEXT) == [[], ["SP114"], []]


RECORD = b'{"sequence":41,"open":[true,null,-1.5e+3],"text":"a\\n\\ud83d\\ude00","end":false}'


@given(st.integers(1, len(RECORD)))
def test_a_cut_record_glued_to_the_next_one_is_a_torn_record(length: int) -> None:
    torn = RECORD[:length] + NEXT
    read = list(parse_lines(GOOD + torn + NEXT))
    assert [value is None for _, value, _ in read] == [False, True, False]
    assert [fault.code for fault in read[1][2] if fault.code != "SP108"] == ["SP114"]


def test_a_torn_record_says_where_in_its_line_it_breaks() -> None:
    _, (line, _, (fault,)), _ = parse_lines(GOOD + b'{"sequence":41,"status":"att{"sequence":42}\n' + NEXT)
    assert (line.number, line.offset, fault.offset, fault.pointer) == (2, 16, 30, "")
    assert fault.message.startswith("two records on one line: expected ',' or '}', got 's'")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"a":1,}', "SP103"),
        (b"hello, this is no record at all", "SP103"),
        (b'{"a":1} # done', "SP117"),
        (b'{"a":1}{"b":2}', "SP114"),
        (b'{"a":NaN}', "SP105"),
        (b'{"a":"\xe6\x87"}', "SP102"),
        (b'\xef\xbb\xbf{"a":1}', "SP101"),
        (b"[" * 101, "SP109"),
    ],
)
def test_a_line_that_is_wrong_but_not_torn_keeps_its_code(line: bytes, code: str) -> None:
    assert codes(GOOD + line + b"\n" + NEXT) == [[], [code], []]


def test_a_character_cut_at_the_end_of_a_line_is_named_beside_the_tear() -> None:
    assert codes(GOOD + b'{"a":"\xe6\x87\n' + NEXT) == [[], ["SP102", "SP114"], []]


def test_a_line_separator_in_a_string_does_not_end_a_line() -> None:
    line = '{"text":"a\u2028b\u2029c\u0085d"}\n'.encode()
    ((_, value, faults),) = parse_lines(line)
    assert (value, faults) == ({"text": "a\u2028b\u2029c\u0085d"}, ())


def test_a_carriage_return_is_noted_and_the_value_still_given() -> None:
    ((line, value, (fault,)),) = parse_lines(b'{"a":1}\r\n')
    assert (line.data, value) == (b'{"a":1}\r', {"a": 1})
    assert (fault.code, fault.offset) == ("SP115", 7)


def test_a_carriage_return_behind_a_torn_record_is_noted_too() -> None:
    assert codes(b'{"a":\r\n' + GOOD) == [["SP114", "SP115"], []]


@pytest.mark.parametrize("blank", [b"", b" ", b"\t \r", b"\r"])
def test_a_blank_line_has_no_value_and_hides_nothing(blank: bytes) -> None:
    read = list(parse_lines(GOOD + blank + b"\n" + NEXT))
    assert [value is None for _, value, _ in read] == [False, True, False]
    assert [[fault.code for fault in faults] for _, _, faults in read] == [[], ["SP116"], []]


def test_limits_hold_for_each_line_and_not_for_the_file() -> None:
    data = GOOD * 10 + NEXT
    faults = [faults for _, _, faults in parse_lines(data, Limits(size=len(GOOD)))]
    assert [[fault.code for fault in found] for found in faults] == [[]] * 10 + [["SP110"]]


@given(st.binary(max_size=80))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    for line, value, faults in parse_lines(data):
        assert (value is None) or not {fault.code for fault in faults} - {"SP115"}
        assert all(fault.offset is not None and fault.offset <= len(line.data) for fault in faults)


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=3), max_size=5))
def test_what_was_written_line_by_line_is_read_back(records: list[dict[str, str]]) -> None:
    data = b"".join(orjson.dumps(record) + b"\n" for record in records)
    assert [(value, faults) for _, value, faults in parse_lines(data)] == [(record, ()) for record in records]
