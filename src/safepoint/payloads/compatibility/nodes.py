"""One schema of two that are compared: its places, where its references lead, and what its words mean in its draft.

Decided here: that a schema which is an ``allOf`` or a ``$ref`` is the same as all of its parts together; and that a
keyword which the schema's draft does not know says nothing. Not decided here: what follows from the parts (``views``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from safepoint.core import pointer
from safepoint.payloads.files import Complete, complete

if TYPE_CHECKING:
    from referencing._core import Resolver

Schema = dict[str, Any]

Pair = tuple[int, int, int, int]
"""Two objects by their identity, and the draft that each is read by."""

_TRANSPARENT = frozenset({"$ref", "allOf", "format"})
"""Keywords that say nothing beyond the schemas that they lead to, or nothing at all."""

_DRAFTS: Mapping[str, int] = {
    "Draft4Validator": 4,
    "Draft6Validator": 6,
    "Draft7Validator": 7,
    "Draft201909Validator": 2019,
    "Draft202012Validator": 2020,
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a schema's file."""

    path: str
    """The file, as the user may open it."""
    pointer: str

    def below(self, *steps: str | int) -> Spot:
        """A place further down."""
        return Spot(self.path, self.pointer + pointer.join(*steps))


@dataclass(frozen=True, slots=True)
class Dialect:
    """A draft of JSON Schema."""

    draft: int
    judge: Any
    """The reference engine's class for it."""
    keywords: frozenset[str]
    """That assert something in it."""

    @classmethod
    def of(cls, uri: str) -> Dialect:
        """The draft that `uri` names; `complete` has let no other pass."""
        from jsonschema.validators import validator_for

        judge = validator_for({"$schema": uri})
        return cls(_DRAFTS[judge.__name__], judge, frozenset(judge.VALIDATORS))


class UnjudgedError(Exception):
    """The reference engine fails over a value, as its arithmetic does over some very large numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One schema within a file: an object, or true or false."""

    schema: Any
    where: Spot
    side: Side
    resolver: Resolver[Any]
    dialect: Dialect

    def says(self, keyword: str) -> bool:
        """Whether the keyword stands here and asserts something."""
        return isinstance(self.schema, dict) and keyword in self.schema and keyword in self.dialect.keywords

    def get(self, keyword: str) -> Any:
        """The keyword's value; None where it says nothing."""
        return self.schema[keyword] if self.says(keyword) else None

    def below(self, *steps: str | int) -> Node:
        """The schema at `steps` from here."""
        value = self.schema
        for step in steps:
            value = value[step]
        return self.side.node(value, self.where.below(*steps), self.resolver, self.dialect)

    def each(self, keyword: str) -> Iterator[Node]:
        """The schemas in a list, such as that of ``anyOf``."""
        for number in range(len(self.get(keyword) or ())):
            yield self.below(keyword, number)

    def target(self, keyword: str = "$ref") -> Node | None:
        """What the reference leads to."""
        reference = self.get(keyword)
        if not isinstance(reference, str):
            return None
        found = self.resolver.lookup(reference)
        where = self.side.places.get(id(found.contents), self.where.below(keyword))
        return self.side.node(found.contents, where, found.resolver, self.dialect)

    def accepts(self, value: Any) -> bool:
        """Whether the reference engine accepts `value`: where it cannot judge, it neither accepts nor refuses."""
        try:
            return next(self.errors(value), None) is None
        except UnjudgedError:
            return False

    def refuses(self, value: Any) -> bool:
        """Whether the reference engine refuses `value`."""
        try:
            return next(self.errors(value), None) is not None
        except UnjudgedError:
            return False

    def errors(self, value: Any) -> Iterator[Any]:
        """What the reference engine says is wrong with `value`.

        Raises:
            UnjudgedError: it says nothing, but fails itself.
        """
        judge: Any = self.dialect.judge({}, registry=self.side.complete.registry)
        try:
            yield from judge.evolve(schema=self.schema, _resolver=self.resolver).iter_errors(value)
        except (
            Exception
        ) as error:  # its arithmetic and its regular expressions fail with errors of many classes
            raise UnjudgedError from error


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The old schema, or the new one."""

    complete: Complete
    places: dict[int, Spot] = field(default_factory=dict)
    """Where each object of each file lies, by its identity: the files stay in `complete`."""
    same: dict[Pair, bool] = field(default_factory=dict)
    """Pairs of objects that were found to say the same, or not."""

    @classmethod
    def load(cls, path: str) -> Side:
        """The schema in the file at `path`.

        Raises:
            PayloadSchemaError: it cannot be used.
        """
        side = cls(complete(path))
        for uri, document in side.complete.documents.items():
            for place, value in _objects(document, ""):
                side.places[id(value)] = Spot(side.complete.paths[uri], place)
        return side

    @property
    def root(self) -> Node:
        """The whole schema."""
        found = self.complete
        contents = found.documents[found.uri]
        resolver = found.registry.resolver(found.uri)
        return self.node(contents, Spot(found.paths[found.uri], ""), resolver, Dialect.of(found.dialect))

    def node(self, value: Any, where: Spot, resolver: Resolver[Any], dialect: Dialect) -> Node:
        """The schema `value`, which may begin a resource, or a draft, of its own."""
        if isinstance(value, dict):
            if isinstance(value.get("$schema"), str):
                dialect = Dialect.of(value["$schema"])
            if "$id" in value or "id" in value:
                resolver = resolver.in_subresource(_resource(value, dialect))
        return Node(value, where, self, resolver, dialect)


def _resource(schema: Schema, dialect: Dialect) -> Any:
    from referencing.jsonschema import specification_with

    return specification_with(str(dialect.judge.META_SCHEMA["$schema"])).create_resource(schema)


def _objects(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield place, value
        for name, inner in value.items():
            yield from _objects(inner, place + pointer.join(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _objects(inner, place + pointer.join(number))


def is_false(node: Node) -> bool:
    """Whether no value at all fits; of ``false`` in a place for members the loader has made ``not``."""
    return node.schema is False or (isinstance(node.schema, dict) and node.schema.get("not") == {})


def parts(node: Node) -> list[Node]:
    """The objects whose keywords must all hold, and for ``false`` that; what holds of everything is not among them."""
    found: dict[int, Node] = {}
    seen = set[int]()
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if one.schema is True or id(one.schema) in seen:
            continue
        seen.add(id(one.schema))
        if one.schema is False:
            found[id(one)] = one
            continue
        target = one.target()
        if target is not None and one.dialect.draft <= 7:
            waiting.insert(0, target)  # what stands beside a reference was no part of the schema until 2019
            continue
        if any(one.says(word) for word in one.schema if word not in _TRANSPARENT):
            found[id(one.schema)] = one
        waiting[:0] = [*one.each("allOf"), *([target] if target is not None else [])]
    return list(found.values())


def in_place(node: Node) -> Iterator[Node]:
    """Every object that may have a say in the same value, also under a condition."""
    seen = set[int]()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        for part in parts(one):
            if id(part.schema) in seen or not isinstance(part.schema, dict):
                continue
            seen.add(id(part.schema))
            yield part
            waiting += [*part.each("anyOf"), *part.each("oneOf"), *_conditional(part)]


def _conditional(part: Node) -> Iterator[Node]:
    if part.says("if"):
        yield from (part.below(keyword) for keyword in ("if", "then", "else") if keyword in part.schema)
    for keyword in ("dependentSchemas", "dependencies"):
        for name, inner in (part.get(keyword) or {}).items():
            if not isinstance(inner, list):
                yield part.below(keyword, name)
    for keyword in ("$dynamicRef", "$recursiveRef"):
        target = part.target(keyword)
        if target is not None:
            yield target
