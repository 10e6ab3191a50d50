"""A migration that is killed, or meets an outage, at each operation on either store: it goes on to the same copy.

In between nobody may take a part of a copy for a whole, nor go on in both places.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from faulty import MODES, Mode, Process
from moving_world import LONG, World

from safepoint.moving import progress
from safepoint.recorder import log
from safepoint.store import copying


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)
    monkeypatch.setattr(copying, "_PAUSE", 0)


@pytest.fixture(scope="module")
def whole() -> Mapping[str, bytes]:
    """The copy of a migration that nothing disturbs."""
    world = World()
    assert world.migrate().outcome == "done"
    return world.copied()


def operations(*, seal: bool) -> int:
    """How many operations a migration has that nothing disturbs."""
    process = Process()
    World(seal=seal).migrate(process)
    assert process.count > 50
    return process.count


def require_end(world: World, whole: Mapping[str, bytes]) -> None:
    """The next process ends it, and the one after that finds nothing to do."""
    world.go_on()
    world.check(whole)
    assert world.copied() == whole
    assert world.is_completed()
    world.check_seal()
    before = dict(world.copy), dict(world.source)
    assert world.go_on().outcome == "nothingToDo"
    assert (world.copy, world.source) == before


@pytest.mark.parametrize("seal", [False, True], ids=["copied", "sealed"])
@pytest.mark.parametrize("mode", MODES)
def test_a_fault_at_any_operation_ends_in_the_same_copy(
    monkeypatch: pytest.MonkeyPatch, whole: Mapping[str, bytes], mode: Mode, *, seal: bool
) -> None:
    for at in range(1, operations(seal=seal) + 1):
        # every second time somebody knows that the process is dead; else its lease has lapsed
        known = at % 2 == 0
        monkeypatch.setattr(progress, "_is_alive", lambda _, known=known: not known)
        world = World(seal=seal)
        try:
            process = Process(mode, at)
            world.fail(process)
            assert process.met
            world.check(whole)
            if not known:
                world.clock.sleep(LONG)
                world.check(whole)
            require_end(world, whole)
        except BaseException as error:
            error.add_note(f"{mode}, operation {at}")
            raise


@pytest.mark.parametrize("seed", range(4))
def test_two_faults_one_after_the_other_end_in_the_same_copy(
    monkeypatch: pytest.MonkeyPatch, whole: Mapping[str, bytes], seed: int
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(progress, "_is_alive", lambda _: False)
    for _ in range(60):
        seal = chance.random() < 0.5
        count = operations(seal=seal)
        faults = [(chance.choice(MODES), chance.randint(1, count)) for _ in range(2)]
        world = World(seal=seal)
        try:
            for mode, at in faults:
                world.fail(Process(mode, at))
                world.check(whole)
            require_end(world, whole)
        except BaseException as error:
            error.add_note(f"{faults}, seal={seal}")
            raise
