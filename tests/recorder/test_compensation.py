"""Undoing what was done: the target's record says how far it came, and a run that is undone goes no other way."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from safepoint import rules
from safepoint.core.timestamp import format_time
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    IllegalRecord,
    RecordedRun,
    RecorderError,
    ResumeRefused,
    resume_run,
    start_run,
)
from safepoint.store import Store

RUN = "run-1"
PAY = Declares(effect="payment", reversibility="compensatable", compensation="refund", probe="byQuery")
REFUND = Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400)
UNWIND = {"recordType": "request", "schemaVersion": "v3", "goal": "unwind"}


@pytest.fixture
def run(store: Store, clock: Any) -> RecordedRun:
    opened = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    opened.checkpoint("cp_01", state="s", step_name="a", next_steps=["pay", "ship"])
    for name in ("pay", "ship"):
        opened.effect(name, step_name=name, request=1, declares=PAY).call(lambda: "done")
    return opened


def refund(run: RecordedRun, target: str = "pay", **options: Any) -> Any:
    wanted = {"step_name": "undo", "request": 2, "key": f"undo-{target}", "declares": REFUND}
    return run.effect(f"undo-{target}", compensates=target, **(wanted | options))


def sound(store: Store) -> Run:
    scan = load_run(store, RUN)
    assert scan.run is not None
    found = [fault.code for fault in (*scan.faults, *rules.check(scan.run))]
    # SP524: where a checkpoint is due is the agent's business, and these agents take few.
    # SP522: a crash right behind the run's end leaves its episode open.
    assert [code for code in found if code not in {"SP522", "SP524"}] == []
    return scan.run


def statuses(store: Store) -> dict[str, str]:
    return {action.action_id: action.status for action in sound(store).actions.values()}


def written(store: Store, action_id: str) -> list[str]:
    return [str(record.value["status"]) for record in sound(store).actions[action_id].records]


def dead(clock: Any, *epochs: int) -> dict[str, Any]:
    now = format_time(clock())
    owners = [{"leaseEpoch": each, "state": "dead", "proof": "waitpid", "observedAt": now} for each in epochs]
    common = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now}
    return {**common, "owners": owners}


def unwind(store: Store, clock: Any, *epochs: int) -> RecordedRun:
    facts = dead(clock, *epochs)
    return resume_run(store, RUN, holder="w2", ttl_seconds=10, facts=facts, request=UNWIND, clock=clock)


def test_what_is_undone_says_so_before_and_after(store: Store, run: RecordedRun) -> None:
    assert refund(run).call(lambda: written(store, "pay")[-1]) == "compensating"
    assert written(store, "pay") == ["attempting", "committed", "compensating", "compensated"]
    assert statuses(store) == {"pay": "compensated", "ship": "committed", "undo-pay": "committed"}


def test_a_compensation_may_use_up_the_key_of_what_it_undoes(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", clock=clock)
    run.effect("pay", step_name="p", request=1, key="k", declares=REFUND).call(lambda: 1)
    refund(run, key="k").call(lambda: 1)
    assert statuses(store)["pay"] == "compensated"
    with pytest.raises(IllegalRecord, match="SP402"):
        run.effect("other", step_name="p", request=1, key="k", declares=REFUND).call(lambda: 1)


def test_a_compensation_that_failed_for_good_is_told_of_its_target(store: Store, run: RecordedRun) -> None:
    def refuse() -> None:
        raise ValueError("too late for a refund")

    with pytest.raises(ValueError, match="too late"):
        refund(run, definite=(ValueError,)).call(refuse)
    assert statuses(store)["pay"] == "compensating"
    with pytest.raises(ValueError, match="too late"):
        refund(run, definite=(ValueError,), retryable=False).call(refuse)
    assert statuses(store)["pay"] == "compensationFailed"


@pytest.mark.parametrize("target", ["nothing", "undo-ship", "pay"])
def test_what_cannot_be_undone_is_not_recorded_as_being_undone(
    store: Store, run: RecordedRun, target: str
) -> None:
    refund(run, "ship").call(lambda: 1)
    refund(run).call(lambda: 1)
    before = len(sound(store).records)
    again = run.effect("again", step_name="undo", request=3, declares=REFUND, key="again", compensates=target)
    with pytest.raises(IllegalRecord):
        again.call(lambda: pytest.fail("sent"))
    assert len(sound(store).records) == before


def test_what_an_action_undoes_stays_the_same(store: Store, run: RecordedRun) -> None:
    def refuse() -> None:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        refund(run, definite=(ValueError,)).call(refuse)
    other = run.effect(
        "undo-pay", step_name="undo", request=2, key="undo-pay", declares=REFUND, compensates="ship"
    )
    with pytest.raises(IllegalRecord, match="recorded as undoing pay, not ship"):
        other.call(lambda: pytest.fail("sent"))
    assert statuses(store)["ship"] == "committed"


def test_an_action_stays_with_its_step_although_the_code_has_renamed_it(
    store: Store, run: RecordedRun
) -> None:
    def refuse() -> None:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        refund(run, definite=(ValueError,)).call(refuse)
    refund(run, step_name="take_back").call(lambda: 1)
    records = sound(store).actions["undo-pay"].records
    assert {record.value["stepName"] for record in records} == {"undo"}


def test_what_failed_has_nothing_to_undo(store: Store, run: RecordedRun) -> None:
    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run.effect("mail", step_name="m", request=1, definite=(ValueError,)).call(refuse)
    with pytest.raises(IllegalRecord, match="mail is failed: there is nothing to compensate"):
        refund(run, "mail").call(lambda: pytest.fail("sent"))
    assert statuses(store)["mail"] == "failed"


@pytest.mark.usefixtures("run")
def test_a_run_is_unwound_by_its_plan_and_goes_no_other_way(store: Store, clock: Any) -> None:
    with pytest.raises(ResumeRefused):
        resume_run(store, RUN, holder="w2", clock=clock)
    again = unwind(store, clock, 1)
    assert again.next_steps == ()
    assert [item.action_id for item in again.plan if item.do == "compensate"] == ["ship", "pay"]
    assert again.effect("pay", step_name="pay", request=1).call(lambda: pytest.fail("paid twice")) == "done"
    with pytest.raises(RecorderError, match="nothing new is attempted"):
        again.effect("more", step_name="m", request=1).call(lambda: pytest.fail("sent"))
    for item in again.plan:
        if item.do == "compensate":
            refund(again, str(item.action_id)).call(lambda: 1)
    again.cancelled()
    assert sound(store).status == "cancelled"
    states = [record.value["state"] for record in sound(store).recovery]
    assert states == ["detected", "assessing", "compensating", "compensated"]


@pytest.mark.usefixtures("run")
def test_a_crash_anywhere_in_an_unwinding_undoes_each_effect_once(
    world: ModuleType, store: Store, clock: Any
) -> None:
    objects = dict(store.objects)  # type: ignore[attr-defined]  # the stand-in has it
    for at in range(1, 80):
        mine = world.MemoryStore()
        mine.objects = dict(objects)
        undone: list[str] = []
        hook = world.Countdown(at, lambda: raise_(world.CrashError()))
        clock.sleep(100)
        ends = []
        for epochs, opened in (((1,), world.HookedStore(mine, hook)), ((1, 2), mine), ((1, 2, 3), mine)):
            try:
                again = unwind(opened, clock, *epochs)
                for target in ("ship", "pay"):
                    refund(again, target).call(undone.append, target)
                again.cancelled()
            except world.CrashError:
                clock.sleep(100)
            except ResumeRefused as refused:
                ends.append(refused.decision.verdict)
        run = sound(mine)
        assert [run.actions[name].status for name in ("pay", "ship")] == ["compensated", "compensated"]
        assert run.status == "cancelled" or ends[-1] == "give_up"
        # The key makes a second send of one compensation the same refund.
        assert set(undone) == {"pay", "ship"}


def raise_(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("end", ["cancelled", "complete"])
def test_who_ends_the_run_before_all_is_undone_ends_its_episode_too(
    store: Store, run: RecordedRun, clock: Any, end: str
) -> None:
    del run
    again = unwind(store, clock, 1)
    getattr(again, end)()
    [episode] = sound(store).episodes.values()
    assert episode.state == "superseded"
    assert "SP522" not in [fault.code for fault in rules.check(sound(store))]
