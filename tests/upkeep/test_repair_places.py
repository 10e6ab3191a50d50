"""What a repair reads from and writes to: what it refuses, and what it does not touch."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from repairing import RUN, Places, key, sound, stored

from safepoint.core.digest import encode_record
from safepoint.store import ConflictError, Store, UnsupportedError, open_store
from safepoint.store.local import LocalStore
from safepoint.upkeep.repair import repair_store


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


@pytest.mark.parametrize(
    "members", [{"layout": 2}, {"layout": 1, "features": ["b"]}, {"schemaVersion": "v4"}]
)
def test_a_store_of_a_newer_version_is_not_repaired(places: Places, members: dict[str, Any]) -> None:
    description = {"recordType": "store", "schemaVersion": "v3", "layout": 1, **members}
    places.hold({**stored(sound()), "safepoint.json": encode_record(description)})
    with pytest.raises(UnsupportedError, match="does not know"):
        places.repair()
    assert not places.copy.exists()


def test_what_cannot_be_read_stops_the_repair_unless_it_may_be_left_out(
    places: Places, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").write_bytes(b"{}")
    places.hold(stored(sound()))
    (places.source / key(7)).unlink()
    (places.source / key(7)).symlink_to(tmp_path / "elsewhere")
    os.mkfifo(places.source / "pipe.txt")
    report = places.repair()
    assert not report.done
    assert [fault.code for fault in report.faults] == ["SP002", "SP006"]
    assert not places.copy.exists()

    report = places.repair(leave_unreadable=True)
    assert report.done
    assert report.totals["unreadable"] == 2
    assert report.runs == ("run-1",)
    assert places.verdict == "hand_over"
    assert json.loads(places.of(f"{RUN}/quarantine.json"))["objects"] == [
        {"key": key(7), "fate": "unreadable", "size": None, "digest": None, "quarantine": None,
         "texts": [{"code": "SP006"}]}
    ]  # fmt: skip


def test_links_inside_are_read_and_unfinished_writes_stay_behind(places: Places) -> None:
    places.hold({**stored(sound()), f"{RUN}/journal/.tmp-1234": b"{"})
    (places.source / "linked.txt").symlink_to(places.source / key(1))
    report = places.repair()
    assert report.set_aside == ()
    assert places.of("linked.txt") == places.of(key(1))
    assert not (places.copy / "linked.txt").is_symlink()
    assert len(report.fates) == len(sound().values) + 1


def test_a_repaired_copy_can_be_repaired_and_keeps_what_it_says(places: Places, tmp_path: Path) -> None:
    places.hold({**stored(sound()), key(6): b"{"})
    places.repair()
    again = Places(tmp_path)
    again.source, again.copy = places.copy, tmp_path / "again"
    assert again.repair().set_aside == ()
    assert again.verdict == "hand_over"
    (places.copy / key(4)).write_bytes(b"")
    other = Places(tmp_path)
    other.source, other.copy = places.copy, tmp_path / "other"
    report = other.repair()
    assert report.names.report == "repair-2.jsonl"
    assert other.of(f"quarantine-2/{key(4)}.aside") == b""
    assert other.of(f"quarantine/{key(6)}.aside") == b"{"
    assert {"quarantine.json", "quarantine-2.json"} <= {p.name for p in (other.copy / RUN).iterdir()}
    assert other.codes == {"SP011"}


@pytest.mark.parametrize("inside", [True, False])
def test_store_and_copy_must_not_lie_in_each_other(tmp_path: Path, inside: bool) -> None:
    places = Places(tmp_path)
    places.hold(stored(sound()))
    places.copy = places.source / "runs" if inside else tmp_path
    before = sorted(tmp_path.rglob("*"))
    report = places.repair()
    assert [fault.code for fault in report.faults] == ["SP604"]
    assert sorted(tmp_path.rglob("*")) == before


def test_one_storage_by_two_names_is_one(places: Places) -> None:
    inside = open_store("memory:///repair-of-itself/copy")
    source = open_store("memory://repair-of-itself")
    for name, data in stored(sound()).items():
        source.put_if_absent(name, data)
    report = repair_store(source, inside)
    assert [fault.code for fault in report.faults] == ["SP604"]
    assert {entry.key for entry in source.list()} == stored(sound()).keys()


def test_what_else_is_in_the_copy_stops_the_repair(places: Places) -> None:
    places.hold(stored(sound()))
    places.copy.mkdir()
    for number in range(8):
        (places.copy / f"{number}.txt").write_bytes(b"")
    (places.copy / "runs/run-1/journal").mkdir(parents=True)
    (places.copy / key(1)).write_bytes(b"other")
    report = places.repair()
    assert not report.done
    assert {fault.code for fault in report.faults} == {"SP604"}
    assert len(report.faults) == 1 + 5 + 1
    assert places.of(key(1)) == b"other"
    assert not (places.copy / key(2)).exists()


def test_a_store_that_changes_meanwhile_gives_no_report(places: Places) -> None:
    class Changing(LocalStore):
        asked = 0

        def get(self, key_: str, limit: int | None = None) -> bytes:
            self.asked += key_ == key(7)
            return super().get(key_, limit) + b" " * (self.asked > 1)

    places.hold(stored(sound()))
    changing: Store = Changing(str(places.source))
    with pytest.raises(ConflictError, match="changed"):
        repair_store(changing, open_store(str(places.copy)))
    assert not (places.copy / "repair.jsonl").exists()


def test_a_dry_run_writes_nothing(places: Places) -> None:
    places.hold({**stored(sound()), key(6): b"{"})
    report = places.repair(dry_run=True)
    assert repair_store(open_store(str(places.source)), None, dry_run=True) == report
    assert report.done
    assert not places.copy.exists()
    assert places.repair() == report
