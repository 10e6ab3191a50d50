"""Records with thousands of faults: some of each code are told, all are counted."""

from __future__ import annotations

from typing import Any

from safepoint import schemas
from safepoint.core.fault import Fault
from safepoint.core.kind import Identity
from safepoint.core.scanner import MOST_FAULTS
from safepoint.core.version import V3

CHECKPOINT = {
    "recordType": "checkpoint",
    "schemaVersion": "v3",
    "runId": "r",
    "createdAt": "2026-05-07T10:00:00Z",
    "checkpointId": "c",
    "state": "s",
    "stepName": "n",
    "artifactRefs": None,
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": None},
}


def told(value: dict[str, Any]) -> list[Fault]:
    return list(schemas.check(Identity("checkpoint", V3), value))


def test_of_one_code_some_faults_are_told_and_the_rest_counted() -> None:
    record = CHECKPOINT | {f"m{n}": n for n in range(MOST_FAULTS + 7)} | {"state": 5}
    found = told(record)
    assert len(found) == MOST_FAULTS + 1
    assert [fault.code for fault in found].count("SP203") == MOST_FAULTS
    assert found[-2].message.endswith("; 7 more of this code in this record are not listed")
    assert found[-1].code == "SP201"


def test_as_many_faults_as_may_be_told_are_told() -> None:
    found = told(CHECKPOINT | {f"m{n}": n for n in range(MOST_FAULTS)})
    assert len(found) == MOST_FAULTS
    assert not any("more of this code" in fault.message for fault in found)


def test_what_lies_in_a_value_of_the_wrong_type_is_not_told_again() -> None:
    found = told(CHECKPOINT | {"nextSteps": [5] * 300, "artifactRefs": [{"artifactId": 5}, 7]})
    assert {fault.pointer for fault in found if fault.code == "SP201"} >= {
        "/nextSteps/299",
        "/artifactRefs/0/artifactId",
        "/artifactRefs/1",
    }
    assert not [fault for fault in found if fault.pointer == "/nextSteps/299" and fault.code != "SP201"]
