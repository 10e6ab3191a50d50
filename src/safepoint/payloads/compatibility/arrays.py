"""Rules on the items of arrays: what each of them holds, and which must be among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from safepoint.payloads.compatibility.comparing import Comparing, Trail
from safepoint.payloads.compatibility.contents import item, item_schema, longest, places, shortest
from safepoint.payloads.compatibility.nodes import Node, is_false, parts
from safepoint.payloads.compatibility.views import View, types, types_of
from safepoint.payloads.compatibility.witness import Step, samples

_MOST_PLACES = 200
"""Places of an array that are looked at one by one."""


def check_array(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """All that the new object says of items."""
    if "array" not in types(old) & types_of(new):
        return
    rest = replace(old, only=frozenset({"array"}))
    spoken = max(map(places, (*rest.parts, new)), default=0)
    if spoken > _MOST_PLACES:
        compare.unknown("too many places of an array to be compared by rules", rest, new.where, trail)
        return
    for index in range(spoken + 1):
        for schema in item_schema(new, index):
            _item(compare, rest, schema, new, trail, index, spoken)
    if new.says("unevaluatedItems"):
        _unevaluated(compare, rest, new, trail, spoken)
    if new.says("contains"):
        _contains(compare, rest, new, trail)


def _item(
    compare: Comparing, old: View, schema: Node, new: Node, trail: Trail, index: int, spoken: int
) -> None:
    """The item at `index`; behind those that are spoken of one by one it stands for all."""
    if index >= longest(old):
        return
    held = item(old, index)
    if is_false(schema):
        which = f"an item at place {index}" if index < spoken else f"more than {index} items"
        tried = (value for value in samples(old) if len(value) > index)
        compare.differ(
            "SP627",
            f"{which} could be there and is forbidden now"
            if index < spoken
            else f"{which} are forbidden now",
            old,
            new,
            trail,
            where=schema.where,
            candidates=tried,
        )
        return
    compare.value(held, schema, (*trail, Step(old, index, str(index) if index < spoken else "*")))


def _unevaluated(compare: Comparing, old: View, new: Node, trail: Trail, spoken: int) -> None:
    first = 0
    for part in parts(new):
        given = part.get("items")
        if part.says("items") and not isinstance(given, list):
            return
        if part.says("additionalItems") and isinstance(given, list):
            return
        if part.schema is not new.schema and part.says("unevaluatedItems"):
            return
        first = max(first, places(part))
    schema = new.below("unevaluatedItems")
    if schema.schema is True:
        return
    for index in range(first, max(spoken, first) + 1):
        _item(compare, old, schema, new, trail, index, max(spoken, first))


def _contains(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    wanted = new.below("contains")
    low, high = _range(new)
    if low > 0 and not _has(compare, old, wanted, low, trail):
        compare.differ(
            "SP627",
            f"at least {low} of the items must fit a schema now",
            old,
            new,
            trail,
            where=wanted.where,
            keywords=frozenset({"contains", "minContains"}),
        )
    if math.isfinite(high) and longest(old) > high and not _not_more(compare, old, wanted, high, trail):
        compare.differ(
            "SP627",
            f"at most {high:g} of the items may fit a schema now",
            old,
            new,
            trail,
            where=new.where.below("maxContains"),
            keywords=frozenset({"maxContains"}),
        )


def _range(part: Node) -> tuple[int, float]:
    if part.dialect.draft < 2019:
        return 1, math.inf
    least, most = part.schema.get("minContains", 1), part.schema.get("maxContains", math.inf)
    return math.ceil(least), most


def _has(compare: Comparing, old: View, wanted: Node, low: int, trail: Trail) -> bool:
    """Whether so many items are there that fit `wanted`."""
    inner = (*trail, Step(old, 0, "*"))

    def all_fit() -> None:
        for index in range(max(map(places, old.parts), default=0) + 1):
            compare.compare(item(old, index), wanted, inner)

    for part in old.having("contains"):
        known = View.of(part.below("contains"))
        if _range(part)[0] >= low and compare.proves(partial(compare.compare, known, wanted, inner)):
            return True
    return shortest(old) >= low and compare.proves(all_fit)


def _not_more(compare: Comparing, old: View, wanted: Node, high: float, trail: Trail) -> bool:
    """Whether no more items can be there that fit `wanted`: those that do are counted by the old schema."""
    inner = (*trail, Step(old, 0, "*"))
    these = View.of(wanted)
    return any(
        _range(part)[1] <= high
        and compare.proves(partial(compare.compare, these, part.below("contains"), inner))
        for part in old.having("contains")
    )


RULES: tuple[Callable[[Comparing, View, Node, Trail], None], ...] = (check_array,)
