"""A fault as the user meets it: graded, and placed in the file that an editor opens.

Decided here: the members of a finding, the same for every output format, and what findings are gathered under: the
run or the file that was checked.
Not decided here: how grave a code is (``rules``) and how a finding is printed (``render``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
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
    excerpt: Excerpt | None = field(default=None, compare=False)
    """The line that is accused, where it was asked for and the file can show it."""

    @property
    def fingerprint(self) -> str:
        """The same for the same trouble in the same place of the same text, whatever else changed around it.

        32 hexadecimal digits of the SHA-256 of code, key and pointer. Lines move when records are added, and
        wordings change with the tool: neither counts. So several findings of a file may share it, such as two records
        of a JSON Lines file that lack the same member: who compares two reports counts how often it occurs.
        """
        identity = f"{self.code}\0{self.key}\0{self.pointer}"
        return sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The accused place as it stands on its line; the three parts together are the line, or a window of it."""

    before: str
    accused: str
    after: str
    columns: int = 0
    """Code points of the line that are accused, before anything was masked; 0: not known."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that was not checked, because what it needs was not there: neither passed nor failed."""

    code: str
    """The rule."""
    reason: str
    """What was missing, in words."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One run, or one file that belongs to no run, with everything that was found in it."""

    kind: Literal["run", "file", "input"]
    """``input``: an argument of which nothing could be read."""
    name: str
    """The run's id; else the file's or the argument's URL."""
    url: str
    """The URL of the store or of the file."""
    records: int
    """Readable records and documents in it."""
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
