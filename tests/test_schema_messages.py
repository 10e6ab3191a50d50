"""What is said of a status that an old ledger left to its writer, and of a time that is none."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint import schemas
from safepoint.core.fault import Fault
from safepoint.core.kind import recognise
from safepoint.core.status import OLD_STATUSES

TIME = "2026-05-07T10:00:00Z"
FACTS = {"recordType": "facts", "schemaVersion": "v3", "runId": "r", "observedAt": TIME}
V1_CHECKPOINT = {
    "checkpointId": "c",
    "runId": "r",
    "schemaVersion": "v1",
    "state": "s",
    "stepName": "n",
    "createdAt": TIME,
}
V3_LEDGER = {
    "recordType": "ledger",
    "schemaVersion": "v3",
    "runId": "r",
    "createdAt": TIME,
    "actionId": "a",
    "stepName": "n",
    "idempotencyKey": None,
}
V2_LEDGER = {"actionId": "a", "runId": "r", "schemaVersion": "v2", "stepName": "s", "idempotencyKey": None}


def found(value: Any) -> list[Fault]:
    identity, _ = recognise(value)
    assert identity
    return list(schemas.check(identity, value))


def faults(value: Any) -> list[tuple[str, str]]:
    return [(fault.code, fault.pointer) for fault in found(value)]


def messages(value: Any) -> list[str]:
    return [fault.message for fault in found(value)]


@pytest.mark.parametrize("status", OLD_STATUSES)
def test_every_word_of_an_old_ledger_that_a_migration_knows_is_fine(status: str) -> None:
    assert faults({**V2_LEDGER, "status": status}) == []


@pytest.mark.parametrize(
    ("status", "end"),
    [
        ("comitted", '; did you mean "committed"?'),
        ("Failed", '; did you mean "failed"?'),
        (
            "sent",
            ": planned, pending, started, attempting, inDoubt, prepared, committed, failed, compensating, ",
        ),
    ],
)
def test_an_old_ledger_with_another_word_is_read_as_in_doubt(status: str, end: str) -> None:
    v1 = {"actionId": "a", "runId": "r", "schemaVersion": "v1", "stepName": "s"}
    for value in ({**V2_LEDGER, "status": status}, {**v1, "status": status}):
        assert faults(value) == [("SP220", "/status")]
        (message,) = messages(value)
        assert message.startswith(
            f'"{status}" is none of the words that are understood, so it is read as inDoubt'
        )
        assert end in message


def test_a_status_that_is_no_word_at_all_has_one_fault() -> None:
    assert faults({**V2_LEDGER, "status": 7}) == [("SP201", "/status")]
    assert faults({**V3_LEDGER, "status": "comitted"}) == [("SP209", "/status")]


def test_a_time_that_is_none_says_why_and_other_text_is_not_shown() -> None:
    (v3,) = messages({**FACTS, "observedAt": "2026-02-30T10:00:00Z"})
    assert v3.endswith('found "2026-02-30T10:00:00Z": February 2026 has no day 30')
    (v1,) = messages({**V1_CHECKPOINT, "createdAt": "2026-05-07T10:00:00"})
    assert v1.endswith('found "2026-05-07T10:00:00": the Z for UTC is missing')
    (secret,) = messages({**V1_CHECKPOINT, "createdAt": "s3cret"})
    assert secret.endswith("found a string of 6 characters")
