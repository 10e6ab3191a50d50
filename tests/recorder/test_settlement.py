"""What an answer or an exception proves, and that it is recorded whatever came back."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any

import pytest

from safepoint.model.action import Action
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    InDoubt,
    Receipt,
    RecordedRun,
    RecorderError,
    ResultNotKept,
    Unclear,
    log,
    request_cancel,
    start_run,
)
from safepoint.store import Outcome, Store, StoreError, UnreachableError

RUN = "run-1"
KEYED = Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400)
READ = Declares(effect="read")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "PAUSE", 0)


@pytest.fixture
def run(store: Store, clock: Any) -> RecordedRun:
    return start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=60, clock=clock)


def action(store: Store) -> Action:
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    return found.actions["pay"]


def effect(run: RecordedRun, **options: Any) -> Any:
    return run.effect("pay", **{"step_name": "pay", "request": {"amount": 5}, **options})


def boom(error: BaseException) -> None:
    raise error


async def sends() -> None:
    """Only a promise until it is awaited."""


def yields() -> Iterator[int]:
    yield 1


async def streams() -> AsyncIterator[int]:
    yield 1


class Sender:
    async def __call__(self) -> None:
        """Only a promise until it is awaited."""


@pytest.mark.parametrize("function", [sends, yields, streams, functools.partial(sends), Sender()])
def test_a_function_whose_call_does_nothing_is_refused_before_the_attempt(
    store: Store, run: RecordedRun, function: Any
) -> None:
    with pytest.raises(RecorderError, match="does not run it"):
        effect(run).call(function)
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.actions


@pytest.mark.parametrize("function", [sends, yields, streams])
def test_a_promise_that_comes_back_is_no_answer(store: Store, run: RecordedRun, function: Any) -> None:
    with pytest.raises(RecorderError, match="says nothing of what happened"):
        effect(run).call(lambda: Receipt(function(), external_ref="p-1"))
    assert action(store).status == "inDoubt"


class BadTextError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "error",
    [
        BadTextError(),
        FileNotFoundError("/nowhere/\udcff.txt"),
        type("E" * 300, (Exception,), {})("x"),
        ValueError("amount 500 exceeds the limit"),
        ValueError("order is cancelled"),
        ValueError("protocol not supported"),
        ValueError(""),
    ],
    ids=lambda error: type(error).__name__[:20],
)
def test_a_definite_refusal_is_recorded_whatever_it_says(
    store: Store, run: RecordedRun, error: Exception
) -> None:
    with pytest.raises(type(error)) as caught:
        effect(run, definite=(type(error),)).call(boom, error)
    assert caught.value is error
    assert not hasattr(error, "__notes__")
    assert (action(store).status, action(store).retryable) == ("failed", True)


@pytest.mark.parametrize("error", [BadTextError(), OSError("\udcff")])
def test_a_doubt_is_recorded_whatever_it_says(store: Store, run: RecordedRun, error: Exception) -> None:
    with pytest.raises(type(error)):
        effect(run).call(boom, error)
    assert action(store).record.value["status"] == "inDoubt"


def test_a_read_that_timed_out_is_failed_and_does_not_hold_up_a_cancel(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    with pytest.raises(TimeoutError):
        effect(run, declares=READ).call(boom, TimeoutError("timed out"))
    assert (action(store).status, action(store).retryable) == ("failed", True)
    assert effect(run, declares=READ).call(lambda: 7) == 7
    with pytest.raises(TimeoutError):
        run.effect("look", step_name="s", request=1, declares=READ).call(boom, TimeoutError("timed out"))
    request_cancel(store, RUN, by="boss", clock=clock)
    run.cancelled()


@pytest.mark.parametrize(
    "result", [float("nan"), b"bytes", object(), functools.reduce(lambda a, _: [a], range(200), 1), "x" * (17 << 20)],
    ids=["nan", "bytes", "object", "deep", "large"],
)  # fmt: skip
def test_a_result_that_cannot_be_kept_leaves_its_references(
    store: Store, run: RecordedRun, result: Any
) -> None:
    with pytest.raises(ResultNotKept, match="applied and recorded"):
        effect(run).call(lambda: Receipt(result, external_ref="ref-1", message_id="m-1"))
    done = action(store)
    assert (done.status, done.result) == ("committed", None)
    assert (done.external_ref, done.message_id) == ("ref-1", "m-1")
    assert done.record.value["evidence"]["ref"] == "ref-1"


def test_a_reference_that_cannot_be_kept_leaves_the_result(store: Store, run: RecordedRun) -> None:
    with pytest.raises(ResultNotKept):
        effect(run).call(lambda: Receipt({"n": 1}, external_ref="r" * 300))
    assert (action(store).status, action(store).result) == ("committed", {"n": 1})


class Flaky:
    """A store that from `fault` on does not answer, until it is cleared."""

    def __new__(cls, world: ModuleType, inner: Store) -> Any:
        class Hooked(world.HookedStore):  # type: ignore[misc,name-defined]
            fault = ""

            def put_if_absent(self, key: str, data: bytes) -> Outcome:
                if self.fault == "refused":
                    raise UnreachableError(self.url, "no answer", key)
                if self.fault == "never arrived":
                    return Outcome.UNKNOWN
                outcome: Outcome = self.inner.put_if_absent(key, data)
                return Outcome.UNKNOWN if self.fault == "answer lost" else outcome

            def get(self, key: str, limit: int | None = None) -> bytes:
                if self.fault:
                    raise UnreachableError(self.url, "no answer", key)
                return bytes(self.inner.get(key, limit))

        return Hooked(inner, lambda moment: None)


@pytest.mark.parametrize("fault", ["refused", "never arrived", "answer lost"])
def test_an_answer_that_could_not_be_recorded_is_kept_and_recorded_later(
    world: ModuleType, store: Store, clock: Any, fault: str
) -> None:
    flaky = Flaky(world, store)
    run = start_run(flaky, RUN, workflow="w", holder="w1", ttl_seconds=60, clock=clock)

    def pay() -> Receipt:
        flaky.fault = fault
        return Receipt({"paid": 5}, external_ref="p-77")

    paying = effect(run)
    with pytest.raises((Unclear, StoreError)) as caught:
        paying.call(pay)
    assert "was applied" in caught.value.__notes__[0]
    assert paying.receipt.external_ref == "p-77"
    flaky.fault = ""
    for _ in range(2):
        paying.settle()
    assert (action(store).status, action(store).external_ref) == ("committed", "p-77")


@pytest.mark.parametrize("declares", [Declares(effect="payment"), KEYED])
def test_an_attempt_whose_record_came_through_too_late_is_known_to_be_unsent(
    world: ModuleType, store: Store, clock: Any, declares: Declares
) -> None:
    flaky = Flaky(world, store)
    run = start_run(flaky, RUN, workflow="w", holder="w1", ttl_seconds=60, clock=clock)
    key = "k" if declares is KEYED else None
    flaky.fault = "answer lost"
    with pytest.raises(Unclear):
        effect(run, declares=declares, key=key).call(lambda: pytest.fail("sent"))
    flaky.fault = ""
    assert effect(run, declares=declares, key=key).call(lambda: "sent") == "sent"
    assert [attempt.status for attempt in action(store).attempts] == ["failed", "committed"]


def test_an_unsent_attempt_does_not_hold_up_a_cancel(world: ModuleType, store: Store, clock: Any) -> None:
    flaky = Flaky(world, store)
    run = start_run(flaky, RUN, workflow="w", holder="w1", ttl_seconds=60, clock=clock)
    flaky.fault = "answer lost"
    with pytest.raises(Unclear):
        effect(run).call(lambda: pytest.fail("sent"))
    flaky.fault = ""
    run.cancelled()
    assert action(store).status == "failed"


def test_an_interrupted_call_with_a_key_is_made_again_behind_a_written_doubt(
    store: Store, run: RecordedRun
) -> None:
    with pytest.raises(KeyboardInterrupt):
        effect(run, declares=KEYED, key="k").call(boom, KeyboardInterrupt())
    assert effect(run, declares=KEYED, key="k").call(lambda: "sent") == "sent"
    assert [attempt.status for attempt in action(store).attempts] == ["inDoubt", "committed"]


def test_an_interrupted_call_without_a_key_stays_in_doubt(store: Store, run: RecordedRun) -> None:
    with pytest.raises(KeyboardInterrupt):
        effect(run).call(boom, KeyboardInterrupt())
    with pytest.raises(InDoubt):
        effect(run).call(lambda: pytest.fail("sent"))
    assert len(action(store).attempts) == 1


def test_a_call_that_is_under_way_is_not_made_twice_by_another_thread(store: Store, run: RecordedRun) -> None:
    def meanwhile() -> str:
        with pytest.raises(RecorderError, match="SP404"):
            effect(run, declares=KEYED, key="k").call(lambda: pytest.fail("sent twice"))
        return "sent"

    assert effect(run, declares=KEYED, key="k").call(meanwhile) == "sent"
    assert [attempt.status for attempt in action(store).attempts] == ["committed"]
