"""A small store that processes migrate, one after the other or at once, and what must hold at every moment of that.

Decided here: no part of a copy is taken for a whole, no run may go on in both places, nothing is written into the
source but what seals it. Not decided here: what goes wrong (``faulty``).
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from faulty import FaultyStore, KilledError, Process
from journals import START
from mixed_stores import lay_down, small

import safepoint
from safepoint.core.digest import digest_stored
from safepoint.core.timestamp import SECOND, format_time
from safepoint.core.version import V3, Version
from safepoint.migrate import Migrator
from safepoint.moving.migration import Report, migrate_store
from safepoint.moving.progress import AnotherMigrationError
from safepoint.reader import load_run
from safepoint.recorder import RecorderError
from safepoint.store import StoreError

OPEN = "run-1"
"""The run that may go on, in one of the two places."""
RUNS = {"old": ("runs/old/",), "loose": ("loose",), OPEN: (f"runs/{OPEN}/",)}
"""All runs, and how the keys of each begin."""

OWN = "runs/migration-1/"
LONG = 400
"""Seconds: beyond every lease."""


class Clock:
    """Nanoseconds; a millisecond passes with every look. It begins when the open run's lease has lapsed."""

    def __init__(self) -> None:
        self.now = START + 300 * SECOND

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now

    def sleep(self, seconds: int) -> None:
        self.now += seconds * SECOND


_checked: set[tuple[frozenset[tuple[str, bytes]], frozenset[tuple[str, bytes]], int]] = set()
"""States of both stores that were found to be sound: many moments leave the same ones."""

_findings: dict[frozenset[tuple[str, bytes]], list[Any]] = {}
"""What the validator says of each state of a copy, which many moments share."""


class World:
    """Both stores, and processes that migrate one to the other."""

    def __init__(self, *, seal: bool = False) -> None:
        self.clock = Clock()
        self.seal = seal
        self.source: dict[str, bytes] = small()
        self.copy: dict[str, bytes] = {}

    def migrate(
        self,
        process: Process | None = None,
        *,
        to: Version = V3,
        allow_loss: bool = False,
        another: MutableMapping[str, bytes] | None = None,
    ) -> Report:
        """One process, to its end: the migration that all others are, unless something else is said."""
        process = process or Process()
        url, objects = ("memory://another", another) if another else ("memory://source", self.source)
        source, copy = FaultyStore(url, objects, process), FaultyStore("memory://copy", self.copy, process)
        migrator = Migrator(to, allow_loss=allow_loss)
        return migrate_store(source, copy, migrator, sealed_by="ops" if self.seal else None, clock=self.clock)

    def fail(self, process: Process) -> None:
        """A process with a fault, which may overcome it."""
        try:
            report = self.migrate(process)
        except (KilledError, StoreError, RecorderError):
            return
        unread = report.outcome == "refused" and report.tally.codes["SP002"]
        assert unread or report.outcome in {"done", "nothingToDo"}

    def go_on(self) -> Report:
        """A new process, to the end. It may have to wait for what a killed one was about to claim, or had just claimed.

        So does a migration that was killed while it went on, and a seal between its two records.
        """
        try:
            report = self.migrate()
        except AnotherMigrationError:
            self.clock.sleep(LONG)
            report = self.migrate()
        if report.unsealed:
            assert [seal.outcome for seal in report.unsealed] == ["live"]
            self.clock.sleep(LONG)
            report = self.migrate()
        assert (report.outcome in {"done", "nothingToDo"}, report.unsealed) == (True, ())
        return report

    def copied(self, *, proofs: bool = False) -> dict[str, bytes]:
        """The copy without what tells how it was made; `proofs`: with the seals, which name records with a nonce."""
        return {
            key: data
            for key, data in self.copy.items()
            if not key.startswith(OWN) and (proofs or not key.endswith("/seal.json"))
        }

    def verdict(self, objects: Mapping[str, bytes], run: str, *, knowing: bool = False) -> str:
        """What the guard says now; `knowing`: told that the owner is dead and that the ledger is complete."""
        now = format_time(self.clock.now)
        dead = {"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": now}
        facts = {
            "recordType": "facts",
            "schemaVersion": "v3",
            "runId": run,
            "observedAt": now,
            "owners": [dead],
        }
        facts["ledgerComplete"] = True
        store = FaultyStore("memory://any", dict(objects))
        try:
            return safepoint.guard(store, run, now=self.clock.now, facts=facts if knowing else None).verdict
        except safepoint.UnknownRunError:
            return "absent"

    def check(self, whole: Mapping[str, bytes]) -> None:
        """What must hold at any moment."""
        state = (
            frozenset(self.copied(proofs=True).items()),
            frozenset(self.source.items()),
            self.clock.now // (LONG * SECOND),
        )
        if state in _checked:
            return
        _checked.add(state)
        assert self.source_is_untouched()
        assert self.copied().items() <= {**whole, "unfinished.json": self.copy.get("unfinished.json")}.items()
        copies = {run: self.verdict(self.copy, run) for run in RUNS}
        sealed = self.is_sealed()
        if copies[OPEN] == "resume":
            assert sealed
            assert f"runs/{OPEN}/seal.json" in self.copy
        assert (self.verdict(self.source, OPEN) == "resume") <= (copies[OPEN] != "resume" and not sealed)
        assert "resume" not in {copies["old"], copies["loose"]}
        for run, keys in RUNS.items():
            missing = {key for key in whole if key.startswith(keys)} - self.copy.keys()
            if missing or (run == "loose" and "unfinished.json" in self.copy):
                assert self.verdict(self.copy, run, knowing=True) != "resume", (run, missing)
            if missing and copies[run] != "absent":
                told = {f.key for f in self.findings() if f.severity == "error" or f.code == "SP011"}
                assert any(key.startswith((*keys, "unfinished.json")) for key in told), (run, missing)

    def findings(self) -> list[Any]:
        """What the validator says of the copy."""
        known = frozenset(self.copied().items())
        if known not in _findings:
            with TemporaryDirectory() as folder:
                _findings[known] = [*safepoint.validate(str(lay_down(Path(folder), self.copied())))]
        return _findings[known]

    def is_sealed(self) -> bool:
        """Whether the original has given its authority away."""
        run = load_run(FaultyStore("memory://any", dict(self.source)), OPEN).run
        return run is not None and run.status == "sealed"

    def is_completed(self) -> bool:
        """Whether the migration says that it has written everything, in a sound run of its own."""
        own = load_run(FaultyStore("memory://any", dict(self.copy)), "migration-1").run
        return own is not None and (own.status, [*own.faults]) == ("completed", [])

    def source_is_untouched(self) -> bool:
        """Nothing changed; only behind the open run something may have come, where it is to be sealed."""
        new = self.source.keys() - small().keys()
        return small().items() <= self.source.items() and all(
            self.seal and key.startswith(f"runs/{OPEN}/journal/") for key in new
        )

    def check_seal(self) -> None:
        """The original is sealed once, and the copy's proof names that very record; or neither."""
        records = [
            (key, data)
            for key, data in sorted(self.source.items())
            if key.startswith(f"runs/{OPEN}/journal/")
        ]
        seals = [(key, data) for key, data in records if orjson.loads(data).get("status") == "sealed"]
        proof = self.copy.get(f"runs/{OPEN}/seal.json")
        if not self.seal:
            assert (seals, proof) == ([], None)
            assert self.verdict(self.source, OPEN) == "resume"
            return
        assert proof is not None
        ((key, data),) = seals
        assert key == records[-1][0]
        said, sealed = orjson.loads(proof), orjson.loads(data)
        assert (said["sequence"], said["digest"]) == (sealed["sequence"], digest_stored(data))
        assert sealed["successor"] == {
            "uri": "memory://copy",
            "runId": OPEN,
            "sequence": said["after"]["sequence"],
            "copy": digest_stored(self.copy["runs/migration-1/journal/0000000001.json"]),
        }
        assert self.verdict(self.copy, OPEN) == "resume"
