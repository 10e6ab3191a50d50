"""JSON Lines: a file cut into lines, and each line read on its own, so that one bad line hides no other.

Decided here: what a line is, and when a line that is no JSON counts as torn (SPEC.md#json-lines).
Not decided here: what is wrong within a line that is JSON (``strictjson``), nor what a tear means for a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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


def split(data: bytes) -> Iterator[Line]:
    """The lines of a file; nothing is behind the last line feed."""
    number = begin = 0
    while begin < len(data):
        number += 1
        end = data.find(b"\n", begin)
        terminated = end >= 0
        if not terminated:
            end = len(data)
        yield Line(number, begin, data[begin:end], terminated)
        begin = end + 1


def parse_lines(data: bytes, limits: Limits = LIMITS) -> Iterator[tuple[Line, Any, tuple[Fault, ...]]]:
    """Each line with its value and its faults, whose offsets count from the line's first byte.

    A fault but SP115 means that the value is None.
    """
    for line in split(data):
        if not line.data.strip(b" \t\r"):
            yield line, None, (Fault("SP116", "a blank line: expected one JSON text on each line", offset=0),)
            continue
        text = line.data.removesuffix(b"\r")
        value, faults = parse(text, limits)
        faults = tuple(_torn(fault, line, text) for fault in faults)
        if len(text) < len(line.data):
            message = "a carriage return ends the line: expected a line feed alone"
            faults = (*faults, Fault("SP115", message, offset=len(text)))
        yield line, value, faults


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
