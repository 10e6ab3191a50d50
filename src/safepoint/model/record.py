"""One record as the fold sees it: in v3 form, with the place and the digest of its stored bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from safepoint.core.fault import Place
from safepoint.core.timestamp import parse_time
from safepoint.core.version import Version


@dataclass(frozen=True, slots=True)
class Record:
    """A record that parsed, fits its schema, and was brought to v3 in memory where it was older."""

    kind: str
    """``checkpoint``, ``ledger``, …: the value's ``recordType``."""
    version: Version
    """The version that was stored; lower than v3 means that `value` is a migrated copy."""
    value: Mapping[str, Any]
    place: Place
    digest: str
    """SHA-256 of the stored bytes without the final line feed, ``sha256:`` and 64 hex digits."""
    sequence: int | None = field(init=False, repr=False, compare=False)
    """Its number in the journal (or in the recovery log), or None at level Records."""
    epoch: int = field(init=False, repr=False, compare=False)
    """The lease epoch that it was written under; 0 means "no owner"."""

    def __post_init__(self) -> None:
        # plain attributes, not properties: the fold asks for them ten times a record
        number = self.value.get("sequence")
        object.__setattr__(self, "sequence", None if number is None else int(number))
        object.__setattr__(self, "epoch", int(self.value.get("leaseEpoch") or 0))

    @property
    def run_id(self) -> str:
        """Whose record it is."""
        return str(self.value["runId"])

    @property
    def nonce(self) -> str | None:
        """Its writer's token: one for each process."""
        return self.value.get("nonce")

    @property
    def created(self) -> int | None:
        """Nanoseconds since the Unix epoch, or None where the record does not say."""
        text = self.value.get("createdAt")
        return None if text is None else parse_time(text)
