"""A process that dies at its first words, or right behind its last one."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from resumed import RUN, dead, folded, resume, start

from safepoint import rules
from safepoint.recorder.ending import end_rounds


def test_a_run_whose_worker_died_before_its_first_claim_is_recovered_as_any_other(
    world: ModuleType, clock: Any
) -> None:
    memory = world.MemoryStore()

    def die() -> None:
        raise world.CrashError

    with pytest.raises(world.CrashError):
        start(world.HookedStore(memory, world.Countdown(6, die)), clock)
    assert [record.kind for record in folded(memory).records] == ["run"]
    facts = dead(clock)
    nobody = {"holder": "nobody", "state": "dead", "proof": "no lease", "observedAt": facts["observedAt"]}
    with resume(memory, clock, facts={**facts, "owners": [nobody], "ledgerComplete": True}) as run:
        run.complete()
    found = folded(memory)
    assert found.ownership is not None
    assert [lease.epoch for lease in found.ownership.recoveries] == [1]
    told = (*found.faults, *rules.check(found))
    assert [fault for fault in told if rules.severity(fault.code) == "error"] == []


def test_wherever_the_last_words_were_cut_off_the_log_can_say_how_a_completed_run_ended(
    world: ModuleType, clock: Any
) -> None:
    cut = 0
    for at in range(1, 60):
        memory = world.MemoryStore()
        start(memory, clock)

        def die() -> None:
            raise world.CrashError

        hooked = world.HookedStore(memory, world.Countdown(at, die))
        try:
            run = resume(hooked, clock)
            run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
            run.complete()
        except world.CrashError:
            pass
        else:
            break
        before = folded(memory)
        cut += before.status == "completed" and not all(e.ended for e in before.episodes.values())
        end_rounds(memory, RUN, clock=clock)
        after = folded(memory)
        if before.status != "completed":
            assert after.recovery == before.recovery
            continue
        assert [episode.state for episode in after.episodes.values()] == ["recovered"]
        told = (*after.faults, *rules.check(after))
        assert [fault.code for fault in told if rules.severity(fault.code) != "info"] == []
        end_rounds(memory, RUN, clock=clock)
        assert folded(memory).recovery == after.recovery
    assert cut
