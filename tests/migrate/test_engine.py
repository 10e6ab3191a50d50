"""One record, or the lines of one file, from version to version: what is refused, kept, reported and proven."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from safepoint.core.digest import digest_stored
from safepoint.core.fault import Fault, Place
from safepoint.core.kind import Identity
from safepoint.core.version import V1, V2, V3, Version
from safepoint.migrate import migrate_lines, migrate_record, upgrade
from safepoint.migrate.steps import v2_to_v3
from safepoint.migrate.steps.exchange import same
from safepoint.version import __version__

ROOT = Path(__file__).parents[2] / "fixtures/migrate"
CASES = sorted(case for case in ROOT.iterdir() if not (case / "safepoint.toml").exists())
"""Those of versions alone; tests/test_fixtures.py runs all of them."""

CHECKPOINT: dict[str, Any] = {
    "checkpointId": "cp_03",
    "runId": "run_123",
    "state": "waiting_tool_result",
    "stepName": "fetch_customer_profile",
    "schemaVersion": "v2",
    "inputSnapshot": {"customerId": "c_456"},
    "artifactRefs": ["artifact_plan_01", "artifact_evidence_02"],
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
    "createdAt": "2026-05-07T10:00:00Z",
}
LEDGER: dict[str, Any] = {
    "actionId": "send_email_001",
    "runId": "run_123",
    "stepName": "notify_customer",
    "idempotencyKey": "run_123_notify_customer_v1",
    "status": "committed",
    "externalRef": "provider_msg_789",
}
FORGED = LEDGER | {
    "schemaVersion": "v2",
    "x-v3": {"recordType": "ledger", "schemaVersion": "v3", "sequence": "first"},
}
CHECKPOINT_V3: dict[str, Any] = {
    "recordType": "checkpoint",
    "schemaVersion": "v3",
    "runId": "run_5",
    "createdAt": "2026-05-07T10:00:00Z",
    "checkpointId": "cp_5",
    "state": "approved",
    "stepName": "publish",
    "artifactRefs": [
        {"artifactId": "a", "uri": f"s3://bucket/{n}", "digest": None, "size": None, "mediaType": None}
        for n in (1, 2)
    ],
    "sideEffectStatus": {"writePerformed": True, "externalMessageSent": None},
}
JOURNAL = {"sequence": 7, "previousDigest": "sha256:" + "0" * 64, "nonce": "0f" * 16, "leaseEpoch": 1}
LEASE = {
    "recordType": "lease",
    "schemaVersion": "v3",
    "runId": "run_5",
    "createdAt": "2026-05-07T10:00:00Z",
    "event": "claimed",
    "purpose": "run",
    "holder": "worker-1",
    "ttlSeconds": 60,
} | JOURNAL


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def codes(faults: Iterable[Fault]) -> list[str]:
    return [fault.code for fault in faults]


def migrated(value: dict[str, Any], to: Version) -> dict[str, Any]:
    result = migrate_record(encode(value), to)
    assert result.data is not None, result.faults
    loaded: dict[str, Any] = json.loads(result.data)
    return loaded


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fixture_comes_out_as_it_says(case: Path) -> None:
    data, expect = (case / "input.json").read_bytes(), json.loads((case / "expect.json").read_bytes())
    to = Version.parse(expect["to"])
    assert to is not None
    result = migrate_record(data, to)
    found = sorted((fault.code, fault.pointer) for fault in result.faults)
    assert found == sorted((finding["code"], finding["pointer"]) for finding in expect["findings"])
    if expect["output"] is None:
        assert result.data is None
    elif expect["output"] == "input.json":
        assert (result.data, result.changed) == (data, False)
    else:
        assert result.data is not None
        wanted = json.loads((case / expect["output"]).read_bytes())
        got = json.loads(result.data)
        for value in (wanted, got):
            value.get("migratedFrom", {}).pop("tool", None)
        assert same(got, wanted)


@pytest.mark.parametrize(
    "name", ["checkpoint-v2", "ledger-v2", "checkpoint-v1", "checkpoint-v2-unknown-members"]
)
def test_the_fixtures_that_go_up_and_back_give_their_originals(name: str) -> None:
    up, back = (f"{name}-up", f"{name}-up-and-back") if "unknown" not in name else (name, f"{name}-back")
    root = CASES[0].parent
    original = json.loads((root / up / "input.json").read_bytes())
    assert same(json.loads((root / back / "expected.json").read_bytes()), original)
    assert (root / up / "expected.json").exists()


def test_a_raised_record_says_where_it_came_from() -> None:
    data = json.dumps(CHECKPOINT, indent=1).encode() + b"\n"
    result = migrate_record(data, V3)
    assert result.data is not None
    assert json.loads(result.data)["migratedFrom"] == {
        "schemaVersion": "v2",
        "digest": digest_stored(data),
        "tool": f"safepoint {__version__}",
    }
    assert result.data.endswith(b"}\n")
    assert result.identity == Identity("checkpoint", V2)


def test_a_source_without_a_version_is_said_to_have_none() -> None:
    raised = migrated(LEDGER, V3)
    assert raised["migratedFrom"]["schemaVersion"] is None
    assert raised["createdAt"] is None
    assert raised["x-v2"] == {"schemaVersion": None}


def test_what_was_never_said_is_not_invented() -> None:
    raised = migrated({**CHECKPOINT, "artifactRefs": None}, V3)
    assert raised["artifactRefs"] is None
    assert not {"usage", "nextSteps", "replaySafeActions", "leaseEpoch", "guardHash"} & raised.keys()


@pytest.mark.parametrize(
    ("status", "new", "owed"),
    [
        ("committed", "committed", "evidence"),
        ("pending", "attempting", "attempt"),
        ("started", "attempting", "attempt"),
        ("attempting", "attempting", "attempt"),
        ("failed", "failed", "error"),
        ("abandoned", "abandoned", "evidence"),
        ("prepared", "prepared", "reservation"),
        ("planned", "planned", None),
        ("cancelled", "cancelled", None),
        ("Committed", "inDoubt", None),
        ("ok", "inDoubt", None),
    ],
)
def test_a_status_becomes_what_it_proves_and_no_more(status: str, new: str, owed: str | None) -> None:
    raised = migrated({**LEDGER, "status": status}, V3)
    assert raised["status"] == new
    assert {name for name in ("attempt", "evidence", "error", "reservation") if name in raised} == (
        {owed} if owed else set()
    )
    assert raised["x-v2"].get("status", new) == status
    assert same(migrated(raised, V2), {**LEDGER, "status": status})


def test_provenance_of_others_is_kept_for_the_way_back() -> None:
    raised = migrated(CHECKPOINT, V3)
    raised["migratedFrom"]["tool"] = "another tool 1"
    lowered = migrated(raised, V2)
    assert lowered["x-v3"]["migratedFrom"] == raised["migratedFrom"]
    assert same(migrated(lowered, V3), raised)


def test_provenance_of_an_older_version_survives_a_stop_in_between() -> None:
    v1 = {"actionId": "a", "runId": "r", "schemaVersion": "v1", "stepName": "s", "status": "planned"}
    raised = migrated(v1, V3)
    assert same(migrated(migrated(raised, V2), V3), raised)
    assert same(migrated(raised, V1), v1)


def test_two_places_of_one_artifact_are_one_id_below_and_two_again_above() -> None:
    lowered = migrated(CHECKPOINT_V3, V2)
    assert lowered["artifactRefs"] == ["a"]
    assert same(migrated(lowered, V3), CHECKPOINT_V3)


def test_a_demand_that_will_not_be_honoured_needs_permission_and_is_reported_even_then() -> None:
    data = encode({**CHECKPOINT_V3, "requires": {"resume": ["sagas"]}})
    assert migrate_record(data, V2).data is None
    result = migrate_record(data, V2, allow_loss=True)
    assert result.data is not None
    assert "SP601" in codes(result.faults)
    raised = migrate_record(result.data, V3)
    assert raised.data is not None
    assert same(json.loads(raised.data), json.loads(data))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "SP111"),
        (b'{"a":1,"a":2}', "SP104"),
        (b"[]", "SP003"),
        (b'{"name":"package"}', "SP003"),
        (b'{"checkpointId":"c","runId":"r"}', "SP214"),
        (b'{"checkpointId":"c","schemaVersion":"v4"}', "SP216"),
        (encode({**CHECKPOINT_V3, "requires": {"read": ["zip"]}}), "SP217"),
    ],
)
def test_what_cannot_be_read_is_refused(data: bytes, code: str) -> None:
    result = migrate_record(data, V3)
    assert (result.data, result.identity, result.changed) == (None, None, False)
    assert code in codes(result.faults)


@pytest.mark.parametrize("to", [Version(4), Version(3, 1), Version(0)])
def test_no_version_is_made_up(to: Version) -> None:
    result = migrate_record(encode(CHECKPOINT), to)
    assert (result.data, codes(result.faults)) == (None, ["SP602"])


def test_an_invalid_record_is_refused_even_where_nothing_would_change() -> None:
    result = migrate_record(encode({**CHECKPOINT, "artifactRefs": 5}), V2)
    assert (result.data, codes(result.faults)) == (None, ["SP201", "SP606"])


def test_a_residue_that_would_restore_nonsense_is_refused() -> None:
    result = migrate_record(encode(FORGED), V3)
    assert result.data is None
    assert codes(result.faults) == ["SP607"] * len(result.faults)


def test_a_record_that_grows_beyond_the_depth_limit_is_refused() -> None:
    deep: Any = 1
    for _ in range(99):
        deep = [deep]
    result = migrate_record(encode({**CHECKPOINT, "legacy": deep}), V3)
    assert result.data is None
    assert codes(result.faults) == ["SP204", "SP607"]


def test_reading_in_memory_adds_no_provenance_and_changes_nothing() -> None:
    before = json.dumps(CHECKPOINT)
    read = upgrade(CHECKPOINT, Identity("checkpoint", V2))
    assert "migratedFrom" not in read
    assert read["orderEvidence"] == "time"
    assert read["inputSnapshot"] is CHECKPOINT["inputSnapshot"]
    assert json.dumps(CHECKPOINT) == before
    assert upgrade(CHECKPOINT_V3, Identity("checkpoint", V3)) is CHECKPOINT_V3


def test_reading_a_lowered_record_in_memory_restores_all_but_its_place_in_the_journal() -> None:
    lowered = migrated({**CHECKPOINT_V3, **JOURNAL, "lastLedgerSequence": 6}, V2)
    read = upgrade(lowered, Identity("checkpoint", V2))
    assert same(read, {**CHECKPOINT_V3, "orderEvidence": "time"})


def test_reading_a_forged_residue_in_memory_gives_what_the_record_says_itself() -> None:
    sound = {name: part for name, part in FORGED.items() if name != "x-v3"}
    assert same(upgrade(FORGED, Identity("ledger", V2)), upgrade(sound, Identity("ledger", V2)))


def test_what_is_called_a_residue_but_was_left_by_no_step_is_a_member_like_any_other() -> None:
    odd = {**LEDGER, "x-v3": {"note": 1}, "x-v2": [True]}
    raised = migrated(odd, V3)
    assert raised["x-v2"] == {"schemaVersion": None, "x-v3": {"note": 1}, "x-v2": [True]}
    assert same(migrated(raised, V2), odd)


@pytest.mark.parametrize(
    "residue",
    [
        5,
        {"sideEffectStatus": 5},
        {"artifactRefs": 5},
        {"artifactRefs": [{"artifactId": []}]},
        {"createdAt": "soon"},
        {"createdAt": "9999-12-31T23:59:59-01:00"},
        {"createdAt": True},
        {"schemaVersion": "v9"},
        {"schemaVersion": None, "checkpointId": []},
    ],
)
def test_a_residue_of_the_wrong_shape_is_carried_along_like_any_other_member(residue: Any) -> None:
    odd = {**CHECKPOINT_V3, "orderEvidence": "time", "x-v2": residue}
    lowered = migrated(odd, V2)
    assert lowered["x-v3"]["x-v2"] == residue
    raised = v2_to_v3.up("checkpoint", lowered)
    assert raised.pop("migratedFrom") is None
    assert same(raised, odd)


def test_lines_migrate_one_by_one_and_unchanged_ones_keep_their_bytes() -> None:
    kept = b'{"recordType":"checkpoint", "schemaVersion":"v3.9"' + encode(CHECKPOINT_V3)[1:].replace(
        b'"recordType": "checkpoint", "schemaVersion": "v3",', b""
    ).replace(b'"runId"', b', "runId"', 1)
    data = encode(LEDGER) + b"\n\n" + kept + b"\n" + encode(CHECKPOINT)
    result = migrate_lines(data, V3, place=Place("x.jsonl", "x.jsonl"))
    assert result.data is not None, result.faults
    lines = result.data.split(b"\n")
    assert [lines[1], lines[2]] == [b"", kept]
    assert [json.loads(lines[at])["recordType"] for at in (0, 3)] == ["ledger", "checkpoint"]
    assert [(fault.code, fault.place) for fault in result.faults] == [
        ("SP116", Place("x.jsonl", "x.jsonl", 2, len(encode(LEDGER)) + 1))
    ]
    assert result.identity == Identity("ledger", V2)


@pytest.mark.parametrize("broken", [b'{"actionId":"a","st\n', b"\xff\n", b'{"checkpointId":"c"}\n'])
def test_one_line_that_cannot_be_migrated_refuses_all(broken: bytes) -> None:
    result = migrate_lines(encode(LEDGER) + b"\n" + broken, V3)
    assert (result.data, result.changed) == (None, False)
    assert {fault.place.line for fault in result.faults if fault.place} == {2}


def test_lines_of_kinds_that_the_version_lacks_are_left_out_only_with_permission() -> None:
    data = encode(LEASE) + b"\n" + encode(CHECKPOINT_V3) + b"\n"
    assert migrate_lines(data, V2).data is None
    result = migrate_lines(data, V2, allow_loss=True)
    assert result.data is not None
    assert result.data.count(b"\n") == 1
    assert "SP605" in codes(result.faults)


def test_lines_that_have_the_version_already_are_the_same_bytes() -> None:
    data = b"  " + encode(CHECKPOINT) + b"\r\n" + encode(CHECKPOINT)
    result = migrate_lines(data, V2)
    assert (result.data, result.changed, codes(result.faults)) == (data, False, ["SP115"])


def test_a_raised_record_goes_down_past_its_source_as_in_two_steps() -> None:
    raised = migrated(CHECKPOINT, V3)
    assert same(migrated(raised, V1), migrated(migrated(raised, V2), V1))
    assert same(migrated(raised, V1), migrated(CHECKPOINT, V1))


def test_a_stop_on_the_way_down_to_the_source_leaves_no_trace() -> None:
    v1 = {"actionId": "a", "runId": "r", "schemaVersion": "v1", "stepName": "s", "status": "planned"}
    assert same(migrated(migrated(migrated(v1, V3), V2), V1), v1)


@pytest.mark.parametrize("provenance", [5, {"tool": 5}, {"schemaVersion": "v1", "digest": "", "tool": 5}])
def test_a_forged_provenance_in_a_residue_is_carried_along(provenance: Any) -> None:
    residue = {
        "recordType": "ledger",
        "schemaVersion": "v3",
        "orderEvidence": "time",
        "migratedFrom": provenance,
    }
    forged = {**LEDGER, "schemaVersion": "v2", "x-v3": residue | {"requires": [1]}}
    lowered = migrated(forged, V1)
    assert lowered["x-v3"] == forged["x-v3"]
    assert same(migrated(lowered, V2), forged)


def test_no_provenance_is_invented_for_a_record_that_had_none() -> None:
    bare = {**CHECKPOINT_V3, "orderEvidence": "time"}
    lowered = migrated(bare, V2)
    assert lowered["x-v3"]["migratedFrom"] is None
    assert same(migrated(lowered, V3), bare)
    assert same(migrated(migrated(bare, V1), V3), bare)
    assert same(upgrade(lowered, Identity("checkpoint", V2)), bare)


def test_a_record_raised_again_names_the_text_that_it_was_raised_from() -> None:
    pretty = json.dumps(CHECKPOINT, indent=1).encode()
    raised = migrate_record(pretty, V3).data
    assert raised is not None
    lowered = migrate_record(raised, V2).data
    assert lowered is not None
    again = migrated(json.loads(lowered), V3)
    first = json.loads(raised)
    assert first.pop("migratedFrom")["digest"] == digest_stored(pretty)
    assert again.pop("migratedFrom")["digest"] == digest_stored(encode(json.loads(lowered)))
    assert same(again, first)
