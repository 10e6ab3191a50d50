"""A kind's schema, rewritten for the records that most runs consist of: the same answer in a third of the time.

A schema decides each time anew what is known beforehand of a whole group of records: that they are in a journal, that
their status is ``committed``. Here the schema is rewritten under these assumptions: references are written out,
conditions that are decided disappear, and patterns lose the parts that only the reference engine needs.

Decided here: the rewriting, each step of which only ever makes a schema stricter, never laxer; so a yes of the
rewritten schema is a yes of the original, and a no means nothing. Not decided here: what is then done with a no.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

Schema = dict[str, Any]

WORDS: Mapping[str, str] = {
    "ledger": "status",
    "run": "status",
    "lease": "event",
    "approval": "event",
    "evidence": "kind",
}
"""For each kind the member by whose value its schema tells cases apart."""

_JOURNAL = ("sequence", "previousDigest", "nonce", "leaseEpoch")

_NEVER = ("requires",)
"""Members that ask for more than a schema can say: a record with one of them takes the slow way."""

_NOTES = {"$id", "$schema", "$defs", "title", "description", "x-code"}
_PLAIN = {"const", "enum", "required", "dependentRequired", "type", "minimum", "maximum", "pattern"}
"""Keywords whose value is no schema."""

_OF_NEIGHBOURS = {"patternProperties", "additionalProperties"}
"""Keywords that mean something else once ``properties`` beside them grow."""

_NO_LATER = object()
"""Stands for a value that is known not to be 1."""

_END, _END_FOR_ALL = "$", "(?!\\n)$"
_YEAR, _YEAR_FOR_ALL = (
    "^(?:(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-",
    "^(?!0000)(?:[0-9]{4}-",
)
_CENTURY, _CENTURY_FOR_ALL = (
    "(?:0[48]|[2468][048]|[13579][26])00)-02-29",
    "(?:[02468][048]|[13579][26])00)-02-29",
)


class _UndecidableError(Exception):
    """Two schemas that cannot be written as one."""


def inlined(schema: Schema) -> Schema:
    """The same schema with every reference written out, for an engine that then needs a third of the time.

    Its answers are the same, yes and no; it has no words for what is wrong any more.
    """
    found: Schema = _inline(schema, schema)
    return found


def specialise(schema: Schema, kind: str, word: str | None, proven: Collection[str] = ()) -> Schema | None:
    """`schema` for v3 records of `kind` in a journal, behind its first record, whose telling member says `word`.

    Args:
        schema: the kind's, with everything that it refers to.
        kind: its name.
        word: the value of the member in `WORDS`; None where the kind has none.
        proven: members that are known to be right, so that the schema need not look at them.

    Returns:
        A schema without references that accepts nothing that `schema` does not accept; None where there is none.
    """
    known: dict[str, Any] = {"recordType": kind, "schemaVersion": "v3", "sequence": _NO_LATER}
    if kind in WORDS:
        known[WORDS[kind]] = word
    present = {*known, *_JOURNAL}
    special = _inline(schema, schema)
    conditions = special.pop("allOf", [])
    special.pop("dependentRequired", None)  # each of the journal members is there
    try:
        special = _both(special, {"required": sorted(present)})
        if kind in WORDS:
            special = _both(special, {"properties": {WORDS[kind]: {"const": word}}})
        for condition in _decided(conditions, known, present):
            special = _both(special, condition)
    except _UndecidableError:
        return None
    properties = {
        name: {} if name in proven else rule
        for name, rule in special["properties"].items()
        if name not in _NEVER
    }
    return {**special, "properties": properties} if special.get("additionalProperties") is False else None


def _decided(conditions: Iterable[Schema], known: Mapping[str, Any], present: set[str]) -> Iterable[Schema]:
    """What remains of `conditions`, each of them a schema that must hold as well."""
    for condition in conditions:
        branch = condition
        if "if" in condition:
            holds = _holds(condition["if"], known, present)
            if holds is None:
                yield {"allOf": [condition]}
                continue
            branch = condition.get("then" if holds else "else") or {}
        yield {name: value for name, value in branch.items() if name != "allOf"}
        yield from _decided(branch.get("allOf", []), known, present)


def _holds(condition: Schema, known: Mapping[str, Any], present: set[str]) -> bool | None:
    """Whether a record fits `condition`, by what is known of it; None: that depends on the record."""
    unsure = not set(condition.get("required", ())) <= present or not condition.keys() <= {
        "required",
        "properties",
    }
    for name, rule in condition.get("properties", {}).items():
        if name not in known or len(rule) != 1:
            unsure = True
        elif "const" in rule:
            if known[name] != rule["const"]:
                return False
        elif "enum" in rule:
            if known[name] not in rule["enum"]:
                return False
        else:
            unsure = True
    return None if unsure else True


def _inline(node: Any, root: Schema) -> Any:
    """`node` without references and notes; a condition stands alone in an ``allOf``."""
    if isinstance(node, list):
        return [_inline(item, root) for item in node]
    if not isinstance(node, dict):
        return node
    found: Schema = {}
    for name, value in node.items():
        if name in _NOTES or name == "$ref":
            continue
        if name == "properties":
            found[name] = {member: _inline(rule, root) for member, rule in value.items()}
        elif name == "patternProperties":
            found[name] = {_plain_pattern(pattern): _inline(rule, root) for pattern, rule in value.items()}
        elif name == "pattern":
            found[name] = _plain_pattern(value)
        else:
            found[name] = value if name in _PLAIN else _inline(value, root)
    if "if" in found:
        condition = {name: found.pop(name) for name in ("if", "then", "else") if name in found}
        found["allOf"] = [*found.get("allOf", []), condition]
    if "$ref" in node:
        found = _both(_inline(_resolve(root, node["$ref"]), root), found)
    return found


def _resolve(root: Schema, reference: str) -> Schema:
    urn, _, fragment = reference.partition("#")
    found = root if urn in {"", root.get("$id")} else root["$defs"][urn]
    for token in fragment.split("/")[1:]:
        found = found[token]
    return found


def _plain_pattern(pattern: str) -> str:
    """The same language, in the grammar of engines that never look back and whose $ is the end of the text."""
    pattern = pattern.replace(_END_FOR_ALL, _END)
    if pattern.startswith(_YEAR_FOR_ALL):
        # year 0000 is the one that the two halves of the pattern must not let pass
        pattern = pattern.replace(_YEAR_FOR_ALL, _YEAR, 1).replace(_CENTURY_FOR_ALL, _CENTURY, 1)
    return pattern


def _both(first: Schema, second: Schema) -> Schema:
    """One schema that holds where both hold.

    Raises:
        _UndecidableError: `second` has keywords that would mean something else beside those of `first`.
    """
    closed = bool(first.keys() & _OF_NEIGHBOURS)
    if second.keys() & _OF_NEIGHBOURS and (closed or "properties" in first):
        raise _UndecidableError
    merged = dict(first)
    for keyword, bound in second.items():
        if keyword == "properties":
            merged[keyword] = _both_properties(merged.get(keyword, {}), bound, closed=closed)
        elif keyword not in merged or merged[keyword] == bound:
            merged[keyword] = bound
        elif keyword == "required":
            merged[keyword] = sorted({*merged[keyword], *bound})
        elif keyword == "minimum":
            merged[keyword] = max(merged[keyword], bound)
        elif keyword == "maximum":
            merged[keyword] = min(merged[keyword], bound)
        elif keyword == "allOf":
            merged[keyword] = [*merged[keyword], *bound]
        elif keyword == "type" and (types := _types(merged[keyword]) & _types(bound)):
            merged[keyword] = sorted(types) if len(types) > 1 else types.pop()
        else:
            merged["allOf"] = [*merged.get("allOf", []), {keyword: bound}]
    return _without_refused(merged)


def _both_properties(first: Schema, second: Schema, *, closed: bool) -> Schema:
    if closed and not second.keys() <= first.keys():
        raise _UndecidableError  # a name that is known to one of them would become known to both
    merged = dict(first)
    for name, rule in second.items():
        merged[name] = _both(first[name], rule) if name in first else rule
    return merged


def _types(bound: str | list[str]) -> set[str]:
    return {bound} if isinstance(bound, str) else set(bound)


def _without_refused(schema: Schema) -> Schema:
    """A member that must not be there is one that is not known, where unknown members are refused."""
    if schema.get("additionalProperties") is not False or "not" not in schema:
        return schema
    refused = schema["not"].get("required", [])
    if schema["not"].keys() != {"required"} or len(refused) != 1 or refused[0].startswith("x-"):
        return schema
    properties = {name: rule for name, rule in schema["properties"].items() if name != refused[0]}
    return {**{name: rule for name, rule in schema.items() if name != "not"}, "properties": properties}
