"""Where things lie: from a pointer to a byte, and from a byte to a line and a column.

Decided here: that a place which does not exist is shown by its nearest ancestor that does.
Not decided here: in which file and at which of its lines the text begins (``fault.Place``).
"""

from __future__ import annotations

from safepoint.core.pointer import split
from safepoint.core.scanner import Scanner

_DEPTH = 1000
"""Levels that are looked into: more than any text that was accepted has."""


def offset_of(data: bytes, pointer: str, *, name: bool = False) -> int:
    """The byte of `data` where the value begins that `pointer` leads to, or its name if `name`.

    Elements of arrays and the whole text have no name: their value's byte. Where the pointer leads nowhere,
    the byte of the nearest ancestor's value. Never raises: a text with faults is searched as far as possible.
    """
    try:
        wanted = split(pointer)
    except ValueError:
        wanted = []
    scanner = Scanner(data, _DEPTH)
    nearest, found = 0, -1  # the offset of the value at the first `found` tokens
    for name_offset, offset in scanner.steps():
        path = scanner.path
        # only a child of the nearest ancestor is of interest; the last token first, for it differs most
        if len(path) != found + 1 or (path and str(path[-1]) != wanted[found]):
            continue
        if [str(token) for token in path] != wanted[: len(path)]:
            continue
        nearest, found = offset, len(path)
        if found == len(wanted):
            return name_offset if name else offset
    return nearest


def line_and_column(data: bytes, offset: int) -> tuple[int, int]:
    """The line of `data` that byte `offset` is on, and its column in Unicode code points; both count from 1.

    Lines end with a line feed. An offset outside of the text counts as its nearer end.
    """
    offset = min(max(offset, 0), len(data))
    begin = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, len(data[begin:offset].decode(errors="replace")) + 1
