"""Rules on types, listed values, numbers, texts, and how many items or members there are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from safepoint.payloads.compatibility import strings
from safepoint.payloads.compatibility.comparing import Comparing, Trail, shown
from safepoint.payloads.compatibility.contents import declared, longest, member, others, required, shortest
from safepoint.payloads.compatibility.nodes import Node, Spot
from safepoint.payloads.compatibility.views import (
    FLOAT,
    FRACTION,
    NUMBERS,
    WHOLE,
    View,
    least,
    lower,
    lower_bounds,
    most,
    types,
    types_of,
    upper,
    upper_bounds,
    values_of,
)
from safepoint.payloads.compatibility.witness import EXACT, samples


def check_type(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """The types that fit."""
    if not new.says("type"):
        return
    bare = _bare_type(new)
    lost = types(old) - types_of(bare)
    if not lost:
        return
    message = f"type narrowed: {_named(types(old))} → {_named(types_of(bare))}"
    found = (value for value in samples(replace(old, only=old.only & lost)))
    where = new.where.below("type")
    before = _before(old, "type")
    compare.differ(
        "SP620",
        message,
        old,
        new,
        trail,
        where=where,
        before=before,
        candidates=found,
        keywords=frozenset({"type"}),
    )


def _before(old: View, *keywords: str) -> Spot | None:
    """Where the old schema has one of the keywords."""
    for keyword in keywords:
        for part in old.having(keyword):
            return part.where.below(keyword)
    return None


def _named(kinds: frozenset[str]) -> str:
    order = ("object", "array", "string", "number", "integer", "boolean", "null")
    names = {kind for kind in kinds if kind not in NUMBERS}
    if kinds >= NUMBERS:
        names.add("number")
    elif kinds & {WHOLE, FLOAT}:
        names.add("integer")
    elif FRACTION in kinds:
        names.add("number")
    if len(names) == 6:
        return "any type"
    return " or ".join(name for name in order if name in names) or "nothing"


def check_listed(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """Only listed values fit where any did."""
    allowed = values_of(new)
    keyword = "const" if new.says("const") else "enum"
    # what has another type is refused for that already
    rest = replace(old, only=old.only & types_of(_bare_type(new)))
    if allowed is None or not types(rest):
        return
    compare.differ(
        "SP623",
        f"only listed values fit now: {shown(allowed)}",
        rest,
        new,
        trail,
        where=new.where.below(keyword),
        before=_before(old, "type"),
        keywords=frozenset({keyword}),
    )


def _bare_type(new: Node) -> Node:
    return replace(new, schema={word: said for word, said in new.schema.items() if word == "type"})


def check_numbers(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """Bounds of numbers, and what they are multiples of."""
    rest = replace(old, only=old.only & NUMBERS & types_of(new))
    kinds = types(rest)
    if not kinds:
        return
    low, high = lower(rest), upper(rest)
    for keyword, bound in lower_bounds(new).items():
        if (low.value, low.open) < (bound.value, bound.open):
            told = f"the least number was {_number(low.value)} and is {_number(bound.value)}"
            _bound(
                compare, rest, new, trail, keyword, told + _apart(bound.open), ("minimum", "exclusiveMinimum")
            )
    for keyword, bound in upper_bounds(new).items():
        if (-high.value, high.open) < (-bound.value, bound.open):
            told = f"the greatest number was {_number(high.value)} and is {_number(bound.value)}"
            _bound(
                compare, rest, new, trail, keyword, told + _apart(bound.open), ("maximum", "exclusiveMaximum")
            )
    if new.says("multipleOf"):
        divisor, known = new.schema["multipleOf"], rest.all("multipleOf")
        whole = isinstance(divisor, int)
        implied = any(
            # divisors with a point are divided as computers do it: then only the same one is sure
            (type(one) is type(divisor) and one == divisor)
            or (whole and isinstance(one, int) and one % divisor == 0)
            for one in known
        )
        if not implied and not (whole and divisor == 1 and FRACTION not in kinds):
            was = f"a multiple of {shown(known)}" if known else "any number"
            _bound(
                compare, rest, new, trail, "multipleOf", f"{was} → a multiple of {divisor}", ("multipleOf",)
            )


def _number(value: float) -> str:
    if math.isinf(value):
        return "not bounded"
    return str(int(value)) if value == int(value) and abs(value) <= EXACT else str(float(value))


def _apart(is_open: bool) -> str:
    return ", itself excluded" if is_open else ""


def _bound(
    compare: Comparing,
    old: View,
    new: Node,
    trail: Trail,
    keyword: str,
    told: str,
    known: tuple[str, ...],
    candidates: Iterator[Any] | None = None,
) -> None:
    compare.differ(
        "SP624",
        f"bound tightened: {told}",
        old,
        new,
        trail,
        where=new.where.below(keyword),
        before=_before(old, *known),
        candidates=candidates or (),
        keywords=frozenset({keyword, *known}),
    )


def check_strings(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """Lengths and patterns of texts."""
    if "string" not in types(old) & types_of(new):
        return
    rest = replace(old, only=frozenset({"string"}))
    low, high = least(rest, "minLength"), most(rest, "maxLength")
    _counts(compare, rest, new, trail, (low, "minLength"), (high, "maxLength"), "character")
    if new.says("pattern") and new.schema["pattern"] not in rest.all("pattern"):
        wanted, known = new.schema["pattern"], rest.all("pattern")
        told = f"pattern changed: {shown(known)} → " if known else "pattern added: "
        tried = (text for pattern in known for text in strings.samples(pattern))
        compare.differ(
            "SP625",
            told + shown([wanted]),
            rest,
            new,
            trail,
            where=new.where.below("pattern"),
            before=_before(rest, "pattern"),
            candidates=tried,
            keywords=frozenset({"pattern"}),
        )


def check_items(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """How many items there are, and whether they may be alike."""
    if "array" not in types(old) & types_of(new):
        return
    rest = replace(old, only=frozenset({"array"}))
    low, high = shortest(rest), longest(rest)
    _counts(compare, rest, new, trail, (low, "minItems"), (high, "maxItems"), "item")
    if new.get("uniqueItems") is True and high > 1 and True not in rest.all("uniqueItems"):
        _bound(
            compare, rest, new, trail, "uniqueItems", "no two items may be alike any more", ("uniqueItems",)
        )


def check_members(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """How many members there are."""
    if "object" not in types(old) & types_of(new):
        return
    rest = replace(old, only=frozenset({"object"}))
    low = max(least(rest, "minProperties"), len(required(rest)))
    high = most(rest, "maxProperties")
    if not any(types(kind.view) for kind in others(rest, fresh_name(rest, new))):
        named = sum(1 for name in declared(rest) if types(member(rest, name)))
        high = min(high, named)
    _counts(compare, rest, new, trail, (low, "minProperties"), (high, "maxProperties"), "member")


def fresh_name(old: View, new: Node) -> str:
    """A name for a member that neither of them names."""
    names = {*declared(old), *(new.get("properties") or {}), *required(old)}
    return next(name for n in range(len(names) + 1) if (name := f"other{n or ''}") not in names)


def _counts(
    compare: Comparing,
    old: View,
    new: Node,
    trail: Trail,
    low: tuple[float, str],
    high: tuple[float, str],
    noun: str,
) -> None:
    (fewest, keyword), (greatest, other) = low, high
    if new.says(keyword) and new.schema[keyword] > fewest:
        told = f"at least {fewest:g} → at least {new.schema[keyword]:g} {noun}s"
        _bound(compare, old, new, trail, keyword, told, (keyword,))
    if new.says(other) and new.schema[other] < greatest:
        was = "any number" if math.isinf(greatest) else f"at most {greatest:g}"
        _bound(compare, old, new, trail, other, f"{was} → at most {new.schema[other]:g} {noun}s", (other,))


RULES = (check_type, check_listed, check_numbers, check_strings, check_items, check_members)
