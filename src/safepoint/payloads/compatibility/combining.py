"""Rules on ``anyOf``, ``oneOf``, ``not`` and ``if``.

Decided here: that an alternative of the new schema which shares no value with the old one does not count, so that the
only one left is compared in detail. Where several are left and none takes all of it, no rule can tell more than a
payload that was found to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from safepoint.payloads.compatibility.comparing import Comparing, Trail
from safepoint.payloads.compatibility.contents import declared, member, required
from safepoint.payloads.compatibility.nodes import Node
from safepoint.payloads.compatibility.sameness import same, same_keyword
from safepoint.payloads.compatibility.views import NUMBERS, View, alternatives, lower, types, upper, values
from safepoint.payloads.compatibility.witness import samples

_DEEP = 4
"""Levels that are looked into to tell two schemas apart."""


def check_alternatives(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """One alternative at least, or exactly one, must fit."""
    for keyword in ("anyOf", "oneOf"):
        if not new.says(keyword) or any(same_keyword(part, new, keyword) for part in old.having(keyword)):
            continue
        for slice_ in _by_type(old):
            known = values(slice_)
            if known is not None:
                bare = replace(new, schema={keyword: new.schema[keyword]})
                compare.single(slice_, bare, trail)
            else:
                _one_of(compare, slice_, new, keyword, trail)


def _by_type(old: View) -> Iterator[View]:
    left = types(old)
    for kinds in (NUMBERS, *(frozenset({kind}) for kind in sorted(left - NUMBERS))):
        if kinds & left:
            yield replace(old, only=kinds & left)


def _one_of(compare: Comparing, old: View, new: Node, keyword: str, trail: Trail) -> None:
    branches = list(new.each(keyword))
    live = [branch for branch in branches if not disjoint(old, View.of(branch))]
    if len(live) == 1:
        compare.compare(old, live[0], trail)
        return
    if keyword == "anyOf" and any(_proves(compare, old, branch, trail) for branch in live):
        return
    if not live:
        message = f"what fitted so far fits none of the {len(branches)} alternatives of {keyword}"
    elif keyword == "anyOf":
        message = f"none of the {len(branches)} alternatives of anyOf takes all that was accepted"
    else:
        message = f"{len(live)} of {len(branches)} alternatives of oneOf may fit, where exactly one must"
    compare.differ(
        "SP629",
        message,
        old,
        new,
        trail,
        where=new.where.below(keyword),
        keywords=frozenset({keyword}),
    )


def _proves(compare: Comparing, old: View, new: Node, trail: Trail) -> bool:
    return compare.proves(lambda: compare.compare(old, new, trail))


def check_not(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """What must not fit."""
    if not new.says("not"):
        return
    wanted = new.below("not")
    if disjoint(old, View.of(wanted)):
        return
    unwanted = View.of(wanted)
    if any(_proves(compare, unwanted, part.below("not"), trail) for part in old.having("not")):
        return
    compare.differ(
        "SP629",
        "what fits the schema of not was accepted, and is forbidden now",
        old,
        new,
        trail,
        where=wanted.where,
        candidates=samples(unwanted),
        keywords=frozenset({"not"}),
    )


def check_condition(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """What follows where something fits, and where it does not."""
    if not new.says("if") or any(same_keyword(part, new, "if") for part in old.having("if")):
        return
    condition = new.below("if")
    branches = {word: new.below(word) for word in ("then", "else") if word in new.schema}
    if disjoint(old, View.of(condition)):
        if "else" in branches:
            compare.compare(old, branches["else"], trail)
        return
    if _proves(compare, old, condition, trail):
        if "then" in branches:
            compare.compare(old, branches["then"], trail)
        return
    under = {"then": old.also(condition), "else": replace(old, refused=(*old.refused, condition))}
    for word, branch in branches.items():
        if not _proves(compare, under[word], branch, trail):
            compare.differ(
                "SP629",
                f"what {'fits' if word == 'then' else 'does not fit'} the schema of if must fit {word} now",
                under[word],
                new,
                trail,
                where=branch.where,
            )


def check_dynamic(compare: Comparing, old: View, new: Node, trail: Trail) -> None:
    """References whose target depends on who refers."""
    for keyword in ("$dynamicRef", "$recursiveRef"):
        if new.says(keyword):
            message = f"cannot tell what {keyword} comes to here: it is not compared by rules"
            compare.unknown(message, old, new.where.below(keyword), trail)


def disjoint(one: View, other: View, deep: int = 0) -> bool:
    """Whether certainly no value fits both."""
    return all(_apart(left, right, deep) for left, right in product(alternatives(one), alternatives(other)))


def _apart(one: View, other: View, deep: int) -> bool:
    common = types(one) & types(other)
    if not common or _refused(one, other) or _refused(other, one):
        return True
    for left, right in ((one, other), (other, one)):
        known = values(left)
        if known is not None:
            both = (*left.parts, *right.parts)
            return all(any(part.refuses(value) for part in both) for value in known)
    if common <= NUMBERS:
        return _beyond(one, other) or _beyond(other, one)
    if common == {"object"} and deep < _DEEP:
        there = required(one) | required(other)
        named = there & (declared(one).keys() | declared(other).keys())
        return any(
            disjoint(member(one, name), member(other, name), deep + 1) for name in sorted(named)
        ) or any(not types(member(one, name)) or not types(member(other, name)) for name in there)
    return False


def _refused(one: View, other: View) -> bool:
    """Whether `one` refuses a schema that `other` demands."""
    refused = [*one.refused, *(part.below("not") for part in one.having("not"))]
    return any(same(node, part) for node in refused for part in other.parts)


def _beyond(one: View, other: View) -> bool:
    low, high = lower(one), upper(other)
    return low.value > high.value or (low.value == high.value and (low.open or high.open))


RULES: tuple[Callable[[Comparing, View, Node, Trail], None], ...] = (
    check_alternatives,
    check_not,
    check_condition,
    check_dynamic,
)
