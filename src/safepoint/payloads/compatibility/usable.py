"""Schemas that no engine can judge by, although they are schemas.

Decided here: that a schema which, asked about a value, asks itself about the same value without an end cannot be
compared, and neither can one that the reference engine stumbles over; both are errors before anything is compared. A
schema that refers to itself for a member or an item is sound.
"""

from __future__ import annotations

from collections.abc import Iterator

from safepoint.payloads.compatibility.nodes import Node
from safepoint.payloads.files import PayloadSchemaError

_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_FURTHER = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_FURTHER_MAPS = ("properties", "patternProperties")


def require_usable(root: Node) -> None:
    """Looks through everything that is reached from `root`.

    Raises:
        PayloadSchemaError: it goes round in circles, or the reference engine cannot judge by it.
    """
    done, seen = set[int](), set[int]()
    waiting = [root]
    while waiting:
        start = waiting.pop()
        if not isinstance(start.schema, dict) or id(start.schema) in seen:
            continue
        # depth first, with the way that led here; in a loop, since schemas may be nested more deeply than calls
        way = {id(start.schema): _same_value(start)}
        current = [start]
        while current:
            node = current[-1]
            if id(node.schema) not in seen:
                seen.add(id(node.schema))
                _require_items(node)
                waiting += _further(node)
            below = next(way[id(node.schema)], None)
            if below is None:
                done.add(id(node.schema))
                del way[id(node.schema)]
                current.pop()
            elif id(below.schema) in way:
                problem = "the schema refers to itself without end"
                raise PayloadSchemaError(below.where.path, problem, below.where.pointer)
            elif isinstance(below.schema, dict) and id(below.schema) not in done:
                way[id(below.schema)] = _same_value(below)
                current.append(below)


def _require_items(node: Node) -> None:
    beside = [word for word in ("additionalItems", "unevaluatedItems") if node.says(word)]
    if beside and isinstance(node.get("items"), bool) and node.dialect.draft <= 2019:
        problem = (
            f"beside {beside[0]} the reference engine cannot judge by true or false; leave one of the two out"
        )
        raise PayloadSchemaError(node.where.path, problem, node.where.below("items").pointer)


def _same_value(node: Node) -> Iterator[Node]:
    """The schemas that are asked about the same value."""
    for keyword in _REFERENCES:
        target = node.target(keyword)
        if target is not None:
            yield target
    if node.says("$ref") and node.dialect.draft <= 7:
        return
    for keyword in _SAME_VALUE_LISTS:
        yield from node.each(keyword)
    for keyword in _SAME_VALUE:
        if keyword in node.schema and node.says("not" if keyword == "not" else "if"):
            yield node.below(keyword)
    for keyword in _SAME_VALUE_MAPS:
        for name, inner in (node.get(keyword) or {}).items():
            if not isinstance(inner, list):
                yield node.below(keyword, name)


def _further(node: Node) -> Iterator[Node]:
    """The schemas that are asked about a part of the value."""
    for keyword in _FURTHER:
        if node.says(keyword):
            yield node.below(keyword)
    for keyword in _FURTHER_MAPS:
        for name in node.get(keyword) or ():
            yield node.below(keyword, name)
    yield from node.each("prefixItems")
    if isinstance(node.get("items"), list):
        yield from node.each("items")
    elif node.says("items"):
        yield node.below("items")
