"""Two places for a store and its copy, and small stores to copy."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from journals import START, Journal

from safepoint.core.timestamp import SECOND
from safepoint.core.version import V3, Version
from safepoint.migrate import Migrator
from safepoint.moving.migration import Report, migrate_store, plan_store
from safepoint.store import Store, open_store
from safepoint.store.local import LocalStore

OWN = "runs/migration-1/"

V2_CHECKPOINT: dict[str, Any] = {
    "checkpointId": "cp_1",
    "runId": "r",
    "state": "running",
    "stepName": "s",
    "schemaVersion": "v2",
    "artifactRefs": None,
    "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None},
    "createdAt": "2026-05-07T10:00:00Z",
}
V2_LEDGER = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": None, "status": "pending"}


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


OLD = {
    "runs/r/cp.json": encode(V2_CHECKPOINT),
    "runs/r/ledger.jsonl": encode(V2_LEDGER) + b"\n" + encode(V2_LEDGER | {"status": "committed"}) + b"\n",
    "runs/r/artifacts/sha256/" + "0" * 64: b'{"not":"read',
    "runs/r/heartbeat/0000000001.json": b"{}",
    "runs/r/notes.json": b'{"foreign": [1,\n2]}',
    "policy.json": encode({"recordType": "policy", "schemaVersion": "v3"}),
    "README.md": b"notes",
}
"""A store of v2 with one of everything."""


class OneByOne(LocalStore):
    """Puts each object by itself, so that a test can be asked about every one of them."""

    put_many = Store.put_many


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def copied(folder: Path, run: str = "r") -> dict[str, bytes]:
    """What a copy holds of its source: without the migration's own run, and without what it says of itself."""
    own = {f"runs/{run}/origin.json", f"runs/{run}/seal.json"}
    return {k: data for k, data in contents(folder).items() if not k.startswith(OWN) and k not in own}


def codes(report: Report) -> Counter[str]:
    return report.tally.codes


def fates(report: Report) -> dict[str, int]:
    return {fate: number for fate, number in report.tally.fates.items() if number}


class Places:
    """A source with content, a target beside it, and a clock that only moves when it is asked to."""

    def __init__(self, folder: Path) -> None:
        self.source, self.target = folder / "old", folder / "new"
        self.now = START + 400 * SECOND

    def migrate(
        self,
        to: Version | None = V3,
        *,
        source: Store | None = None,
        target: Store | None = None,
        migrator: Migrator | None = None,
        **asked: Any,
    ) -> Report:
        allowed = {name: asked.pop(name, False) for name in ("allow_loss", "keep_going")}
        how = migrator or Migrator(to, **allowed)
        opened = source or open_store(str(self.source)), target or open_store(str(self.target))
        return migrate_store(*opened, how, clock=self.clock, **asked)

    def plan(self, to: Version | None = V3, *, beside: bool = True, **asked: Any) -> Report:
        """What would be done; `beside`: and where."""
        allowed = {name: asked.pop(name, False) for name in ("allow_loss", "keep_going")}
        target = open_store(str(self.target)) if beside else None
        return plan_store(open_store(str(self.source)), Migrator(to, **allowed), target, **asked)

    def clock(self) -> int:
        self.now += 1_000_000
        return self.now

    def run(self, journal: Journal) -> Journal:
        """Lays a run down in the source."""
        journal.write(self.source)
        return journal


def another(journal: Journal, run_id: str) -> Journal:
    """The same run under another name; its chain is left as it was made."""
    copy = Journal(run_id)
    for value in journal.values:
        members = {k: v for k, v in value.items() if k not in {"runId", "previousDigest", "sequence"}}
        copy.values.append(
            copy._chained(copy.values, members.pop("recordType"), 0, members["leaseEpoch"], members)
        )
    return copy
