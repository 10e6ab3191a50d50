"""A payload that the old schema accepts and the new one refuses, found by trying.

Decided here: which values are tried. Whether one is a witness the reference engine says, of the whole payload and of
both whole schemas; that none was found says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from safepoint.payloads.compatibility import strings
from safepoint.payloads.compatibility.contents import declared, item, longest, member, required, shortest
from safepoint.payloads.compatibility.nodes import Node
from safepoint.payloads.compatibility.views import (
    FRACTION,
    NUMBERS,
    View,
    alternatives,
    kind_of,
    least,
    lower,
    most,
    types,
    upper,
    values,
)

_TRIED = 80
"""Values that are tried in one place."""
_DEEP = 5
"""Levels of a payload that are made up."""
EXACT = 2**53
"""Up to here a float is one integer, and an integer one float."""
_LONG = 4096
"""Characters, or items, of what is made up."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a payload down into it."""

    view: View
    """What the old schema says of what is stepped into."""
    token: str | int | None
    """The member, or the index of the item; None: the name of a member itself."""
    shown: str
    """The same for people; ``*`` for any."""


def find(
    roots: tuple[Node, Node],
    trail: tuple[Step, ...],
    view: View,
    candidates: Iterable[Any],
    refuses: Any,
) -> list[Any]:
    """A witness, as a list of that one payload; an empty list where none was found.

    Args:
        roots: the old schema and the new one.
        trail: the way to the value in question.
        view: what the old schema says of it.
        candidates: values that are tried first.
        refuses: whether a value of that place is refused there for the reason in question.
    """
    old, new = roots
    for value in islice(chain(candidates, samples(view)), _TRIED):
        if not refuses(value):
            continue
        for full in (False, True):
            whole = _embedded(trail, value, full=full)
            if whole and old.accepts(whole[0]) and new.refuses(whole[0]):
                return whole
    return []


def _embedded(trail: tuple[Step, ...], value: Any, *, full: bool) -> list[Any]:
    for step in reversed(trail):
        if isinstance(step.token, int):
            value = _around(step.view, step.token, value)
        elif step.token is None:
            if not isinstance(value, str):
                return []
            value = {**_base(step.view, 0, full=full), value: _good(member(step.view, value), 1)}
        else:
            value = {**_base(step.view, 0, full=full), step.token: value}
    return [value]


def _around(view: View, index: int, value: Any) -> list[Any]:
    length = max(shortest(view), index + 1)
    return [value if n == index else _good(item(view, n), 1) for n in range(min(length, _LONG))]


def samples(view: View, depth: int = 0) -> Iterator[Any]:
    """Values that `view` may let through, the simplest first."""
    known = values(view)
    if known is not None:
        yield from known
        return
    for one in alternatives(view)[:8]:
        known = values(one)
        if known is not None:
            yield from known
            continue
        yield from _examples(one)
        kinds = types(one)
        if kinds & NUMBERS:
            yield from (number for number in _numbers(one) if kind_of(number) in kinds)
        if "string" in kinds:
            yield from _strings(one)
        if "array" in kinds:
            yield from _arrays(one, depth)
        if "object" in kinds:
            yield from _objects(one, depth)
        yield from (value for kind, value in _SIMPLE if kind in kinds)


_SIMPLE: tuple[tuple[str, Any], ...] = (("null", None), ("boolean", True), ("boolean", False))


def _examples(view: View) -> Iterator[Any]:
    for part in view.parts:
        if isinstance(part.schema, dict):
            given = part.schema.get("examples")
            yield from given[:4] if isinstance(given, list) else ()
            if "default" in part.schema:
                yield part.schema["default"]


def _good(view: View, depth: int) -> Any:
    """The first sample that fits, or the first."""
    first: list[Any] = []
    for value in islice(samples(view, depth), 12):
        if all(part.accepts(value) for part in view.parts):
            return value
        first = first or [value]
    return first[0] if first else None


def _numbers(view: View) -> Iterator[float]:
    low, high = lower(view), upper(view)
    tried: list[float] = [0, 1, -1, 2]
    for bound, sign in ((low, 1), (high, -1)):
        if math.isfinite(bound.value):
            near = (bound.value, bound.value + sign, bound.value + sign / 2, bound.value + sign * 0.001)
            tried = [*near, *tried]
    for divisor in view.all("multipleOf"):
        tried = [*_multiples(divisor, low.value if math.isfinite(low.value) else 0), *tried]
    tried += [0.5, -0.5, 0.3, 1e9, -1e9]
    within = (n for n in tried if math.isfinite(n) and low.value <= n <= high.value)
    kinds = types(view)
    for number in dict.fromkeys(within):
        if abs(number) <= EXACT and number == int(number):
            yield int(number)
            if FRACTION not in kinds:  # where 1.0 is no integer, it tells drafts apart
                yield float(number)
        else:
            yield float(number)  # no record holds a larger integer, and as a float each reader reads the same


def _multiples(divisor: float, start: float) -> Iterator[float]:
    """A few multiples, from `start` on, as far as there are such numbers."""
    if not math.isfinite(start / divisor):  # too many of them below `start` to be counted in floats
        return
    for number in range(7):
        with suppress(OverflowError):
            yield divisor * (math.ceil(start / divisor) + number)


def _strings(view: View) -> Iterator[str]:
    low, high = least(view, "minLength"), most(view, "maxLength")
    for pattern in view.all("pattern"):
        for text in strings.samples(pattern):
            yield text
            if len(text) < low <= _LONG:
                yield text + text[-1:] * (low - len(text))
    lengths = {low, low + 1, min(high, low + 9), min(high, low + 300)}
    for length in sorted(n for n in lengths if n <= min(high, _LONG)):
        yield "a" * int(length)
    yield from (text for text in ("Z", "0", "-", " ", "é") if low <= 1 <= high)
    if math.isfinite(high) and high <= _LONG:
        yield "a" * int(high)


def _arrays(view: View, depth: int) -> Iterator[list[Any]]:
    low, high = shortest(view), min(longest(view), _LONG)
    if depth > _DEEP or low > _LONG:
        yield []
        return
    wanted = [part.below("contains") for part in view.having("contains")]

    def filled(length: int) -> list[Any]:
        return [_good(item(view, n).also(*wanted[: 1 if n < low else 0]), depth + 1) for n in range(length)]

    for length in sorted({low, min(low + 1, int(high)), min(low + 2, int(high))}):
        yield filled(length)
    for index in range(min(int(high), 3)):
        head = filled(index)
        for value in islice(samples(item(view, index), depth + 1), 6):
            row = [*head, value]
            yield row + [value] * max(low - len(row), 0)
            if len(row) < high:
                yield [*row, value]
    if low + 2 < high < 200:
        yield filled(int(high))
    if high >= 12 > low:
        yield filled(12)


def _objects(view: View, depth: int) -> Iterator[dict[str, Any]]:
    bare = _base(view, depth, full=False)
    yield bare
    if depth > _DEEP:
        return
    full = _base(view, depth, full=True)
    yield full
    for name in declared(view):
        if name in full:
            without = {other: value for other, value in full.items() if other != name}
            yield without
            for value in islice(samples(member(view, name), depth + 1), 6):
                yield {**bare, name: value}
    yield {**bare, "other0": _good(member(view, "other0"), depth + 1)}
    yield {**full, **{f"other{n}": _good(member(view, f"other{n}"), depth + 1) for n in range(9)}}


def _base(view: View, depth: int, *, full: bool) -> dict[str, Any]:
    """An object with the members that must be there, or with all that are named."""
    needed = required(view)
    found: dict[str, Any] = {}
    if depth <= _DEEP:
        for name in chain(declared(view), sorted(needed)):
            wanted = name in needed or full
            if wanted and name not in found and types(member(view, name)):
                found[name] = _good(member(view, name), depth + 1)
    for number in range(min(least(view, "minProperties"), 200)):
        if len(found) < least(view, "minProperties"):
            found.setdefault(f"other{number}", _good(member(view, f"other{number}"), depth + 1))
    return found
