"""RFC 3339 times to whole nanoseconds and back; the schemas' pattern has checked the calendar before.

Nanoseconds since the Unix epoch are plain integers: exact, comparable, and free of time zones.
Source of the grammar: RFC 3339 §5.6, narrowed by SPEC.md#times (no leap seconds, at most nine digits).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECOND = 1_000_000_000
"""Nanoseconds in a second."""

EARLIEST, LATEST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
"""The first and the last nanosecond that a time of the format can name."""

_GRAMMAR = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4096)
def parse_time(text: str) -> int:
    """Nanoseconds since 1970-01-01T00:00:00Z that `text` names; a record's few times are asked for again and again.

    Raises:
        ValueError: `text` is no RFC 3339 time of the format's grammar, or names no day or hour that exists,
            or its offset leads out of the years 1 to 9999.
    """
    if len(text) == 20 and text.isascii() and text[16] == ":" and text[19] == "Z" and text[17:19].isdigit():
        # the form that nearly all times have; those of one minute are read but once
        start, second = _minute(text[:16]), int(text[17:19])
        if start is not None and second < 60:
            return start + second * SECOND
    found = _GRAMMAR.fullmatch(text)
    if not found:
        raise ValueError("expected an RFC 3339 time such as 2026-05-07T10:00:00Z")
    # not fromisoformat: newer Pythons read 24:00:00 as the next day
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _EPOCH
    seconds = moment.days * 86_400 + moment.seconds
    if found[8]:
        hours, minutes = int(found[9]), int(found[10])
        if hours > 23 or minutes > 59:
            raise ValueError("expected an offset between -23:59 and +23:59")
        seconds -= (1 if found[8] == "+" else -1) * (hours * 3600 + minutes * 60)
    nanoseconds = seconds * SECOND + int((found[7] or "").ljust(9, "0"))
    if not EARLIEST <= nanoseconds <= LATEST:
        raise ValueError("expected a moment in one of the years 1 to 9999, in UTC")
    return nanoseconds


@lru_cache(maxsize=1024)
def _minute(text: str) -> int | None:
    """Nanoseconds from the Unix epoch to the minute that `text` names, as in 2026-05-07T10:00; None: it names none."""
    try:
        return parse_time(f"{text}:00.0Z")
    except ValueError:
        return None


def format_time(nanoseconds: int) -> str:
    """The shortest RFC 3339 text in UTC for `nanoseconds` since the Unix epoch.

    A moment outside of the years 1 to 9999 becomes the nearest that has a text: a valid record can hold a
    lease, and a setting a limit, that reaches beyond them.
    """
    seconds, fraction = divmod(min(max(nanoseconds, EARLIEST), LATEST), SECOND)
    text = (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]
    return text + (f".{fraction:09d}".rstrip("0") if fraction else "") + "Z"
