"""Two migrations into one place at once: at most one is at work, the other says so, and the copy is no mixture."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from faulty import Process
from mixed_stores import contents, lay_down, mixed, small
from moving_world import LONG, World

from safepoint.cli.main import safepoint
from safepoint.core.version import V2
from safepoint.moving import progress
from safepoint.moving.migration import Report
from safepoint.moving.progress import AnotherMigrationError
from safepoint.recorder import Fenced, log
from safepoint.store import copying

ROUNDS = 6


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)
    monkeypatch.setattr(copying, "_PAUSE", 0)


def another_store() -> dict[str, bytes]:
    found = small()
    found["loose-3.json"] = found.pop("loose-1.json").replace(b'"cp_1"', b'"cp_9"')
    return found


OTHERS: Mapping[str, Callable[[World], Report]] = {
    "to another version": lambda world: world.migrate(to=V2, allow_loss=True),
    "with another permission": lambda world: world.migrate(allow_loss=True),
    "of another source": lambda world: world.migrate(another=another_store()),
}


def ended(work: Callable[[], Report]) -> str:
    """How one of two ended."""
    try:
        report = work()
    except (AnotherMigrationError, Fenced):
        return "busy"
    if report.outcome == "refused":
        assert set(report.tally.codes) - {"SP603", "SP605"} == {"SP604"}
    return report.outcome


def meet(world: World, at: int, other: Callable[[], Report]) -> tuple[str, str]:
    """How two ended of which the other did all its work before operation `at` of the one."""
    met: list[str] = []
    process = Process(at=at, meanwhile=lambda: met.append(ended(other)))
    return ended(lambda: world.migrate(process)), met[0]


def operations(world: World) -> int:
    process = Process()
    world.migrate(process)
    return process.count


def half_done() -> World:
    """A migration that was killed in the middle, a while ago."""
    world = World()
    world.fail(Process("killed after", 48))
    world.clock.sleep(LONG)
    return world


@pytest.mark.parametrize("alive", [True, False], ids=["alive", "held up and called dead"])
@pytest.mark.parametrize("begin", [World, half_done], ids=["from the beginning", "going on"])
def test_the_same_migration_twice_is_done_once(
    monkeypatch: pytest.MonkeyPatch, begin: Callable[[], World], *, alive: bool
) -> None:
    monkeypatch.setattr(progress, "_is_alive", lambda _: alive)
    whole = World()
    whole.migrate()
    seen = set()
    for at in range(1, operations(begin()) + 1):
        world = begin()
        ends = meet(world, at, world.migrate)
        seen.add(ends)
        assert "done" in ends, (at, ends)
        assert world.copied() == whole.copied(), at
        assert world.is_completed()
        assert world.source_is_untouched()
    assert seen <= {("done", "busy"), ("busy", "done"), ("nothingToDo", "done"), ("done", "nothingToDo")}


@pytest.mark.parametrize("which", OTHERS)
def test_of_two_different_migrations_one_is_refused_and_leaves_nothing(which: str) -> None:
    one, other = World(), World()
    count = operations(one)
    OTHERS[which](other)
    for at in range(1, count + 1):
        world = World()
        ends = meet(world, at, lambda world=world: OTHERS[which](world))  # type: ignore[misc]
        assert sorted(ends) == ["done", "refused"], at
        assert world.copied() == (one if ends[0] == "done" else other).copied(), at
        assert world.is_completed()


def test_two_that_seal_seal_once() -> None:
    for at in range(1, operations(World(seal=True)) + 1):
        world = World(seal=True)
        try:
            meet(world, at, world.migrate)
            world.clock.sleep(LONG)
            world.go_on()
            world.check_seal()
        except BaseException as error:
            error.add_note(f"operation {at}")
            raise


def command(folder: Path, *options: str, source: str = "source") -> subprocess.Popen[str]:
    arguments = ["migrate", str(folder / source), *options, "--output", str(folder / "copy")]
    return subprocess.Popen(
        [sys.executable, "-m", "safepoint", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_at_once_end_in_the_same_copy(tmp_path: Path) -> None:
    lay_down(tmp_path / "source", mixed(14))
    began = time.monotonic()
    command(tmp_path, "--to", "v3").communicate()
    seconds = time.monotonic() - began
    whole = {
        k: data for k, data in contents(tmp_path / "copy").items() if not k.startswith("runs/migration-1/")
    }
    chance = random.Random(seed := random.randrange(1 << 32))
    for number in range(ROUNDS):
        (tmp_path / "copy").rename(tmp_path / f"copy-{number}")
        one = command(tmp_path, "--to", "v3")
        time.sleep(seconds * chance.random() * 0.6)
        two = command(tmp_path, "--to", "v3")
        told = [(process.communicate(), process.returncode) for process in (one, two)]
        assert 0 in {status for _, status in told}, (seed, told)
        for (_, said), status in told:
            assert status in {0, 3}, (seed, told)
            assert "Traceback" not in said, seed
            if status == 3:
                assert f"Error: {tmp_path / 'copy'}: another process" in said, (seed, said)
        copied = contents(tmp_path / "copy")
        assert {k: data for k, data in copied.items() if not k.startswith("runs/migration-1/")} == whole, seed
        assert contents(tmp_path / "source") == mixed(14)


@pytest.mark.parametrize("other", [("--to", "v2", "--allow-loss"), ("--to", "v3", "--allow-loss")])
def test_of_two_different_processes_at_once_one_is_refused(tmp_path: Path, other: tuple[str, ...]) -> None:
    lay_down(tmp_path / "source", small())
    for number in range(3):
        one, two = command(tmp_path, "--to", "v3"), command(tmp_path, *other)
        told = [(process.communicate(), process.returncode) for process in (one, two)]
        assert sorted(status for _, status in told) == [0, 1], told
        ((_, said),) = (words for words, status in told if status == 1)
        assert "SP604" in said
        (tmp_path / "copy").rename(tmp_path / f"copy-{number}")


def test_one_that_was_stopped_for_longer_than_its_lease_writes_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own pause: another process is told that it is dead, finishes, and the first one wakes up."""
    lay_down(tmp_path / "source", mixed(60))
    one = command(tmp_path, "--to", "v3")
    until = time.monotonic() + 30
    while not any((tmp_path / "copy/runs").glob("completed-*")) and time.monotonic() < until:
        time.sleep(0.001)
    one.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(progress, "_is_alive", lambda _: False)
    done = CliRunner().invoke(
        safepoint, ["migrate", str(tmp_path / "source"), "--to", "v3", "--output", str(tmp_path / "copy")]
    )
    whole = contents(tmp_path / "copy")
    one.send_signal(signal.SIGCONT)
    _, said = one.communicate()
    assert (done.exit_code, one.returncode) in {(0, 3), (0, 0)}, (done.output, said)
    assert "Traceback" not in said
    assert contents(tmp_path / "copy") == whole
