"""What a value claims to be, and when it must not be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.kind import _TELLING, KINDS, Identity, recognise, resembles_record
from safepoint.core.version import V1, V2, V3, Version

CHECKPOINT_V2 = {"checkpointId": "cp_03", "runId": "run_123", "schemaVersion": "v2"}
LEDGER_V2 = {"actionId": "send_email_001", "runId": "run_123", "status": "committed"}


def refusals(value: Any) -> list[tuple[str, str]]:
    identity, faults = recognise(value)
    assert identity is None
    assert faults
    return [(fault.code, fault.pointer) for fault in faults]


@pytest.mark.parametrize(
    ("value", "identity"),
    [
        (CHECKPOINT_V2, Identity("checkpoint", V2)),
        (CHECKPOINT_V2 | {"schemaVersion": "v1"}, Identity("checkpoint", V1)),
        (CHECKPOINT_V2 | {"schemaVersion": "v2.7"}, Identity("checkpoint", Version(2, 7))),
        (CHECKPOINT_V2 | {"actionId": "a"}, Identity("checkpoint", V2)),
        (LEDGER_V2, Identity("ledger", V2)),
        (LEDGER_V2 | {"schemaVersion": "v1"}, Identity("ledger", V1)),
        ({"recordType": "lease", "schemaVersion": "v3"}, Identity("lease", V3)),
        ({"recordType": "lease", "schemaVersion": "v3.0"}, Identity("lease", V3)),
        ({"recordType": "facts", "schemaVersion": "v3.12"}, Identity("facts", Version(3, 12))),
        ({"recordType": "ledger", "schemaVersion": "v2", "actionId": "a"}, Identity("ledger", V2)),
    ],
)
def test_a_record_is_recognised_by_its_kind_or_its_id(value: Any, identity: Identity) -> None:
    assert recognise(value) == (identity, ())


@pytest.mark.parametrize("major", KINDS)
def test_every_kind_of_every_version_is_recognised(major: int) -> None:
    for kind in KINDS[major]:
        value = {"recordType": kind, "schemaVersion": f"v{major}"}
        assert recognise(value) == (Identity(kind, Version(major)), ())


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.5, "number"),
        ("x", "string"),
        ([], "array"),
        ((), "tuple"),
    ],
)
def test_what_is_no_object_is_no_record(value: Any, got: str) -> None:
    identity, (fault,) = recognise(value)
    assert identity is None
    assert (fault.code, fault.message) == ("SP003", f"expected a JSON object, got {got}")


@pytest.mark.parametrize("value", [{}, {"schemaVersion": "v9"}, {"name": "package", "version": "1.0"}])
def test_an_object_without_a_kind_or_an_id_is_not_ours(value: Any) -> None:
    assert refusals(value) == [("SP003", "")]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (
            {"runId": "r", "chekpointId": "c", "state": "x"},
            "did you mean checkpointId instead of 'chekpointId'?",
        ),
        ({"runId": "r", "checkpoint_id": "c"}, "did you mean checkpointId instead of 'checkpoint_id'?"),
        (
            {"runId": "r", "actionID": "a", "schemaVersion": "v2"},
            "did you mean actionId instead of 'actionID'?",
        ),
        ({"runId": "r", "recordtype": "run"}, "did you mean recordType instead of 'recordtype'?"),
        ({"runId": "r", "schemaVersion": "v2"}, "it looks like one, since it has runId and schemaVersion"),
        (
            {"stepName": "s", "idempotencyKey": None, "externalRef": "e", "status": "committed"},
            "it looks like one, since it has externalRef, idempotencyKey, stepName",
        ),
    ],
)
def test_a_damaged_record_is_told_from_somebody_elses_json(value: dict[str, Any], hint: str) -> None:
    assert resembles_record(value) == hint
    _, (fault,) = recognise(value)
    assert (fault.code, fault.message.endswith(f"; {hint}")) == ("SP003", True)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"name": "package", "version": "1.0"},
        {"runId": "r", "status": "done", "createdAt": "now", "state": "x", "error": None, "input": {}},
        {"runId": "r", "action": "push", "transactionId": "t", "type": "x"},
        {"schemaVersion": "v3", "stepName": "s"},
        CHECKPOINT_V2,
        {"recordType": "run"},
    ],
)
def test_other_json_and_what_is_recognised_resembles_nothing(value: Any) -> None:
    assert resembles_record(value) is None


def test_the_telling_members_are_members_of_our_records() -> None:
    from safepoint import schemas

    known = {name for kind in schemas.kinds(V3) for name in schemas.schema(kind, V3)["properties"]}
    assert sorted(_TELLING - known) == []


@pytest.mark.parametrize(
    "item", [CHECKPOINT_V2, {"recordType": "run"}, {"runId": "r", "schemaVersion": "v2"}]
)
def test_an_array_of_records_is_told_to_become_lines(item: Any) -> None:
    _, (fault,) = recognise([7, item])
    assert fault.message.startswith("expected a JSON object, got array; write several records as JSON Lines")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"schemaVersion": 3}, ("SP201", "/schemaVersion")),
        ({"schemaVersion": None}, ("SP201", "/schemaVersion")),
        ({"schemaVersion": "3"}, ("SP215", "/schemaVersion")),
        ({"schemaVersion": "v3 "}, ("SP215", "/schemaVersion")),
        ({"schemaVersion": "v03"}, ("SP215", "/schemaVersion")),
        ({"schemaVersion": "v0"}, ("SP215", "/schemaVersion")),
        ({"schemaVersion": "v4"}, ("SP216", "/schemaVersion")),
        ({"schemaVersion": "v4.0", "recordType": "unheard-of"}, ("SP216", "/schemaVersion")),
        ({"schemaVersion": "v10"}, ("SP216", "/schemaVersion")),
        ({"recordType": "chekpoint"}, ("SP213", "/recordType")),
        ({"recordType": "lease", "schemaVersion": "v2"}, ("SP213", "/recordType")),
        ({"recordType": None}, ("SP201", "/recordType")),
        ({"recordType": ["run"]}, ("SP201", "/recordType")),
    ],
)
def test_a_claim_that_does_not_hold_gives_no_identity(change: Any, fault: tuple[str, str]) -> None:
    assert refusals({"recordType": "checkpoint", "checkpointId": "c", "schemaVersion": "v3"} | change) == [
        fault
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"checkpointId": "c"},
        {"checkpointId": "c", "actionId": "a"},
        {"recordType": "ledger", "actionId": "a"},
    ],
)
def test_a_missing_version_is_never_assumed(value: Any) -> None:
    assert refusals(value) == [("SP214", "")]


def test_a_version_3_record_must_name_its_kind() -> None:
    assert refusals({"checkpointId": "c", "schemaVersion": "v3"}) == [("SP202", "")]


def test_an_unknown_requirement_for_readers_forbids_reading() -> None:
    value = {"recordType": "run", "schemaVersion": "v3", "requires": {"read": ["sealed-input", 7, "other"]}}
    assert refusals(value) == [("SP217", "/requires/read/0"), ("SP217", "/requires/read/2")]


def test_an_unknown_requirement_for_resuming_is_noted_and_the_record_read() -> None:
    value = {"recordType": "run", "schemaVersion": "v3", "requires": {"resume": ["warm-cache"]}}
    identity, (fault,) = recognise(value)
    assert identity == Identity("run", V3)
    assert (fault.code, fault.pointer) == ("SP218", "/requires/resume/0")
    assert "'warm-cache'" in fault.message


@pytest.mark.parametrize("requires", [None, [], "x", {}, {"read": "x"}, {"read": {}, "resume": None}])
def test_a_malformed_requirement_is_left_to_the_schema(requires: Any) -> None:
    value = {"recordType": "run", "schemaVersion": "v3", "requires": requires}
    assert recognise(value) == (Identity("run", V3), ())


def test_messages_show_no_more_than_the_beginning_of_a_long_or_hostile_name() -> None:
    _, (fault,) = recognise({"recordType": "\x1b[2J\u202e" + "x" * 5000, "schemaVersion": "v3"})
    assert "\\x1b[2J\\u202e" in fault.message
    assert len(fault.message) < 400


members = st.sampled_from(["recordType", "schemaVersion", "checkpointId", "actionId", "requires"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["v1", "v2", "v3", "v9", "run", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["read", "resume"]), inner),
)


@given(st.dictionaries(members, anything))
def test_no_value_makes_it_raise_and_none_is_without_an_answer(value: Any) -> None:
    identity, faults = recognise(value)
    assert identity or faults
    assert identity is None or {fault.code for fault in faults} <= {"SP218"}
