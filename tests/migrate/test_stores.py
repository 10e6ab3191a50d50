"""A whole store to a new place: nothing is overwritten, nothing is lost unasked, and an interruption does no harm."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from safepoint.core.version import V2, V3
from safepoint.migrate.stores import StoreReport, migrate_store
from safepoint.store import Outcome, Store, UnreachableError, open_store
from safepoint.store.local import LocalStore

V2_CHECKPOINT: dict[str, Any] = {
    "checkpointId": "cp_1",
    "runId": "r",
    "state": "running",
    "stepName": "s",
    "schemaVersion": "v2",
    "artifactRefs": None,
    "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None},
    "createdAt": "2026-05-07T10:00:00Z",
}
V2_LEDGER = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": None, "status": "pending"}
COMMON = {"schemaVersion": "v3", "runId": "r", "createdAt": "2026-05-07T10:00:00Z", "nonce": "ab" * 16}
PREVIOUS = "sha256:" + "0" * 64
JOURNAL: list[dict[str, Any]] = [
    {
        "recordType": "run",
        **COMMON,
        "sequence": 1,
        "previousDigest": None,
        "leaseEpoch": 0,
        "status": "started",
    },
    {
        "recordType": "lease",
        **COMMON,
        "sequence": 2,
        "previousDigest": PREVIOUS,
        "leaseEpoch": 1,
        "event": "claimed",
        "purpose": "run",
        "holder": "w",
        "ttlSeconds": 60,
    },
    {
        "recordType": "checkpoint",
        **COMMON,
        "sequence": 3,
        "previousDigest": PREVIOUS,
        "leaseEpoch": 1,
        "checkpointId": "cp_1",
        "state": "running",
        "stepName": "s",
        "artifactRefs": [],
        "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
    },
]


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


OLD = {
    "runs/r/cp.json": encode(V2_CHECKPOINT),
    "runs/r/ledger.jsonl": encode(V2_LEDGER) + b"\n" + encode(V2_LEDGER | {"status": "committed"}) + b"\n",
    "runs/r/artifacts/sha256/" + "0" * 64: b'{"not":"read',
    "runs/r/heartbeat/0000000001.json": b"{}",
    "runs/r/notes.json": b'{"foreign": [1,\n2]}',
    "policy.json": encode({"recordType": "policy", "schemaVersion": "v3"}),
    "README.md": b"notes",
}
NEW = {f"runs/r/journal/{record['sequence']:010d}.json": encode(record) for record in JOURNAL} | {
    "safepoint.json": encode({"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": []})
}


class Places:
    """A source with content, and a target beside it."""

    def __init__(self, folder: Path) -> None:
        self.source, self.target = folder / "old", folder / "new"

    def migrate(self, to: Any, *, allow_loss: bool = False, target: Store | None = None) -> StoreReport:
        return migrate_store(
            open_store(str(self.source)),
            target or open_store(str(self.target)),
            to,
            allow_loss=allow_loss,
        )


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def codes(report: StoreReport) -> Counter[str]:
    return Counter(fault.code for fault in report.faults)


class Flaky(LocalStore):
    """Answers a put only every second time with the truth, and dies after so many."""

    def __init__(self, path: str, lives: int) -> None:
        super().__init__(path)
        self.lives, self.asked = lives, 0

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        self.asked += 1
        if self.asked % 2:
            return Outcome.UNKNOWN
        if not self.lives:
            raise UnreachableError(self.url, "gone")
        self.lives -= 1
        return super().put_if_absent(key, data)


def test_records_are_migrated_and_everything_else_is_copied_as_bytes(places: Places) -> None:
    write(places.source, OLD)
    report = places.migrate(V3)
    assert (report.done, report.migrated, report.copied, report.left) == (True, 2, 4, 1)
    assert contents(places.source) == OLD
    new = contents(places.target)
    assert new.keys() == OLD.keys() - {"runs/r/heartbeat/0000000001.json"}
    changed = {name for name, data in new.items() if data != OLD[name]}
    assert changed == {"runs/r/cp.json", "runs/r/ledger.jsonl"}
    assert [json.loads(line)["status"] for line in new["runs/r/ledger.jsonl"].splitlines()] == [
        "attempting", "committed"
    ]  # fmt: skip
    assert [(f.code, f.pointer, f.place and (f.place.key, f.place.line)) for f in report.faults] == [
        ("SP603", "/status", ("runs/r/ledger.jsonl", 1))
    ]


def test_a_store_that_has_the_version_is_copied_byte_for_byte(places: Places) -> None:
    write(places.source, NEW)
    report = places.migrate(V3)
    assert (report.done, report.copied, report.faults) == (True, 4, ())
    assert contents(places.target) == NEW


def test_running_it_again_changes_nothing(places: Places) -> None:
    write(places.source, OLD)
    first = places.migrate(V3)
    before = contents(places.target)
    assert places.migrate(V3) == first
    assert contents(places.target) == before


@pytest.mark.parametrize("lives", range(7))
def test_an_interrupted_migration_goes_on_to_the_same_result(
    places: Places, tmp_path: Path, lives: int
) -> None:
    write(places.source, OLD)
    whole = tmp_path / "whole"
    assert migrate_store(open_store(str(places.source)), open_store(str(whole)), V3).done
    if lives < 6:
        with pytest.raises(UnreachableError):
            places.migrate(V3, target=Flaky(str(places.target), lives))
        done = contents(places.target) if places.target.exists() else {}
        assert len(done) == lives
    assert places.migrate(V3, target=Flaky(str(places.target), 99)).done
    assert contents(places.target) == contents(whole)
    assert contents(places.source) == OLD


def test_an_answer_that_stays_unclear_is_an_error(places: Places) -> None:
    class Mute(LocalStore):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            return Outcome.UNKNOWN

    write(places.source, OLD)
    with pytest.raises(UnreachableError, match="nobody can tell"):
        places.migrate(V3, target=Mute(str(places.target)))


@pytest.mark.parametrize("found", [b"", b"{", b'{"foreign": [1,\n2]} '])
def test_a_target_with_other_content_under_a_name_stops_everything(places: Places, found: bytes) -> None:
    write(places.source, OLD)
    write(places.target, {"runs/r/notes.json": found})
    report = places.migrate(V3)
    assert not report.done
    assert [f.place and f.place.key for f in report.faults if f.code == "SP604"] == ["runs/r/notes.json"]
    assert contents(places.target) == {"runs/r/notes.json": found}
    assert contents(places.source) == OLD


def test_a_target_with_anything_else_in_it_stops_everything(places: Places) -> None:
    write(places.source, OLD)
    write(places.target, {"keep.txt": b"mine"})
    report = places.migrate(V3)
    assert (report.done, codes(report)["SP604"]) == (False, 1)
    assert contents(places.target) == {"keep.txt": b"mine"}


@pytest.mark.parametrize(
    "name", ["runs/r/bad.json", "runs/r/checkpoints.jsonl", "runs/r/journal/0000000009.json"]
)
def test_one_unreadable_record_stops_everything_before_the_first_write(places: Places, name: str) -> None:
    write(places.source, OLD | {name: b'{"checkpointId":"cp_2","runI'})
    report = places.migrate(V3)
    assert not report.done
    assert {f.place.key for f in report.faults if f.place and f.code.startswith("SP1")} == {name}
    assert not places.target.exists()


def test_a_record_of_a_newer_major_stops_everything(places: Places) -> None:
    write(places.source, OLD | {"runs/r/z.json": encode(V2_CHECKPOINT | {"schemaVersion": "v4"})})
    report = places.migrate(V3)
    assert (report.done, codes(report)["SP216"]) == (False, 1)
    assert not places.target.exists()


def test_going_down_loses_other_kinds_only_with_permission(places: Places) -> None:
    write(places.source, NEW)
    refused = places.migrate(V2)
    assert (refused.done, refused.dropped) == (False, 2)
    assert (codes(refused)["SP605"], codes(refused)["SP601"]) == (2, 1)
    assert not places.target.exists()
    report = places.migrate(V2, allow_loss=True)
    assert (report.done, report.migrated, report.dropped, report.copied) == (True, 1, 2, 1)
    assert codes(report)["SP601"] == 0
    assert contents(places.target).keys() == {"safepoint.json", "runs/r/journal-0000000003.json"}
    lowered = json.loads(contents(places.target)["runs/r/journal-0000000003.json"])
    assert (lowered["schemaVersion"], lowered["x-v3"]["sequence"]) == ("v2", 3)


def test_lines_of_which_none_is_left_leave_no_file(places: Places) -> None:
    write(
        places.source,
        {"runs/r/journal.jsonl": b"\n".join(map(encode, JOURNAL[:2])), "runs/r/empty.jsonl": b""},
    )
    report = places.migrate(V2, allow_loss=True)
    assert (report.done, report.dropped, report.copied) == (True, 1, 1)
    assert contents(places.target) == {"runs/r/empty.jsonl": b""}


def test_a_name_that_a_lowered_record_would_take_from_another_stops_everything(places: Places) -> None:
    write(places.source, NEW | {"runs/r/journal-0000000003.json": encode(V2_CHECKPOINT)})
    report = places.migrate(V2, allow_loss=True)
    assert (report.done, codes(report)["SP604"]) == (False, 1)
    assert not places.target.exists()


@pytest.mark.parametrize(
    ("one", "other"), [("old", "old"), ("old", "old/new"), ("old/new", "old"), ("old", "x/../old")]
)
def test_source_and_target_may_not_lie_in_each_other(tmp_path: Path, one: str, other: str) -> None:
    write(tmp_path / "old/new", OLD)
    before = contents(tmp_path)
    report = migrate_store(open_store(str(tmp_path / one)), open_store(str(tmp_path / other)), V3)
    assert (report.done, codes(report)) == (False, Counter({"SP604": 1}))
    assert contents(tmp_path) == before


def test_a_link_that_leads_out_of_the_source_stops_everything(places: Places, tmp_path: Path) -> None:
    write(places.source, OLD)
    (tmp_path / "secret.json").write_bytes(encode(V2_CHECKPOINT))
    (places.source / "runs/r/link.json").symlink_to(tmp_path / "secret.json")
    report = places.migrate(V3)
    assert (report.done, codes(report)["SP006"]) == (False, 1)
    assert not places.target.exists()


def test_a_source_that_changes_while_it_is_written_stops_with_what_was_found(places: Places) -> None:
    class Vandal(LocalStore):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            (places.source / "runs/r/ledger.jsonl").write_bytes(b"{")
            return super().put_if_absent(key, data)

    write(places.source, OLD)
    report = places.migrate(V3, target=Vandal(str(places.target)))
    assert (report.done, codes(report)["SP113"]) == (False, 1)


def test_another_writer_with_other_bytes_stops_it(places: Places) -> None:
    class Raced(LocalStore):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            write(places.target, {key: b"another"})
            return super().put_if_absent(key, data)

    write(places.source, OLD)
    report = places.migrate(V3, target=Raced(str(places.target)))
    assert (report.done, codes(report)["SP604"]) == (False, 1)
