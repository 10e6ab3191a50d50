"""JSON Lines: a file cut into lines, and each line read on its own, so that one bad line hides no other.

Decided here: what a line is, and when a line that is no JSON counts as torn (SPEC.md#json-lines).
Not decided here: what is wrong within a line that is JSON (``strictjson``), nor what a tear means for a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.strictjson import LIMITS, Limits, parse

_SYNTAX = frozenset({"SP103", "SP117"})
"""Faults that end a text; a tear always leaves one of them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file. Only a line feed ends it: U+2028 and a carriage return may stand in JSON text."""

    number: int
    """From 1."""
    offset: int
    """Its first byte in the file, from 0."""
    data: bytes
    """Its bytes without the line feed."""
    terminated: bool
    """Whether a line feed follows; only the last line may be without."""


def split(data: bytes | Iterable[bytes], limit: int | None = None) -> Iterator[Line]:
    """The lines of a file; nothing is behind the last line feed.

    Args:
        data: its bytes, whole or in pieces.
        limit: of a longer line only the beginning is kept, a little more than these bytes: enough to see that it is
            too long.
    """
    number = offset = length = 0
    held: list[bytes] = []  # the beginning of a line that goes on in the next piece, and its length so far
    for piece in (data,) if isinstance(data, bytes) else data:
        begin = 0
        while (end := piece.find(b"\n", begin)) >= 0:
            number += 1
            rest = piece[begin:end]
            yield Line(number, offset, b"".join((*held, rest)) if held else rest, terminated=True)
            offset += length + len(rest) + 1
            length, begin = 0, end + 1
            held.clear()
        if rest := piece[begin:]:
            if limit is None or length <= limit:
                held.append(rest)
            length += len(rest)
    if length:
        yield Line(number + 1, offset, b"".join(held), terminated=False)


def parse_lines(
    data: bytes | Iterable[bytes], limits: Limits = LIMITS, known: Mapping[int, Any] = MappingProxyType({})
) -> Iterator[tuple[Line, Any, tuple[Fault, ...]]]:
    """Each line with its value and its faults, whose offsets count from the line's first byte.

    What is `known` of a line, by its number, is its value: the caller knows that the line has no fault.

    A fault but SP115 means that the value is None. Blank lines that follow each other are one fault, at the first.
    """
    blank: tuple[Line, int] | None = None
    for line in split(data, limits.size):
        if not line.data.strip(b" \t\r"):
            blank = (blank[0], blank[1] + 1) if blank else (line, 1)
            continue
        if blank:
            yield _blank(*blank)
            blank = None
        if line.number in known:
            yield line, known[line.number], ()
            continue
        text = line.data.removesuffix(b"\r")
        value, faults = parse(text, limits)
        faults = tuple(_torn(fault, line, text) for fault in faults)
        if len(text) < len(line.data):
            message = "a carriage return ends the line: expected a line feed alone"
            faults = (*faults, Fault("SP115", message, offset=len(text)))
        yield line, value, faults
    if blank:
        yield _blank(*blank)


def _blank(first: Line, count: int) -> tuple[Line, None, tuple[Fault, ...]]:
    what = "a blank line" if count == 1 else f"{count:,} blank lines"
    return first, None, (Fault("SP116", f"{what}: expected one JSON text on each line", offset=0),)


def _torn(fault: Fault, line: Line, text: bytes) -> Fault:
    if fault.code not in _SYNTAX or fault.offset is None:
        return fault
    if not line.terminated:
        return replace(fault, code="SP113", message=f"the last line is cut off: {fault.message}")
    # Where another record is glued to a cut one, reading fails around the other's first two bytes: at them,
    # behind them where they closed a string, or at a token that they cut short.
    glued = b'{"' in text[max(fault.offset - 2, 0) : fault.offset + 8]
    if glued:
        return replace(fault, code="SP114", message=f"two records on one line: {fault.message}")
    if fault.offset == len(text):
        return replace(fault, code="SP114", message=f"the record is cut off: {fault.message}")
    return fault
