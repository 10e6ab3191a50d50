"""A disk that is full, a place that is read-only, and a source that changes: a clear error or a right result."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from faulty import FaultyStore, Process
from journals import Journal
from mixed_stores import contents, lay_down, small
from moving_world import LONG, OPEN, Clock, World

from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.version import V3
from safepoint.migrate import Migrator
from safepoint.moving.migration import migrate_store
from safepoint.recorder import RecorderError
from safepoint.store import Outcome, StoreError
from safepoint.store.errors import DeniedError, NoSpaceError
from safepoint.store.layout import journal_key


class Refusing(FaultyStore):
    """A place into which nothing more can be written after so many objects."""

    def __init__(self, objects: dict[str, bytes], lives: int, error: type[StoreError]) -> None:
        super().__init__("memory://copy", objects)
        self.lives, self.error = lives, error

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        if self.lives <= 0:
            raise self.error(self.url_of(key), "refused", key)
        self.lives -= 1
        return super().put_if_absent(key, data)


@pytest.fixture(scope="module")
def whole() -> Mapping[str, bytes]:
    world = World()
    world.migrate()
    return world.copied()


@pytest.mark.parametrize("error", [NoSpaceError, DeniedError], ids=["full", "read-only"])
def test_a_place_that_takes_no_more_is_named_and_is_gone_on_with_later(
    whole: Mapping[str, bytes], error: type[StoreError]
) -> None:
    puts = Refusing({}, 1000, error)
    migrate_store(FaultyStore("memory://source", small()), puts, Migrator(V3), clock=Clock())
    assert len(puts.objects) > 15
    for lives in range(1000 - puts.lives):
        world = World()
        source, target = FaultyStore("memory://source", world.source), Refusing(world.copy, lives, error)
        with pytest.raises(error, match=r"memory://copy/\w+"):
            migrate_store(source, target, Migrator(V3), clock=world.clock)
        world.check(whole)
        world.clock.sleep(LONG)
        world.go_on()
        assert world.copied() == whole


def test_a_file_that_is_too_large_for_the_disk_is_named_and_is_gone_on_with_later(tmp_path: Path) -> None:
    large = {**small(), f"runs/{OPEN}/artifacts/sha256/{'0' * 64}": b"x" * 300_000}
    lay_down(tmp_path / "source", large)
    copy = tmp_path / "copy"
    command = [sys.executable, "-m", "safepoint", "migrate", str(tmp_path / "source")]
    command += ["--to", "v3", "--output", str(copy)]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    # whoever measures what is covered could write no more than the command can
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    failed = subprocess.run(
        command, preexec_fn=limited, capture_output=True, text=True, check=False, env=unmeasured
    )
    assert failed.returncode == 3
    assert failed.stderr.startswith(f"Error: {copy}/runs/{OPEN}/artifacts/")
    assert "Traceback" not in failed.stderr
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert contents(copy)[f"runs/{OPEN}/artifacts/sha256/{'0' * 64}"] == b"x" * 300_000
    assert contents(tmp_path / "source") == large


def appended(source: dict[str, bytes]) -> None:
    """The run goes on."""
    journal = Journal(OPEN).begin()
    number = len([key for key in source if key.startswith(f"runs/{OPEN}/journal/")])
    while len(journal.values) < number:
        journal.checkpoint(2)
    record = journal.add("run", 9, status="failed").values[-1]
    before = source[journal_key(OPEN, number)]
    source[journal_key(OPEN, number + 1)] = encode_record(record | {"previousDigest": digest_stored(before)})


def added(source: dict[str, bytes]) -> None:
    source["runs/new/cp_1.json"] = source["runs/old/cp_1.json"].replace(b'"old"', b'"new"')


def added_behind(source: dict[str, bytes]) -> None:
    source["runs/z/cp_1.json"] = source["runs/old/cp_1.json"].replace(b'"old"', b'"z"')


def replaced(source: dict[str, bytes]) -> None:
    source["runs/old/cp_2.json"] = source["runs/old/cp_2.json"].replace(b"waiting", b"running")


def broken(source: dict[str, bytes]) -> None:
    source["runs/old/cp_2.json"] = b'{"checkpointId": "cp_2", "ru'


def removed(source: dict[str, bytes]) -> None:
    del source["runs/old/cp_2.json"]


def loose_replaced(source: dict[str, bytes]) -> None:
    source["loose-1.json"] = source["loose-1.json"].replace(b"waiting", b"running")


def loose_added(source: dict[str, bytes]) -> None:
    source["loose-3.json"] = source["loose-1.json"].replace(b"cp_1", b"cp_3")


CHANGES: tuple[Callable[[dict[str, bytes]], None], ...] = (
    appended, added, added_behind, replaced, broken, removed, loose_replaced, loose_added,
)  # fmt: skip


def after(change: Callable[[dict[str, bytes]], None]) -> dict[str, bytes] | None:
    """What a migration of the changed source makes; None where it is refused."""
    world = World()
    change(world.source)
    return world.copied() if world.migrate().outcome == "done" else None


def moments() -> Iterator[int]:
    process = Process()
    World().migrate(process)
    yield from range(1, process.count + 1)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_source_that_changes_gives_what_it_was_or_what_it_is_or_an_error(
    whole: Mapping[str, bytes], change: Callable[[dict[str, bytes]], None]
) -> None:
    new = after(change)
    for at in moments():
        world = World()
        process = Process(at=at, meanwhile=lambda world=world: change(world.source))  # type: ignore[misc]
        ended = ends(world, process)
        assert ended != "done" or world.copied() in (whole, new), at
        assert ended != "done" or world.is_completed()
        there = dict(world.copy)
        world.clock.sleep(LONG)
        again = ends(world, Process())
        if ended == "done":
            assert world.copy == there, at
            assert again == ("nothingToDo" if world.copied() == new else "refused"), at
        else:
            assert again != "done" or world.copied() == new, at


def ends(world: World, process: Process) -> str:
    try:
        return world.migrate(process).outcome
    except (StoreError, RecorderError):
        return "error"
