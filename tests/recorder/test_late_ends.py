"""The end of an effect by other ways: a receipt that comes late, and giving up on what failed."""

from __future__ import annotations

from typing import Any

import pytest

import safepoint
from safepoint import rules
from safepoint.core.timestamp import format_time
from safepoint.guard import Decision
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    Fenced,
    IllegalRecord,
    Receipt,
    RecordedRun,
    RunEnded,
    resolve_action,
    resume_run,
    start_run,
)
from safepoint.store import Store

RUN = "run-1"
LAPSED = 21
"""Seconds: the lease of 10 s and twice the skew of 5 s are over."""


def mail(run: RecordedRun, function: Any) -> Any:
    declares = Declares(effect="message")
    return run.effect("mail", step_name="notify", request={"to": "x"}, declares=declares).call(function)


def raise_(error: BaseException) -> None:
    raise error


def answer(store: Store, clock: Any, outcome: Any, **options: Any) -> None:
    resolve_action(store, RUN, "mail", outcome=outcome, by="ann", evidence="ticket 7", **options, clock=clock)


def judged(store: Store, clock: Any, **options: Any) -> Decision:
    return safepoint.guard(store, RUN, now=clock(), **options)


def sound(store: Store) -> Run:
    scan = load_run(store, RUN)
    assert scan.run is not None
    found = [fault.code for fault in (*scan.faults, *rules.check(scan.run))]
    # SP524: where a checkpoint is due is the agent's business, and these agents take few.
    assert [code for code in found if code != "SP524"] == []
    return scan.run


def dead(clock: Any) -> dict[str, Any]:
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    common = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now}
    return {**common, "owners": [owner]}


def test_a_receipt_that_comes_behind_the_fence_outweighs_the_answer(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)

    def overtaken() -> Receipt:
        clock.sleep(LAPSED)
        answer(store, clock, "failed", facts=dead(clock))  # somebody saw the wrong process die
        return Receipt("sent all the same", external_ref="m-1")

    with pytest.raises(Fenced, match="epoch 2 was claimed") as fenced:
        mail(run, overtaken)
    assert "evidence of that is recorded" in fenced.value.__notes__[0]
    action = sound(store).actions["mail"]
    assert (action.status, action.external_ref) == ("committed", "m-1")
    clock.sleep(LAPSED)
    again = resume_run(store, RUN, holder="w2", clock=clock)
    assert mail(again, lambda: pytest.fail("sent twice")) is None


def test_a_receipt_whose_reference_no_record_can_hold_is_evidence_all_the_same(
    store: Store, clock: Any
) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    with pytest.raises(RunEnded):
        mail(run, lambda: (run.complete(), Receipt(1, external_ref="r" * 300))[1])
    assert sound(store).actions["mail"].status == "committed"


@pytest.mark.parametrize("who", ["the owner", "a human"])
def test_a_run_that_found_another_way_goes_on_without_what_failed_for_good(
    store: Store, clock: Any, who: str
) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    sms = run.effect("mail", step_name="notify", request={"to": "x"}, definite=(ValueError,), retryable=False)
    with pytest.raises(ValueError, match="no such number"):
        sms.call(raise_, ValueError("no such number"))
    run.checkpoint("cp-1", state="fell back", step_name="notify", next_steps=["post"])
    assert judged(store, clock, facts=dead(clock)).verdict == "hand_over"
    if who == "the owner":
        sms.withdraw()
        clock.sleep(LAPSED)
    else:
        clock.sleep(LAPSED)
        answer(store, clock, "cancelled", reason="a letter was sent instead")
    assert sound(store).actions["mail"].status == "cancelled"
    assert judged(store, clock).verdict == "resume"
    with pytest.raises(IllegalRecord, match="no doubt to resolve as cancelled"):
        answer(store, clock, "cancelled")


def test_what_was_not_approved_can_be_withdrawn_without_ever_being_tried(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.effect("mail", step_name="notify", request={"to": "x"}).withdraw()
    assert [record.value["status"] for record in sound(store).actions["mail"].records] == [
        "planned",
        "cancelled",
    ]


def test_what_is_in_doubt_cannot_be_withdrawn(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    effect = run.effect("mail", step_name="notify", request={"to": "x"})
    with pytest.raises(OSError, match="lost"):
        effect.call(raise_, OSError("lost"))
    with pytest.raises(IllegalRecord, match="SP401"):
        effect.withdraw()
