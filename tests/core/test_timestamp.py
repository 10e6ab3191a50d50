"""Times to nanoseconds and back, exactly."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.timestamp import EARLIEST, LATEST, SECOND, format_time, parse_time


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.000000001Z", SECOND + 1),
        ("1969-12-31T23:59:59.5Z", -SECOND // 2),
        ("2026-05-07T10:00:00Z", 1_778_148_000 * SECOND),
        ("2026-05-07T12:30:00+02:30", 1_778_148_000 * SECOND),
        ("2026-05-07T09:59:00-00:01", 1_778_148_000 * SECOND),
        ("2000-02-29T00:00:00.120Z", 951_782_400 * SECOND + 120_000_000),
    ],
)
def test_a_time_is_its_nanoseconds_since_the_epoch(text: str, nanoseconds: int) -> None:
    assert parse_time(text) == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-05-07",
        "2026-05-07 10:00:00Z",
        "2026-05-07T10:00:00",
        "2026-05-07t10:00:00z",
        "2026-05-07T10:00:00Z\n",
        "2026-05-07T10:00Z",
        "2026-05-07T10:00:00.Z",
        "2026-05-07T10:00:00.1234567890Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-05-07T24:00:00Z",
        "2026-12-31T23:59:60Z",
        "2026-05-07T10:60:00Z",
        "2026-05-07T10:00:00+24:00",
        "2026-05-07T10:00:00+01:60",
        "2026-05-07T10:00:00+0100",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-00:01",
        "\uff12\uff1026-05-07T10:00:00Z",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text)


@given(st.datetimes(timezones=st.just(UTC)), st.integers(0, SECOND - 1))
def test_a_time_comes_back_exactly(moment: datetime, fraction: int) -> None:
    text = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + f".{fraction:09d}Z"
    nanoseconds = parse_time(text)
    shortest = format_time(nanoseconds)
    assert parse_time(shortest) == nanoseconds
    assert shortest == (text[:-1].rstrip("0").rstrip(".") if fraction else text[:19]) + "Z"


@given(st.integers(EARLIEST, LATEST))
def test_every_nanosecond_of_the_calendar_has_a_text(nanoseconds: int) -> None:
    assert parse_time(format_time(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(
    ("nanoseconds", "nearest"),
    [
        (EARLIEST - 1, "0001-01-01T00:00:00Z"),
        (LATEST + 1, "9999-12-31T23:59:59.999999999Z"),
        (LATEST + (2**53 - 1) * SECOND, "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_a_moment_outside_of_the_calendar_becomes_the_nearest_in_it(nanoseconds: int, nearest: str) -> None:
    assert format_time(nanoseconds) == nearest
