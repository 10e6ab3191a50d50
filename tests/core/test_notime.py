"""What is said of a text that is no time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.notime import why_no_time


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-02-30T10:00:00Z", "February 2026 has no day 30"),
        ("2025-02-29T10:00:00Z", "February 2025 has no day 29"),
        ("2026-04-31T10:00:00Z", "April has no day 31"),
        ("2026-05-00T10:00:00Z", "May has no day 0"),
        ("2026-13-01T10:00:00Z", "there is no month 13"),
        ("0000-01-01T10:00:00Z", "there is no year 0000"),
        ("2026-05-07T24:00:00Z", "there is no hour 24"),
        ("2026-05-07T10:60:00Z", "there is no minute 60"),
        ("2026-12-31T23:59:60Z", "there is no second 60; leap seconds are not written"),
        ("2026-05-07 10:00:00Z", "date and time are separated by a capital T"),
        ("2026-05-07T10:00:00.1234567891Z", "a second has at most nine decimals"),
        ("2026-05-07T10:00:00", "the Z for UTC is missing"),
        ("2026-05-07T10:00:00z", "the Z for UTC is a capital letter"),
        ("2026-05-07T10:00:00+02:00", "it has an offset; turn it into UTC, with Z"),
        ("2026-05-07", "it is not written as YYYY-MM-DDThh:mm:ssZ"),
        ("2026/05/07 10:00", "it is not written as YYYY-MM-DDThh:mm:ssZ"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(text: str, why: str) -> None:
    assert why_no_time(text, offsets=False) == why


def test_where_offsets_are_taken_only_an_impossible_one_is_wrong() -> None:
    assert why_no_time("0000-02-30T10:00:00+02:00", offsets=True) == "there is no year 0000"
    assert why_no_time("9999-12-31T23:59:59-01:00", offsets=True) == "its offset leads out of the calendar"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "s3cret",
        "----",
        "1778148000",
        "4111-1111-1111-1111",
        "2026-05-07T10:00:00Z" + " " * 40,
    ],
)
def test_what_is_not_like_a_time_may_be_a_secret_and_is_not_spoken_of(text: str) -> None:
    assert why_no_time(text, offsets=False) is None


@given(st.text("0123456789TtZz:.+- ", max_size=30), st.booleans())
def test_no_text_makes_it_raise(text: str, offsets: bool) -> None:
    assert why_no_time(text, offsets=offsets) != ""
