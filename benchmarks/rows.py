"""What is compared with what.

Decided here: the groups of the table, the corpora that they read, and which exit status shows that a row did its job.
Not decided here: how anything is measured (``processes``) or called (``peers``).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import migrating, peers
from benchmarks.processes import Command, Cost, interleave, run
from benchmarks.table import Group, Measured

PARTS = ("objects", "lines", "faulty", "slow", "guard", "migrate", "start", "memory")
"""The parts of the table, in its order."""

FAULTY = 0.005
WRITTEN = 200
"""Runs that are really written to another place, which is waiting for the disk and nothing else."""

JUDGED = 1000
"""Runs that the guard is asked about; and ten times as many, for what memory grows by."""

_IN_PROCESS = """
import sys, safepoint
for judged in safepoint.guard_all(sys.argv[1]):
    judged.decision.document()
"""
RECORDS_OF_A_RUN = 67
"""On average; what the memory rows count with."""

_ROOT = Path(__file__).parents[1]
_RECORD = _ROOT / "fixtures" / "good" / "v3-checkpoint" / "input.json"


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    command: Command
    status: int = 0
    """What it must exit with; anything else is said in the remarks."""
    remark: str = ""


@dataclass(slots=True)
class Bench:
    """Settings of one benchmark."""

    work: Path
    """Where corpora lie: made when they are first asked for."""
    tools: Path | None
    """Where the peers are installed; None: without them."""
    runs: int
    slow_runs: int
    records: tuple[int, ...]
    rounds: int
    seed: int
    told: Callable[[str], None]
    _installed: list[peers.Peer] | None = None
    _absent: dict[str, str] = field(default_factory=dict)
    _doubts: dict[str, str] = field(default_factory=dict)

    def measure(self, part: str) -> Iterator[Group]:
        """The groups of one of the `PARTS`."""
        if part in {"objects", "lines"}:
            yield self._whole(part)
        elif part == "faulty":
            for layout in ("objects", "lines"):
                yield self._faulty(layout)
        elif part == "slow":
            yield self._slow()
        elif part == "guard":
            yield self._guard()
            yield self._guard_memory()
        elif part == "migrate":
            for layout in ("objects", "lines"):
                yield self._migrating(layout)
            yield self._migrated()
            yield self._migrate_memory()
        elif part == "start":
            yield self._start()
        else:
            yield self._memory()

    def _whole(self, layout: str) -> Group:
        store = self._corpus(layout, self.runs)
        rows = [
            _floor(store),
            _Row("safepoint validate", _validate(store)),
            _Row("safepoint validate --jobs 2", _validate(store, "--jobs", "2")),
            *self._peer_rows(store, layout, slow=False),
            *(_Row(name, (), remark=f"not measured: {why}") for name, why in self._absent.items()),
        ]
        kind = "objects, a file each" if layout == "objects" else "JSON Lines, a file for each log"
        return self._group(f"{self.runs:,} runs as {kind}", rows)

    def _peer_rows(self, store: Path, layout: str, *, slow: bool) -> Iterator[_Row]:
        for peer in self._peers():
            command = peer.lines if layout == "lines" else peer.command
            if command and peer.slow == slow:
                yield _Row(peer.name, command(self._schema(), store), remark=self._doubt(peer))

    def _faulty(self, layout: str) -> Group:
        store = self._corpus(layout, self.runs, FAULTY)
        rows = [_floor(store), _Row("safepoint validate", _validate(store), status=1)]
        return self._group(f"the same as {layout}, {FAULTY:.1%} of the records faulty", rows)

    def _slow(self) -> Group:
        store = self._corpus("objects", self.slow_runs)
        rows = [
            _floor(store),
            _Row("safepoint validate", _validate(store)),
            _Row(
                "safepoint validate --schema-engine jsonschema",
                _validate(store, "--schema-engine", "jsonschema"),
            ),
            *self._peer_rows(store, "objects", slow=True),
        ]
        # what takes minutes is not disturbed by what takes milliseconds
        title = f"{self.slow_runs:,} of these runs as objects, for what takes long"
        return self._group(title, rows, rounds=min(self.rounds, 3))

    def _guard(self) -> Group:
        """Runs of 50 ledger records each: every one is folded and judged, and its decision written down."""
        store = self._corpus("objects", JUDGED)
        rows = [
            _floor(store),
            _Row("safepoint guard --all --format jsonl", _guard(store)),
            _Row("api.guard_all, decisions not written", [sys.executable, "-c", _IN_PROCESS, str(store)]),
            _Row("safepoint validate", _validate(store)),
        ]
        return self._group(f"{JUDGED:,} runs as objects, judged", rows)

    def _guard_memory(self) -> Group:
        """Decisions wait until the last run was read: in memory up to a bound, then on disk."""
        rows = []
        for runs in (JUDGED, 10 * JUDGED):
            row = _Row(f"safepoint guard --all, {runs:,} runs", _guard(self._corpus("objects", runs)))
            self.told(f"memory: {row.name}")
            cost = run(row.command)
            rows.append(Measured(row.name, [cost], _remark(row, [cost])))
        return Group("judged, each once", rows, compared=False)

    def _migrating(self, layout: str) -> Group:
        """Nothing is written: what is left is reading, and what the migration itself does."""
        store = self._corpus(layout, self.runs, older=True)
        rows = [
            _floor(store),
            _Row("migrate_record, read and in memory", _migrating("memory", store)),
            _Row("safepoint migrate --to v3 --check", _migrate(store, "--check"), status=1),
        ]
        kind = "objects, a file each" if layout == "objects" else "JSON Lines, a file for each run"
        return self._group(f"{10 * self.runs:,} checkpoints of v2 as {kind}, to v3", rows)

    def _migrated(self) -> Group:
        """All of it is written durably; most of that is waiting for the disk, so the wall time counts."""
        runs = min(self.runs, WRITTEN)
        store = self._corpus("objects", runs, older=True)
        target, done = self.work / "migrated", self.work / f"{store.name}-migrated"
        migrating.clear(done)
        self.told("migrating once")
        run(_migrate(store, "--output", str(done)))
        rows = [
            _Row("put_many: read and put what comes out", _migrating("together", done, target)),
            _Row("put_if_absent, one by one", _migrating("one-by-one", done, target)),
            _Row("safepoint migrate --to v3 --output", _migrate(store, "--output", str(target))),
            _Row(
                "safepoint migrate --to v3 --output --jobs 2",
                _migrate(store, "--output", str(target), "--jobs", "2"),
            ),
        ]
        title = f"{10 * runs:,} of them as objects, written; here the floor is the first row"
        group = self._group(title, rows, min(self.rounds, 3), lambda _: migrating.clear(target))
        migrating.clear(target)
        return group

    def _migrate_memory(self) -> Group:
        rows: list[Measured] = []
        for runs in (self.runs // 10, self.runs, 5 * self.runs):
            store = self._corpus("objects", runs, older=True)
            name = f"safepoint migrate --check, {10 * runs:,} checkpoints"
            self.told(name)
            row = _Row(name, _migrate(store, "--check"), status=1)
            cost = run(row.command)
            more = f"{(cost.peak - rows[0].costs[0].peak) / 1e6:+.0f} MB" if rows else ""
            rows.append(Measured(name, [cost], _remark(row, [cost]) or more))
        return Group("memory of a migration, each once", rows, compared=False)

    def _start(self) -> Group:
        rows = [
            _Row("python -c pass", [sys.executable, "-c", "pass"]),
            _Row("import orjson, jsonschema_rs", [sys.executable, "-c", "import orjson, jsonschema_rs"]),
            _Row("safepoint --version", [_safepoint(), "--version"]),
            _Row("safepoint validate ONE_RECORD", _validate(_RECORD)),
        ]
        # they are short: one more or less scheduled process shows in each, and only in the median of many not
        return self._group("start-up; here the floor is python -c pass", rows, rounds=max(self.rounds, 21))

    def _memory(self) -> Group:
        rows: list[Measured] = []
        for layout in ("objects", "lines"):
            smallest = None
            for records in sorted(self.records):
                store = self._corpus(layout, -(-records // RECORDS_OF_A_RUN))
                self.told(f"memory: {records:,} records as {layout}")
                row = _Row(f"safepoint validate, {records:,} records as {layout}", _validate(store))
                cost = run(row.command)
                smallest = smallest or cost
                more = f"{(cost.peak - smallest.peak) / 1e6:+.0f} MB" if cost is not smallest else ""
                rows.append(Measured(row.name, [cost], _remark(row, [cost]) or more))
        return Group("memory, each once", rows, compared=False)

    def _group(
        self, title: str, rows: list[_Row], rounds: int = 0, prepare: Callable[[str], None] = lambda _: None
    ) -> Group:
        commands = {row.name: row.command for row in rows if row.command}
        costs = interleave(
            commands, rounds or self.rounds, lambda what: self.told(f"{title}: {what}"), prepare
        )
        measured = (
            Measured(row.name, costs.get(row.name, ()), _remark(row, costs.get(row.name, ()))) for row in rows
        )
        return Group(title, list(measured))

    def _corpus(self, layout: str, runs: int, faulty: float = 0.0, *, older: bool = False) -> Path:
        """The folder of that corpus, made by a process of its own unless it is there."""
        kind = "older-" if older else ""
        store = self.work / f"{kind}{layout}-{runs}-{faulty}-{self.seed}-{_recipe()}"
        if not store.exists():
            self.told(f"making {runs:,} runs as {layout}")
            unfinished = store.with_name(f"{store.name}.part")
            shutil.rmtree(unfinished, ignore_errors=True)
            options = ["--layout", layout, "--runs", str(runs), "--seed", str(self.seed)]
            if not older:
                options += ["--faulty", str(faulty)]
            module = "benchmarks.older" if older else "benchmarks.corpus"
            command = [sys.executable, "-m", module, str(unfinished), *options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=_ROOT)  # noqa: S603
            unfinished.rename(store)
        return store

    def _schema(self) -> Path:
        """The file with the schema that peers are given."""
        path = self.work / "record.schema.json"
        return path if path.exists() else peers.bundle(path)

    def _peers(self) -> list[peers.Peer]:
        """All that could be installed."""
        if self.tools is None:
            return []
        if self._installed is None:
            self.told("installing the peers")
            self._installed, self._absent = peers.install(self.tools)
        return self._installed

    def _doubt(self, peer: peers.Peer) -> str:
        """What is to be said against a comparison with `peer`."""
        if peer.name not in self._doubts:
            clean = next(self._corpus("objects", self.slow_runs).glob("runs/*"))
            with tempfile.TemporaryDirectory(dir=self.work) as scratch:
                missed = peers.missed(peer, self._schema(), clean, Path(scratch) / "run")
            self._doubts[peer.name] = missed or "schema only"
        return self._doubts[peer.name]


def _floor(store: Path) -> _Row:
    return _Row("floor", [sys.executable, str(Path(__file__).with_name("floor.py")), str(store)])


def _validate(path: Path, *options: str) -> Command:
    return [_safepoint(), "validate", *options, str(path)]


def _guard(store: Path) -> Command:
    return [_safepoint(), "guard", "--all", "--format", "jsonl", str(store)]


def _migrate(store: Path, *options: str) -> Command:
    return [_safepoint(), "migrate", str(store), "--to", "v3", "--no-config", *options]


def _migrating(what: str, *places: Path) -> Command:
    return [sys.executable, "-m", "benchmarks.migrating", what, *map(str, places)]


def _safepoint() -> str:
    return str(Path(sysconfig.get_path("scripts")) / "safepoint")


def _remark(row: _Row, costs: Sequence[Cost]) -> str:
    """The row's own, unless it did not do what it should: then nothing else is worth saying."""
    odd = next((cost for cost in costs if cost.crashed or cost.status != row.status), None)
    return f"exit {odd.status}: {odd.said[:80]}" if odd else row.remark


def _recipe() -> str:
    """Changes with the code that makes corpora, so that no table mixes old ones with new ones."""
    made_by = ("corpus.py", "faults.py", "older.py", "scenes.py", "story.py", "words.py")
    return hashlib.sha256(
        b"".join(Path(__file__).with_name(name).read_bytes() for name in made_by)
    ).hexdigest()[:8]
