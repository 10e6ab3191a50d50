"""Does a new payload schema still accept what an old one accepts? (SPEC.md#payload-compatibility).

Decided here: the answer, from the two schemas alone. "Compatible" is proven by rules; "incompatible" is shown by a
payload that the reference engine accepts by the old schema and refuses by the new one; anything else is "cannot tell".
Not decided here: what is stored (``validation.trial``), and what makes a check fail (``cli``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from safepoint.payloads.compatibility import arrays, combining, objects, scalars
from safepoint.payloads.compatibility.comparing import Comparing, Difference
from safepoint.payloads.compatibility.nodes import Side, Spot
from safepoint.payloads.compatibility.usable import require_usable

__all__ = ["Difference", "Spot", "compare_schemas"]

_RULES = (*scalars.RULES, *objects.RULES, *arrays.RULES, *combining.RULES)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two schemas differ in, as far as a stored payload may not survive it."""

    differences: tuple[Difference, ...]

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the differences."""
        return frozenset(one.code for one in self.differences)


def compare_schemas(old: str | os.PathLike[str], new: str | os.PathLike[str]) -> Comparison:
    """Compares the schemas in two files.

    Args:
        old: path of the schema by which payloads were written.
        new: path of the schema by which they will be read.

    Raises:
        PayloadSchemaError: one of them, or what it refers to, cannot be used.
    """
    sides = Side.load(os.fspath(old)), Side.load(os.fspath(new))
    for side in sides:
        require_usable(side.root)
    comparing = Comparing(*sides, _RULES)
    comparing.look = objects.look_for_unread
    comparing.run()
    found: dict[tuple[str, str, Spot], Difference] = {}
    for one in (*comparing.differences, *comparing.remarks):
        # a place that several ways lead to is told with the first of them
        found.setdefault((one.code, one.message, one.new), one)
    return Comparison(tuple(found.values()))
