"""Versions of the format: ``vMAJOR`` or ``vMAJOR.MINOR``, compared as integers (SPEC.md#versions)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_GRAMMAR = re.compile(r"v(0|[1-9][0-9]{0,5})(?:\.(0|[1-9][0-9]{0,5}))?")


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A format version; ``v3`` and ``v3.0`` are equal."""

    major: int
    minor: int = 0

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}" if self.minor else f"v{self.major}"

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """The version that `text` names, or None where it breaks the grammar."""
        found = _GRAMMAR.fullmatch(text)
        return cls(int(found[1]), int(found[2] or 0)) if found else None


V1, V2, V3 = Version(1), Version(2), Version(3)
CURRENT = V3
"""What this library writes; it reads every version up to this major."""
