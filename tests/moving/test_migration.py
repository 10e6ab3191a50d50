"""A whole store to a new place: nothing is overwritten or lost unasked, and no half of a copy is taken for a whole."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from moved import OLD, V2_CHECKPOINT, Places, codes, contents, copied, encode, fates, write
from questions import started

from safepoint.core.version import V2, V3
from safepoint.moving.migration import Report
from safepoint.store import StoreError, UnreachableError
from safepoint.store.local import LocalStore

DESCRIPTION = {"recordType": "store", "schemaVersion": "v3", "layout": 1}
NEWEST = V2_CHECKPOINT | {"schemaVersion": "v4"}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def new_store(places: Places) -> dict[str, bytes]:
    """Fills the source with one run of v3 and a description; what it holds."""
    places.run(started())
    write(places.source, {"safepoint.json": encode(DESCRIPTION | {"features": []})})
    return contents(places.source)


def refused(report: Report, places: Places, *expected: str) -> bool:
    """Whether nothing was done, for these reasons."""
    assert report.outcome == "refused"
    assert {*expected} <= codes(report).keys()
    return not places.target.exists()


# what becomes of objects


def test_records_are_migrated_and_everything_else_is_copied_as_bytes(places: Places) -> None:
    write(places.source, OLD)
    report = places.migrate(V3)
    assert (report.outcome, fates(report)) == ("done", {"migrated": 2, "copied": 4, "left": 1})
    assert contents(places.source) == OLD
    new = copied(places.target)
    assert new.keys() - {"safepoint.json"} == OLD.keys() - {"runs/r/heartbeat/0000000001.json"}
    changed = {name for name, data in OLD.items() if new.get(name, data) != data}
    assert changed == {"runs/r/cp.json", "runs/r/ledger.jsonl"}
    assert [json.loads(line)["status"] for line in new["runs/r/ledger.jsonl"].splitlines()] == [
        "attempting", "committed"
    ]  # fmt: skip
    assert [(f.code, f.pointer, f.place and (f.place.key, f.place.line)) for f in report.tally.faults] == [
        ("SP603", "/status", ("runs/r/ledger.jsonl", 1))
    ]


def test_a_store_that_has_the_version_is_copied_byte_for_byte(places: Places) -> None:
    source = new_store(places)
    report = places.migrate(V3)
    assert (report.outcome, fates(report), codes(report)) == ("done", {"copied": 4}, {})
    assert copied(places.target, "run-1") == source


def test_the_counts_are_those_of_the_source_and_of_its_objects_in_the_copy(places: Places) -> None:
    write(places.source, OLD)
    tally = places.migrate(V3).tally
    kept = {key: data for key, data in copied(places.target).items() if key in OLD}
    assert (tally.runs, tally.open_runs) == (1, 0)
    assert (tally.read, tally.written) == (
        sum(map(len, OLD.values())),
        sum(map(len, kept.values())),
    )


def test_what_is_planned_is_what_is_done(places: Places) -> None:
    write(places.source, OLD)
    new_store(places)
    planned = places.plan(V3)
    assert (planned.outcome, planned.digest, planned.run_id) == ("planned", None, None)
    assert not places.target.exists()
    assert places.plan(V3, beside=False).tally == planned.tally
    done = places.migrate(V3)
    assert done.tally.counts() == planned.tally.counts()


def test_a_store_without_a_description_gets_the_one_that_its_own_run_needs(places: Places) -> None:
    write(places.source, OLD)
    places.migrate(V3)
    assert json.loads(contents(places.target)["safepoint.json"]) == DESCRIPTION


def test_an_empty_store_gives_a_copy_that_says_so(places: Places) -> None:
    places.source.mkdir()
    report = places.migrate(V3)
    assert (report.outcome, report.tally.fates.total(), report.tally.runs) == ("done", 0, 0)
    assert places.migrate(V3).outcome == "nothingToDo"


def test_a_source_that_is_not_there_cannot_be_read(places: Places) -> None:
    with pytest.raises(StoreError):
        places.migrate(V3)
    assert not places.target.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot name a file like this")
def test_names_that_no_terminal_likes_are_copied_as_they_are(places: Places) -> None:
    hostile = {"runs/r/a\x1b[2J\nb.json": encode(V2_CHECKPOINT), "x\u202ey.md": b"1", "=2Fetc.json": b"{}"}
    write(places.source, OLD | hostile)
    assert places.migrate(V3).outcome == "done"
    assert hostile.keys() <= copied(places.target).keys()


def test_two_processes_give_what_one_gives(places: Places, tmp_path: Path) -> None:
    for number in range(9):
        journal = started()
        journal.run_id = f"run-{number}"
        for value in journal.values:
            value["runId"] = journal.run_id
        journal.write(places.source)
        write(places.source, {f"runs/old-{number}/cp.json": encode(V2_CHECKPOINT)})
    other = Places(tmp_path)
    other.target = tmp_path / "other"
    one, two = places.migrate(V3, jobs=1), other.migrate(V3, jobs=2)
    assert (one.digest, one.tally) == (two.digest, two.tally)
    assert copied(places.target) == copied(other.target)


# the way down


def test_going_down_loses_other_kinds_only_with_permission(places: Places) -> None:
    new_store(places)
    report = places.migrate(V2)
    assert refused(report, places, "SP601", "SP605")
    assert (report.tally.fates["dropped"], codes(report)["SP605"], codes(report)["SP601"]) == (2, 2, 1)
    report = places.migrate(V2, allow_loss=True)
    assert (report.outcome, fates(report)) == ("done", {"migrated": 1, "dropped": 2, "copied": 1})
    assert codes(report)["SP601"] == 0
    new = copied(places.target, "run-1")
    assert new.keys() == {"safepoint.json", "runs/run-1/journal-0000000003.json"}
    lowered = json.loads(new["runs/run-1/journal-0000000003.json"])
    assert (lowered["schemaVersion"], lowered["x-v3"]["sequence"]) == ("v2", 3)


def test_to_keep_going_is_no_permission_to_lose_anything(places: Places) -> None:
    new_store(places)
    assert refused(places.migrate(V2, keep_going=True), places, "SP601", "SP605")


def test_lines_of_which_none_is_left_leave_no_file(places: Places) -> None:
    lines = b"\n".join(map(encode, started().values[:2]))
    write(places.source, {"runs/r/journal.jsonl": lines, "runs/r/empty.jsonl": b""})
    report = places.migrate(V2, allow_loss=True)
    assert (report.outcome, fates(report)) == ("done", {"dropped": 1, "copied": 1})
    assert "runs/r/journal.jsonl" not in contents(places.target)
    assert contents(places.target)["runs/r/empty.jsonl"] == b""


def test_a_name_that_a_lowered_record_would_take_from_another_stops_everything(places: Places) -> None:
    new_store(places)
    write(places.source, {"runs/run-1/journal-0000000003.json": encode(V2_CHECKPOINT)})
    report = places.migrate(V2, allow_loss=True)
    assert refused(report, places, "SP604")
    assert codes(report)["SP604"] == 1


# refusals


@pytest.mark.parametrize("found", [b"", b"{", b'{"foreign": [1,\n2]} '])
def test_a_target_with_other_content_under_a_name_stops_everything(places: Places, found: bytes) -> None:
    write(places.source, OLD)
    write(places.target, {"runs/r/notes.json": found})
    for report in (places.plan(V3), places.migrate(V3)):
        assert report.outcome == "refused"
        named = [f.place and f.place.key for f in report.tally.faults if f.code == "SP604"]
        assert named == ["runs/r/notes.json"]
    assert contents(places.target) == {"runs/r/notes.json": found}
    assert contents(places.source) == OLD


@pytest.mark.parametrize("key", ["keep.txt", "runs/other/cp.json", "runs/r/other.json", "runs/a/x.md"])
def test_a_target_with_anything_else_in_it_stops_everything(places: Places, key: str) -> None:
    write(places.source, OLD)
    write(places.target, {key: b"mine"})
    report = places.migrate(V3)
    assert (report.outcome, codes(report)["SP604"]) == ("refused", 1)
    assert contents(places.target) == {key: b"mine"}


@pytest.mark.parametrize(
    "name", ["runs/r/bad.json", "runs/r/checkpoints.jsonl", "runs/r/journal/0000000009.json", "loose.json"]
)
def test_one_unreadable_record_stops_everything_before_the_first_write(places: Places, name: str) -> None:
    write(places.source, OLD | {name: b'{"checkpointId":"cp_2","runI'})
    report = places.migrate(V3)
    assert refused(report, places)
    assert {f.place.key for f in report.tally.faults if f.place and f.code.startswith("SP1")} == {name}


def test_a_record_of_a_newer_major_stops_everything(places: Places) -> None:
    write(places.source, OLD | {"runs/r/z.json": encode(NEWEST)})
    assert refused(places.migrate(V3), places, "SP216")


@pytest.mark.parametrize(
    ("one", "other"), [("old", "old"), ("old", "old/new"), ("old/new", "old"), ("old", "x/../old")]
)
def test_source_and_target_may_not_lie_in_each_other(
    places: Places, tmp_path: Path, one: str, other: str
) -> None:
    write(tmp_path / "old/new", OLD)
    before = contents(tmp_path)
    places.source, places.target = tmp_path / one, tmp_path / other
    for report in (places.plan(V3), places.migrate(V3)):
        assert (report.outcome, codes(report)) == ("refused", Counter({"SP604": 1}))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_link_that_leads_out_of_the_source_stops_everything(
    places: Places, tmp_path: Path, keep_going: bool
) -> None:
    write(places.source, OLD)
    (tmp_path / "secret.json").write_bytes(encode(V2_CHECKPOINT))
    (places.source / "runs/r/link.json").symlink_to(tmp_path / "secret.json")
    assert refused(places.migrate(V3, keep_going=keep_going), places, "SP006")


class Deaf(LocalStore):
    """Gives the bytes of one object to nobody."""

    def get_many(self, entries: Any) -> Any:
        entries = list(entries)
        for entry, data in zip(entries, super().get_many(entries), strict=True):
            yield UnreachableError(self.url, "gone", entry.key) if entry.key == "runs/r/cp.json" else data


@pytest.mark.parametrize("keep_going", [False, True])
def test_an_object_that_the_storage_does_not_give_stops_everything(places: Places, keep_going: bool) -> None:
    write(places.source, OLD)
    report = places.migrate(V3, source=Deaf(str(places.source)), keep_going=keep_going)
    assert refused(report, places, "SP002")
