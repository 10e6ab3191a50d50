"""What became of many objects, in numbers, with a few of the reasons.

Decided here: what is counted, and that what is kept of the reasons is bounded, whatever a store holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Fault
from safepoint.moving.fates import FATES, Item

SHOWN = 100
"""Faults of one code that are kept; all are counted."""

NOTHING = "sha256:" + "0" * 64
"""The digest of a copy without objects."""


@dataclass(slots=True)
class Tally:
    """Counts over objects of the source."""

    fates: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    read: int = 0
    """Bytes of the source's objects."""
    written: int = 0
    """Bytes of the same objects in the copy."""
    runs: int = 0
    open_runs: int = 0
    """Runs with a journal that has no end, which could go on in both places."""
    reached: int = 0
    """Objects that name a payload schema which is asked for."""
    kept: list[str] = field(default_factory=list)
    """Folders of runs of which not all was migrated."""
    faults: list[Fault] = field(default_factory=list)
    """At most `SHOWN` of each code."""

    def add(self, item: Item) -> None:
        """One object."""
        self.fates[item.fate] += 1
        self.read += item.size
        self.reached += item.reached
        if item.key:
            self.written += item.size if item.data is None else len(item.data)
        self.report(item.faults)

    def report(self, faults: Iterable[Fault]) -> None:
        """Counts faults, and keeps the first ones."""
        for fault in faults:
            self.codes[fault.code] += 1
            if self.codes[fault.code] <= SHOWN:
                self.faults.append(fault)

    def merge(self, other: Tally) -> None:
        """Adds what another process counted."""
        room = {code: SHOWN - self.codes[code] for code in other.codes}
        for fault in other.faults:
            if room[fault.code] > 0:
                room[fault.code] -= 1
                self.faults.append(fault)
        self.fates += other.fates
        self.codes += other.codes
        self.read += other.read
        self.written += other.written
        self.runs += other.runs
        self.open_runs += other.open_runs
        self.reached += other.reached
        self.kept += other.kept

    def counts(self) -> dict[str, Any]:
        """The numbers, for a progress record and for the report."""
        return {
            "objects": {fate: self.fates[fate] for fate in FATES},
            "runs": self.runs,
            "openRuns": self.open_runs,
            "reached": self.reached,
            "kept": self.kept,
            "bytesRead": self.read,
            "bytesWritten": self.written,
            "findings": {code: self.codes[code] for code in sorted(self.codes)},
        }

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> Self:
        """What `counts` said; the faults themselves are not kept."""
        return cls(
            fates=Counter(counts["objects"]),
            codes=Counter(counts["findings"]),
            read=counts["bytesRead"],
            written=counts["bytesWritten"],
            runs=counts["runs"],
            open_runs=counts["openRuns"],
            reached=counts["reached"],
            kept=list(counts["kept"]),
        )

    @property
    def refused(self) -> int:
        """Objects that stand in the way."""
        return self.fates["refused"]

    @property
    def would_change(self) -> int:
        """Objects that would not be in the copy as they are."""
        return self.fates["migrated"] + self.fates["dropped"]


def digest_of(digests: Mapping[str, str]) -> str:
    """One digest for objects by their keys, in the order of the keys."""
    found = sha256()
    for key in sorted(digests):
        found.update(f"{key}\0{digests[key]}\n".encode("utf-8", "surrogateescape"))
    return f"sha256:{found.hexdigest()}"


def chained(before: str, digest: str) -> str:
    """The digest of all up to here, from that of all before and that of the next folder."""
    return digest_bytes(f"{before}\n{digest}".encode())
