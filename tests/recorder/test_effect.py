"""Effects: what is recorded around a call, what is never called twice, and the last look before the call."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint.core.timestamp import SECOND, format_time, parse_time
from safepoint.model.action import Action
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    IllegalRecord,
    InDoubt,
    Receipt,
    RecordedRun,
    RecorderError,
    TooLate,
    start_run,
)
from safepoint.recorder.approvals import open_unowned
from safepoint.recorder.settlement import Settlement
from safepoint.store import Store

KEYED = Declares(effect="message", idempotency="keyed", dedupe_window_seconds=1000, probe_settle_seconds=10)


@pytest.fixture
def run(store: Store, clock: Any) -> RecordedRun:
    return start_run(store, "run-1", workflow="w", holder="w1", ttl_seconds=60, clock=clock)


def folded(store: Store) -> Run:
    found = load_run(store, "run-1").run
    assert found is not None
    assert not found.faults
    return found


def action(store: Store) -> Action:
    return folded(store).actions["send"]


def effect(run: RecordedRun, **options: Any) -> Any:
    return run.effect("send", **{"step_name": "notify", "request": {"to": "x"}, **options})


def boom(error: Exception) -> None:
    raise error


def test_the_attempt_stands_in_the_store_before_the_call(store: Store, run: RecordedRun) -> None:
    seen = effect(run, declares=KEYED, key="k").call(lambda: action(store).status)
    assert seen == "attempting"
    done = action(store)
    assert done.status == "committed"
    assert done.result == "attempting"
    assert done.declares.effect == "message"
    assert done.record.value["evidence"]["kind"] == "response"


def test_a_receipt_keeps_what_the_provider_said(store: Store, run: RecordedRun) -> None:
    with effect(run) as sending:
        result = sending.call(lambda: Receipt({"n": 1}, external_ref="p-1", message_id="<m@x>"))
    assert result == {"n": 1}
    done = action(store)
    assert (done.result, done.external_ref, done.message_id) == ({"n": 1}, "p-1", "<m@x>")
    assert done.record.value["evidence"]["ref"] == "p-1"


def test_evidence_that_arrives_while_an_attempt_is_recorded_spares_the_call(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    with pytest.raises(OSError, match="lost"):
        effect(run, declares=KEYED, key="k").call(boom, OSError("lost"))
    human = {
        "recordType": "evidence",
        "actionId": "send",
        "attemptNumber": 1,
        "result": "applied",
        "kind": "human",
        "by": "boss",
        "observedAt": format_time(clock()),
        "externalRef": "p-1",
    }
    open_unowned(store, "run-1", clock).append_unowned(human)
    again = effect(run, declares=KEYED, key="k")
    assert again.call(lambda: pytest.fail("sent, although it is proven")) is None
    assert again.receipt.external_ref == "p-1"


def test_what_is_committed_is_answered_from_the_ledger(run: RecordedRun) -> None:
    effect(run).call(lambda: {"n": 1})
    again = effect(run)
    assert again.settled
    assert again.call(lambda: pytest.fail("called twice")) == {"n": 1}
    assert again.receipt.result == {"n": 1}


def test_one_effect_is_one_call(run: RecordedRun) -> None:
    sending = effect(run)
    sending.call(lambda: None)
    with pytest.raises(RecorderError, match="one call"):
        sending.call(lambda: None)


def test_a_definite_exception_proves_that_nothing_was_applied(store: Store, run: RecordedRun) -> None:
    with pytest.raises(ConnectionRefusedError):
        effect(run, definite=(ConnectionRefusedError,)).call(boom, ConnectionRefusedError("refused"))
    assert action(store).status == "failed"
    assert action(store).retryable
    effect(run).call(lambda: "second")
    assert [attempt.status for attempt in action(store).attempts] == ["failed", "committed"]


def test_what_failed_for_good_is_not_tried_again(store: Store, run: RecordedRun) -> None:
    with pytest.raises(ValueError, match="no"):
        effect(run, definite=(ValueError,), retryable=False).call(boom, ValueError("no"))
    with pytest.raises(IllegalRecord, match="SP401"):
        effect(run).call(lambda: pytest.fail("sent"))
    assert action(store).status == "failed"


@pytest.mark.parametrize("definite", [(), (TimeoutError,)])
def test_an_answer_that_did_not_come_is_a_doubt_whatever_was_declared(
    store: Store, run: RecordedRun, definite: tuple[type[Exception], ...]
) -> None:
    with pytest.raises(TimeoutError):
        effect(run, definite=definite).call(boom, TimeoutError("timed out"))
    assert action(store).status == "inDoubt"
    with pytest.raises(InDoubt):
        effect(run).call(lambda: pytest.fail("sent"))


def test_a_keyed_doubt_is_sent_again_until_the_first_cut_off(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    with pytest.raises(OSError, match="lost"):
        effect(run, declares=KEYED, key="k").call(boom, OSError("lost"))
    first = action(store).attempts[0]
    assert first.started is not None
    # 0.8 of the window, less the settle time and twice the skew of 5 s
    assert first.send_before == first.started + (800 - 10 - 10) * SECOND
    clock.sleep(100)
    effect(run, declares=KEYED, key="k").call(lambda: "sent")
    second = action(store).attempts[1]
    assert second.number == 2
    assert second.send_before == first.send_before


def test_behind_the_cut_off_a_key_is_not_sent(store: Store, run: RecordedRun, clock: Any) -> None:
    with pytest.raises(OSError, match="lost"):
        effect(run, declares=KEYED, key="k").call(boom, OSError("lost"))
    clock.sleep(900)
    with pytest.raises(RecorderError):
        effect(run, declares=KEYED, key="k").call(lambda: pytest.fail("sent"))
    assert len(action(store).attempts) == 1


def test_a_window_too_short_to_send_within_is_refused(run: RecordedRun) -> None:
    short = Declares(idempotency="keyed", dedupe_window_seconds=12)
    with pytest.raises(RecorderError, match="too short"):
        effect(run, declares=short, key="k").call(lambda: pytest.fail("sent"))


@pytest.mark.parametrize(
    ("declares", "key", "said"),
    [
        (Declares(idempotency="keyed", dedupe_window_seconds=60), None, "has no key"),
        (Declares(idempotency="keyed"), "k", "without dedupe_window_seconds"),
    ],
)
def test_a_declaration_that_could_only_disappoint_is_refused_before_anything_is_recorded(
    store: Store, run: RecordedRun, declares: Declares, key: str | None, said: str
) -> None:
    with pytest.raises(RecorderError, match=said):
        effect(run, declares=declares, key=key)
    assert "send" not in folded(store).actions


def test_a_key_of_unknown_window_is_of_use_where_one_can_ask(run: RecordedRun) -> None:
    probed = Declares(idempotency="keyed", probe="byKey")
    assert effect(run, declares=probed, key="k").call(lambda: "sent") == "sent"


@pytest.mark.parametrize("declares", [None, Declares(effect="payment", probe="byQuery")])
def test_a_key_that_protects_nothing_is_warned_of(run: RecordedRun, declares: Declares | None) -> None:
    with pytest.warns(UserWarning, match="protects nothing") as warned:
        effect(run, declares=declares, key="k")
    assert len(warned) == 1


@pytest.mark.parametrize(
    "declares", [Declares(probe="byKey"), Declares(effect="read"), Declares(idempotency="natural")]
)
def test_a_key_that_is_of_use_or_not_needed_is_not_warned_of(run: RecordedRun, declares: Declares) -> None:
    assert effect(run, declares=declares, key="k").key == "k"


def test_a_repeatable_effect_waits_until_its_late_twin_can_no_longer_arrive(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    natural = Declares(effect="write", idempotency="natural")
    with pytest.raises(OSError, match="lost"):
        effect(run, declares=natural).call(boom, OSError("lost"))
    with pytest.raises(InDoubt):
        effect(run, declares=natural).call(lambda: pytest.fail("too early"))
    clock.sleep(41)  # the deadline of 30 s, and twice the skew
    effect(run, declares=natural).call(lambda: None)
    assert action(store).status == "committed"


@pytest.mark.parametrize(
    ("options", "seconds"), [({"deadline_seconds": 5}, 6), ({"deadline_seconds": 300}, 61)]
)
def test_a_process_that_slept_between_record_and_call_sends_nothing(
    store: Store, run: RecordedRun, clock: Any, monkeypatch: pytest.MonkeyPatch, options: Any, seconds: int
) -> None:
    sending = effect(run, **options)
    begin = sending._begin

    def slow() -> Any:
        attempt = begin()
        clock.sleep(seconds)  # beyond the deadline; beyond the lease of 60 s
        return attempt

    monkeypatch.setattr(sending, "_begin", slow)
    with pytest.raises(TooLate):
        sending.call(lambda: pytest.fail("sent too late"))
    assert action(store).status == "failed"
    assert action(store).record.value["error"]["sent"] == "no"


def test_another_request_is_another_action(run: RecordedRun) -> None:
    effect(run).call(lambda: None)
    with pytest.raises(IllegalRecord, match="another request"):
        effect(run, request={"to": "y"}).call(lambda: pytest.fail("sent"))


def test_another_key_is_told_from_another_request(run: RecordedRun) -> None:
    effect(run, declares=KEYED, key="k").call(lambda: None)
    with pytest.raises(IllegalRecord, match="recorded with key 'k', not 'k2'"):
        effect(run, declares=KEYED, key="k2").call(lambda: pytest.fail("sent"))


def test_a_key_names_one_action(store: Store, run: RecordedRun) -> None:
    effect(run, declares=KEYED, key="k").call(lambda: None)
    with pytest.raises(IllegalRecord, match="SP402"):
        run.effect("other", step_name="notify", request={}, key="k", declares=KEYED).call(
            lambda: pytest.fail("sent")
        )
    assert list(folded(store).actions) == ["send"]


def test_a_result_that_no_record_can_hold_does_not_hide_that_it_happened(
    store: Store, run: RecordedRun
) -> None:
    with pytest.raises(IllegalRecord, match="applied and recorded"):
        effect(run).call(object)
    assert action(store).status == "committed"
    assert action(store).result is None


def test_a_request_that_is_no_json_is_refused(run: RecordedRun) -> None:
    with pytest.raises(ValueError, match=r"(?i)nan"):
        effect(run, request={"amount": float("nan")})


def test_a_kill_between_record_and_outcome_leaves_the_attempt_open(store: Store, run: RecordedRun) -> None:
    with pytest.raises(KeyboardInterrupt), run:
        effect(run).call(lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    found = folded(store)
    assert found.actions["send"].status == "attempting"
    assert found.ownership is not None
    assert not found.ownership.released


def test_an_outcome_that_cannot_be_recorded_does_not_replace_the_callers_error(
    run: RecordedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise RecorderError("no store")

    monkeypatch.setattr(Settlement, "_write", refuse)
    with pytest.raises(OSError, match="lost") as caught:
        effect(run).call(boom, OSError("lost"))
    assert "no store" in caught.value.__notes__[0]


def test_side_effects_are_told_from_the_ledger(store: Store, run: RecordedRun) -> None:
    run.checkpoint("cp_01", state="s", step_name="a")
    effect(run, declares=KEYED, key="k").call(lambda: None)
    with pytest.raises(OSError, match="lost"):
        run.effect("write", step_name="w", request=1, declares=Declares(effect="write")).call(
            boom, OSError("lost")
        )
    run.checkpoint("cp_02", state="s", step_name="b")
    first, second = (checkpoint.value for checkpoint in folded(store).checkpoints)
    assert first["sideEffectStatus"] == {"writePerformed": False, "externalMessageSent": False}
    assert second["sideEffectStatus"] == {"writePerformed": None, "externalMessageSent": True}
    assert (first["lastLedgerSequence"], second["lastLedgerSequence"]) == (0, 7)
    assert (first["parentCheckpointId"], second["parentCheckpointId"]) == (None, "cp_01")


def test_an_outcome_comes_with_its_attempt(store: Store, run: RecordedRun) -> None:
    effect(run).call(lambda: None)
    record = action(store).record.value
    assert record["attempt"]["number"] == 1
    assert parse_time(record["attempt"]["deadline"]) > parse_time(record["attempt"]["startedAt"])


def test_a_deadline_before_the_start_is_refused_before_anything_is_recorded(
    store: Store, run: RecordedRun
) -> None:
    with pytest.raises(ValueError, match="expected 0 or more"):
        effect(run, deadline_seconds=-1)
    assert folded(store).actions == {}
