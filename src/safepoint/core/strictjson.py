"""Strict JSON: bytes to a value, or to every fault that the text has.

Decided here: which of three readers decides. The first two only ever accept; the third, ``scanner``, is the
reference that they agree with, and the only one that names faults.

1. orjson, and its own output equal to the input. That proves compact text without duplicate names and with
   numbers in their shortest form, at a third of what it costs to look for them.
2. The standard library's parser with hooks: any layout, still written in C.
3. The scanner: every fault with its byte, one text in thousands.

Not decided here: what a valid value means (``kind``, ``schemas``).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from safepoint.core.fault import Fault
from safepoint.core.scanner import SAFE_INTEGER, Scanner


@dataclass(frozen=True, slots=True)
class Limits:
    """How large one JSON text may be; the defaults are SPEC.md's."""

    depth: int = 100
    """Levels of arrays and objects."""
    size: int = 16 * 2**20
    """Bytes of one text."""


LIMITS = Limits()

_CONTAINERS = (dict, list)
_LINE_FEED = ord("\n")
_COMPACT = orjson.OPT_STRICT_INTEGER
_COMPACT_LINE = orjson.OPT_STRICT_INTEGER | orjson.OPT_APPEND_NEWLINE


class _UnsureError(Exception):
    """A fast reader cannot vouch for the text."""


_UNSURE = (_UnsureError, ValueError, TypeError, RecursionError)
"""What the fast readers raise: their own doubt, and what orjson and the standard library refuse with."""


def parse(data: bytes, limits: Limits = LIMITS) -> tuple[Any, tuple[Fault, ...]]:
    """The value of `data` and no faults; or None and at least one fault, in the order of the bytes.

    Never raises, whatever the bytes are. Faults have a pointer and an offset, and no place yet.
    """
    if len(data) > limits.size:
        message = f"a larger text than is read: expected at most {limits.size} bytes"
        return None, (Fault("SP110", message, offset=limits.size),)
    try:
        return _read_compact(data, limits.depth), ()
    except _UNSURE:
        pass
    try:
        return _read_standard(data, limits.depth), ()
    except _UNSURE:
        return _scan(data, limits.depth)


def is_compact(data: bytes, value: Any, limits: Limits = LIMITS) -> bool:
    """Whether `data`, from which orjson read `value`, certainly has no fault; False means "not certain"."""
    try:
        return orjson.dumps(value, None, _COMPACT) == data and fits(data, value, limits)
    except (TypeError, ValueError):
        return False


def fits(data: bytes, value: Any, limits: Limits = LIMITS) -> bool:
    """Whether `data`, which says `value`, is neither too large nor too deep."""
    return len(data) <= limits.size and _is_shallow(data, value, limits.depth)


def _read_compact(data: bytes, depth: int) -> Any:
    value = orjson.loads(data)
    written = orjson.dumps(value, None, _COMPACT_LINE if data[-1] == _LINE_FEED else _COMPACT)
    if written == data and _is_shallow(data, value, depth):
        return value
    raise _UnsureError


def _read_standard(data: bytes, depth: int) -> Any:
    value = _DECODER.decode(data.decode())
    if not _is_shallow(data, value, depth):
        raise _UnsureError
    if b"\\ud" in data or b"\\uD" in data:
        orjson.dumps(value)  # the standard library lets lone surrogates pass; orjson raises
    return value


def _scan(data: bytes, depth: int) -> tuple[Any, tuple[Fault, ...]]:
    scanner = Scanner(data, depth)
    for _ in scanner.steps():
        pass
    return (None if scanner.faults else scanner.value), tuple(scanner.faults)


def _is_shallow(data: bytes, value: Any, depth: int) -> bool:
    # as many opening brackets at all as levels allowed, also counting those in strings: the usual case
    if data.count(b"{") + data.count(b"[") <= depth:
        return True
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(depth):
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, _CONTAINERS)
        ]
        if not level:
            return True
    return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _UnsureError
    return value


def _integer(digits: str) -> int:
    # the length first: int() refuses thousands of digits with an error of its own
    if len(digits) > 17 or abs(value := int(digits)) > SAFE_INTEGER:
        raise _UnsureError
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _UnsureError
    return value


def _refuse(_: str) -> NoReturn:
    raise _UnsureError


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=_finite, parse_constant=_refuse
)
