"""How two neighbouring versions exchange a record so that nothing is lost: the law behind every step.

Decided here: members that both versions have are rewritten; own ``x-`` members stay; all else of the record
goes whole into a residue, ``x-v2`` on a v3 record that was v2, ``x-v3`` on a v2 record that was v3, and comes
back from there. Not decided here: which members there are and how they are rewritten (the step modules).

``up`` and ``down`` undo each other, also on a record that brings a member named like a residue of its own.
The argument is the one of Schröder and Bernstein: ``up`` goes home through the residue ``x-v3`` exactly if
``down`` of the result gives the value back, and carries the value over otherwise; ``down`` the same with
``x-v2``. Carrying over can always be undone, so either answer can. Each look back strips one residue that
lies inside another, so it ends.

Values are never changed; results share the parts that did not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from safepoint.core.version import Version

_OWN = re.compile(r"x-[a-z0-9._-]+")


class _Absent(Enum):
    """Absent is no JSON value: null and absent differ."""

    ABSENT = 0


ABSENT: Final = _Absent.ABSENT
"""What a rewriting function gets or gives for a member that is not there."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How a member that both versions have differs between them; both functions accept any JSON value."""

    up: Callable[[Any], Any]
    down: Callable[[Any], Any]

    def reversed(self) -> Rewrite:
        """The same member, seen from the other version."""
        return Rewrite(self.down, self.up)


Members = Mapping[str, Rewrite | None]
"""The members of a kind that both versions have; None: written alike in both."""


@dataclass(frozen=True, slots=True)
class Down:
    """A record one version lower."""

    value: dict[str, Any]
    lost: tuple[str, ...] = ()
    """Pointers to what is kept, but no longer honoured by a reader of the lower version."""


class Exchange:
    """The two directions between `below` and `above`."""

    def __init__(
        self,
        below: Version,
        above: Version,
        members: Mapping[str, Members],
        head: Callable[[str], dict[str, Any]],
        tail: Callable[[str, Mapping[str, Any]], dict[str, Any]],
    ) -> None:
        """Both versions' common `members` by kind; what a record carried up begins and ends with.

        The `tail` may depend on members that both versions have, and on nothing else.
        """
        self._below = str(below)
        self._under, self._over = f"x-{below}", f"x-{above}"
        residues = frozenset({self._under, self._over})
        start = {"schemaVersion": self._below}
        self._up = {kind: _Way(above, head(kind), names, residues) for kind, names in members.items()}
        self._down = {
            kind: _Way(
                below,
                start,
                {name: rewrite and rewrite.reversed() for name, rewrite in names.items()},
                residues,
            )
            for kind, names in members.items()
        }
        self._tail = tail

    def up(self, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """`value`, valid in the version below, as a record of the version above."""
        way = self._up[kind]
        result, residue = way.carry(value)
        if self._over in value:
            home = way.home(result, value[self._over])
            if home is not None and same(self.down(kind, home), value):
                return home
        if residue.setdefault("schemaVersion", None) == self._below:
            del residue["schemaVersion"]
        result |= self._tail(kind, result)
        if residue:
            result[self._under] = residue
        return result

    def down(self, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """`value`, valid in the version above, as a record of the version below."""
        way = self._down[kind]
        result, residue = way.carry(value)
        kept = value.get(self._under, {})
        if self._may_be_raised(kind, value, kept):
            home = way.home(result, kept)
            if home is not None and same(self.up(kind, home), value):
                return home
        residue.setdefault("schemaVersion", None)
        result[self._over] = residue
        return result

    def _may_be_raised(self, kind: str, value: Mapping[str, Any], kept: Any) -> bool:
        """Whether carrying something up could give `value`; a no is certain, and spares the proof by trying."""
        if not isinstance(kept, dict):
            return False
        if self._over in kept:  # then the way up may lead home instead, and end in any record of the version
            return True
        ends = self._up[kind].start | self._tail(kind, value)
        return all(same(value.get(name, ABSENT), part) for name, part in ends.items())


class _Way:
    """One direction, for records of one kind."""

    def __init__(
        self, to: Version, start: dict[str, Any], members: Members, residues: frozenset[str]
    ) -> None:
        self.start = start
        """What each record that is carried over begins with."""
        self._to, self._members, self._residues = to, members, residues
        absent = {name: rewrite.up(ABSENT) for name, rewrite in members.items() if rewrite is not None}
        self._absent = {name: new for name, new in absent.items() if new is not ABSENT}
        """What becomes of members that are not there."""

    def carry(self, value: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The start and the members that the other version has, rewritten; and all that would not come back."""
        result, residue = self.start.copy(), {}
        members = self._members
        for name, old in value.items():
            rewrite = members.get(name, ABSENT)
            if rewrite is None:
                result[name] = old
            elif rewrite is not ABSENT:
                new = rewrite.up(old)
                if new is not ABSENT:
                    result[name] = new
                if not same(rewrite.down(new), old):
                    residue[name] = old
            elif is_own(name) and name not in self._residues:
                result[name] = old
            else:
                residue[name] = old
        for name, new in self._absent.items():
            if name not in value:
                result[name] = new
        return result, residue

    def home(self, carried: dict[str, Any], residue: Any) -> dict[str, Any] | None:
        """The record that the one `carried` here would stem from, if its `residue` is what a step leaves."""
        if not isinstance(residue, dict):
            return None
        home = carried | residue
        said = home["schemaVersion"]
        if said is None:
            del home["schemaVersion"]
        elif said != self.start["schemaVersion"] and not _is_of_major(said, self._to):
            return None
        return home


def is_own(name: str) -> bool:
    """Whether `name` belongs to the writer, and the schemas of every version let it pass."""
    return name.startswith("x-") and _OWN.fullmatch(name) is not None


def _is_of_major(said: Any, wanted: Version) -> bool:
    found = Version.parse(said) if isinstance(said, str) else None
    return found is not None and found.major == wanted.major


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; unlike Python's ``==`` it tells ``true`` from 1, and 1 from 1.0."""
    # What a step did not change is one and the same object, and most parts are: hardly anything is looked into.
    if one is other:
        return True
    if type(one) is not type(other):  # as a record, any mapping will do
        return isinstance(one, Mapping) and isinstance(other, Mapping) and same(dict(one), dict(other))
    if type(one) is list:
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is dict:
        return one.keys() == other.keys() and all(map(same, one.values(), map(other.__getitem__, one)))
    return bool(one == other)
