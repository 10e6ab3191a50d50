"""A damaged store and its copy, as the tests of a repair make and look at them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from journals import START, Journal

import safepoint
from safepoint.core.digest import encode_record
from safepoint.core.timestamp import SECOND
from safepoint.store import open_store
from safepoint.upkeep.repair import RepairReport, repair_store

RUN = "runs/run-1"
MARK = b"\xef\xbb\xbf"


def key(number: int) -> str:
    return f"{RUN}/journal/{number:010}.json"


def sound() -> Journal:
    """Seven records: begun, saved, an effect done, saved again, another one planned."""
    journal = Journal().begin().checkpoint(2).ledger(3, "attempting").ledger(4, "committed")
    return journal.checkpoint(5, "cp-2").ledger(6, "planned", "other")


def stored(journal: Journal) -> dict[str, bytes]:
    return {key(value["sequence"]): encode_record(value) for value in journal.values}


def lines(*records: bytes) -> bytes:
    return b"".join(record + b"\n" for record in records)


class Places:
    """A store with content, and where its copy goes."""

    def __init__(self, folder: Path) -> None:
        self.source, self.copy = folder / "store", folder / "copy"

    def hold(self, files: Mapping[str, bytes]) -> None:
        self.source.mkdir(exist_ok=True)
        for name, data in files.items():
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def repair(self, **options: Any) -> RepairReport:
        return repair_store(open_store(str(self.source)), open_store(str(self.copy)), **options)

    def of(self, name: str) -> bytes:
        return (self.copy / name).read_bytes()

    @property
    def kept(self) -> list[str]:
        """The run's objects in the copy, without their folder and what marks the run."""
        found = (
            p.relative_to(self.copy / RUN).as_posix() for p in (self.copy / RUN).rglob("*") if p.is_file()
        )
        return sorted(name for name in found if name != "quarantine.json")

    @property
    def verdict(self) -> str:
        return safepoint.guard(str(self.copy), "run-1", now=START + 1000 * SECOND).verdict

    @property
    def codes(self) -> set[str]:
        return {finding.code for finding in safepoint.validate(str(self.copy))}


def flaws(report: RepairReport) -> dict[str, list[tuple[str, int | None, int | None]]]:
    """Of each object that is not what it was: code, line and break of what is wrong."""
    return {
        fate.key.removeprefix(f"{RUN}/"): [(r.flaw.code, r.line, r.flaw.behind) for r in fate.ranges]
        for fate in report.set_aside
    }
