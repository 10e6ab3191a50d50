"""A crash before and after every store operation and every send, once and twice, then judged and resumed.

The properties are those of SPEC.md's crash model; the provider counts what was truly applied.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from safepoint.reader import load_run
from safepoint.recorder import ResumeRefused
from safepoint.store import open_store

TOOLS = ("unkeyed", "probe", "keyed")
ROUNDS = 8


class Outcomes:
    """One scripted run over all its crashes and recoveries."""

    def __init__(self, world: ModuleType, clock: Any, tool: str) -> None:
        self.world, self.clock, self.tool = world, clock, tool
        self.store = world.MemoryStore()
        self.provider = world.Provider(self.store, lambda moment: None, keyed=tool == "keyed")

    def play(self, *crashes: int) -> str:
        """Crash the n-th process at its n-th number; the last ones are left alone. ``done`` or ``human``."""
        left = list(crashes)
        for _ in range(ROUNDS):
            at = left.pop(0) if left else None
            ended = self.process(at)
            if ended:
                return ended
            self.check()
            self.clock.sleep(120)  # past the cooldown between two recoveries
        raise AssertionError("the run neither ended nor reached a human")

    def process(self, at: int | None) -> str | None:
        hook = self.hook = self.world.Countdown(at, self.die)
        hooked = self.world.HookedStore(self.store, hook)
        self.provider.hook = hook
        run = self.world.stored(self.store)
        try:
            if run is None:
                opened = self.world.begin(hooked, self.clock)
            else:
                facts = self.world.facts_of(run, self.clock(), self.provider, self.tool)
                opened = self.world.go_on(hooked, self.clock, facts)
            self.world.work(opened, self.provider, self.tool)
        except self.world.CrashError:
            return None
        except ResumeRefused as refused:
            return {"hand_over": "human", "no_op": "done"}.get(refused.decision.verdict)
        return "done"

    def die(self) -> None:
        raise self.world.CrashError

    def check(self) -> None:
        run = self.world.stored(self.store)
        if run is None:
            return
        scan = load_run(self.store, self.world.RUN_ID)
        assert not scan.faults
        # Properties 4 and 5: one chain without a gap, and nobody of an older epoch behind a fence.
        assert not run.faults
        # Property 1: never applied twice.
        assert len(self.provider.applied) <= 1
        # Property 2: what is called committed is applied, what is called failed is not.
        pay = run.actions.get("pay")
        if pay and pay.status == "committed":
            assert self.provider.applied
        if pay and pay.status == "failed":
            assert not self.provider.applied


def moments(world: ModuleType, clock: Any, tool: str) -> int:
    whole = Outcomes(world, clock, tool)
    assert whole.play() == "done"
    return int(whole.hook.moments)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_crash_at_any_moment_never_applies_twice_and_the_run_ends(
    world: ModuleType, clock: Any, tool: str
) -> None:
    ends = []
    for at in range(1, moments(world, clock, tool) + 1):
        outcomes = Outcomes(world, clock, tool)
        ends.append(outcomes.play(at))
        outcomes.check()
        if ends[-1] == "done":
            assert outcomes.provider.applied == ["run-1_pay_v1"]
            assert outcomes.world.stored(outcomes.store).status == "completed"
    # Without a key or a probe a crash around the send is a human's; with one no crash is.
    assert ("human" in ends) == (tool == "unkeyed")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_second_crash_during_the_recovery_changes_nothing_of_that(
    world: ModuleType, clock: Any, tool: str
) -> None:
    first = moments(world, clock, tool)
    for at in range(1, first + 1, 3):
        for second in range(1, 90, 5):
            outcomes = Outcomes(world, clock, tool)
            end = outcomes.play(at, second)
            outcomes.check()
            assert end == "done" or tool == "unkeyed"


@pytest.mark.parametrize(
    ("tool", "at", "applied"),
    [
        ("unkeyed", 17, 0),
        ("unkeyed", 18, 1),
        ("keyed", 18, 1),
        ("probe", 17, 0),
        ("keyed", 20, 1),
    ],
)
def test_a_process_that_is_really_killed_leaves_a_store_that_goes_on_or_asks_a_human(
    world: ModuleType, clock: Any, tmp_path: Path, tool: str, at: int, applied: int
) -> None:
    (tmp_path / "clock").write_text(str(clock()))
    command = [sys.executable, world.__file__, str(tmp_path), tool]
    killed = subprocess.run([*command, str(at)], capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr
    book = tmp_path / "book"
    assert len(book.read_text().split() if book.exists() else ()) == applied

    (tmp_path / "clock").write_text(str(clock() + 120 * 10**9))
    resumed = subprocess.run([*command, "0"], capture_output=True, check=False, text=True)
    run = world.stored(open_store(str(tmp_path / "store")))
    assert not run.faults
    if resumed.returncode:
        assert tool == "unkeyed"
        assert "hand_over" in resumed.stderr
    else:
        assert run.status == "completed"
        assert len(book.read_text().split()) == 1
