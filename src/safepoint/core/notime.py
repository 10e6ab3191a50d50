"""Why a text is no time of the format, in words.

Decided here: what is said of a text that was refused. Not decided here: whether it is refused; that is the schemas'
pattern, and ``timestamp`` reads what has passed it.
"""

from __future__ import annotations

import re
from calendar import month_name, monthrange

_LIKE_A_TIME = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9TtZz:.,+ /-]{1,32}")
_PARTS = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})([Tt ])([0-9]{2}):([0-9]{2}):([0-9]{2})([.][0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)


def why_no_time(text: str, *, offsets: bool) -> str | None:
    """What is wrong with `text` as a time, in a few words; None where it is not even like one, and may be anything.

    Args:
        text: what stood where a time is wanted, and was refused.
        offsets: whether the version takes offsets such as ``+02:00``; else UTC only.
    """
    if not _LIKE_A_TIME.fullmatch(text):
        return None
    found = _PARTS.fullmatch(text)
    if not found:
        return "it is not written as YYYY-MM-DDThh:mm:ssZ"
    year, month, day, hour, minute, second = (int(found[part]) for part in (1, 2, 3, 5, 6, 7))
    zone = found[9]
    wrong = [
        (year == 0, "there is no year 0000"),
        (not 1 <= month <= 12, f"there is no month {month}"),
        (not _has_day(year, month, day), f"{_month(year, month)} has no day {day}"),
        (hour > 23, f"there is no hour {hour}"),
        (minute > 59, f"there is no minute {minute}"),
        (second > 59, f"there is no second {second}; leap seconds are not written"),
        (found[4] != "T", "date and time are separated by a capital T"),
        (len(found[8] or "") > 10, "a second has at most nine decimals"),
        (zone is None, "the Z for UTC is missing"),
        (zone == "z", "the Z for UTC is a capital letter"),
        (zone is not None and zone not in "Zz" and not offsets, "it has an offset; turn it into UTC, with Z"),
    ]
    return next((words for holds, words in wrong if holds), "its offset leads out of the calendar")


def _has_day(year: int, month: int, day: int) -> bool:
    return year == 0 or not 1 <= month <= 12 or 1 <= day <= monthrange(year, month)[1]


def _month(year: int, month: int) -> str:
    # a leap day is the one whose year matters
    name = month_name[month] if 1 <= month <= 12 else ""
    return f"{name} {year:04}" if month == 2 else name
