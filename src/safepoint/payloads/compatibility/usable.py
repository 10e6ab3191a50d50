"""Schemas that no engine can judge by, although they are schemas.

Decided here: that a schema which, asked about a value, asks itself about the same value without an end cannot be
compared, and neither can one that the reference engine stumbles over, or that it reads in another way than it is
written; these are errors before anything is compared. A schema that refers to itself for a member or an item is sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from safepoint.core import pointer
from safepoint.payloads.compatibility.nodes import Node
from safepoint.payloads.files import NO_PATTERN, PayloadSchemaError, require_patterns

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
_LISTS = (*_SAME_VALUE_LISTS, "prefixItems")
_MAPS = (*_SAME_VALUE_MAPS, *_FURTHER_MAPS, "$defs", "definitions")
_SCHEMAS = (*_SAME_VALUE, *_FURTHER, "items")


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
                _require_patterns(node)
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


_BY_NUMBER = re.compile(r"\\[1-9]|\(\?\(")
"""A reference to a group by its number."""


def _require_patterns(node: Node) -> None:
    """The engine looks for ``additionalProperties`` by all patterns at once, joined to one."""
    patterns = list(node.get("patternProperties") or ())
    if len(patterns) < 2 or not node.says("additionalProperties"):
        return
    for pattern in patterns:
        if re.compile(pattern).flags & ~re.UNICODE:
            found = "a flag for the whole of one speaks of all; write it for a group, as (?i:…)"
        elif _BY_NUMBER.search(pattern):
            found = "groups have other numbers then; refer to a group by name, as (?P=name)"
        else:
            continue
        problem = f"beside additionalProperties the reference engine joins all patterns to one: {found}"
        where = node.where.below("patternProperties", pattern)
        raise PayloadSchemaError(where.path, problem, where.pointer)


def _same_value(node: Node) -> Iterator[Node]:
    """The schemas that are asked about the same value."""
    for keyword in _REFERENCES:
        target = node.target(keyword)
        if target is not None:
            if not _is_schema_place(target.where.pointer):
                _require_schema(target)
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


def _is_schema_place(place: str) -> bool:
    """Whether a schema lies there: what stands anywhere else has not been checked together with its file."""
    steps = pointer.split(place)
    while steps:
        keyword, *steps = steps
        numbered = keyword in _LISTS or (keyword == "items" and steps and steps[0].isdigit())
        if numbered or keyword in _MAPS:
            steps = steps[1:]
        elif keyword not in _SCHEMAS:
            return False
    return True


def _require_schema(node: Node) -> None:
    from jsonschema.exceptions import SchemaError

    try:
        node.dialect.judge.check_schema(node.schema)
    except SchemaError as error:
        problem = f"a reference leads here, and it is no JSON Schema: {error.message[:200]}"
        raise PayloadSchemaError(node.where.path, problem, node.where.pointer) from error
    except NO_PATTERN as error:
        problem = f"a reference leads here, and a pattern is too large or too deep ({error})"
        raise PayloadSchemaError(node.where.path, problem, node.where.pointer) from error
    require_patterns(node.where.path, node.schema, node.where.pointer)


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
