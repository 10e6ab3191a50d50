"""What the old schema says of one value: all that must hold together, with one alternative chosen where it gives some.

Decided here: what certainly follows from the parts. Everything here may be weaker than what the schema says, and never
stronger: of what a view lets through the old schema may refuse some, and what it refuses the old schema refuses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from safepoint.payloads.compatibility.nodes import Node, Spot, is_false, parts

WHOLE, FLOAT, FRACTION = "integer", "whole float", "fraction"
"""A number without a point, a number like 1.0 (no integer until draft 6), and any other."""
NUMBERS: Final = frozenset({WHOLE, FLOAT, FRACTION})
TYPES: Final = frozenset({"object", "array", "string", "null", "boolean", *NUMBERS})

MOST_ALTERNATIVES = 64
"""Alternatives of one schema that are looked at one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What must hold of a value, as far as it is gone by."""

    parts: tuple[Node, ...]
    only: frozenset[str] = TYPES
    """Types that are looked at; the others are looked at elsewhere."""
    chosen: frozenset[tuple[int, str]] = frozenset()
    """Which alternatives have been chosen already: the object that gives them and the keyword."""
    required: frozenset[str] = frozenset()
    """Members that are there besides those that the parts require."""
    refused: tuple[Node, ...] = ()
    """Schemas that the value does not fit, as the ``if`` of a chosen ``else``."""

    @classmethod
    def of(cls, *nodes: Node) -> View:
        """All of the `nodes` together."""
        found: dict[int, Node] = {}
        for node in nodes:
            for part in parts(node):
                found.setdefault(id(part.schema) if isinstance(part.schema, dict) else 0, part)
        return cls(tuple(found.values()))

    @property
    def key(self) -> tuple[frozenset[int], frozenset[str], frozenset[str], frozenset[int]]:
        """Equal for views that say the same."""
        refused = frozenset(id(node.schema) for node in self.refused)
        return frozenset(id(part.schema) for part in self.parts), self.only, self.required, refused

    @property
    def where(self) -> Spot | None:
        """Where the old schema speaks of the value."""
        return self.parts[0].where if self.parts else None

    def having(self, keyword: str) -> Iterator[Node]:
        """The parts in which the keyword asserts something."""
        return (part for part in self.parts if part.says(keyword))

    def all(self, keyword: str) -> list[Any]:
        """What the keyword says in each part that has it."""
        return [part.schema[keyword] for part in self.having(keyword)]

    def also(self, *nodes: Node) -> View:
        """With more that must hold."""
        more = View.of(*nodes).parts
        known = {id(part.schema) for part in self.parts}
        return replace(self, parts=(*self.parts, *(p for p in more if id(p.schema) not in known)))


def types(view: View) -> frozenset[str]:
    """The types that a value may have."""
    if any(is_false(part) for part in view.parts):
        return frozenset()
    left = view.only
    for part in view.parts:
        left &= types_of(part)
    return left


def types_of(part: Node) -> frozenset[str]:
    """The types that one object lets through by its ``type``, ``enum`` and ``const``."""
    if is_false(part):
        return frozenset()
    left = TYPES
    if part.says("type"):
        named = part.schema["type"]
        left = frozenset().union(*(_named(n, part) for n in ([named] if isinstance(named, str) else named)))
    listed = values_of(part)
    if listed is not None:
        left &= frozenset(kind for value in listed for kind in kinds_of(value))
    return left


def _named(name: str, part: Node) -> frozenset[str]:
    if name == "number":
        return NUMBERS
    if name == "integer":
        return frozenset({WHOLE} if part.dialect.draft == 4 else {WHOLE, FLOAT})
    return frozenset({name})


def values_of(part: Node) -> list[Any] | None:
    """The only values that one object lets through, where it lists them."""
    if part.says("const"):
        return [part.schema["const"]]
    return list(part.schema["enum"]) if part.says("enum") else None


def kinds_of(value: Any) -> frozenset[str]:
    """The types of the JSON texts that are equal to `value`."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return frozenset({WHOLE, FLOAT})
    if isinstance(value, float):
        return frozenset({FRACTION})
    named = {type(None): "null", str: "string", list: "array", dict: "object"}
    return frozenset({named[type(value)]})


def kind_of(value: Any) -> str:
    """The type of this very value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return WHOLE
    return next(iter(kinds_of(value) - {WHOLE}))


def values(view: View) -> list[Any] | None:
    """Every value that can be let through, and perhaps some that cannot, where these are few; else None."""
    listed = [known for part in view.parts if (known := values_of(part)) is not None]
    left = types(view)
    if not left:
        return []
    if listed:
        fewest = min(listed, key=len)
        if any(isinstance(value, dict | list) for value in fewest):
            return None if _old_numbers(view) else [v for v in fewest if kinds_of(v) & left]
        return [twin for value in fewest for twin in _twins(value) if kind_of(twin) in left]
    if left <= {"null", "boolean"}:
        return [*([None] if "null" in left else []), *([False, True] if "boolean" in left else [])]
    return None


def _old_numbers(view: View) -> bool:
    """Draft 4 tells 1 from 1.0, also deep inside of a listed value."""
    return any(part.dialect.draft == 4 for part in view.parts)


def _twins(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        yield float(value)
    elif isinstance(value, float) and value.is_integer():
        yield int(value)


@dataclass(frozen=True, slots=True)
class Bound:
    """The least or the greatest number."""

    value: float
    open: bool
    """Whether the number itself is out of bounds."""


def lower(view: View) -> Bound:
    """No number is less."""
    found = Bound(-math.inf, open=False)
    for bound in (bound for part in view.parts for bound in lower_bounds(part).values()):
        if (bound.value, bound.open) > (found.value, found.open):
            found = bound
    if math.isfinite(found.value) and FRACTION not in types(view):
        least = math.ceil(found.value)
        return Bound(least + (found.open and least == found.value), open=False)
    return found


def upper(view: View) -> Bound:
    """No number is greater."""
    found = Bound(math.inf, open=False)
    for bound in (bound for part in view.parts for bound in upper_bounds(part).values()):
        if (-bound.value, bound.open) > (-found.value, found.open):
            found = bound
    if math.isfinite(found.value) and FRACTION not in types(view):
        most = math.floor(found.value)
        return Bound(most - (found.open and most == found.value), open=False)
    return found


def lower_bounds(part: Node) -> dict[str, Bound]:
    """What one object says, by keyword."""
    return _bounds(part, "minimum", "exclusiveMinimum")


def upper_bounds(part: Node) -> dict[str, Bound]:
    """What one object says, by keyword."""
    return _bounds(part, "maximum", "exclusiveMaximum")


def _bounds(part: Node, closed: str, opened: str) -> dict[str, Bound]:
    found: dict[str, Bound] = {}
    if part.says(closed):
        found[closed] = Bound(part.schema[closed], open=part.schema.get(opened) is True)
    if part.says(opened):
        found[opened] = Bound(part.schema[opened], open=True)
    return found


def least(view: View, keyword: str) -> int:
    """The strictest of ``minLength``, ``minItems`` and their like."""
    return max((math.ceil(n) for n in view.all(keyword)), default=0)


def most(view: View, keyword: str) -> float:
    """The strictest of ``maxLength``, ``maxItems`` and their like."""
    return min((math.floor(n) for n in view.all(keyword)), default=math.inf)


def alternatives(view: View) -> list[View]:
    """Views of which one at least holds of each value that `view` lets through; only itself where it gives none."""
    done: list[View] = []
    waiting = [view]
    while waiting:
        one = waiting.pop()
        split = _split(one)
        if len(split) + len(waiting) + len(done) > MOST_ALTERNATIVES:
            return [view]
        if split:
            waiting += reversed(split)
        else:
            done.append(one)
    return done


def _split(view: View) -> list[View]:
    for part in view.parts:
        for keyword in ("anyOf", "oneOf", "if"):
            mark = (id(part.schema), keyword)
            if not part.says(keyword) or mark in view.chosen:
                continue
            marked = replace(view, chosen=view.chosen | {mark})
            if keyword != "if":
                return [marked.also(branch) for branch in part.each(keyword)]
            if "then" not in part.schema and "else" not in part.schema:
                return [marked]
            yes = [part.below(word) for word in ("if", "then") if word in part.schema]
            no = [part.below("else")] if "else" in part.schema else []
            other = replace(marked, refused=(*view.refused, part.below("if")))
            return [marked.also(*yes), other.also(*no)]
    return []
