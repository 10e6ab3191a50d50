"""What strict JSON refuses, and what each refusal says: code, pointer, byte."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from safepoint.core.scanner import MOST_FAULTS, Scanner
from safepoint.core.strictjson import Limits, parse


def told(data: bytes, limits: Limits | None = None) -> list[tuple[str, str, int | None]]:
    value, faults = parse(data, limits or Limits())
    assert faults, "the text was accepted"
    assert value is None
    assert all(fault.place is None and fault.message for fault in faults)
    return [(fault.code, fault.pointer, fault.offset) for fault in faults]


ACCEPTED: dict[bytes, Any] = {
    b"{}": {},
    b"[]": [],
    b"null": None,
    b'{"a":1}\n': {"a": 1},
    b'{"a":1}\n\n': {"a": 1},
    b' \t\r\n{ "a" : [ 1 , 2 ] }': {"a": [1, 2]},
    b"-0": 0,
    b"0e9": 0.0,
    b"1.0": 1.0,
    b"1E-400": 0.0,
    b"1.10": 1.1,
    b"9007199254740991": 2**53 - 1,
    b"-9007199254740991": 1 - 2**53,
    b"9007199254740992.0": 9007199254740992.0,
    b"1e22": 1e22,
    b'"\\ud83d\\uDE00"': "\U0001f600",
    b'"\\u00e9\\/\\\\ud800"': "\u00e9/\\ud800",
    '"a\u2028b\u007f"'.encode(): "a\u2028b\u007f",
    '"\U0010ffff"'.encode(): "\U0010ffff",
    b'{"":{"":""}}': {"": {"": ""}},
    b'{"a":1,"A":2}': {"a": 1, "A": 2},
    b'"[[[{{{"': "[[[{{{",
    b'{"a":true,"b":false,"c":null}': {"a": True, "b": False, "c": None},
}


@pytest.mark.parametrize("data", ACCEPTED)
def test_valid_text_gives_its_value(data: bytes) -> None:
    assert parse(data) == (ACCEPTED[data], ())


@pytest.mark.parametrize("data", ACCEPTED)
def test_the_scanner_reads_the_same_value_as_the_fast_readers(data: bytes) -> None:
    scanner = Scanner(data, 100)
    assert len(list(scanner.steps())) > 0
    assert scanner.faults == []
    assert repr(scanner.value) == repr(parse(data)[0])


def test_integers_stay_integers_and_floats_floats() -> None:
    value, _ = parse(b"[1, 1.0, -0]")
    assert [type(number) for number in value] == [int, float, int]


REFUSED: dict[bytes, list[tuple[str, str, int]]] = {
    b"\xef\xbb\xbf{}": [("SP101", "", 0)],
    b"\xef\xbb\xbf": [("SP101", "", 0), ("SP111", "", 0)],
    b'{"a":"\xe6\x87"}': [("SP102", "/a", 6)],
    b'{"a":"ok\xff\xfe","b":"\x80"}': [("SP102", "/a", 8), ("SP102", "/b", 17)],
    b'{"\xff":1}': [("SP102", "", 2)],
    b'"\xed\xa0\x80"': [("SP102", "", 1)],
    b'"\xc0\xaf"': [("SP102", "", 1)],
    b'[1,\xff"a"]': [("SP102", "/1", 3)],
    b"\xff\xfe{\x00}\x00": [("SP102", "", 0)],
    b"{} \xff": [("SP102", "", 3)],
    b'{"a":1,"a":2}': [("SP104", "/a", 7)],
    b'{"a":1,"\\u0061":2,"a":3}': [("SP104", "/a", 7), ("SP104", "/a", 18)],
    b'{"x":[{"b~/":1,"b~/":NaN}]}': [("SP104", "/x/0/b~0~1", 15), ("SP105", "/x/0/b~0~1", 21)],
    b'{"\\ud800":1,"\\ud801":2}': [("SP108", "", 2), ("SP108", "", 13)],
    b'{"a":NaN}': [("SP105", "/a", 5)],
    b"[Infinity,-Infinity,-NaN]": [("SP105", "/0", 1), ("SP105", "/1", 10), ("SP105", "/2", 20)],
    b'{"a":1e400}': [("SP106", "/a", 5)],
    b"-1.0E+999": [("SP106", "", 0)],
    b"[9007199254740992,-9007199254740992]": [("SP107", "/0", 1), ("SP107", "/1", 18)],
    b"12345678901234567890123": [("SP107", "", 0)],
    b"18446744073709551616": [("SP107", "", 0)],
    b"1" * 5000: [("SP107", "", 0)],
    b'{"a":"abc\\ud83d"}': [("SP108", "/a", 9)],
    b'"\\ud83d\\ud83d\\ude00"': [("SP108", "", 1)],
    b'"\\ude00\\ud83d"': [("SP108", "", 1)],
    b'"\\ud83dx"': [("SP108", "", 1)],
    b'{"a":"x\ny\tz","b":"\x00"}': [("SP112", "/a", 7), ("SP112", "/b", 18)],
    b"": [("SP111", "", 0)],
    b" \n\t\r": [("SP111", "", 0)],
    b'{"a":1}{"b":2}': [("SP117", "", 7)],
    b"{}}": [("SP117", "", 2)],
    b"{} \x00": [("SP117", "", 3)],
    b'{"n":NaN,"n":1e400,"s":"\\ud800","i":9007199254740993} x': [
        ("SP105", "/n", 5),
        ("SP104", "/n", 9),
        ("SP106", "/n", 13),
        ("SP108", "/s", 24),
        ("SP107", "/i", 36),
        ("SP117", "", 54),
    ],
}


@pytest.mark.parametrize("data", REFUSED, ids=lambda data: repr(data[:40]))
def test_each_fault_has_its_code_pointer_and_byte(data: bytes) -> None:
    assert told(data) == REFUSED[data]


MALFORMED = {
    b"{": ("", 1, "ends too soon: expected a member's name in double quotes"),
    b"[": ("/0", 1, "ends too soon: expected a JSON value"),
    b'{"a"': ("/a", 4, "ends too soon: expected ':' after a member's name"),
    b'{"a":': ("/a", 5, "ends too soon: expected a JSON value"),
    b'{"a":1': ("", 6, "ends too soon: expected ',' or '}'"),
    b'{"a":[1': ("/a", 7, "ends too soon: expected ',' or ']'"),
    b'{"a":"x': ("/a", 7, "ends too soon: expected the closing quote"),
    b'{"a': ("", 3, "ends too soon: expected the closing quote"),
    b'"\\': ("", 2, "ends too soon: expected the rest of an escape"),
    b'"\\u12': ("", 5, "ends too soon: expected the rest of an escape"),
    b"-": ("", 1, "ends too soon: expected the rest of a number"),
    b"[1.": ("/0", 3, "ends too soon: expected the rest of a number"),
    b"1e+": ("", 3, "ends too soon: expected the rest of a number"),
    b"[tru": ("/0", 4, "ends too soon: expected the rest of true, false or null"),
    b"[nule]": ("/0", 1, "expected a JSON value, got 'n'"),
    b"True": ("", 0, "expected a JSON value, got 'T'"),
    b"nan": ("", 0, "expected a JSON value, got 'n'"),
    b"NaNs": ("", 0, "expected a JSON value, got 'N'"),
    b"'a'": ("", 0, 'expected a JSON value, got "\'"'),
    b"\x00\x00": ("", 0, "expected a JSON value, got U+0000"),
    b"\x0c1": ("", 0, "expected a JSON value, got U+000C"),
    "[\u00a01]".encode(): ("/0", 1, "expected a JSON value, got U+00A0"),
    b"[1,]": ("/1", 3, "expected a JSON value, got ']'"),
    b"[,1]": ("/0", 1, "expected a JSON value, got ','"),
    b'{"a":1,}': ("", 7, "expected a member's name in double quotes, got '}'"),
    b"{1:2}": ("", 1, "expected a member's name in double quotes, got '1'"),
    b'{"a" 1}': ("/a", 5, "expected ':' after a member's name, got '1'"),
    b'{"a":}': ("/a", 5, "expected a JSON value, got '}'"),
    b'{"a":{"b":1 "c":2}}': ("/a", 12, "expected ',' or '}', got '\"'"),
    b"[1 2]": ("", 3, "expected ',' or ']', got '2'"),
    b"[1}": ("", 2, "expected ',' or ']', got '}'"),
    b"/* */ 1": ("", 0, "expected a JSON value, got '/'"),
    b"[01]": ("/0", 1, "a malformed number"),
    b"[+1]": ("/0", 1, "a malformed number"),
    b"[.5]": ("/0", 1, "a malformed number"),
    b"[1.]": ("/0", 1, "a malformed number"),
    b"[1.5.2]": ("/0", 1, "a malformed number"),
    b"[1e]": ("/0", 1, "a malformed number"),
    b"[--1]": ("/0", 1, "a malformed number"),
    b"[-x]": ("/0", 1, "a malformed number"),
    b'["\\x41"]': ("/0", 2, "a malformed escape"),
    b'["\\u12g4"]': ("/0", 2, "a malformed escape"),
}


@pytest.mark.parametrize("data", MALFORMED, ids=repr)
def test_malformed_text_says_what_was_expected_and_where(data: bytes) -> None:
    pointer, offset, message = MALFORMED[data]
    _, (fault,) = parse(data)
    assert (fault.code, fault.pointer, fault.offset) == ("SP103", pointer, offset)
    assert message in fault.message


def test_a_syntax_fault_ends_the_text_but_keeps_what_was_found_before() -> None:
    assert told(b'{"a":NaN,"b":tru!,"c":NaN}') == [("SP105", "/a", 5), ("SP103", "/b", 13)]


def test_messages_never_show_the_values_of_a_record() -> None:
    _, faults = parse(
        b'{"secret":"hunter2\\ud800","n":9007199254740995,"m":7e999,"secret":"hunter2"} hunter2'
    )
    assert len(faults) == 5
    shown = " ".join(fault.message for fault in faults)
    assert not [word for word in ("hunter2", "9007199254740995", "7e999") if word in shown]


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize("layout", [b"", b" "], ids=["compact", "spaced"])
def test_nesting_is_accepted_up_to_the_limit(layout: bytes) -> None:
    assert parse(nested(100) + layout)[1] == ()
    assert told(nested(101) + layout) == [("SP109", "/0" * 100, 100)]
    assert parse(nested(3) + layout, Limits(depth=3))[1] == ()
    assert told(nested(4) + layout, Limits(depth=3)) == [("SP109", "/0/0/0", 3)]


def test_a_limit_that_the_fast_readers_cannot_reach_still_counts() -> None:
    value, faults = parse(nested(50_000), Limits(depth=50_000))
    assert faults == ()
    for _ in range(49_999):
        (value,) = value
    assert value == []


def test_many_brackets_side_by_side_are_not_depth() -> None:
    wide: list[Any] = [[], {}, "[{"] * 200
    assert parse(orjson.dumps(wide)) == (wide, ())
    assert parse(json.dumps(wide, indent=1).encode()) == (wide, ())


def test_brackets_in_a_string_are_not_depth() -> None:
    assert parse(orjson.dumps("[" * 500)) == ("[" * 500, ())


@pytest.mark.parametrize("data", [b"[" * 2_000_000, b'{"":' * 500_000], ids=["arrays", "objects"])
def test_a_tower_of_brackets_is_refused_without_a_traceback(data: bytes) -> None:
    assert [code for code, _, _ in told(data)] == ["SP109"]


def test_size_is_judged_before_anything_is_read() -> None:
    limits = Limits(size=10)
    assert parse(b'"12345678"', limits) == ("12345678", ())
    assert told(b'"123456789"', limits) == [("SP110", "", 10)]
    assert told(b"\xff" * 11, limits) == [("SP110", "", 10)]


def test_a_flood_of_faults_is_cut_off() -> None:
    assert len(told(b"[" + b"NaN," * 5000 + b"1]")) == MOST_FAULTS
