"""The fold: what a run's records say together."""

from __future__ import annotations

import pytest
from journals import Journal, at, declares, digest

from safepoint.model.journal import Level


def codes(journal: Journal) -> list[str]:
    return [fault.code for fault in journal.fold().faults]


def started() -> Journal:
    return Journal().begin().checkpoint(2)


def test_a_finished_run_has_no_faults() -> None:
    journal = started().ledger(3, "attempting").ledger(4, "committed").checkpoint(5, "cp-2")
    journal.add("run", 6, status="completed")
    run = journal.fold()
    assert run.faults == ()
    assert (run.level, run.status, run.head.sequence) == (Level.FENCED, "completed", 7)
    assert run.actions["send"].status == "committed"
    assert not run.open_actions
    assert run.newest_checkpoint is not None
    assert run.newest_checkpoint.value["checkpointId"] == "cp-2"


def test_order_of_arrival_does_not_matter() -> None:
    journal = started().ledger(3, "attempting").ledger(4, "committed")
    expected = journal.fold()
    journal.values.reverse()
    assert journal.fold() == expected


def test_an_open_attempt_leaves_the_action_open() -> None:
    run = started().ledger(3, "attempting").fold()
    assert run.actions["send"].status == "attempting"
    assert [attempt.number for attempt in run.actions["send"].open_attempts] == [1]


def test_a_refused_second_attempt_does_not_unmake_a_first_in_doubt() -> None:
    journal = started().ledger(
        3, "attempting", declares=declares(idempotency="keyed", dedupeWindowSeconds=3600)
    )
    journal.ledger(4, "inDoubt").ledger(5, "attempting")
    journal.ledger(6, "failed", attempt={"number": 2, "startedAt": at(5), "deadline": at(35)})
    run = journal.fold()
    assert run.faults == ()
    assert run.actions["send"].status == "inDoubt"


@pytest.mark.parametrize("error", ["ReadTimeout", "ConnectionResetError", "HTTP 502", "DeadlineExceeded"])
def test_a_failure_for_want_of_an_answer_is_in_doubt(error: str) -> None:
    journal = started().ledger(3, "attempting")
    journal.ledger(4, "failed", error={"class": error, "message": None, "retryable": True, "sent": "unknown"})
    assert codes(journal) == ["SP405"]
    assert journal.fold().actions["send"].status == "inDoubt"


def test_a_read_that_timed_out_has_failed() -> None:
    journal = started().ledger(3, "attempting", declares=declares(effect="read"))
    journal.ledger(
        4, "failed", error={"class": "ReadTimeout", "message": None, "retryable": True, "sent": "unknown"}
    )
    assert codes(journal) == []
    assert journal.fold().actions["send"].status == "failed"


def test_a_read_may_be_done_again_and_its_newest_result_counts() -> None:
    journal = (
        started().ledger(3, "attempting", declares=declares(effect="read")).ledger(4, "committed", result=1)
    )
    journal.claim(100, purpose="recovery").ledger(101, "attempting").ledger(102, "committed", result=2)
    run = journal.fold()
    assert (run.faults, run.actions["send"].result) == ((), 2)


def test_evidence_is_not_taken_for_a_result() -> None:
    journal = started().ledger(3, "attempting")
    journal.add(
        "evidence", 4, actionId="send", attemptNumber=1, result="applied", kind="probe", observedAt=at(4)
    )
    assert journal.fold().actions["send"].result is None


def test_a_second_attempt_while_one_is_open_is_a_fault() -> None:
    journal = started().ledger(3, "attempting").ledger(4, "attempting")
    assert codes(journal) == ["SP404"]


def test_a_higher_epoch_may_try_again_with_the_providers_key() -> None:
    journal = started().ledger(
        3, "attempting", declares=declares(idempotency="keyed", dedupeWindowSeconds=3600)
    )
    journal.claim(100, purpose="recovery").ledger(101, "attempting").ledger(102, "committed")
    run = journal.fold()
    assert run.faults == ()
    assert run.actions["send"].status == "committed"
    assert [attempt.status for attempt in run.actions["send"].attempts] == ["attempting", "committed"]


def test_an_unkeyed_effect_in_doubt_is_never_tried_again() -> None:
    journal = started().ledger(3, "attempting").claim(100, purpose="recovery").ledger(101, "attempting")
    assert codes(journal) == ["SP401"]


def test_a_positive_probe_from_outside_commits() -> None:
    journal = started().ledger(3, "attempting")
    journal.add(
        "evidence",
        50,
        actionId="send",
        attemptNumber=1,
        result="applied",
        kind="probe",
        by="ops",
        observedAt=at(50),
        ref=None,
    )
    run = journal.fold()
    assert run.faults == ()
    assert run.actions["send"].status == "committed"


def test_a_key_that_names_two_requests_is_a_fault() -> None:
    journal = started().ledger(3, "attempting", idempotencyKey="k").ledger(4, "committed", idempotencyKey="k")
    journal.ledger(5, "attempting", "other", idempotencyKey="k", requestFingerprint=digest("a"))
    assert codes(journal) == ["SP402"]


def test_a_key_that_changes_between_attempts_is_a_fault() -> None:
    journal = (
        started().ledger(3, "attempting").ledger(4, "failed").ledger(5, "attempting", idempotencyKey="other")
    )
    assert codes(journal) == ["SP403"]


def test_a_worker_behind_the_fence_is_told_apart_from_the_owner() -> None:
    journal = started().claim(100, purpose="recovery").ledger(101, "attempting", epoch=1)
    assert codes(journal) == ["SP304"]


def test_late_evidence_of_the_old_owner_counts_and_is_a_warning() -> None:
    journal = (
        started().ledger(3, "attempting").claim(100, purpose="recovery").ledger(101, "committed", epoch=1)
    )
    assert codes(journal) == ["SP407"]
    assert journal.fold().actions["send"].status == "committed"


def test_a_run_without_leases_may_be_claimed_behind_its_last_epoch() -> None:
    journal = Journal().add("run", 0, status="started", workflow="publish").checkpoint(1, epoch=1)
    journal.ledger(2, "attempting", epoch=1).claim(100, purpose="recovery")
    assert codes(journal) == ["SP305"]
    journal.values[-1]["leaseEpoch"] = 2
    assert codes(journal) == []


def test_the_writers_word_after_somebodys_evidence_brings_the_result() -> None:
    journal = started().ledger(3, "attempting")
    journal.add(
        "evidence",
        4,
        actionId="send",
        attemptNumber=1,
        result="applied",
        kind="human",
        by="ops",
        observedAt=at(4),
    )
    journal.ledger(5, "committed", result={"id": 7})
    run = journal.fold()
    assert (run.faults, run.actions["send"].result) == ((), {"id": 7})


def test_a_reused_nonce_is_no_ownership() -> None:
    journal = started()
    journal.values[-1]["nonce"] = "9" * 32
    assert codes(journal) == ["SP306"]


def test_a_gap_is_named_once_and_an_unlinked_successor_is_not_called_broken() -> None:
    journal = started().ledger(3, "attempting").ledger(4, "committed")
    del journal.values[3]
    faults = [f for f in journal.fold().faults if f.code.startswith("SP3")]
    assert [(f.code, f.pointer) for f in faults] == [("SP301", "/sequence")]
    assert "sequence 4 is missing before 5" in faults[0].message


def test_an_edited_record_breaks_the_chain_behind_it() -> None:
    journal = started().ledger(3, "attempting")
    journal.values[2]["state"] = "edited"
    assert codes(journal) == ["SP303"]


def test_a_number_used_twice_names_both() -> None:
    journal = started().ledger(3, "attempting")
    journal.values.append({**journal.values[-1], "status": "planned"})
    assert codes(journal) == ["SP302"]


def test_a_mirror_with_equal_bytes_is_no_fault() -> None:
    journal = started()
    journal.values.append(dict(journal.values[-1]))
    assert codes(journal) == []


def test_nothing_starts_behind_the_end() -> None:
    journal = started().add("run", 5, status="completed").ledger(6, "attempting")
    assert "SP307" in codes(journal)


def test_an_open_effect_may_be_settled_behind_the_end() -> None:
    journal = started().ledger(3, "attempting").add("run", 5, status="completed")
    journal.claim(100, purpose="resolution").ledger(101, "committed")
    journal.values[-1]["evidence"] = {"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(101)}
    assert codes(journal) == []


def test_a_failed_run_may_be_taken_up_again() -> None:
    journal = started().add("run", 5, status="failed").claim(100, purpose="recovery").checkpoint(101, "cp-2")
    run = journal.fold()
    assert (run.faults, run.status) == ((), "started")


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"parentCheckpointId": "never"}, "SP308"),
        ({"parentCheckpointId": "cp-2"}, "SP309"),
        ({"parentCheckpointId": None}, "SP310"),
        ({"checkpointId": "cp-1", "state": "other"}, "SP311"),
        ({"lastLedgerSequence": 99}, "SP501"),
        ({"lastLedgerSequence": 2}, "SP501"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_a_fault(members: dict[str, object], code: str) -> None:
    journal = started().checkpoint(4, "cp-2")
    journal.values[-1].update(members)
    assert codes(journal)[0] == code


def test_a_declared_fork_is_no_fault_and_moves_the_newest_checkpoint() -> None:
    journal = started().checkpoint(3, "cp-2")
    journal.claim(100, purpose="recovery", forkFrom={"checkpointId": "cp-1"}, branch="b")
    forked = journal.fold()
    assert forked.newest_checkpoint is not None
    assert forked.newest_checkpoint.value["checkpointId"] == "cp-1"
    journal.checkpoint(101, "cp-3", parentCheckpointId="cp-1", branch="b")
    assert codes(journal) == []
    run = journal.fold()
    assert run.newest_checkpoint is not None
    assert run.newest_checkpoint.value["checkpointId"] == "cp-3"


def test_a_checkpoint_that_denies_a_sent_message_is_a_fault() -> None:
    journal = started().ledger(3, "attempting").ledger(4, "committed")
    journal.checkpoint(5, "cp-2", sideEffectStatus={"writePerformed": None, "externalMessageSent": False})
    assert codes(journal) == ["SP502"]


def test_an_approval_needs_a_request_and_keeps_its_content() -> None:
    journal = started().add("approval", 3, approvalId="a", event="granted", actionId="send", actor="eve")
    assert codes(journal) == ["SP505"]
    journal = started().add(
        "approval", 3, approvalId="a", event="requested", actionId="send", contentDigest=digest("a")
    )
    journal.add(
        "approval",
        4,
        approvalId="a",
        event="granted",
        actionId="send",
        contentDigest=digest("b"),
        actor="eve",
    )
    assert codes(journal) == ["SP505"]


def test_a_recovery_log_that_jumps_is_a_fault() -> None:
    journal = started().recover(100, "detected", trigger="lease lapsed").recover(101, "recovered")
    assert codes(journal) == ["SP507"]


def test_unnumbered_records_are_ordered_for_the_worst() -> None:
    journal = Journal()
    journal.ledger(0, "attempting")
    journal.ledger(0, "failed")
    for value in journal.values:
        for name in ("sequence", "previousDigest", "nonce", "leaseEpoch"):
            del value[name]
    run = journal.fold()
    assert (run.level, run.faults) == (Level.RECORDS, ())
    assert run.actions["send"].status == "attempting"
