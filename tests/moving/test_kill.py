"""A migration as a process that is really killed, at a random moment: the same command goes on to the same copy.

SAFEPOINT_KILLS=200 kills so often and moves 500 runs; SAFEPOINT_SEED repeats the moments that a failure prints.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from mixed_stores import OPEN, PAYLOAD, contents, lay_down, mixed, write_steps

import safepoint
from safepoint.cli.main import safepoint as command
from safepoint.core.digest import digest_stored
from safepoint.core.timestamp import SECOND
from safepoint.core.version import V3
from safepoint.migrate import Migrator
from safepoint.moving.migration import migrate_store
from safepoint.payloads import PayloadSchemas
from safepoint.payloads.migrations import PayloadMigrations
from safepoint.settings import load_settings
from safepoint.store import open_store

KILLS = int(os.environ.get("SAFEPOINT_KILLS", "30"))
LONG = KILLS > 30
RUNS = 500 if LONG else 28
SEED = int(os.environ.get("SAFEPOINT_SEED", "0")) or random.randrange(1, 1 << 32)
TIMES = (1, 1, 1, 2, 3)
"""How often one migration is killed: one of these."""

MODES = {
    "alone": ("--to", "v3"),
    "shared": ("--to", "v3", "--jobs", "2"),
    "sealed": ("--to", "v3", "--seal", "--by", "ops"),
    "payloads": ("--payload", PAYLOAD),
}
OWN = "runs/migration-1/"


@dataclass
class Scene:
    """A store, the command that migrates it, and what comes of it where nothing disturbs."""

    folder: Path
    mode: str
    options: tuple[str, ...]
    original: dict[str, bytes]
    whole: dict[str, bytes] = field(default_factory=dict)
    seconds: float = 0

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def copy(self) -> Path:
        return self.folder / "copy"

    def begin(self) -> subprocess.Popen[str]:
        arguments = [
            "migrate",
            str(self.source),
            *self.options,
            "--output",
            str(self.copy),
            "--format",
            "json",
        ]
        return subprocess.Popen(
            [sys.executable, "-m", "safepoint", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )

    def fresh(self) -> None:
        """No copy, and the source as it was."""
        shutil.rmtree(self.copy, ignore_errors=True)
        if self.mode == "sealed":
            shutil.rmtree(self.source, ignore_errors=True)
            lay_down(self.source, self.original)

    def kill(self, share: float, number: int = signal.SIGKILL) -> int:
        """The status of the command, to which a signal was sent after that part of its time."""
        began, fresh = time.monotonic(), not self.copy.exists()
        process = self.begin()
        try:
            said, problem = process.communicate(timeout=share * self.seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            said, problem = process.communicate()
        if fresh and process.returncode == 0:  # the machine is faster now than it was
            self.seconds = min(self.seconds, time.monotonic() - began)
        if process.returncode == 1:
            assert said, problem
            self.require_claims(said)
        return process.returncode

    def run(self) -> dict[str, Any]:
        """The report of the same command, to the end."""
        process = self.begin()
        said, problem = process.communicate()
        if process.returncode == 3 and "another recovery of this run is under way" in problem:
            return (
                self.later()
            )  # killed between two records of a takeover, which nobody can tell from one that lives
        if process.returncode == 1 and self.mode == "sealed":
            self.require_claims(said)
            return self.later()
        assert process.returncode == 0, (said, problem)
        summary: dict[str, Any] = orjson.loads(said)["summary"]
        return summary

    def require_claims(self, said: str) -> None:
        """Only what a killed process had just claimed may be left unsealed."""
        summary = orjson.loads(said)["summary"]
        left = [seal["runId"] for seal in summary["seals"] if seal["message"]]
        assert (summary["done"], len(left)) == (True, 1), summary
        newest = max(self.source.glob(f"runs/{left[0]}/journal/*"))
        assert orjson.loads(newest.read_bytes())["purpose"] == "resolution"

    def later(self) -> dict[str, Any]:
        """The same, by a clock that shows when nobody need wait for those leases any more."""
        migrator, sealed_by = Migrator(V3), None
        if self.mode == "sealed":
            sealed_by = "ops"
        elif self.mode == "payloads":
            settings = load_settings(self.folder / "safepoint.toml")
            schemas = PayloadSchemas.load(settings.payload_schemas)
            change = PayloadMigrations.load(settings.payload_migrations, schemas).toward([PAYLOAD])
            migrator = Migrator(None, payloads=change)
        stores = open_store(str(self.source)), open_store(str(self.copy))
        report = migrate_store(
            *stores, migrator, sealed_by=sealed_by, clock=lambda: time.time_ns() + 200 * SECOND
        )
        assert (report.outcome in {"done", "nothingToDo"}, report.unsealed) == (True, ())
        return {"outcome": "later", "resumed": report.resumed}

    def copied(self) -> dict[str, bytes]:
        """The copy without what tells how and when it was made."""
        return {
            key: data
            for key, data in contents(self.copy).items()
            if not key.startswith(OWN) and not key.endswith("/seal.json")
        }

    def require_whole(self) -> None:
        """The copy is the one that an undisturbed migration makes, and the source is what it was."""
        found = self.copied()
        assert found.keys() == self.whole.keys()
        assert [key for key in found if found[key] != self.whole[key]] == []
        faults = [each for each in safepoint.validate(str(self.copy)) if each.severity != "info"]
        assert faults == []
        shown = CliRunner().invoke(
            command, ["show", str(self.copy), "--run", "migration-1", "--format", "json"]
        )
        assert shown.exit_code == 0, shown.output
        assert orjson.loads(shown.stdout)["state"] == "completed"
        self.require_source()

    def require_source(self) -> None:
        """Nothing has changed in the source, and only what seals it was added."""
        there = contents(self.source)
        assert self.original.items() <= there.items()
        new = there.keys() - self.original.keys()
        if self.mode != "sealed":
            assert new == set()
            return
        for run in (key.split("/")[1] for key in self.original if key.endswith("/journal/0000000001.json")):
            added = sorted(key for key in new if key.startswith(f"runs/{run}/journal/"))
            new -= set(added)
            if run.partition("-")[0] not in OPEN:
                assert added == []
                continue
            *claims, seal = added
            assert all(orjson.loads(there[key])["purpose"] == "resolution" for key in claims)
            assert claims
            assert orjson.loads(there[seal])["status"] == "sealed"
            proof = orjson.loads((self.copy / f"runs/{run}/seal.json").read_bytes())
            assert proof["digest"] == digest_stored(there[seal])
        assert new == set()

    def require_no_second_authority(self) -> None:
        """No run of a part of a copy may go on."""
        if not self.copy.exists():
            return
        for judged in safepoint.guard_all(str(self.copy)):
            decision = judged.decision
            if decision is not None and decision.verdict == "resume" and decision.run_id != "migration-1":
                assert (self.copy / f"runs/{decision.run_id}/seal.json").exists()


@pytest.fixture(scope="module", params=MODES)
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp(request.param)
    write_steps(folder)
    original = mixed(RUNS, payloads=request.param == "payloads")
    made = Scene(folder, request.param, MODES[request.param], original)
    lay_down(made.source, original)
    began = time.monotonic()
    assert made.run()["outcome"] == "done"
    made.seconds = time.monotonic() - began
    made.whole = made.copied()
    made.require_whole()
    return made


def rounds(chance: random.Random, number: int) -> Iterator[list[float]]:
    """When one migration after the other is killed, as parts of its time, spread over all of it; each once or more."""
    left = [(each + chance.random()) / number for each in range(number)]
    chance.shuffle(left)
    while left:
        times = min(chance.choice(TIMES), len(left))
        yield [left.pop() for _ in range(times)]


@contextmanager
def told(scene: Scene, shares: list[float]) -> Iterator[None]:
    """A failure says how to see it again."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"SAFEPOINT_SEED={SEED}: {scene.mode}, stopped after {shares} of {scene.seconds} s")
        raise


@pytest.mark.timeout(0 if LONG else 120)
def test_a_migration_killed_at_any_moment_goes_on_to_the_same_copy(
    scene: Scene, record_property: Callable[[str, object], None]
) -> None:
    counts: Counter[str] = Counter()
    for shares in rounds(random.Random(f"{SEED} {scene.mode}"), -(-KILLS // len(MODES))):
        scene.fresh()
        with told(scene, shares):
            for share in shares:
                counts["killed"] += scene.kill(share) == -signal.SIGKILL
                scene.require_no_second_authority()
            report = scene.run()
            scene.require_whole()
        counts["rounds"] += 1
        counts["went on"] += bool(report["resumed"])
        counts[report["outcome"]] += 1
    record_property("SAFEPOINT_SEED", SEED)
    record_property("counts", dict(counts))
    assert counts["killed"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_after_a_polite_signal_the_next_process_goes_on_at_once(scene: Scene, number: int) -> None:
    scene.fresh()
    share = random.Random(f"{SEED} {scene.mode} {number}").uniform(0.4, 0.9)
    with told(scene, [share]):
        assert scene.kill(share, number) in {0, 130, -number}
        scene.run()
        scene.require_whole()
