"""Whether two schemas, or one keyword of each, say the same word for word.

Decided here: that titles, examples and other words which assert nothing do not count, and that a reference is what it
leads to, wherever that lies. Whoever says "no" here says nothing: the rules may still find that one follows from the
other.
"""

from __future__ import annotations

from typing import Any

from safepoint.payloads.compatibility.nodes import Node, Pair, is_false

_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset({"dependencies", "dependentSchemas", "patternProperties", "properties"})
_SCHEMAS = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_WITH_OTHERS = {"if": ("then", "else"), "contains": ("minContains", "maxContains")}
"""Keywords, and those beside them that say what they mean."""
_BESIDE = frozenset({"then", "else", "minContains", "maxContains", "exclusiveMinimum", "exclusiveMaximum"})
"""Keywords that count although they assert nothing by themselves, at least in some draft."""
_ELSEWHERE = frozenset({"$dynamicRef", "$recursiveRef"})
"""Keywords whose meaning depends on who referred to the schema."""

_Waiting = list[tuple[Node, Node]]

_MOST = 2000
"""Pairs of schemas that are looked at in one answer; what is larger is compared by rules."""


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same value: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def same(one: Node, other: Node) -> bool:
    """Whether the two schemas say the same."""
    return _all_same([(one, other)])


def same_keyword(one: Node, other: Node, keyword: str) -> bool:
    """Whether the keyword says the same in both schemas, with those beside it that it is read with."""
    waiting: _Waiting = []
    words = (keyword, *_WITH_OTHERS.get(keyword, ()))
    return all(_alike(one, other, word, waiting) for word in words) and _all_same(waiting)


def _all_same(waiting: _Waiting) -> bool:
    """Whether all pairs say the same; one that is met again need not be asked again, since all must."""
    if not waiting:
        return True
    known = waiting[0][0].side.same
    seen: list[Pair] = []
    first = _pair(*waiting[0])
    while waiting:
        one, other = waiting.pop()
        pair = _pair(one, other)
        if known.get(pair) is None and len(seen) < _MOST:
            known[pair] = True  # taken back below, where anything differs
            seen.append(pair)
            if _begins_alike(one, other, waiting):
                continue
        elif known.get(pair):
            continue
        for taken in seen:
            del known[taken]
        known[first] = known.get(first, False)
        return False
    return True


def _pair(one: Node, other: Node) -> Pair:
    return id(one.schema), id(other.schema), one.dialect.draft, other.dialect.draft


def _begins_alike(one: Node, other: Node, waiting: _Waiting) -> bool:
    """Whether two schemas say the same, if those that they consist of do, which then wait."""
    if is_false(one) or is_false(other):
        return is_false(one) and is_false(other)
    if isinstance(one.schema, bool) or isinstance(other.schema, bool):
        return one.schema is other.schema
    if one.dialect.draft != other.dialect.draft:
        return False
    if one.says("$ref") and one.dialect.draft <= 7:
        return other.says("$ref") and _alike(one, other, "$ref", waiting)
    words = _words(one)
    return (
        words == _words(other)
        and not words & _ELSEWHERE
        and all(_alike(one, other, word, waiting) for word in words)
    )


def _words(node: Node) -> set[str]:
    return {
        word
        for word in node.schema
        if word != "format" and (word in node.dialect.keywords or word in _BESIDE)
    }


def _alike(one: Node, other: Node, word: str, waiting: _Waiting) -> bool:
    """Whether a keyword says the same in both, if the schemas in it do, which then wait."""
    if word not in one.schema or word not in other.schema:
        return word not in one.schema and word not in other.schema
    if one.dialect.draft != other.dialect.draft:
        return False
    left, right = one.schema[word], other.schema[word]
    if word == "$ref":
        targets = one.target(), other.target()
        if targets[0] is None or targets[1] is None:
            return False
        waiting.append((targets[0], targets[1]))
        return True
    if word in _SCHEMAS and not isinstance(left, list) and not isinstance(right, list):
        waiting.append((one.below(word), other.below(word)))
        return True
    if word in _LISTS or (word == "items" and isinstance(left, list)):
        if not isinstance(right, list) or len(left) != len(right):
            return False
        waiting += [(one.below(word, n), other.below(word, n)) for n in range(len(left))]
        return True
    if word in _MAPS:
        return left.keys() == right.keys() and all(_named(one, other, word, name, waiting) for name in left)
    return equal(left, right)


def _named(one: Node, other: Node, word: str, name: str, waiting: _Waiting) -> bool:
    left, right = one.schema[word][name], other.schema[word][name]
    if isinstance(left, list) or isinstance(right, list):
        return equal(left, right)
    waiting.append((one.below(word, name), other.below(word, name)))
    return True
