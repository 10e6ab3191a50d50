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
        """Both versions' common `members` by kind; what a record carried up begins and ends with."""
        self._below = below
        self._under, self._over = f"x-{below}", f"x-{above}"
        self._up = members
        self._down = {
            kind: {name: rewrite and rewrite.reversed() for name, rewrite in names.items()}
            for kind, names in members.items()
        }
        self._head, self._tail = head, tail

    def up(self, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """`value`, valid in the version below, as a record of the version above."""
        if self._over in value:
            home = self._home(self._head(kind), self._up[kind], value, value[self._over])
            if home is not None and same(self.down(kind, home), value):
                return home
        carried, residue = self._carry(self._up[kind], value)
        if residue.setdefault("schemaVersion", None) == str(self._below):
            del residue["schemaVersion"]
        result = self._head(kind) | carried
        result |= self._tail(kind, result)
        return result | {self._under: residue} if residue else result

    def down(self, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
        """`value`, valid in the version above, as a record of the version below."""
        start = {"schemaVersion": str(self._below)}
        home = self._home(start, self._down[kind], value, value.get(self._under, {}))
        if home is not None and same(self.up(kind, home), value):
            return home
        carried, residue = self._carry(self._down[kind], value)
        residue.setdefault("schemaVersion", None)
        return start | carried | {self._over: residue}

    def _carry(self, members: Members, value: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The members that the other version has, rewritten; and all that would not come back from them."""
        carried: dict[str, Any] = {}
        residue: dict[str, Any] = {}
        for name, old in value.items():
            if name in members:
                rewrite = members[name]
                new = old if rewrite is None else rewrite.up(old)
                if new is not ABSENT:
                    carried[name] = new
                if rewrite is not None and not same(rewrite.down(new), old):
                    residue[name] = old
            elif is_own(name) and name not in (self._under, self._over):
                carried[name] = old
            else:
                residue[name] = old
        for name, rewrite in members.items():
            if rewrite is not None and name not in value:
                new = rewrite.up(ABSENT)
                if new is not ABSENT:
                    carried[name] = new
        return carried, residue

    def _home(
        self, start: dict[str, Any], members: Members, value: Mapping[str, Any], residue: Any
    ) -> dict[str, Any] | None:
        """The record that `value` would stem from, if `residue` is what a step leaves."""
        if not isinstance(residue, dict):
            return None
        carried, _ = self._carry(members, value)
        home = start | carried | residue
        if home["schemaVersion"] is None:
            del home["schemaVersion"]
        elif not _same_major(home["schemaVersion"], start["schemaVersion"]):
            return None
        return home


def is_own(name: str) -> bool:
    """Whether `name` belongs to the writer, and the schemas of every version let it pass."""
    return _OWN.fullmatch(name) is not None


def _same_major(one: Any, other: str) -> bool:
    found, wanted = Version.parse(one) if isinstance(one, str) else None, Version.parse(other)
    return found is not None and wanted is not None and found.major == wanted.major


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; unlike Python's ``==`` it tells ``true`` from 1."""
    if one is other:
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(part, other[name]) for name, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
