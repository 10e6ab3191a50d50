"""The words of each kind of record, and the states of a run."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint.core.fault import Place
from safepoint.core.timestamp import parse_time
from safepoint.core.version import V3
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.policy import Policy
from safepoint.render.history import history
from safepoint.render.overview import state_of

NOW = parse_time("2026-05-07T12:00:00Z")


def record(kind: str, number: int = 1, /, **members: Any) -> Record:
    value = {
        "recordType": kind,
        "schemaVersion": "v3",
        "runId": "r",
        "createdAt": f"2026-05-07T10:00:{number:02}Z",
        "sequence": number,
        "previousDigest": None,
        "nonce": "0" * 32,
        "leaseEpoch": 1,
        **members,
    }
    return Record(kind, V3, value, Place(f"{number}.json", f"{number}.json"), f"sha256:{number:064}")


def words(*records: Record) -> list[str]:
    return [event["text"] for event in document(*records)["timeline"]]


def document(*records: Record, recovery: tuple[Record, ...] = ()) -> dict[str, Any]:
    run = fold("r", records, recovery=recovery)
    return history(run, [], lambda code: code, now=NOW, policy=Policy(clock_skew_seconds=0))


LEASE = {"event": "claimed", "purpose": "run", "holder": "w", "ttlSeconds": 60}


@pytest.mark.parametrize(
    ("kind", "members", "said"),
    [
        ("run", {"status": "started", "workflow": "publish"}, "run started: workflow publish"),
        ("run", {"status": "completed"}, "run completed"),
        ("run", {"status": "failed", "error": {"class": "ValueError"}}, "run failed: ValueError"),
        ("run", {"status": "cancelRequested", "by": "ann"}, "asked to stop by ann"),
        (
            "run",
            {"status": "sealed", "successor": {"uri": "s3://b", "runId": "r2"}},
            "sealed: it goes on as r2 in s3://b",
        ),
        ("lease", LEASE, "lease claimed by w for 60 s"),
        ("lease", LEASE | {"purpose": "recovery"}, "lease claimed by w for 60 s, to recover the run"),
        ("lease", LEASE | {"event": "released"}, "lease released"),
        (
            "approval",
            {
                "approvalId": "ap",
                "actionId": "a",
                "event": "granted",
                "actor": "ann",
                "expiresAt": "2026-05-08T00:00:00Z",
            },
            "approval ap for a: granted by ann, until 2026-05-08T00:00:00Z",
        ),
        (
            "approval",
            {"approvalId": "ap", "actionId": "a", "event": "requested", "actor": "ann"},
            "approval ap for a: requested of ann",
        ),
        (
            "evidence",
            {"actionId": "a", "attemptNumber": 1, "result": "applied", "kind": "human", "by": "ann"},
            "a: seen to have happened (evidence human by ann)",
        ),
        ("retract", {"targets": ["cp_1", "art_1"], "by": "ann"}, "retracted cp_1, art_1 by ann"),
    ],
)
def test_each_kind_of_record_is_told_in_words(kind: str, members: dict[str, Any], said: str) -> None:
    assert words(record(kind, **members)) == [said]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("sealed", "to seal the run"),
        ("cancelled", "to end the run"),
        (None, "to settle open effects"),
    ],
)
def test_what_a_human_claimed_the_run_for_is_told_by_what_was_done_under_it(
    status: str | None, said: str
) -> None:
    records = [
        record("lease", 1, **LEASE),
        record("lease", 2, **LEASE | {"purpose": "resolution"}, leaseEpoch=2),
    ]
    # what somebody else appends between them is under no lease
    records.append(record("retract", 3, targets=["cp_1"], leaseEpoch=0))
    if status is None:
        records.append(record("ledger", 4, actionId="pay", stepName="s", status="committed", leaseEpoch=2))
    else:
        records.append(record("run", 4, status=status, leaseEpoch=2))
    assert words(*records)[:2] == ["lease claimed by w for 60 s", f"lease claimed by w for 60 s, {said}"]


def ledger(number: int, status: str, **members: Any) -> Record:
    return record(
        "ledger", number, actionId="pay", stepName="s", idempotencyKey="k1", status=status, **members
    )


def attempt(number: int) -> Record:
    times = {"startedAt": "2026-05-07T10:00:01Z", "deadline": "2026-05-07T10:00:31Z"}
    return ledger(number, "attempting", attempt={"number": 1, **times})


def test_a_failure_says_its_class_whether_it_was_sent_and_no_message() -> None:
    error = {"class": "Refused", "message": "card of Ann Smith", "retryable": True, "sent": "no"}
    said = words(attempt(1), ledger(2, "failed", error=error))
    assert said == [
        "pay: about to send, attempt 1 (key k1)",
        "pay: failed (Refused, it was not sent; may be tried again)",
    ]


@pytest.mark.parametrize(
    ("records", "known"),
    [
        ([ledger(1, "planned")], "nothing was sent"),
        ([attempt(1)], "announced; no outcome was ever written: it may or may not have happened"),
        ([attempt(1), ledger(2, "inDoubt")], "it may or may not have happened"),
        ([ledger(1, "planned"), ledger(2, "cancelled")], "withdrawn before anything was sent"),
        (
            [
                attempt(1),
                ledger(2, "inDoubt"),
                ledger(3, "abandoned", evidence={"kind": "human", "by": "ann"}),
            ],
            "nobody will find out; a human accepted that (evidence human by ann)",
        ),
    ],
)
def test_what_is_known_of_an_effect_is_said_in_words(records: list[Record], known: str) -> None:
    (action,) = document(*records)["actions"]
    assert action["known"] == known


def test_rounds_of_recovery_are_listed() -> None:
    log = (
        record("recovery", 1, episodeId="e1", state="detected", failureOf="step", failureSignature="f"),
        record("recovery", 2, episodeId="e1", state="assessing", fromCheckpointId="cp_1"),
    )
    (episode,) = document(record("run", status="started"), recovery=log)["recoveries"]
    assert episode == {
        "episodeId": "e1",
        "state": "assessing",
        "ended": False,
        "result": "being judged",
        "failedBy": None,
        "trigger": None,
        "failureOf": "step",
        "failureEvidence": None,
        "failureSignature": "f",
        "holder": None,
        "attemptNumber": None,
        "fromCheckpointId": "cp_1",
        "leaseEpoch": 1,
        "notBefore": None,
        "cost": None,
        "outcome": None,
        "states": [
            {
                "state": state,
                "at": f"2026-05-07T10:00:0{number}Z",
                "sequence": number,
                "decisionDigest": None,
                "notBefore": None,
                "key": f"{number}.json",
                "line": 1,
            }
            for number, state in ((1, "detected"), (2, "assessing"))
        ],
    }


def state(*records: Record, now: str = "2026-05-07T10:00:30Z") -> str:
    return state_of(folded(*records), parse_time(now), skew=5_000_000_000)


def folded(*records: Record) -> Run:
    return fold("r", records)


START = record("run", 1, status="started", leaseEpoch=0)
CLAIM = record("lease", 2, **LEASE)


def asked(expires: str) -> Record:
    members = {"approvalId": "ap", "actionId": "a", "event": "requested", "expiresAt": expires}
    return record("approval", 3, leaseEpoch=0, **members)


@pytest.mark.parametrize(
    ("records", "now", "expected"),
    [
        ([], "2026-05-07T10:00:30Z", "unreadable"),
        ([START], "2026-05-07T10:00:30Z", "unknown"),
        ([START, CLAIM], "2026-05-07T10:01:11Z", "running"),
        ([START, CLAIM], "2026-05-07T10:01:12Z", "interrupted"),
        ([START, CLAIM, record("lease", 3, event="released")], "2026-05-07T10:00:04Z", "interrupted"),
        ([START, CLAIM, asked("2026-05-07T11:00:00Z")], "2026-05-07T10:30:00Z", "waiting"),
        ([START, CLAIM, asked("2026-05-07T11:00:00Z")], "2026-05-07T11:00:00Z", "interrupted"),
        ([START, CLAIM, record("run", 3, status="completed")], "2026-05-07T10:30:00Z", "completed"),
        ([START, CLAIM, record("run", 3, status="failed")], "2026-05-07T10:30:00Z", "failed"),
        ([START, CLAIM, record("run", 3, status="cancelled")], "2026-05-07T10:30:00Z", "cancelled"),
        ([START, CLAIM, record("run", 3, status="sealed")], "2026-05-07T10:30:00Z", "sealed"),
    ],
)
def test_the_state_of_a_run_follows_from_its_records_and_the_moment(
    records: list[Record], now: str, expected: str
) -> None:
    assert state(*records, now=now) == expected


def test_evidence_that_an_effect_happened_is_named_where_the_effect_is() -> None:
    seen = {"attemptNumber": 1, "result": "applied", "kind": "probe", "by": None, "ref": "msg 7"}
    evidence = record("evidence", 2, actionId="pay", leaseEpoch=0, observedAt="2026-05-07T10:05:00Z", **seen)
    (action,) = document(attempt(1), evidence)["actions"]
    assert (action["status"], action["known"]) == ("committed", "it happened (evidence probe msg 7)")
    assert words(attempt(1), evidence)[1] == "pay: seen to have happened (evidence probe msg 7)"


def test_a_humans_no_is_not_followed_by_nobody_knows() -> None:
    error = {"class": "notApplied", "message": None, "retryable": True, "sent": "unknown"}
    told = {"kind": "human", "by": "ann", "ref": None, "observedAt": "2026-05-07T10:05:00Z"}
    detail = attempt(1).value["attempt"]
    (action,) = document(attempt(1), ledger(2, "failed", attempt=detail, error=error, evidence=told))[
        "actions"
    ]
    assert action["known"] == "it did not happen (evidence human by ann; notApplied; may be tried again)"
    unknown = words(attempt(1), ledger(2, "inDoubt", attempt=detail, error=error))[1]
    assert "nobody knows whether it was sent" in unknown


def test_a_reference_and_a_delivery_are_named_beside_the_evidence() -> None:
    proof = {"kind": "response", "ref": "250 ok", "by": None, "observedAt": "2026-05-07T10:00:02Z"}
    detail = attempt(1).value["attempt"]
    members = {"attempt": detail, "evidence": proof, "externalRef": "m-1", "deliveryState": "already_sent"}
    said = words(attempt(1), ledger(2, "committed", **members))[1]
    assert said == "pay: committed (evidence response 250 ok; reference m-1; delivery already sent)"
