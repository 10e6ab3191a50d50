"""Records without an order: of all orders that their times allow, the gravest counts."""

from __future__ import annotations

from typing import Any

import pytest
from journals import as_record, at, declares
from questions import PAY, facts, judge, request

from safepoint.model.run import Run, fold

VOUCHED = facts(
    ledgerComplete=True,
    owners=[{"holder": "w", "state": "dead", "proof": "exit status", "observedAt": at(150)}],
)
SAVED: dict[str, Any] = {
    "recordType": "checkpoint",
    "createdAt": at(1),
    "checkpointId": "cp-1",
    "state": "a",
    "stepName": "s",
    "artifactRefs": [],
    "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None},
}


def entry(status: str, seconds: float | None, **members: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "recordType": "ledger",
        "createdAt": None if seconds is None else at(seconds),
        "actionId": "send",
        "stepName": "notify",
        "idempotencyKey": "k",
        "status": status,
    }
    value |= {"attempting": {"attempt": None}, "committed": {"evidence": None}}.get(status, {})
    if status == "failed":
        value["error"] = {"class": "Refused", "message": None, "retryable": True, "sent": "no"}
    return value | members


def weak(*values: dict[str, Any]) -> Run:
    records = [as_record({"schemaVersion": "v3", "runId": "run-1", **value}) for value in values]
    return fold("run-1", records)


@pytest.mark.parametrize(
    "values",
    [
        (SAVED, entry("attempting", None, declares=declares()), entry("failed", 10)),
        (SAVED, entry("cancelled", 5), entry("attempting", 10, declares=declares())),
        (SAVED, entry("abandoned", 5), entry("attempting", 10, declares=declares())),
        (
            SAVED,
            entry("attempting", 5),
            entry("committed", 6, evidence={"kind": "response", "observedAt": at(6), "ref": None}),
        ),
        (SAVED | {"parentCheckpointId": "never"},),
        (SAVED | {"sideEffectStatus": {"writePerformed": True, "externalMessageSent": None}},),
        (SAVED, SAVED | {"checkpointId": "cp-2"}),
    ],
)
def test_of_the_orders_that_times_allow_the_gravest_counts(values: tuple[dict[str, Any], ...]) -> None:
    for order in (values, values[::-1]):
        assert judge(weak(*order), 200, VOUCHED, abandonedMaySkip=True).verdict == "hand_over"
    assert judge(weak(SAVED), 200, VOUCHED).verdict == "resume"


def test_an_impossible_order_is_nobodys_fault_without_sequences() -> None:
    found = {
        "recordType": "evidence",
        "createdAt": at(1),
        "actionId": "send",
        "attemptNumber": 1,
        "result": "applied",
    }
    found |= {"kind": "human", "by": "ops", "observedAt": at(1), "ref": "t-1"}
    run = weak(SAVED, found, entry("inDoubt", None), entry("failed", 10))
    assert run.faults == ()
    assert run.actions["send"].status == "committed"


def test_what_is_compensated_last_was_done_first() -> None:
    def done(name: str, seconds: float) -> dict[str, Any]:
        evidence = {"kind": "response", "ref": "x", "by": None, "observedAt": at(seconds)}
        return entry(
            "committed", seconds, actionId=name, idempotencyKey=name, declares=PAY, evidence=evidence
        )

    decision = judge(weak(SAVED, done("first", 5), done("second", 6)), 200, VOUCHED, request("unwind"))
    assert [item.action_id for item in decision.plan] == ["second", "first"]


@pytest.mark.parametrize(
    "later",
    [
        entry("inDoubt", 6, declares=declares()),
        entry("prepared", 6, declares=declares(), reservation={"ref": "r", "expiresAt": at(900)}),
    ],
)
@pytest.mark.parametrize("before", [entry("cancelled", 5), entry("abandoned", 5)])
def test_what_is_in_doubt_after_a_withdrawal_is_in_doubt(
    before: dict[str, Any], later: dict[str, Any]
) -> None:
    run = weak(SAVED, before, later)
    assert run.actions["send"].status in {"inDoubt", "prepared"}


def test_compensated_without_its_compensation_is_a_doubt() -> None:
    assert judge(weak(SAVED, entry("compensated", 5)), 200, VOUCHED).verdict == "hand_over"


@pytest.mark.parametrize("how", [declares(effect="write", idempotency="natural"), declares(probe="byQuery")])
def test_a_doubt_without_any_attempt_is_a_doubt(how: dict[str, Any]) -> None:
    probes = {
        "send": {"result": "notApplied", "consistency": "strong", "observedAt": at(195), "externalRef": None}
    }
    decision = judge(weak(SAVED, entry("compensated", 5, declares=how)), 200, {**VOUCHED, "probes": probes})
    assert decision.verdict == "reconcile"
    assert decision.missing_evidence


def test_a_cut_off_counts_from_the_earliest_start() -> None:
    keyed = declares(idempotency="keyed", dedupeWindowSeconds=100)
    attempts = [
        entry(
            "attempting",
            created,
            requestFingerprint="sha256:" + "f" * 64,
            declares=keyed,
            attempt={"number": number, "startedAt": at(start), "deadline": at(start + 10)},
        )
        for number, created, start in ((1, None, 10), (2, 180, 180))
    ]
    owners = [{"holder": "w", "state": "dead", "proof": "exit", "observedAt": at(195)}]
    known = facts(199, ledgerComplete=True, owners=owners)
    assert judge(weak(SAVED, *attempts), 200, known).verdict == "hand_over"


@pytest.mark.parametrize("ended", [None, 6])
def test_the_end_of_a_run_without_an_order_accuses_nobody(ended: float | None) -> None:
    evidence = {"kind": "response", "ref": "m", "by": None, "observedAt": at(6)}
    end = {"recordType": "run", "createdAt": None if ended is None else at(ended), "status": "completed"}
    run = weak(SAVED, entry("committed", 6, evidence=evidence), end)
    assert (run.faults, run.status) == ((), "completed")
