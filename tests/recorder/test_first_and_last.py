"""A process that dies at its first words, or right behind its last one."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from safepoint import rules
from safepoint.core.timestamp import format_time
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import RecordedRun, resume_run, start_run
from safepoint.recorder.ending import end_rounds
from safepoint.store import Store

RUN = "run-1"


def start(store: Store, clock: Any) -> RecordedRun:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, input={"n": 1}, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"])
    return run


def dead(clock: Any, *epochs: int, **more: Any) -> dict[str, Any]:
    now = format_time(clock())
    owners = [
        {"leaseEpoch": epoch, "state": "dead", "proof": "waitpid", "observedAt": now} for epoch in epochs
    ]
    return {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": RUN,
        "observedAt": now,
        "owners": owners,
        **more,
    }


def resume(store: Store, clock: Any, **options: Any) -> RecordedRun:
    return resume_run(store, RUN, **{"holder": "w2", "facts": dead(clock, 1), **options}, clock=clock)


def folded(store: Store) -> Run:
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    return found


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
