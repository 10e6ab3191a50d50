"""Rules on the members of objects: which may be there, which must be, and what each of them holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from safepoint.core import pointer
from safepoint.payloads.compatibility import strings
from safepoint.payloads.compatibility.comparing import Comparing, Difference, Trail, pointer_of
from safepoint.payloads.compatibility.contents import (
    declared,
    given_member,
    matches,
    member,
    others,
    required,
)
from safepoint.payloads.compatibility.nodes import Node, Spot, in_place, is_false, parts
from safepoint.payloads.compatibility.scalars import fresh_name
from safepoint.payloads.compatibility.views import View, alternatives, types, types_of
from safepoint.payloads.compatibility.witness import Step, samples


def check_object(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """All that the new object says of members."""
    if "object" not in types(old) & types_of(new):
        return
    rest = replace(old, only=frozenset({"object"}))
    _Members(compare, rest, new, trail).check()


class _Members:
    """One object of the new schema against what the old one says of an object."""

    def __init__(self, compare: Comparing, old: View, new: Node, trail: Trail) -> None:
        self.compare, self.old, self.new, self.trail = compare, old, new, trail
        self.declared = declared(old)
        self.fresh = fresh_name(old, new)

    def check(self) -> None:
        self._required()
        self._named()
        self._patterns()
        new = self.new
        names, patterns = set(new.get("properties") or ()), set(new.get("patternProperties") or ())
        if new.says("additionalProperties"):
            self._rest("additionalProperties", names, patterns)
        if new.says("unevaluatedProperties"):
            self._unevaluated()
        self._names()
        self._dependent()

    def step(self, name: str, view: View | None = None, shown: str | None = None) -> Trail:
        return (*self.trail, Step(view or self.old, name, shown or name))

    def _required(self) -> None:
        for number, name in enumerate(self.new.get("required") or ()):
            if name in required(self.old):
                continue
            known = self._where(name)
            was = "was optional" if known else "was not declared"
            message = f"member {_quoted(name)} {was} and is required now"
            where = self.new.where.below("required", number)
            without = (value for value in samples(self.old) if name not in value)
            self._differ("SP622", message, where, known, without, "required", name=name)

    def _named(self) -> None:
        for name in self.new.get("properties") or {}:
            new = self.new.below("properties", name)
            view = given_member(self.old, name)
            held = member(view, name)
            if new.schema is True or not types(held):
                continue
            if is_false(new):
                self._forbidden(name, new.where)
            elif self._where(name) or held.parts or name in required(self.old):
                self.compare.value(held, new, self.step(name, view))
            elif not self._proven(held, new, name):
                self._claimed(f"member {_quoted(name)} has a schema now", new, self.step(name))

    def _patterns(self) -> None:
        for pattern in self.new.get("patternProperties") or {}:
            new = self.new.below("patternProperties", pattern)
            for name in self.declared:
                view = given_member(self.old, name)
                held = member(view, name)
                if matches(pattern, name) and types(held):
                    if is_false(new):
                        self._forbidden(name, new.where)
                    else:
                        self.compare.value(held, new, self.step(name, view))
            for kind in others(self.old, self.fresh):
                name = self._example({pattern, *kind.patterns}, kind.skips)
                if pattern in kind.skips or not types(kind.view):
                    continue
                words = f"members whose names fit {_quoted(pattern)}"
                if is_false(new):
                    self._closed(f"{words} are forbidden now", new.where, [name], kind.view)
                elif kind.view.parts:
                    self.compare.value(kind.view, new, self.step(name, shown="*"))
                elif not self._proven(kind.view, new, name):
                    self._claimed(f"{words} have a schema now", new, self.step(name, shown="*"))

    def _rest(self, keyword: str, names: Iterable[str], patterns: Iterable[str]) -> None:
        """Members that `new` neither names nor has a pattern for."""
        new, patterns = self.new.below(keyword), frozenset(patterns)
        if new.schema is True:
            return
        for name in self.declared:
            view = given_member(self.old, name)
            held = member(view, name)
            if name in names or any(matches(text, name) for text in patterns) or not types(held):
                continue
            if is_false(new):
                self._forbidden(name, new.where)
            else:
                self.compare.value(held, new, self.step(name, view))
        for kind in others(self.old, self.fresh):
            if kind.patterns & patterns or not types(kind.view):
                continue
            name = self._example(kind.patterns, kind.skips | patterns)
            which = "members that no schema names" if not kind.patterns else _which(kind.patterns)
            if is_false(new):
                self._closed(f"{which} were let through and are forbidden now", new.where, [name], kind.view)
            elif kind.view.parts:
                self.compare.value(kind.view, new, self.step(name, shown="*"))
            elif not self._proven(kind.view, new, name):
                held = View.of()
                tried = ({name: value} for value in samples(held))
                message = f"{which} could hold anything and must fit a schema now"
                self._differ("SP626", message, new.where, None, tried, keyword, exact=False)

    def _unevaluated(self) -> None:
        names, patterns = set[str](), set[str]()
        for part in parts(self.new):
            words = ["additionalProperties"]
            if part.schema is not self.new.schema:
                words.append("unevaluatedProperties")
            # in draft 2019-09 the reference engine overlooks those that are no true or false
            if any(
                part.says(word) and (part.dialect.draft != 2019 or part.get(word) is True) for word in words
            ):
                return
            names |= set(part.get("properties") or ())
            patterns |= set(part.get("patternProperties") or ())
        self._rest("unevaluatedProperties", names, patterns)

    def _names(self) -> None:
        if not self.new.says("propertyNames"):
            return
        new = self.new.below("propertyNames")
        known = View.of(*(part.below("propertyNames") for part in self.old.having("propertyNames")))
        known = replace(known, only=frozenset({"string"}))
        if self.compare.proves(
            lambda: self.compare.compare(known, new, (*self.trail, Step(self.old, None, "*")))
        ):
            return
        for name in self.declared:
            fits = not any(part.refuses(name) for part in known.parts)
            if types(member(self.old, name)) and fits and not new.accepts(name):
                self._forbidden(name, new.where)
        for kind in others(self.old, self.fresh):
            if types(kind.view):
                tried = [text for text in samples(known) if isinstance(text, str)]
                tried += [self._example(kind.patterns, kind.skips)]
                which = "members" if not kind.patterns else _which(kind.patterns)
                self._closed(f"names of {which} are restricted now", new.where, tried, kind.view)

    def _dependent(self) -> None:
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            for cause, then in (self.new.get(keyword) or {}).items():
                view = given_member(self.old, cause)
                if not types(member(view, cause)):
                    continue
                where = self.new.where.below(keyword, cause)
                tried = (value for value in samples(view) if cause in value)
                if isinstance(then, list):
                    missing = [name for name in then if name not in required(view)]
                    if missing:
                        names = ", ".join(map(_quoted, missing))
                        message = f"payloads with member {_quoted(cause)} must have {names} now"
                        self._differ("SP628", message, where, None, tried, keyword)
                    continue
                new = self.new.below(keyword, cause)
                self._conditional(cause, new, view, tried)

    def _conditional(self, cause: str, new: Node, view: View, tried: Iterable[Any]) -> None:
        if self.compare.proves(lambda: self.compare.compare(view, new, self.trail)):
            return
        message = f"payloads with member {_quoted(cause)} must fit another schema now"
        self._differ("SP628", message, new.where, None, tried, None, view=view)

    def _proven(self, held: View, new: Node, name: str) -> bool:
        return self.compare.proves(lambda: self.compare.compare(held, new, self.step(name)))

    def _forbidden(self, name: str, where: Spot) -> None:
        known = self._where(name)
        message = (
            f"member {_quoted(name)} {'was declared' if known else 'was let through'} and is forbidden now"
        )
        tried = (value for value in samples(given_member(self.old, name)) if name in value)
        if known and name not in (self.new.get("properties") or {}):
            message += _hint(name, set(self.new.get("properties") or ()) - self.declared.keys())
        view = given_member(self.old, name)
        self._differ("SP621", message, where, known, tried, None, view=view, name=name)

    def _closed(self, message: str, where: Spot, names: Iterable[str], held: View) -> None:
        bare = list(samples(self.old))[:1]
        tried = (
            {**given, name: value} for name in names for given in bare for value in list(samples(held))[:4]
        )
        self._differ("SP626", message, where, None, tried, None)

    def _claimed(self, what: str, new: Node, trail: Trail) -> None:
        message = f"{what}; until now it was let through undeclared, with any value"
        self.compare.claims(message, new, trail, self.old.where)

    def _differ(
        self,
        code: str,
        message: str,
        where: Spot,
        before: Spot | None,
        candidates: Iterable[Any],
        keyword: str | None,
        *,
        view: View | None = None,
        exact: bool = True,
        name: str | None = None,
    ) -> None:
        keywords = frozenset({keyword}) if keyword and exact else None
        self.compare.differ(
            code,
            message,
            view or self.old,
            self.new,
            self.trail,
            where=where,
            before=before,
            member=name,
            candidates=candidates,
            keywords=keywords,
        )

    def _where(self, name: str) -> Spot | None:
        """Where the old schema declares the member."""
        if name in self.declared:
            return self.declared[name].where.below("properties", name)
        for part in self.old.having("patternProperties"):
            for pattern in part.schema["patternProperties"]:
                if matches(pattern, name):
                    return part.where.below("patternProperties", pattern)
        return None

    def _example(self, fits: Iterable[str], misses: Iterable[str]) -> str:
        """A name that no ``properties`` has and that fits all of the patterns, as far as one is found."""
        fits, misses = tuple(fits), tuple(misses)
        named = {*self.declared, *(self.new.get("properties") or {})}
        tried = [text for pattern in fits for text in strings.samples(pattern)]
        for name in [self.fresh, *tried]:
            if (
                name not in named
                and all(matches(p, name) for p in fits)
                and not any(matches(p, name) for p in misses)
            ):
                return name
        return self.fresh


def _which(patterns: Iterable[str]) -> str:
    return f"members whose names fit {' and '.join(map(_quoted, sorted(patterns)))}"


def _quoted(name: str) -> str:
    return json.dumps(name if len(name) <= 60 else name[:59] + "…")


_OF_OTHERS = ("additionalProperties", "unevaluatedProperties", "propertyNames")


def look_for_unread(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """Members that the new schema declares no more, and still lets through: whoever reads by it overlooks them."""
    if "object" not in types(old):
        return
    names: dict[str, Node] = {}
    patterns = set[str]()
    for part in in_place(new):
        if any(part.get(word) not in (None, True, {}) for word in _OF_OTHERS):
            return  # they are read whatever their names are, or are forbidden, which a rule says
        names |= dict.fromkeys(part.get("properties") or (), part)
        patterns |= set(part.get("patternProperties") or ())
    for one in alternatives(old):
        for name, part in declared(one).items():
            if name in names or any(matches(text, name) for text in patterns):
                continue
            if not types(member(one, name)):
                continue
            told = (
                f"member {_quoted(name)} is declared no more, and still let through, so that it is overlooked"
            )
            told += _hint(name, names.keys() - declared(one).keys())
            before = part.where.below("properties", name)
            place = pointer_of(trail) + pointer.join(name)
            compare.remark(Difference("SP631", told, place, before, new.where))


def _hint(name: str, fresh: Iterable[str]) -> str:
    """What the member may be called now, of the names that are new."""
    fresh = sorted(fresh)
    alike = [other for other in fresh if _letters(other) == _letters(name)]
    longer = [other for other in fresh if _letters(other).startswith(_letters(name))]
    found = alike or get_close_matches(name, fresh, n=1, cutoff=0.75) or longer
    return f"; was it renamed to {_quoted(found[0])}?" if found else ""


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


RULES: tuple[Callable[[Comparing, View, Node, Trail], None], ...] = (check_object,)
