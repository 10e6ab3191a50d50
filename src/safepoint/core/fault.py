"""What can be wrong with a record, as data.

Decided here: where a JSON text lies (`Place`) and what is wrong with it (`Fault`).
Not decided here: how grave a code is and how it is explained (``rules``), nor what follows from it (``guard``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Place:
    """Where one JSON text lies."""

    url: str
    """The path or URL of the file or object, as the user may open it."""
    key: str = ""
    """The store-relative name, equal on every backend; the file's name outside a store."""
    line: int = 1
    """The text's first line in the file, counted from 1 (JSON Lines: its line)."""
    offset: int = 0
    """The text's first byte in the file, counted from 0."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, at one place."""

    code: str
    """``SP`` and three digits; ``rules`` knows its severity, ``safepoint explain`` its story."""
    message: str
    """What was found and what was expected; never a payload's value."""
    pointer: str = ""
    """RFC 6901 pointer into the record; empty for the whole text."""
    offset: int | None = None
    """Byte in the JSON text, from 0, where the fault begins; None: where the pointer leads."""
    place: Place | None = None
    """The text that is wrong; None until the reader that knows it fills it in."""

    def at(self, place: Place) -> Self:
        """The same fault at `place`."""
        return replace(self, place=place)
