"""The recovery log authorises nothing: trouble with it changes nothing of the run, and is caught up with."""

from __future__ import annotations

from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from safepoint.core.timestamp import format_time
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import IllegalRecord, RecordedRun, log, resume_run, start_run
from safepoint.store import Outcome, Store, UnreachableError

RUN = "run-1"
WHOLE = ["detected", "assessing", "authorized", "claimed", "resuming", "probation", "recovered"]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)


def recovering(store: Store, clock: Any) -> RecordedRun:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin", next_steps=[])
    return resume(store, clock)


def resume(store: Store, clock: Any) -> RecordedRun:
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    facts = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now, "owners": [owner]}
    return resume_run(store, RUN, holder="w2", ttl_seconds=10, facts=facts, clock=clock)


def folded(store: Store) -> Run:
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    return found


def states(store: Store) -> list[str]:
    return [str(record.value["state"]) for record in folded(store).recovery]


def troubled(world: ModuleType, inner: Store, fault: str, *, first: int = 0, times: int = 1) -> Any:
    """A store in which `times` writes to the recovery log go wrong, from the one with number `first` on."""

    class Troubled(world.HookedStore):  # type: ignore[misc,name-defined]
        puts = -1

        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            self.puts += "/recovery/" in key
            if "/recovery/" not in key or not first <= self.puts < first + times:
                return self.inner.put_if_absent(key, data)
            if fault == "refused":
                raise UnreachableError(self.url, "no answer", key)
            self.inner.put_if_absent(key, data)
            return Outcome.UNKNOWN

        def get(self, key: str, limit: int | None = None) -> bytes:
            if "/recovery/" in key and first <= self.puts < first + times - 1:
                raise UnreachableError(self.url, "no answer", key)
            return bytes(self.inner.get(key, limit))

    return Troubled(inner, lambda moment: None)


def use(run: RecordedRun, store: Store) -> None:
    assert run._episode is not None
    run._journal.store = run._episode._log.store = store


@pytest.mark.parametrize(("fault", "times"), [("refused", 1), ("answer lost", 5)])
def test_a_checkpoint_and_an_end_stand_whatever_the_recovery_log_does(
    world: ModuleType, store: Store, clock: Any, fault: str, times: int
) -> None:
    run = recovering(store, clock)
    use(run, troubled(world, store, fault, times=times))
    with run:
        run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
        run.complete()
    assert folded(store).status == "completed"
    assert states(store) == WHOLE


def test_a_completed_recovery_is_not_called_failed(world: ModuleType, store: Store, clock: Any) -> None:
    run = recovering(store, clock)
    use(run, troubled(world, store, "refused", times=2))

    def complete_and_fail() -> None:
        with run:
            run.complete()
            raise ValueError("afterwards")

    with pytest.raises(ValueError, match="afterwards"):
        complete_and_fail()
    assert "failedAttempt" not in states(store)
    assert folded(store).status == "completed"


def test_what_was_missed_is_written_at_the_latest_with_the_release(
    world: ModuleType, store: Store, clock: Any
) -> None:
    run = recovering(store, clock)
    use(run, troubled(world, store, "refused"))
    with run:
        run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
    assert states(store)[-1] == "probation"


def test_a_claimed_run_is_opened_although_the_log_does_not_answer(
    world: ModuleType, store: Store, clock: Any
) -> None:
    start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run = resume(troubled(world, store, "refused", first=3, times=1), clock)
    run.complete()
    assert states(store) == WHOLE


def test_threads_share_one_episode(world: ModuleType, store: Store, clock: Any) -> None:
    run = recovering(store, clock)
    threads: list[Thread] = []

    def also() -> None:
        run.checkpoint("cp_B", state="s", step_name="b")
        done.append("cp_B")

    def hook(moment: str) -> None:
        if moment == "before put" and not threads:
            threads.append(Thread(target=also))
            threads[0].start()
            threads[0].join(0.1)

    done: list[str] = []
    assert run._episode is not None
    run._episode._log.store = world.HookedStore(store, hook)
    run.checkpoint("cp_A", state="s", step_name="a")
    threads[0].join()
    assert done == ["cp_B"]
    assert states(store)[-1] == "probation"
    assert len(folded(store).checkpoints) == 3


def test_only_an_episode_that_another_ended_makes_a_decision_stale(store: Store, clock: Any) -> None:
    start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    clock.sleep(30)
    with pytest.raises(IllegalRecord):
        resume_run(store, RUN, holder="w2", failure_signature="x" * 300, clock=clock)
    assert states(store) == []
