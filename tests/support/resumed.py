"""A run that is begun, and gone on with by another worker."""

from __future__ import annotations

from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import RecordedRun, resume_run, start_run
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
