"""A fault as the user meets it: graded, and placed in the file that an editor opens.

Decided here: the members of a finding, the same for every output format.
Not decided here: how grave a code is (``rules``) and how a finding is printed (``render``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
"""``error`` breaks a MUST of SPEC.md, ``warning`` a SHOULD; ``info`` is worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a user is told about one place."""

    code: str
    """``SP`` and three digits; ``safepoint explain`` tells its story."""
    severity: Severity
    url: str
    """The path or URL as the user may open it; empty where no file is to blame."""
    key: str
    """The store-relative name, equal on every backend; the file's name outside a store."""
    pointer: str
    """RFC 6901 pointer into the record; empty for the whole text."""
    line: int
    """Line of the file, from 1."""
    column: int
    """Column in Unicode code points, from 1."""
    message: str
    """What was found and what was expected; never a payload's value."""
