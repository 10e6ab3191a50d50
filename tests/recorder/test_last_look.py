"""The last look before the send: what the process itself knows stops it, whoever learned it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from safepoint.core.timestamp import SECOND, format_time
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    Fenced,
    InDoubt,
    RecordedRun,
    TooLate,
    resume_run,
    start_run,
)
from safepoint.recorder.approvals import open_unowned
from safepoint.store import Store

RUN = "run-1"
KEYED = Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400)


def start(store: Store, clock: Any) -> RecordedRun:
    return start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=60, clock=clock)


def dead(clock: Any, **more: Any) -> dict[str, Any]:
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    common = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now}
    return {**common, "owners": [owner], **more}


def effect(run: RecordedRun, **options: Any) -> Any:
    return run.effect("pay", **{"step_name": "pay", "request": 1, **options})


def once_recorded(run: RecordedRun, world: ModuleType, then: Callable[[], object]) -> None:
    """Let `then` happen when the next record is in the store, and before its writer goes on."""
    left = [then]

    def hook(moment: str) -> None:
        if moment == "after put" and left:
            left.pop()()

    run._journal.store = world.HookedStore(run._journal.store, hook)


def boom(error: Exception) -> None:
    raise error


def test_a_permission_that_lapses_before_the_send_is_not_used(
    world: ModuleType, store: Store, clock: Any
) -> None:
    with pytest.raises(OSError, match="lost"):
        effect(start(store, clock), declares=KEYED, key="k").call(boom, OSError("lost"))
    run = resume_run(store, RUN, holder="w2", ttl_seconds=3600, facts=dead(clock), clock=clock)
    assert run.decision is not None
    assert run.decision.valid_until is not None
    clock.now = run.decision.valid_until - 10 * SECOND
    once_recorded(run, world, lambda: clock.sleep(20))
    with pytest.raises(TooLate, match="the guard's decision"):
        effect(run, declares=KEYED, key="k", deadline_seconds=300).call(lambda: pytest.fail("sent"))
    found = load_run(store, RUN).run
    assert found is not None
    assert [attempt.status for attempt in found.actions["pay"].attempts] == ["inDoubt", "failed"]


def test_a_fence_that_another_thread_has_met_stops_the_send(
    store: Store, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(store, clock)
    paying = effect(run)
    begin = paying._begin

    def slow() -> Any:
        attempt = begin()
        other = open_unowned(store, RUN, clock)
        other.claim({"purpose": "recovery", "holder": "w2", "ttlSeconds": 10}, at=other.sequence + 1)
        with pytest.raises(Fenced):
            run.beat()
        return attempt

    monkeypatch.setattr(paying, "_begin", slow)
    with pytest.raises(Fenced):
        paying.call(lambda: pytest.fail("sent behind a fence that is known here"))


def test_a_lease_that_another_thread_gave_back_stops_the_send(
    store: Store, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(store, clock)
    paying = effect(run)
    begin = paying._begin

    def slow() -> Any:
        attempt = begin()
        run.release()
        return attempt

    monkeypatch.setattr(paying, "_begin", slow)
    with pytest.raises(Fenced, match="gave its lease back"):
        paying.call(lambda: pytest.fail("sent without a lease"))


def test_a_read_that_is_to_be_done_again_is_not_answered_by_a_try_that_failed(
    store: Store, clock: Any
) -> None:
    read = Declares(effect="read")
    old = start(store, clock)
    assert effect(old, declares=read).call(lambda: "seven") == "seven"
    moved = {"type": "externalVersion", "subject": "doc", "expected": "7"}
    old.checkpoint("cp_01", state="s", step_name="look", next_steps=["use"], resume_preconditions=[moved])
    seen = {"doc": {"version": "8", "value": None, "observedAt": format_time(clock())}}
    policy = {"externalMoved": "rerun_reads"}
    run = resume_run(store, RUN, holder="w2", facts=dead(clock, external=seen), policy=policy, clock=clock)
    with pytest.raises(TimeoutError):
        effect(run, declares=read).call(boom, TimeoutError("timed out"))
    assert effect(run, declares=read).call(lambda: "eight") == "eight"
    assert effect(run, declares=read).call(lambda: pytest.fail("read again")) == "eight"


def test_a_replay_that_the_code_no_longer_vouches_for_is_not_sent(store: Store, clock: Any) -> None:
    with pytest.raises(OSError, match="lost"):
        effect(start(store, clock), declares=KEYED, key="k").call(boom, OSError("lost"))
    run = resume_run(store, RUN, holder="w2", facts=dead(clock), clock=clock)
    with pytest.warns(UserWarning, match="protects nothing"):
        now = effect(run, declares=Declares(effect="payment"), key="k")
    with pytest.raises(InDoubt, match="declares nothing"):
        now.call(lambda: pytest.fail("sent"))
    assert effect(run, declares=KEYED, key="k").call(lambda: "sent") == "sent"
