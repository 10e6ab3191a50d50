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
    created: int | None = field(init=False, repr=False, compare=False)
    """Nanoseconds since the Unix epoch, or None where the record does not say."""

    def __post_init__(self) -> None:
        # plain attributes, not properties: fold and guard ask for them ten times a record
        value = self.value
        number, text = value.get("sequence"), value.get("createdAt")
        object.__setattr__(self, "sequence", None if number is None else int(number))
        object.__setattr__(self, "epoch", int(value.get("leaseEpoch") or 0))
        object.__setattr__(self, "created", None if text is None else parse_time(text))

    @property
    def run_id(self) -> str:
        """Whose record it is."""
        return str(self.value["runId"])

    @property
    def nonce(self) -> str | None:
        """Its writer's token: one for each process."""
        return self.value.get("nonce")
