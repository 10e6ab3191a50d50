"""Whether the new schema accepts every value that the old one accepts, decided by named rules.

Decided here: the way down both schemas at once, that a pair which is met again further down in a value is taken for
proven (values end), and when a rule's finding is one: where a payload was found that shows it. Where none was found,
nobody can tell, which is a finding of its own. Not decided here: the rules (``scalars``, ``objects``, ``arrays``,
``combining``).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from safepoint.core import pointer
from safepoint.payloads.compatibility.nodes import Node, Side, Spot, UnjudgedError, is_false, parts
from safepoint.payloads.compatibility.sameness import equal, same
from safepoint.payloads.compatibility.views import View, alternatives, types, values
from safepoint.payloads.compatibility.witness import Step, find

_MOST_LEVELS = 40
"""Levels of a value that one attempt to prove something goes down."""
_BUDGET = 20_000
"""Comparisons of two places, after which the schemas are too large to be compared."""

CANNOT_TELL = "SP630"

Trail = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One change between the two schemas that a stored payload may not survive."""

    code: str
    message: str
    payload: str
    """Where in a payload, as a pointer; ``*`` stands for any item or any other member."""
    old: Spot | None
    """Where the old schema speaks of it; None: it does not."""
    new: Spot
    witness: tuple[Any, ...] = ()
    """A payload that the old schema accepts and the new one refuses, where one was found; else nothing."""


class UnprovenError(Exception):
    """Ends an attempt to prove something."""


class Rule(Protocol):
    """Looks at one object of the new schema."""

    def __call__(self, compare: Comparing, old: View, new: Node, trail: Trail, /) -> None:
        """Reports through `compare` what does not follow from `old`."""


@dataclass(slots=True)
class Comparing:
    """One comparison of two schemas."""

    old: Side
    new: Side
    rules: tuple[Rule, ...]
    differences: list[Difference] = field(default_factory=list)
    remarks: list[Difference] = field(default_factory=list)
    """What is no obstacle to any payload."""
    look: Callable[[Comparing, View, Node, Trail], None] | None = None
    """Makes remarks on a value and its new schema."""
    _waiting: deque[tuple[View, Node, Trail]] = field(default_factory=deque)
    _known: set[Any] = field(default_factory=set)
    """Pairs that wait, or have waited."""
    _level: int = 0
    """How deep in a payload the pair is that waited last."""
    _quiet: int = 0
    _left: int = _BUDGET
    _open: dict[Any, tuple[int, int]] = field(default_factory=dict)
    """Pairs that are being compared: the number of each, and how deep in the value."""
    _proven: set[Any] = field(default_factory=set)
    _failed: set[Any] = field(default_factory=set)
    _leans: float = math.inf
    """The first of the open pairs that was taken for proven since."""

    def run(self) -> None:
        """Compares the whole schemas."""
        documents = (list(side.complete.documents.values()) for side in (self.old, self.new))
        if all(equal(one, other) for one, other in zip(*documents, strict=False)) and (
            len(self.old.complete.documents) == len(self.new.complete.documents)
        ):
            return
        self.value(View.of(self.old.root), self.new.root, ())
        while self._waiting:
            old, new, trail = self._waiting.popleft()
            self._level = len(trail)
            if self.look is not None:
                self.look(self, old, new, trail)
            try:
                self.compare(old, new, trail)
            except RecursionError:
                self.unknown("nested too deeply to be compared by rules", old, new.where, trail)

    def value(self, old: View, new: Node, trail: Trail) -> None:
        """Compares what both say of a value within the one at hand: later, unless something depends on it now.

        All pairs that wait must hold in the end, so that a proof may rely on each for a part of its own value.
        """
        key = _key(old, parts(new))
        if not self._quiet:
            if key not in self._known:
                self._known.add(key)
                self._waiting.append((old, new, trail))
        elif key not in self._known or len(trail) <= self._level:
            if len(trail) - self._level > _MOST_LEVELS:
                raise UnprovenError
            self.compare(old, new, trail)

    def compare(self, old: View, new: Node, trail: Trail) -> None:
        """Compares what both say of the same value."""
        if new.schema is True or not types(old) or any(same(part, new) for part in old.parts):
            return
        wanted = parts(new)
        key = _key(old, wanted)
        if key in self._proven or (key in self._failed and not self._quiet):
            return
        self._left -= 1
        if self._left < 0:
            if self._left == -1 or self._quiet:
                self.unknown("too large to be compared by rules", old, new.where, trail)
            return
        if key in self._open:
            known, depth = self._open[key]
            if depth >= len(trail):
                self.unknown("refers to itself without an end", old, new.where, trail)
            self._leans = min(self._leans, known)
            return
        index = len(self._open)
        self._open[key] = index, len(trail)
        outer, self._leans, before = self._leans, math.inf, len(self.differences)
        try:
            for part in wanted:
                self._part(old, part, trail)
        finally:
            del self._open[key]
            leans, self._leans = self._leans, min(outer, self._leans if self._leans < index else math.inf)
        if len(self.differences) > before:
            self._failed.add(key)
        elif leans >= index:
            self._proven.add(key)

    def _part(self, old: View, new: Node, trail: Trail) -> None:
        if is_false(new):
            self.differ("SP620", "no value at all fits any more", old, new, trail, where=new.where)
            return
        if any(same(part, new) for part in old.parts):
            return
        for one in alternatives(old):
            self.single(one, new, trail)

    def single(self, old: View, new: Node, trail: Trail) -> None:
        """Compares one alternative of the old schema with one object of the new one."""
        known = values(old)
        if known is not None:
            self._listed(old, new, known, trail)
            return
        for rule in self.rules:
            rule(self, old, new, trail)

    def _listed(self, old: View, new: Node, known: list[Any], trail: Trail) -> None:
        """Of few values each is tried."""
        own = new
        if not any(word.startswith("unevaluated") for word in new.schema):
            # what it refers to is compared by itself
            schema = {word: said for word, said in new.schema.items() if word not in {"allOf", "$ref"}}
            own = replace(new, schema=schema)
        refused: dict[str, list[Any]] = {}
        unjudged: list[Any] = []
        for value in known:
            if any(part.refuses(value) for part in old.parts):
                continue
            try:
                error = next(own.errors(value), None)
            except UnjudgedError:
                unjudged.append(value)
                continue
            if error is not None:
                # of what a reference leads to the engine gives no path
                keyword = str(next(iter(error.absolute_schema_path), "$ref"))
                refused.setdefault(keyword, []).append(value)
        if unjudged:
            told = f"cannot tell whether {shown(unjudged)} would be refused: the reference engine cannot judge it"
            self.unknown(told, old, new.where, trail)
        for keyword, gone in refused.items():
            code, message = LISTED.get(keyword, ("SP629", "no longer accepted: {}"))
            told = message.format(shown(gone))
            self.differ(code, told, old, new, trail, candidates=gone, where=new.where.below(keyword))

    def proves(self, attempt: Callable[[], None]) -> bool:
        """Whether the attempt reports nothing; what it reports is dropped."""
        self._quiet += 1
        try:
            attempt()
        except (UnprovenError, RecursionError):
            return False
        finally:
            self._quiet -= 1
        return True

    def differ(
        self,
        code: str,
        message: str,
        old: View,
        new: Node,
        trail: Trail,
        *,
        where: Spot,
        before: Spot | None = None,
        member: str | None = None,
        candidates: Iterable[Any] = (),
        keywords: frozenset[str] | None = None,
    ) -> None:
        """Reports what does not follow, under `code` if a payload shows it.

        Args:
            code: of the rule.
            message: what has changed, from what to what.
            old: what the old schema says of the value.
            new: the object of the new schema that refuses it.
            trail: the way to the value.
            where: the place in the new schema.
            before: the place in the old one, where that is not the beginning of `old`.
            member: of the value, which it is about.
            candidates: values that should show it.
            keywords: by which of them `new` must refuse a value that shows it; None: by any.
        """
        if self._quiet:
            raise UnprovenError

        def refuses(value: Any) -> bool:
            try:
                return any(
                    keywords is None or (error.validator in keywords and not error.absolute_path)
                    for error in new.errors(value)
                )
            except UnjudgedError:
                return False

        roots = (self.old.root, self.new.root)
        witness = find(roots, trail, old, candidates, refuses)
        known = before or old.where
        if not witness:
            code, message = CANNOT_TELL, f"cannot tell whether a payload would be refused: {message}"
        place = pointer_of(trail) + (pointer.join(member) if member is not None else "")
        self._add(Difference(code, message, place, known, where, tuple(witness)))

    def unknown(self, message: str, old: View, where: Spot, trail: Trail) -> None:
        """Reports what no rule can tell."""
        if self._quiet:
            raise UnprovenError
        self._add(Difference(CANNOT_TELL, message, pointer_of(trail), old.where, where))

    def claims(self, message: str, new: Node, trail: Trail, before: Spot | None) -> None:
        """Reports a member that was let through undeclared and now has a schema."""
        if self._quiet:
            raise UnprovenError
        self._add(Difference("SP632", message, pointer_of(trail), before, new.where))

    def remark(self, difference: Difference) -> None:
        """Reports what refuses nothing."""
        if difference not in self.remarks:
            self.remarks.append(difference)

    def _add(self, difference: Difference) -> None:
        self.differences.append(difference)


def _key(old: View, wanted: Iterable[Node]) -> Any:
    return old.key, frozenset(id(part.schema) for part in wanted)


LISTED: Mapping[str, tuple[str, str]] = {
    "type": ("SP620", "type narrowed: {} no longer accepted"),
    "enum": ("SP623", "removed from the allowed values: {}"),
    "const": ("SP623", "removed from the allowed values: {}"),
    "pattern": ("SP625", "{} does not fit the pattern any more"),
    "required": ("SP622", "a member is required now that {} does not have"),
    **dict.fromkeys(
        (
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "uniqueItems",
        ),
        ("SP624", "out of bounds now: {}"),
    ),
}
"""For a listed value that is refused: by which keyword, to the code and the message."""


def pointer_of(trail: Trail) -> str:
    """The place in a payload."""
    return pointer.join(*(step.shown for step in trail))


def shown(listed: Iterable[Any], most: int = 5) -> str:
    """Values of a schema, where they are short."""
    import json

    texts = list(dict.fromkeys(json.dumps(value) for value in _apart(listed)))
    short = [text if len(text) <= 60 else text[:59] + "…" for text in texts]
    return ", ".join(short[:most]) + (f" and {len(short) - most} more" if len(short) > most else "")


def _apart(listed: Iterable[Any]) -> list[Any]:
    """Each value once: of 1 and 1.0 the first."""
    found: list[Any] = []
    for value in listed:
        if not any(equal(value, other) for other in found):
            found.append(value)
    return found
