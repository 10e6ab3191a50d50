"""Approvals: bound to a content, spent once, and looked at where the effect happens."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from safepoint.core.digest import digest_value
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    IllegalRecord,
    NotApproved,
    RecordedRun,
    RecorderError,
    grant_approval,
    reject_approval,
    request_approval,
    revoke_approval,
    start_run,
)
from safepoint.store import Store

REQUEST = {"amount": 5}


@pytest.fixture
def run(store: Store, clock: Any) -> RecordedRun:
    opened = start_run(store, "run-1", workflow="w", holder="w1", clock=clock)
    opened.request_approval(
        "ask", request=REQUEST, action_id="pay", expires_seconds=600, actor="boss", reason="pay?"
    )
    return opened


def folded(store: Store) -> Run:
    found = load_run(store, "run-1").run
    assert found is not None
    assert not found.faults
    return found


def pay(run: RecordedRun, request: Any = None, action_id: str = "pay") -> Any:
    with run.effect(action_id, step_name="pay", request=request or REQUEST, approval="ask") as effect:
        return effect.call(lambda: "paid")


def test_who_asks_at_the_same_time_as_another_has_asked(world: ModuleType, store: Store, clock: Any) -> None:
    opened = start_run(store, "run-1", workflow="w", holder="w1", clock=clock)
    digest = digest_value(REQUEST)
    left = [
        lambda: request_approval(store, "run-1", "ask", content_digest=digest, action_id="pay", clock=clock)
    ]

    def hook(moment: str) -> None:
        if moment == "before put" and left:
            left.pop()()

    opened._journal.store = world.HookedStore(store, hook)
    opened.request_approval("ask", request=REQUEST, action_id="pay")
    assert [record.value["event"] for record in folded(store).records[2:]] == ["requested"]
    with pytest.raises(IllegalRecord, match="SP206"):
        opened.request_approval("", request=REQUEST, action_id="pay")


def test_what_is_granted_is_spent_before_the_attempt(store: Store, run: RecordedRun, clock: Any) -> None:
    grant_approval(store, "run-1", "ask", actor="boss", content_digest=digest_value(REQUEST), clock=clock)
    assert run.approval_state("ask") == "granted"
    assert pay(run) == "paid"
    kinds = [record.value.get("event") or record.value.get("status") for record in folded(store).records[-3:]]
    assert kinds == ["consumed", "attempting", "committed"]
    assert run.approval_state("ask") == "consumed"


def test_what_is_pending_rejected_revoked_or_unknown_permits_nothing(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    with pytest.raises(NotApproved, match="requested"):
        pay(run)
    grant_approval(store, "run-1", "ask", actor="boss", clock=clock)
    revoke_approval(store, "run-1", "ask", actor="boss", reason="too much", clock=clock)
    with pytest.raises(NotApproved, match="revoked"):
        pay(run)
    run.request_approval("second", request=REQUEST, action_id="pay")
    reject_approval(store, "run-1", "second", actor="boss", clock=clock)
    with pytest.raises(NotApproved, match="rejected"):
        run.consume_approval("second", action_id="pay", request=REQUEST)
    with pytest.raises(NotApproved, match="never asked"):
        run.consume_approval("third", action_id="pay", request=REQUEST)
    assert "pay" not in folded(store).actions


def test_an_approval_binds_to_its_content_and_its_action(store: Store, run: RecordedRun, clock: Any) -> None:
    grant_approval(store, "run-1", "ask", actor="boss", clock=clock)
    with pytest.raises(NotApproved, match="another content"):
        pay(run, {"amount": 500})
    with pytest.raises(NotApproved, match="for action pay"):
        pay(run, action_id="pay-again")


def test_an_approval_that_has_expired_permits_nothing(store: Store, run: RecordedRun, clock: Any) -> None:
    grant_approval(store, "run-1", "ask", actor="boss", clock=clock)
    clock.sleep(601)
    with pytest.raises(NotApproved, match="expired"):
        pay(run)


def test_what_is_spent_on_this_action_need_not_be_spent_again(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    grant_approval(store, "run-1", "ask", actor="boss", clock=clock)
    run.consume_approval("ask", action_id="pay", request=REQUEST)
    length = len(folded(store).records)
    run.consume_approval("ask", action_id="pay", request=REQUEST)
    assert len(folded(store).records) == length
    with pytest.raises(IllegalRecord, match="SP505"):
        revoke_approval(store, "run-1", "ask", actor="boss", clock=clock)


def test_asking_twice_asks_once(store: Store, run: RecordedRun) -> None:
    run.request_approval("ask", request=REQUEST, action_id="pay")
    assert [record.kind for record in folded(store).records].count("approval") == 1


def test_a_human_can_ask_and_answer_from_anywhere(store: Store, run: RecordedRun, clock: Any) -> None:
    run.checkpoint("cp_01", state="s", step_name="gate", reason="humanGate")
    digest = digest_value("plan")
    request_approval(store, "run-1", "gate", content_digest=digest, checkpoint_id="cp_01", clock=clock)
    grant_approval(store, "run-1", "gate", actor="boss", clock=clock)
    approval = folded(store).approvals["gate"]
    assert (approval.event, approval.checkpoint_id, approval.content_digest) == ("granted", "cp_01", digest)


def test_an_answer_to_another_content_than_was_asked_is_refused(
    store: Store, run: RecordedRun, clock: Any
) -> None:
    with pytest.raises(IllegalRecord, match="SP505"):
        grant_approval(store, "run-1", "ask", actor="boss", content_digest=digest_value("other"), clock=clock)
    with pytest.raises(NotApproved, match="asks for no approval"):
        grant_approval(store, "run-1", "nothing", actor="boss", clock=clock)
    with pytest.raises(RecorderError, match="no journal"):
        grant_approval(store, "run-2", "ask", actor="boss", clock=clock)


def test_what_is_done_already_needs_no_approval(store: Store, run: RecordedRun, clock: Any) -> None:
    grant_approval(store, "run-1", "ask", actor="boss", clock=clock)
    pay(run)
    run.request_approval("ask", request=REQUEST, action_id="pay")  # asked before: that is no new question
    with pytest.raises(IllegalRecord, match="nothing left to approve"):
        run.request_approval("again", request=REQUEST, action_id="pay")
    assert "again" not in folded(store).approvals
