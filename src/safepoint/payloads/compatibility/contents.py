"""What the old schema says of the members of an object and of the items of an array.

Decided here, as in ``views``: what certainly follows, and perhaps less than the schema says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from safepoint.payloads.compatibility.nodes import Node, in_place, is_false
from safepoint.payloads.compatibility.views import View, least, most, types

_MOST_MIXES = 16
"""Combinations of patterns of several parts that are looked at one by one."""


def required(view: View) -> frozenset[str]:
    """Members that are there."""
    found = view.required.union(*view.all("required"))
    while more := frozenset(
        name for cause, names in _dependent(view) if cause in found for name in names if name not in found
    ):
        found |= more
    return found


def _dependent(view: View) -> Iterator[tuple[str, list[str]]]:
    for keyword in ("dependentRequired", "dependencies"):
        for given in view.all(keyword):
            yield from ((cause, names) for cause, names in given.items() if isinstance(names, list))


def given_member(view: View, name: str) -> View:
    """The same, of values that have the member `name`."""
    then = [
        part.below(keyword, name)
        for keyword in ("dependentSchemas", "dependencies")
        for part in view.having(keyword)
        if name in part.schema[keyword] and not isinstance(part.schema[keyword][name], list)
    ]
    return replace(view.also(*then), required=view.required | {name})


def declared(view: View) -> dict[str, Node]:
    """The members that ``properties`` names, each with the first part that does."""
    found: dict[str, Node] = {}
    for part in view.having("properties"):
        for name in part.schema["properties"]:
            found.setdefault(name, part)
    return found


def matches(pattern: str, name: str) -> bool:
    """As the reference engine has it."""
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def member_schemas(part: Node, name: str) -> list[Node]:
    """What one object says of the member `name`."""
    found = [part.below("properties", name)] if name in (part.get("properties") or {}) else []
    patterns = part.get("patternProperties") or {}
    found += [part.below("patternProperties", text) for text in patterns if matches(text, name)]
    if not found and part.says("additionalProperties"):
        found = [part.below("additionalProperties")]
    return found


def member(view: View, name: str) -> View:
    """What must hold of the member `name`, where it is there."""
    found = [node for part in view.parts for node in member_schemas(part, name)]
    found += [
        part.below("unevaluatedProperties")
        for part in view.having("unevaluatedProperties")
        if is_false(part.below("unevaluatedProperties")) and not _may_evaluate(part, name)
    ]
    return View.of(*found)


def _may_evaluate(part: Node, name: str) -> bool:
    """Whether anything in `part` may say of the member that it is known, so that it is not unevaluated."""
    for one in in_place(part):
        if one.says("$dynamicRef") or one.says("$recursiveRef") or one.says("additionalProperties"):
            return True
        if one.says("unevaluatedProperties") and not is_false(one.below("unevaluatedProperties")):
            return True
        patterns = one.get("patternProperties") or {}
        if name in (one.get("properties") or {}) or any(matches(text, name) for text in patterns):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Others:
    """What must hold of the members that no ``properties`` names, of one kind."""

    patterns: frozenset[str]
    """That their names match; none: they match none that stands beside the ``additionalProperties`` in question."""
    skips: frozenset[str]
    """Patterns that their names do not match."""
    view: View


def others(view: View, fresh: str) -> Iterator[Others]:
    """Each kind of member that ``properties`` does not name; `fresh` is a name that nothing names."""
    kinds: list[list[tuple[str | None, Node | None]]] = []
    skips: list[frozenset[str]] = []
    for part in view.parts:
        patterns = part.get("patternProperties") or {}
        more = part.below("additionalProperties") if part.says("additionalProperties") else None
        if not patterns and more is None:
            continue
        named: list[tuple[str | None, Node | None]] = [
            (text, part.below("patternProperties", text)) for text in patterns
        ]
        kinds.append([*named, (None, more)])
        skips.append(frozenset(patterns))
    if math.prod(map(len, kinds)) > _MOST_MIXES:
        kinds, skips = [], []
    closed = [
        part.below("unevaluatedProperties")
        for part in view.having("unevaluatedProperties")
        if is_false(part.below("unevaluatedProperties")) and not _may_evaluate(part, fresh)
    ]
    for mix in product(*kinds):
        matched = frozenset(text for text, _ in mix if text is not None)
        nodes: Iterable[Node] = (node for _, node in mix if node is not None)
        missed = frozenset().union(*(s for s, (text, _) in zip(skips, mix, strict=True) if text is None))
        more_nodes = closed if not matched else []
        yield Others(matched, missed, View.of(*nodes, *more_nodes))


def item(view: View, index: int) -> View:
    """What must hold of the item at `index`, where it is there."""
    return View.of(*(node for part in view.parts for node in item_schema(part, index)))


def item_schema(part: Node, index: int) -> list[Node]:
    """What one object says of an item."""
    if part.says("prefixItems") and index < len(part.schema["prefixItems"]):
        return [part.below("prefixItems", index)]
    if part.says("items"):
        given = part.schema["items"]
        if not isinstance(given, list):
            return [part.below("items")]
        if index < len(given):
            return [part.below("items", index)]
        return [part.below("additionalItems")] if part.says("additionalItems") else []
    return []


def places(part: Node) -> int:
    """How many items one object speaks of one by one."""
    given = part.get("prefixItems") or part.get("items")
    return len(given) if isinstance(given, list) else 0


def longest(view: View) -> float:
    """No array has more items."""
    found = most(view, "maxItems")
    for index in range(max(map(places, view.parts), default=0) + 1):
        if index < found and not types(item(view, index)):
            return index
    return found


def shortest(view: View) -> int:
    """No array has fewer items."""
    wanted = [
        math.ceil(part.schema.get("minContains", 1)) if part.dialect.draft >= 2019 else 1
        for part in view.having("contains")
    ]
    return max([least(view, "minItems"), *wanted])
