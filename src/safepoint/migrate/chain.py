"""The chain of a journal whose records are rewritten one after the other (SPEC.md#journal-members).

Decided here: that a record which held the digest of its predecessor's old bytes gets that of the new ones, and that
nothing else is mended: where the chain was broken before, it stays broken, and the tear can still be seen. Not decided
here: which records are rewritten, and why (``record``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.digest import digest_stored
from safepoint.schemas import JOURNAL


class Chain:
    """What became of the records that were rewritten last; for journals, each in the order of its sequence."""

    def __init__(self) -> None:
        self._rewritten: dict[tuple[str, int], dict[str, str]] = {}
        """Run and sequence to the digests of the old bytes that had that place, each with the one of the new."""

    def relinked(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """`value`, a sound record of v3, behind what became of its predecessor; the same object where it is already."""
        place = place_of(value)
        if place is None:
            return value
        run, sequence = place
        new = self._rewritten.get((run, sequence - 1), {}).get(value["previousDigest"])
        return value if new is None else {**value, "previousDigest": new}

    def rewrote(self, value: Mapping[str, Any], old: bytes, new: bytes) -> None:
        """`value` was stored as `old`, and is stored as `new` from now on."""
        place = place_of(value)
        if place is None:
            return
        run, sequence = place
        # Only the next record can refer to this one. A place may be held twice, where a journal was forked.
        self._rewritten.pop((run, sequence - 2), None)
        self._rewritten.setdefault(place, {})[digest_stored(old)] = digest_stored(new)


def place_of(value: Mapping[str, Any]) -> tuple[str, int] | None:
    """The run and the sequence of a sound record of v3 that has its place in a journal; None where it has none.

    The recovery log is a chain of its own, in which nothing is ever rewritten.
    """
    if "sequence" in value and value.get("recordType") in JOURNAL:
        return value["runId"], value["sequence"]
    return None
