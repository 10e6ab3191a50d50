"""Records and journals whose payloads change: provenance, the chain, and what is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from journals import Journal

import safepoint
from safepoint.core.digest import digest_stored
from safepoint.core.fault import Place
from safepoint.core.version import V1, V2, V3
from safepoint.migrate import Migrated, Migrator
from safepoint.payloads import PayloadSchemas
from safepoint.payloads.migrations import PayloadChange, PayloadMigrations, PayloadStep
from safepoint.version import __version__

OLD, NEW = "agent/state@1", "agent/state@2"


@pytest.fixture
def change(tmp_path: Path) -> PayloadChange:
    """From ``{"a": …}`` to ``{"b": …}``."""
    (tmp_path / "2.json").write_text('{"required": ["b"], "properties": {"b": {"maximum": 9}}}')
    (tmp_path / "patch.json").write_text('[{"op": "move", "from": "/a", "path": "/b"}]')
    schemas = PayloadSchemas.load({NEW: str(tmp_path / "2.json")})
    step = PayloadStep(OLD, NEW, str(tmp_path / "patch.json"))
    return PayloadMigrations.load([step], schemas).toward([NEW])


def checkpoint(**members: Any) -> dict[str, Any]:
    """A loose one of v3."""
    return {
        "recordType": "checkpoint",
        "schemaVersion": "v3",
        "runId": "run-1",
        "createdAt": "2026-05-07T10:00:00Z",
        "checkpointId": "cp-1",
        "state": "waiting",
        "stepName": "look",
        "artifactRefs": None,
        "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None},
        "payloadSchema": OLD,
        "stateSnapshot": {"a": 1},
        **members,
    }


def journal(*payloads: int, **members: Any) -> Journal:
    """A run with a checkpoint for each payload, and a step of work between them."""
    found = Journal().begin()
    for number, payload in enumerate(payloads, 1):
        found.checkpoint(2 * number, payloadSchema=OLD, stateSnapshot={"a": payload}, **members)
        found.ledger(2 * number + 1, "planned", actionId=f"act-{number}")
    return found


def lines_of(found: Journal) -> list[bytes]:
    return [orjson.dumps(value) for value in found.values]


def codes(result: Migrated) -> list[str]:
    return [fault.code for fault in result.faults]


def chain_of(lines: list[bytes]) -> list[bool]:
    """For each line but the first, whether it names the digest of the one before."""
    return [orjson.loads(line)["previousDigest"] == digest_stored(before) for before, line in pairwise(lines)]


def test_a_record_says_what_its_payload_was_changed_from(change: PayloadChange) -> None:
    data = json.dumps(checkpoint(), indent=1).encode()
    result = Migrator(V3, payloads=change).record(data)
    assert result.data is not None
    assert orjson.loads(result.data) == {
        **checkpoint(payloadSchema=NEW, stateSnapshot={"b": 1}),
        "payloadMigratedFrom": {
            "payloadSchema": OLD,
            "digest": digest_stored(data),
            "tool": f"safepoint {__version__}",
        },
    }
    assert (codes(result), result.changed) == ([], True)


def test_a_second_migration_names_what_it_began_with(change: PayloadChange) -> None:
    before = {"payloadSchema": "agent/state@9", "digest": "sha256:" + "0" * 64, "tool": "t"}
    data = orjson.dumps(checkpoint(payloadMigratedFrom=before))
    result = Migrator(payloads=change).record(data)
    assert orjson.loads(result.data or b"")["payloadMigratedFrom"]["digest"] == digest_stored(data)


def test_migrating_twice_is_as_good_as_once(change: PayloadChange) -> None:
    once = Migrator(payloads=change).record(orjson.dumps(checkpoint()))
    twice = Migrator(payloads=change).record(once.data or b"")
    assert (twice.data, twice.changed) == (once.data, False)


def test_without_a_version_each_record_stays_in_its_own(change: PayloadChange) -> None:
    v2 = orjson.dumps(
        {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": None, "status": "planned"}
    )
    for migrator in (Migrator(), Migrator(payloads=change)):
        result = migrator.record(v2)
        assert (result.data, result.changed) == (v2, False)


def test_a_record_that_lies_lowered_is_changed_as_it_is_in_v3(change: PayloadChange) -> None:
    high = orjson.dumps(checkpoint())
    for version in (V2, V1):
        low = Migrator(version).record(high).data
        assert low is not None
        changed = Migrator(payloads=change).record(low)
        assert changed.data is not None
        assert orjson.loads(changed.data)["schemaVersion"] == str(version)
        assert changed.data == Migrator(version, payloads=change).record(low).data
        raised = orjson.loads(Migrator(V3).record(changed.data).data or b"")
        assert raised["stateSnapshot"] == {"b": 1}
        assert raised["payloadMigratedFrom"]["digest"] == digest_stored(low)
        at_once = orjson.loads(Migrator(V3, payloads=change).record(low).data or b"")
        assert at_once == raised


def test_a_payload_changes_before_its_record_is_lowered(change: PayloadChange) -> None:
    data = orjson.dumps(checkpoint(inputSnapshot={"a": 2}))
    result = Migrator(V2, payloads=change).record(data)
    assert orjson.loads(result.data or b"")["inputSnapshot"] == {"b": 2}
    assert set(codes(result)) == {"SP603"}


def test_a_forged_residue_is_no_payload(change: PayloadChange) -> None:
    v2 = {
        "checkpointId": "c", "runId": "r", "state": "s", "stepName": "s", "schemaVersion": "v2",
        "artifactRefs": None, "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None},
        "createdAt": "2026-05-07T10:00:00Z",
        "x-v3": {"recordType": "checkpoint", "schemaVersion": "v3", "payloadSchema": OLD, "leaseEpoch": 1},
    }  # fmt: skip
    data = orjson.dumps(v2)
    assert Migrator(payloads=change).record(data).data == data
    assert codes(Migrator(V3, payloads=change).record(data))[0] == "SP607"


def test_a_record_of_a_newer_minor_version_is_not_rewritten(change: PayloadChange) -> None:
    newer = checkpoint(schemaVersion="v3.7", new=1)
    assert "SP602" in codes(Migrator(payloads=change).record(orjson.dumps(newer)))
    untouched = orjson.dumps({**newer, "payloadSchema": NEW, "stateSnapshot": {"b": 1}})
    assert Migrator(payloads=change).record(untouched).data == untouched


def test_what_a_lower_version_cannot_honour_is_refused_with_another_payload_too(
    change: PayloadChange,
) -> None:
    data = orjson.dumps(checkpoint(requires={"resume": ["gate"]}))
    assert "SP601" in codes(Migrator(V2, payloads=change).record(data))
    allowed = Migrator(V2, payloads=change, allow_loss=True).record(data)
    assert allowed.data is not None


def test_a_record_of_a_journal_is_not_rewritten_alone(change: PayloadChange) -> None:
    data = lines_of(journal(1))[2]
    result = Migrator(payloads=change).record(data)
    assert (result.data, codes(result)) == (None, ["SP612"])
    assert Migrator(payloads=change).record(data, alone=False).data is not None


def test_a_journal_is_linked_anew_from_the_first_change_on(change: PayloadChange) -> None:
    found = lines_of(journal(1, 2))
    migrated = Migrator(payloads=change).journal()
    results = [migrated.record(line) for line in found]
    after = [result.data or b"" for result in results]
    assert after[:2] == found[:2]
    assert [result.changed for result in results] == [False, False, True, True, True, True]
    assert all(chain_of(after))
    assert [orjson.loads(line).get("stateSnapshot") for line in after] == [
        None,
        None,
        {"b": 1},
        None,
        {"b": 2},
        None,
    ]
    for before, line in zip(found, after, strict=True):
        kept = set(orjson.loads(before)) - {"previousDigest", "payloadSchema", "stateSnapshot"}
        assert all(orjson.loads(line)[name] == orjson.loads(before)[name] for name in kept)


def test_a_migrated_journal_is_valid_and_judged_alike(change: PayloadChange, tmp_path: Path) -> None:
    found = Journal().begin().checkpoint(2, payloadSchema=OLD, stateSnapshot={"a": 1})
    found.write(tmp_path / "old")
    migrated = Migrator(payloads=change).journal()
    for path in sorted((tmp_path / "old").rglob("journal/*.json")):
        new = tmp_path / "new" / path.relative_to(tmp_path / "old")
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(migrated.record(path.read_bytes()).data or b"")
    assert list(safepoint.validate(tmp_path / "new")) == list(safepoint.validate(tmp_path / "old"))
    now = "2026-05-07T12:00:00Z"
    verdicts = [safepoint.guard(tmp_path / name, "run-1", now=now).verdict for name in ("old", "new")]
    assert verdicts[0] == verdicts[1]


def test_the_lines_of_a_journal_are_what_its_objects_become(change: PayloadChange) -> None:
    found = lines_of(journal(1, 2))
    migrated = Migrator(payloads=change).journal()
    objects = [migrated.record(line).data for line in found]
    result = Migrator(payloads=change).lines(b"\n".join(found) + b"\n")
    assert (result.data or b"").splitlines() == objects
    half = Migrator(payloads=change).journal()
    first = half.lines(b"\n".join(found[:3]))
    assert [*(first.data or b"").splitlines(), *(half.record(line).data for line in found[3:])] == objects


def test_the_order_of_the_lines_does_not_matter(change: PayloadChange) -> None:
    found = lines_of(journal(1, 2))
    straight = Migrator(payloads=change).lines(b"\n".join(found))
    turned = Migrator(payloads=change).lines(b"\n".join(reversed(found)))
    assert sorted((turned.data or b"").splitlines()) == sorted((straight.data or b"").splitlines())
    assert orjson.loads((turned.data or b"").splitlines()[-1])["sequence"] == 1


def test_two_runs_in_one_file_have_a_chain_each(change: PayloadChange) -> None:
    one, other = lines_of(journal(1, 2)), lines_of(journal(3))
    other = [line.replace(b"run-1", b"run-2") for line in other]
    relinked: list[bytes] = []
    for line in other:
        value = orjson.loads(line)
        relinked.append(
            orjson.dumps({**value, "previousDigest": digest_stored(relinked[-1]) if relinked else None})
        )
    mixed = [line for pair in zip(one, [*relinked, None, None], strict=True) for line in pair if line]
    after = (Migrator(payloads=change).lines(b"\n".join(mixed)).data or b"").splitlines()
    for run in ("run-1", "run-2"):
        assert all(chain_of([line for line in after if orjson.loads(line)["runId"] == run]))


def test_lines_that_lack_a_part_of_a_journal_are_refused(change: PayloadChange) -> None:
    found = lines_of(journal(1, 2))
    place = Place("x.jsonl", "x.jsonl")
    result = Migrator(payloads=change).lines(b"\n".join([*found[:3], *found[4:]]), place)
    assert result.data is None
    assert [(fault.code, fault.place.line if fault.place else 0) for fault in result.faults] == [
        ("SP612", 3),
        ("SP612", 4),
    ]


def test_a_chain_that_was_broken_stays_broken(change: PayloadChange) -> None:
    found = [orjson.loads(line) for line in lines_of(journal(1, 2))]
    found[4]["previousDigest"] = "sha256:" + "0" * 64
    lines = [orjson.dumps(value) for value in found]
    broken = chain_of(lines)
    result = Migrator(payloads=change).lines(b"\n".join(lines))
    after = (result.data or b"").splitlines()
    assert chain_of(after)[:4] == broken[:4] == [True, True, True, False]
    assert orjson.loads(after[4])["previousDigest"] == found[4]["previousDigest"]


def test_one_refused_line_refuses_the_file_unless_this_keeps_going(change: PayloadChange) -> None:
    found = lines_of(journal(1, 22, 3))  # 22 is more than the new schema allows
    data = b"\n".join(found) + b"\n"
    refused = Migrator(payloads=change).lines(data)
    assert (refused.data, codes(refused), refused.kept) == (None, ["SP610"], 0)
    result = Migrator(payloads=change, keep_going=True).lines(data)
    after = (result.data or b"").splitlines()
    assert (codes(result), result.kept, len(after)) == (["SP610"], 1, len(found))
    assert after[4] == found[4], "what is refused keeps its bytes"
    # It is linked to what its predecessor was, which is told; behind it the chain is whole.
    assert chain_of(after) == [True, True, True, False, True, True, True]


def test_a_damaged_line_keeps_its_place_where_this_keeps_going(change: PayloadChange) -> None:
    found = lines_of(journal(1, 2))
    found[1] = found[1][:-9]
    data = b"\n".join(found) + b"\n"
    assert Migrator(payloads=change).lines(data).data is None
    result = Migrator(payloads=change, keep_going=True).lines(data)
    after = (result.data or b"").splitlines()
    assert after[1] == found[1]
    assert orjson.loads(after[2])["payloadSchema"] == NEW
    assert result.kept == 1


def test_keeping_going_is_not_for_payloads_alone() -> None:
    good = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": None, "status": "planned"}
    data = orjson.dumps(good) + b"\n{broken}\n\n" + orjson.dumps({**good, "actionId": "b"})
    result = Migrator(V3, keep_going=True).lines(data)
    lines = (result.data or b"").split(b"\n")
    assert lines[1:3] == [b"{broken}", b""]
    assert [orjson.loads(lines[number])["schemaVersion"] for number in (0, 3)] == ["v3", "v3"]
    assert result.kept == 1


def test_a_journal_may_be_lowered_and_have_other_payloads_at_once(change: PayloadChange) -> None:
    found = lines_of(journal(1, 2))
    low = Migrator(V2, payloads=change, keep_going=True)
    going = low.journal()
    lowered = [going.record(line) for line in found]
    assert [result.data is None for result in lowered] == [True, True, False, False, False, False]
    migrated = Migrator(payloads=change).journal()
    straight = [migrated.record(line).data for line in found]
    raised = [Migrator(V3).record(result.data or b"").data or b"" for result in lowered[2:]]
    assert [orjson.loads(line) for line in raised] == [orjson.loads(line or b"") for line in straight[2:]]


def test_a_record_of_a_journal_that_lies_lowered_is_not_rewritten(change: PayloadChange) -> None:
    found = lines_of(journal(1))
    going = Migrator(payloads=change).journal()
    lowered = Migrator(V2).record(found[2]).data or b""
    result = going.record(lowered)
    assert (result.data, codes(result)) == (None, ["SP612"])
    assert "the bytes that it had before it was lowered" in result.faults[0].message
    ledger = Migrator(V2).record(found[3]).data or b""
    assert going.record(ledger).data == ledger


def test_lines_without_an_order_are_changed_each_for_itself(change: PayloadChange) -> None:
    given = [checkpoint(checkpointId=f"cp-{number}", stateSnapshot={"a": number}) for number in range(3)]
    result = Migrator(payloads=change).lines(b"\n".join(map(orjson.dumps, given)))
    after = [orjson.loads(line) for line in (result.data or b"").splitlines()]
    assert [value["stateSnapshot"] for value in after] == [{"b": 0}, {"b": 1}, {"b": 2}]
