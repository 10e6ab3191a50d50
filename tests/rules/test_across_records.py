"""The turns of rules across records that no fixture shows by itself."""

from __future__ import annotations

from typing import Any

import pytest
from journals import Journal, as_record, at, declares, digest

from safepoint import rules
from safepoint.model.run import Run, fold
from safepoint.rules.timeline import open_at, settled_at

DECISION = digest("a")
NOTHING_DONE = {"writePerformed": False, "externalMessageSent": False}


def codes(journal: Journal) -> list[str]:
    return [fault.code for fault in rules.check(journal.fold())]


def begun() -> Journal:
    return Journal().begin().checkpoint(2)


def ask(journal: Journal, seconds: float, event: str, **members: Any) -> Journal:
    content = {"contentDigest": digest("f"), "expiresAt": at(60), "actor": "m.moreau"}
    return journal.add(
        "approval", seconds, approvalId="ap", event=event, actionId="send", **{**content, **members}
    )


def proof(seconds: float) -> dict[str, Any]:
    seen = {"ref": None, "by": None, "observedAt": at(seconds), "externalRef": None}
    return {"actionId": "send", "attemptNumber": 1, "result": "applied", "kind": "response", **seen}


def send(run: Run) -> Any:
    return run.actions["send"]


def test_a_lease_that_nobody_claimed_cannot_be_given_back() -> None:
    journal = Journal().add("run", 0, status="started").add("lease", 1, epoch=1, event="released")
    assert codes(journal) == ["SP306"]


def test_a_fork_from_a_retracted_checkpoint_is_one_too_late() -> None:
    journal = begun().checkpoint(3, "cp-2").add("retract", 4, targets=["cp-1"], reason="erasure", by="office")
    fork = {"forkFrom": {"checkpointId": "cp-1"}, "branch": "b2"}
    assert codes(journal.claim(100, purpose="recovery", authorization=DECISION, **fork)) == ["SP511"]


def test_a_yes_that_ran_out_before_the_attempt_is_no_yes() -> None:
    journal = ask(ask(begun(), 3, "requested"), 10, "granted")
    assert codes(journal.ledger(61, "attempting")) == ["SP521"]


def test_an_impossible_answer_is_no_last_word() -> None:
    journal = ask(ask(ask(begun(), 3, "requested"), 10, "granted"), 11, "rejected")
    assert codes(journal.ledger(20, "attempting")) == ["SP505"]


def test_an_episode_without_a_claim_is_left_behind_by_whoever_takes_over() -> None:
    journal = begun().recover(90, "detected").recover(91, "assessing")
    assert codes(journal) == []
    assert codes(journal.claim(100, purpose="recovery", authorization=DECISION)) == ["SP522"]


def test_whoever_only_settles_what_is_open_takes_no_round_over() -> None:
    journal = begun().recover(90, "detected").recover(91, "assessing").recover(92, "awaitingHuman")
    assert codes(journal.claim(100, purpose="resolution")) == []


def test_an_episode_whose_end_is_impossible_has_one_fault() -> None:
    journal = begun().recover(90, "detected").recover(91, "recovered").add("run", 100, status="completed")
    assert codes(journal) == ["SP507"]


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_what_follows_the_end_is_no_attempt_after_a_wish(status: str) -> None:
    journal = begun().add("run", 3, status="cancelRequested", by="ops").add("run", 4, status=status)
    assert codes(journal.ledger(5, "attempting")) == ["SP307"]


def test_compensations_may_follow_a_wish_to_stop() -> None:
    undo = declares(effect="write", reversibility="compensatable", compensation="unpost")
    journal = begun().ledger(3, "attempting", "post", declares=undo).ledger(4, "committed", "post")
    journal.checkpoint(5, "cp-2").add("run", 6, status="cancelRequested", by="ops")
    journal.ledger(7, "compensating", "post").ledger(8, "attempting", "unpost", compensates="post")
    assert codes(journal) == []


def test_an_effect_is_settled_by_whichever_came_first() -> None:
    run = begun().ledger(3, "attempting").ledger(4, "committed").add("evidence", 9, **proof(9)).fold()
    assert settled_at(send(run)) == 5
    assert [open_at(send(run), number) for number in (4, 5, 6)] == [False, True, False]


def test_an_effect_that_evidence_settled_was_open_until_then() -> None:
    run = begun().ledger(3, "attempting").ledger(4, "inDoubt").add("evidence", 9, **proof(9)).fold()
    assert [open_at(send(run), number) for number in (5, 6, 7)] == [True, True, False]


def test_an_attempt_of_a_settled_action_leaves_nothing_open() -> None:
    journal = begun().ledger(3, "attempting", declares=declares(idempotency="natural")).ledger(4, "inDoubt")
    run = journal.ledger(5, "attempting").ledger(6, "committed").fold()
    assert [attempt.open for attempt in send(run).attempts] == [True, False]
    assert not open_at(send(run), 9)


@pytest.mark.parametrize(("status", "settled"), [("inDoubt", None), ("failed", None), ("committed", 5)])
def test_only_what_cannot_be_attempted_again_is_settled_for_good(status: str, settled: int | None) -> None:
    assert settled_at(send(begun().ledger(3, "attempting").ledger(4, status).fold())) == settled


def test_a_checkpoint_may_deny_an_effect_of_the_other_sort() -> None:
    journal = begun().ledger(3, "attempting").ledger(4, "inDoubt")
    said = {**NOTHING_DONE, "externalMessageSent": None}
    assert codes(journal.checkpoint(5, "cp-2", sideEffectStatus=said)) == []
    assert codes(journal.checkpoint(6, "cp-3", sideEffectStatus=NOTHING_DONE)) == ["SP512"]


def test_a_counter_is_compared_with_what_was_last_known_also_where_that_is_retracted() -> None:
    journal = Journal().begin().checkpoint(2, usage={"tokens": 9}).checkpoint(3, "cp-2", usage={"seconds": 4})
    journal.add("retract", 4, targets=["cp-1"], reason="erasure", by="office")
    assert codes(journal.checkpoint(5, "cp-3", usage=None)) == []
    assert codes(journal.checkpoint(6, "cp-4", usage={"tokens": 9, "seconds": 3})) == ["SP503"]
    assert codes(journal.checkpoint(7, "cp-5", usage={"tokens": 8, "seconds": 3})) == ["SP503", "SP503"]


def test_usage_is_compared_with_the_parent_and_without_one_with_the_checkpoint_before() -> None:
    journal = Journal().begin().checkpoint(2, usage={"tokens": 9}).checkpoint(3, "cp-2", usage={"tokens": 8})
    assert codes(journal) == ["SP503"]
    assert codes(journal.checkpoint(4, "cp-3", parentCheckpointId="elsewhere", usage={"tokens": 7})) == [
        "SP308",
        "SP503",
        "SP503",
    ]


def sealed(**successor: str) -> Journal:
    return begun().add("run", 3, epoch=1, status="sealed", by="ops", successor=successor)


@pytest.mark.parametrize("uri", ["store", "store/", "file://store", "", ".", "../..", "../run-2/.."])
def test_a_run_is_not_its_own_successor(uri: str) -> None:
    assert codes(sealed(uri=uri, runId="run-1")) == ["SP323"]
    assert codes(sealed(uri=uri, runId="run-2")) == []


@pytest.mark.parametrize("uri", ["stores", "../../..", "../../../b", "s3://store", "/store", "//store/runs"])
def test_a_copy_in_another_store_may_bear_the_same_name(uri: str) -> None:
    uri = uri if uri.startswith((".", "s3", "/")) else f"file://{uri}"
    assert codes(sealed(uri=uri, runId="run-1")) == []


def fork(origin: str = "cp-1") -> Journal:
    journal = begun().checkpoint(3, "cp-2").checkpoint(4, "cp-3")
    return journal.claim(
        100, purpose="recovery", authorization=DECISION, forkFrom={"checkpointId": origin}, branch="b2"
    )


@pytest.mark.parametrize(("parent", "found"), [("cp-1", []), ("cp-2", ["SP324"]), (None, ["SP324"])])
def test_a_branch_begins_where_its_fork_was_declared(parent: str | None, found: list[str]) -> None:
    assert codes(fork().checkpoint(101, "cp-4", parentCheckpointId=parent, branch="b2")) == found


def test_a_checkpoint_that_names_no_parent_says_nothing_of_where_it_belongs() -> None:
    journal = fork().checkpoint(101, "cp-4", branch="b2")
    del journal.values[-1]["parentCheckpointId"]
    assert codes(journal) == []


def test_a_later_checkpoint_stays_on_its_branch_and_the_main_line_on_itself() -> None:
    journal = fork("cp-2").checkpoint(101, "cp-4", parentCheckpointId="cp-2", branch="b2")
    assert codes(journal.checkpoint(102, "cp-5", parentCheckpointId="cp-3", branch="b2")) == ["SP324"]
    assert codes(journal.checkpoint(103, "cp-6", parentCheckpointId="cp-5")) == ["SP324", "SP324"]


def test_evidence_is_as_old_as_the_attempt_that_it_names_or_else_the_first() -> None:
    journal = begun().ledger(3, "attempting", declares=declares(idempotency="natural")).ledger(4, "inDoubt")
    journal.ledger(50, "attempting").ledger(51, "inDoubt")
    assert codes(journal.add("evidence", 60, **{**proof(20), "attemptNumber": None})) == []
    assert codes(journal.add("evidence", 61, **{**proof(20), "attemptNumber": 1})) == []
    assert codes(journal.add("evidence", 62, **{**proof(20), "attemptNumber": 2})) == ["SP421"]


def test_of_an_attempt_that_no_record_begins_nobody_knows_the_start() -> None:
    loose = {
        "evidence": {"kind": "response", "ref": "m", "by": None, "observedAt": at(3)},
        "declares": declares(),
    }
    value = begun().ledger(60, "committed", **loose).values[-1]
    for member in ("sequence", "previousDigest", "nonce", "leaseEpoch"):
        del value[member]
    assert [fault.code for fault in rules.check(fold("run-1", [as_record(value)]))] == []


def test_an_answer_may_move_the_expiry() -> None:
    journal = ask(begun(), 3, "requested", expiresAt=at(60))
    assert codes(ask(journal, 61, "granted", expiresAt=at(90))) == []
    assert codes(ask(ask(begun(), 3, "requested"), 10, "granted", expiresAt=at(9))) == ["SP526"]


def test_an_answer_that_may_not_follow_is_not_one_too_late() -> None:
    journal = ask(ask(begun(), 3, "requested"), 10, "rejected")
    assert codes(ask(journal, 99, "granted")) == ["SP505"]
