"""An id and its path segment: one to one, and never a way out of the folder."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.ident import decode_segment, encode_segment

KNOWN = {
    "run_123": "run_123",
    "a.b-c": "a.b-c",
    "..": "=2E.",
    ".": "=2E",
    ".tmp-x": "=2Etmp-x",
    "../../etc": "=2E.=2F..=2Fetc",
    "a/b\\c": "a=2Fb=5Cc",
    "a=b": "a=3Db",
    "C:": "C=3A",
    "a b*?[": "a=20b=2A=3F=5B",
    "é😀": "=C3=A9=F0=9F=98=80",
    "\x00\n": "=00=0A",
}

ids = st.text(alphabet="./=\\A0a~é😀\x00 ", min_size=1) | st.text(min_size=1)


@pytest.mark.parametrize("identifier", KNOWN)
def test_the_encoding_is_as_specified(identifier: str) -> None:
    assert encode_segment(identifier) == KNOWN[identifier]
    assert decode_segment(KNOWN[identifier]) == identifier


@given(ids)
def test_every_id_has_one_harmless_segment_and_comes_back(identifier: str) -> None:
    segment = encode_segment(identifier)
    assert re.fullmatch(r"(?!\.)[A-Za-z0-9._=-]+", segment)
    assert decode_segment(segment) == identifier


@given(ids, ids)
def test_two_ids_never_share_a_segment(first: str, second: str) -> None:
    assert (first == second) == (encode_segment(first) == encode_segment(second))


@pytest.mark.parametrize(
    "segment",
    [
        "",
        ".",
        "..",
        ".hidden",
        "=41",
        "=2e",
        "=C3",
        "=FF",
        "=ED=A0=80",
        "=C0=AF",
        "a=",
        "=4",
        "=GG",
        "a/b",
        "é",
        "a\n",
    ],
)
def test_a_segment_that_no_id_gives_is_refused(segment: str) -> None:
    with pytest.raises(ValueError):
        decode_segment(segment)


@given(st.text(alphabet="=.0123456789ABCDEFxé/", max_size=9))
def test_whatever_decodes_is_the_segment_of_its_id(segment: str) -> None:
    try:
        identifier = decode_segment(segment)
    except ValueError:
        return
    assert encode_segment(identifier) == segment


@pytest.mark.parametrize("identifier", ["", "a\ud83d"])
def test_an_id_without_a_utf8_form_has_no_segment(identifier: str) -> None:
    with pytest.raises(ValueError):
        encode_segment(identifier)
