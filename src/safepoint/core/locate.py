"""Where things lie: from a pointer to a byte, and from a byte to a line and a column.

Decided here: that a place which does not exist is shown by its nearest ancestor that does.
Not decided here: in which file and at which of its lines the text begins (``fault.Place``).
"""

from __future__ import annotations

from collections.abc import Iterable

from safepoint.core.pointer import split
from safepoint.core.scanner import Scanner

_DEPTH = 1000
"""Levels that are looked into: more than any text that was accepted has."""


class _Wanted:
    """A place that was asked for, or that leads to one."""

    __slots__ = ("asked", "below", "found")

    def __init__(self) -> None:
        self.below: dict[str, _Wanted] = {}
        self.asked = False
        self.found: tuple[int, int] | None = None


def offset_of(data: bytes, pointer: str, *, name: bool = False) -> int:
    """As `offsets_of`, for one pointer: the byte of the value, or of its name if `name`."""
    return offsets_of(data, [pointer])[pointer][0 if name else 1]


def offsets_of(data: bytes, pointers: Iterable[str]) -> dict[str, tuple[int, int]]:
    """For each pointer the bytes of `data` where the name and the value begin that it leads to, in one reading.

    Elements of arrays and the whole text have no name: their value's byte. Where a pointer leads nowhere,
    the byte of the nearest ancestor's value, twice. Never raises: a text with faults is searched as far as
    possible.
    """
    root = _Wanted()
    tokens = {pointer: _tokens(pointer) for pointer in pointers}
    missing = 0
    for path in tokens.values():
        place = root
        for token in path:
            place = place.below.setdefault(token, _Wanted())
        missing += not place.asked
        place.asked = True
    scanner = Scanner(data, _DEPTH)
    above: list[_Wanted | None] = []  # the places that lead to the value at hand, None where nobody asked
    for begin in scanner.steps() if missing else ():
        level = len(scanner.path)
        parent = above[level - 1] if level else None
        here = parent.below.get(str(scanner.path[-1])) if parent else None if level else root
        above[level:] = [here]
        if here is not None and here.found is None:  # of a name that occurs twice the first counts
            here.found = begin
            missing -= here.asked
            if not missing:
                break
    return {pointer: _nearest(root, path) for pointer, path in tokens.items()}


def _tokens(pointer: str) -> list[str]:
    try:
        return split(pointer)
    except ValueError:
        return []


def _nearest(place: _Wanted, path: list[str]) -> tuple[int, int]:
    value = place.found[1] if place.found else 0
    for token in path:
        place = place.below[token]
        if place.found is None:
            return value, value
        value = place.found[1]
    return place.found or (value, value)


def line_and_column(data: bytes, offset: int) -> tuple[int, int]:
    """As `lines_and_columns`, for one byte."""
    return lines_and_columns(data, [offset])[offset]


def lines_and_columns(data: bytes, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """For each offset the line of `data` that this byte is on, and its column in Unicode code points, in one reading.

    Both count from 1. Lines end with a line feed. An offset outside of the text counts as its nearer end.
    """
    places: dict[int, tuple[int, int]] = {}
    line, column, read = 1, 1, 0
    for offset in sorted(set(offsets)):
        end = min(max(offset, 0), len(data))
        begin = data.rfind(b"\n", read, end) + 1
        if begin:
            line, column, read = line + data.count(b"\n", read, begin), 1, begin
        column += len(data[read:end].decode(errors="replace"))
        places[offset], read = (line, column), end
    return places
