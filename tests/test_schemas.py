"""What is structurally wrong with one record or document."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint import schemas
from safepoint.core.digest import digest_value
from safepoint.core.kind import Identity, recognise
from safepoint.core.version import V1, V2, V3, Version

DIGEST = "sha256:" + "0" * 64
NONCE = "0123456789abcdef0123456789abcdef"
EFFECTS = {"writePerformed": False, "externalMessageSent": None}
COMMON = {"schemaVersion": "v3", "runId": "r", "createdAt": "2026-05-07T10:00:00Z"}
CHECKPOINT = {
    "recordType": "checkpoint",
    **COMMON,
    "checkpointId": "c",
    "state": "s",
    "stepName": "n",
    "artifactRefs": None,
    "sideEffectStatus": EFFECTS,
}
LEDGER = {
    "recordType": "ledger",
    **COMMON,
    "actionId": "a",
    "stepName": "n",
    "idempotencyKey": None,
    "status": "planned",
}
V2_CHECKPOINT = {
    "checkpointId": "c",
    "runId": "r",
    "schemaVersion": "v2",
    "state": "s",
    "stepName": "n",
    "createdAt": "2026-05-07T10:00:00Z",
    "artifactRefs": ["a"],
    "sideEffectStatus": EFFECTS,
}
IN_JOURNAL = {"sequence": 2, "previousDigest": DIGEST, "nonce": NONCE, "leaseEpoch": 1}
TIME = {"startedAt": "2026-05-07T10:00:00Z", "deadline": "2026-05-07T10:01:00Z"}
EVIDENCE = {"kind": "human", "ref": None, "by": "m", "observedAt": "2026-05-07T10:00:00Z"}
ERROR = {"class": "Refused", "message": None, "retryable": False, "sent": "no"}
IDENTITIES = [Identity(kind, version) for version in (V1, V2, V3) for kind in schemas.kinds(version)]


def faults(value: Any, engine: schemas.Engine = "auto") -> list[tuple[str, str]]:
    identity, _ = recognise(value)
    assert identity
    return [(fault.code, fault.pointer) for fault in schemas.check(identity, value, engine=engine)]


def messages(value: Any) -> list[str]:
    identity, _ = recognise(value)
    assert identity
    return [fault.message for fault in schemas.check(identity, value)]


# Times.

TIMES = {
    "2026-05-07T10:00:00Z": True,
    "0001-01-01T00:00:00Z": True,
    "9999-12-31T23:59:59.999999999Z": True,
    "2000-02-29T00:00:00Z": True,
    "2024-02-29T00:00:00.5Z": True,
    "1900-02-29T00:00:00Z": False,
    "2026-02-29T00:00:00Z": False,
    "2026-04-31T00:00:00Z": False,
    "2026-13-01T00:00:00Z": False,
    "2026-00-10T00:00:00Z": False,
    "2026-01-00T00:00:00Z": False,
    "0000-01-01T00:00:00Z": False,
    "2026-05-07T24:00:00Z": False,
    "2026-05-07T23:59:60Z": False,
    "2026-05-07T10:60:00Z": False,
    "2026-05-07T10:00:00.Z": False,
    "2026-05-07T10:00:00.1234567890Z": False,
    "2026-05-07T10:00:00": False,
    "2026-05-07t10:00:00z": False,
    "2026-05-07 10:00:00Z": False,
    "2026-05-07T10:00:00Z\n": False,
    "2026-05-07T10:00:00Z ": False,
    "٢٠٢٦-05-07T10:00:00Z": False,
    "yesterday": False,
}


@pytest.mark.parametrize(("time", "good"), TIMES.items())
@pytest.mark.parametrize("record", [CHECKPOINT, V2_CHECKPOINT], ids=["v3", "v2"])
def test_a_time_names_a_moment_of_the_calendar(record: dict[str, Any], time: str, good: bool) -> None:
    assert faults({**record, "createdAt": time}) == ([] if good else [("SP207", "/createdAt")])


@pytest.mark.parametrize(
    "time", ["2026-05-07T12:00:00+02:00", "2026-05-07T12:00:00.1-23:59", "8999-12-31T23:59:59-01:00"]
)
def test_an_offset_is_good_in_older_versions_only(time: str) -> None:
    assert faults({**V2_CHECKPOINT, "createdAt": time}) == []
    assert faults({**CHECKPOINT, "createdAt": time}) == [("SP207", "/createdAt")]


@pytest.mark.parametrize(
    "time", ["9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "2026-05-07T12:00:00+24:00"]
)
def test_an_offset_may_not_lead_out_of_the_calendar(time: str) -> None:
    assert faults({**V2_CHECKPOINT, "createdAt": time}) == [("SP207", "/createdAt")]


# Members that the schema does not know.


def test_an_unknown_member_of_v3_is_an_error_with_a_suggestion() -> None:
    assert faults({**CHECKPOINT, "guardhash": None}) == [("SP203", "/guardhash")]
    assert messages({**CHECKPOINT, "guardhash": None}) == [
        'member "guardhash" is not known to v3; did you mean "guardHash"?'
    ]


def test_each_unknown_member_is_a_fault_of_its_own() -> None:
    value = {**CHECKPOINT, "__type__": "os.system", "sideEffectStatus": {**EFFECTS, "a/b": 1}}
    assert faults(value) == [("SP203", "/__type__"), ("SP203", "/sideEffectStatus/a~1b")]


def test_an_unknown_member_of_a_newer_minor_is_only_noted() -> None:
    value = {**CHECKPOINT, "schemaVersion": "v3.9", "news": 1, "sideEffectStatus": {**EFFECTS, "more": 1}}
    assert faults(value) == [("SP205", "/news"), ("SP205", "/sideEffectStatus/more")]


def test_a_newer_minor_does_not_excuse_a_broken_member() -> None:
    assert faults({**CHECKPOINT, "schemaVersion": "v3.9", "state": 5}) == [("SP201", "/state")]


@pytest.mark.parametrize("name", ["x-a", "x-my.trace_id-2"])
def test_members_of_ones_own_pass_at_every_level_and_version(name: str) -> None:
    for record in (CHECKPOINT, V2_CHECKPOINT):
        assert faults({**record, name: [None], "sideEffectStatus": {**EFFECTS, name: 1}}) == []


@pytest.mark.parametrize("name", ["x-", "X-a", "x-A", "x-a\n", "x-a b", "x-é"])
def test_a_name_that_only_looks_like_ones_own_is_unknown(name: str) -> None:
    assert faults({**CHECKPOINT, name: 1}) == [("SP203", f"/{name}")]


def test_members_of_newer_versions_are_told_from_unknown_ones() -> None:
    for version, names in {
        1: ("artifactRefs", "sideEffectStatus", "guardHash"),
        2: ("guardHash", "recordType"),
    }.items():
        record = {
            name: V2_CHECKPOINT[name] for name in ("checkpointId", "runId", "state", "stepName", "createdAt")
        }
        record |= {"schemaVersion": f"v{version}"}
        record |= {} if version == 1 else {"artifactRefs": None, "sideEffectStatus": EFFECTS}
        found = list(
            schemas.check(
                Identity("checkpoint", Version(version)), {**record, **dict.fromkeys(names), "zz": 1}
            )
        )
        assert [(f.code, f.pointer) for f in found] == [
            *sorted(("SP219", f"/{name}") for name in names),
            ("SP204", "/zz"),
        ]
    assert 'member "artifactRefs" belongs to v2, but the record says v1' in messages(
        {**V2_CHECKPOINT, "schemaVersion": "v1"}
    )


# Members that depend on each other.


@pytest.mark.parametrize("name", IN_JOURNAL)
def test_journal_members_stand_only_together(name: str) -> None:
    value = {**CHECKPOINT, **IN_JOURNAL}
    assert faults(value) == []
    del value[name]
    assert faults(value) == [("SP212", "")]
    only = {**CHECKPOINT, name: IN_JOURNAL[name]}
    assert faults(only) == [("SP212", "")] * 3


@pytest.mark.parametrize("name", ["orderEvidence", "migratedFrom"])
def test_a_migrated_record_has_no_place_in_a_chain(name: str) -> None:
    mark = {"orderEvidence": "time", "migratedFrom": {"schemaVersion": None, "digest": DIGEST, "tool": "t"}}[
        name
    ]
    assert faults({**CHECKPOINT, name: mark}) == []
    assert faults({**CHECKPOINT, **IN_JOURNAL, name: mark}) == [("SP212", f"/{name}")]


@pytest.mark.parametrize(
    ("sequence", "previous", "good"),
    [(1, None, True), (2, DIGEST, True), (1, DIGEST, False), (2, None, False)],
)
def test_only_the_first_record_has_no_predecessor(sequence: int, previous: str | None, good: bool) -> None:
    value = {**CHECKPOINT, **IN_JOURNAL, "sequence": sequence, "previousDigest": previous}
    assert faults(value) == ([] if good else [("SP221", "/previousDigest")])


def test_a_record_of_a_journal_has_a_time() -> None:
    assert faults({**LEDGER, "createdAt": None}) == []
    assert faults({**LEDGER, **IN_JOURNAL, "createdAt": None}) == [("SP201", "/createdAt")]


RUN = {"recordType": "run", **COMMON}
APPROVAL = {"recordType": "approval", **COMMON, "approvalId": "p", "actionId": "a", "event": "requested"}
LEASE = {
    "recordType": "lease",
    **COMMON,
    "event": "claimed",
    "purpose": "run",
    "holder": "h",
    "ttlSeconds": 60,
}
PROOF = {
    "recordType": "evidence",
    **COMMON,
    "actionId": "a",
    "attemptNumber": 1,
    "result": "applied",
    **EVIDENCE,
}
RETRACT = {"recordType": "retract", **COMMON, "targets": ["c"], "reason": "erasure", "by": "m"}
SUCCESSOR = {"uri": "s3://b/p", "runId": "r"}


@pytest.mark.parametrize(
    ("record", "epochs"),
    [
        (CHECKPOINT, {1}),
        (LEDGER, {1}),
        (LEASE, {1}),
        (APPROVAL, {0}),
        (PROOF, {0}),
        (RETRACT, {0}),
        ({**RUN, "status": "started"}, {0, 1}),
        ({**RUN, "status": "cancelRequested"}, {0}),
        ({**RUN, "status": "completed"}, {1}),
        ({**RUN, "status": "failed"}, {1}),
        ({**RUN, "status": "cancelled"}, {1}),
        ({**RUN, "status": "sealed", "successor": SUCCESSOR}, {1}),
    ],
    ids=lambda value: f"{value['recordType']} {value.get('status', '')}" if "recordType" in value else None,
)
def test_an_epoch_fits_the_kind_of_record(record: dict[str, Any], epochs: set[int]) -> None:
    for epoch in (0, 1):
        found = faults({**record, **IN_JOURNAL, "leaseEpoch": epoch})
        assert found == ([] if epoch in epochs else [("SP222", "/leaseEpoch")])


@pytest.mark.parametrize(
    ("status", "member", "content"),
    [
        ("attempting", "attempt", {"number": 1, **TIME}),
        ("prepared", "reservation", {"ref": None, "expiresAt": None}),
        ("committed", "evidence", EVIDENCE),
        ("failed", "error", ERROR),
        ("abandoned", "evidence", EVIDENCE),
    ],
)
def test_a_status_of_a_journal_needs_its_member(status: str, member: str, content: dict[str, Any]) -> None:
    value = {**LEDGER, **IN_JOURNAL, "status": status}
    assert faults({**value, member: content}) == []
    assert faults({**value, member: None}) == [("SP223", f"/{member}")]
    assert faults(value) == [("SP223", "")]
    assert faults({**LEDGER, "status": status, member: None}) == []


def test_only_a_human_abandons() -> None:
    value = {**LEDGER, **IN_JOURNAL, "status": "abandoned"}
    assert faults({**value, "evidence": {**EVIDENCE, "kind": "probe"}}) == [("SP223", "/evidence/kind")]
    assert faults({**value, "evidence": {**EVIDENCE, "by": None}}) == [("SP223", "/evidence/by")]


def test_a_sealed_run_names_its_successor() -> None:
    assert faults({**RUN, **IN_JOURNAL, "status": "sealed"}) == [("SP223", "")]


def test_a_lease_is_always_in_a_journal_and_a_claim_says_all() -> None:
    assert faults(LEASE) == [("SP212", "")]
    assert faults({"recordType": "lease", **COMMON, **IN_JOURNAL, "event": "released"}) == []
    assert faults({"recordType": "lease", **COMMON, **IN_JOURNAL, "event": "claimed"}) == [("SP223", "")] * 3
    fork = {**LEASE, **IN_JOURNAL, "forkFrom": {"checkpointId": "c"}}
    assert faults(fork) == [("SP223", "")]
    assert faults({**fork, "branch": "b"}) == []


def test_an_approval_is_about_something_and_a_humans_word_names_the_human() -> None:
    assert faults({**APPROVAL, "actionId": None}) == [("SP202", "")]
    assert faults({**APPROVAL, "actionId": None, "checkpointId": "c"}) == []
    for event in ("granted", "rejected", "revoked"):
        journal = {**IN_JOURNAL, "leaseEpoch": 0}
        assert faults({**APPROVAL, **journal, "event": event}) == [("SP223", "")]
        assert faults({**APPROVAL, **journal, "event": event, "actor": "m"}) == []


def test_the_recovery_log_has_its_own_numbers_and_no_owner_before_the_claim() -> None:
    value = {"recordType": "recovery", **COMMON, "episodeId": "e", "state": "detected"}
    numbers = {name: IN_JOURNAL[name] for name in ("sequence", "previousDigest", "nonce")}
    assert (
        faults(value)
        == faults({**value, **numbers})
        == faults({**value, **numbers, "leaseEpoch": None})
        == []
    )
    assert faults({**value, "sequence": 1}) == [("SP212", "")] * 2
    assert faults({**value, **numbers, "leaseEpoch": 0}) == [("SP222", "/leaseEpoch")]
    assert faults({**value, **numbers, "state": "claimed"}) == [("SP222", "")]
    assert faults({**value, **numbers, "state": "claimed", "leaseEpoch": 2}) == []


# How faults are reported.


def test_a_value_of_the_wrong_type_has_one_fault() -> None:
    assert faults({**CHECKPOINT, **IN_JOURNAL, "previousDigest": 5, "leaseEpoch": "1"}) == [
        ("SP201", "/leaseEpoch"),
        ("SP201", "/previousDigest"),
    ]
    assert [f.code for f in schemas.check(Identity("checkpoint", V3), ["recordType"])] == ["SP201"]


def test_a_missing_member_is_a_fault_of_the_object_and_named() -> None:
    value = {**CHECKPOINT, "artifactRefs": [{"artifactId": "a", "uri": None, "mediaType": None}]}
    assert faults(value) == [("SP202", "/artifactRefs/0")] * 2
    assert messages(value) == ['member "digest" is missing', 'member "size" is missing']


def test_a_bad_name_in_a_map_is_found_at_that_member() -> None:
    value = {**CHECKPOINT, "guardContext": {"Tool x": DIGEST}}
    assert faults(value) == [("SP230", "/guardContext/Tool x")]
    assert "Tool" not in messages(value)[0]


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda i: f"{i.version} {i.kind}")
def test_no_message_shows_what_a_record_holds(identity: Identity) -> None:
    secret = "hunter2-é-\x1b[31m"
    members = schemas.schema(identity.kind, identity.version)["properties"]
    value = dict.fromkeys(members, secret * 300) | {"x-mine": secret}
    value |= {name: {"note": [secret]} for name in list(members)[::2]}
    found = list(schemas.check(identity, value))
    assert found
    assert not [fault for fault in found if "hunter2" in fault.message]


def test_a_hostile_name_is_shown_in_ascii_and_cut() -> None:
    message = messages({**CHECKPOINT, "\x1b[2J\u202e" + "a" * 500: 1})[0]
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 200


# The guard hash.


def test_the_guard_hash_is_the_digest_of_the_canonical_context() -> None:
    context = {"workflow": DIGEST, "model": "sha256:" + "1" * 64, "tool.a-b": DIGEST}
    assert faults({**CHECKPOINT, "guardContext": context, "guardHash": digest_value(context)}) == []
    assert faults({**CHECKPOINT, "guardContext": context, "guardHash": DIGEST}) == [("SP509", "/guardHash")]
    assert faults({**CHECKPOINT, "guardContext": {}, "guardHash": None}) == []
    assert faults({**CHECKPOINT, "guardHash": DIGEST}) == []


def test_a_broken_guard_context_is_not_hashed() -> None:
    value = {**CHECKPOINT, "guardContext": {"a": "x"}, "guardHash": DIGEST, "unknown": 1}
    assert faults(value) == [("SP208", "/guardContext/a"), ("SP203", "/unknown")]


def test_the_guard_hash_is_also_checked_beside_other_faults() -> None:
    value = {**CHECKPOINT, "guardContext": {}, "guardHash": DIGEST, "unknown": 1}
    assert faults(value) == [("SP203", "/unknown"), ("SP509", "/guardHash")]
