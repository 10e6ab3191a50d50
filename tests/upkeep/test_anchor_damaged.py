"""Anchors of runs that heads cannot stand for: what could not be read, what has no numbers, and loose copies."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from anchored import OLD, codes, deleted, heads, pack, said
from recorded import anchor, record_run

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.store import UnreadableError
from safepoint.upkeep import anchor as anchoring

NOW = "2026-05-07T11:00:00Z"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    record_run(store, "run-1")
    record_run(store, "run-2", 1, ends=False)
    return store


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def test_the_records_of_one_run_without_numbers_may_take_several_anchors(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchoring, "_DIGESTS", 2)
    folder = tmp_path / "folder"
    folder.mkdir()
    lines = [encode_record({**OLD, "checkpointId": f"cp-{number}"}) for number in range(5)]
    (folder / "a.jsonl").write_bytes(b"\n".join([*lines, b'{"runId":"run-1","checkp']))
    report = anchor(folder, place)
    assert [len(said(place, number)["runs"]["run-1"]["records"]) for number in (1, 2, 3)] == [2, 2, 1]
    assert [said(place, number)["runs"]["run-1"].get("unread") for number in (1, 2, 3)] == [1, 1, 1]
    assert report.damaged == 1
    assert anchor(folder, place).written == []
    (folder / "a.jsonl").write_bytes(b"\n".join(lines[1:]))
    assert codes(folder, place) == ["SP325", "SP325"], "a record, and a text that nobody could read"


def test_a_run_that_cannot_be_read_whole_is_anchored_as_far_as_it_can(store: Path, place: Path) -> None:
    (store / "runs/run-2/journal/0000000006.json").write_bytes(b'{"recordType":"check')
    report = anchor(store, place)
    assert report.damaged == 1
    assert said(place, 1)["runs"]["run-2"]["unread"] == 1
    assert said(place, 1)["runs"]["run-2"]["journal"]["sequence"] == 5
    assert codes(store, place) == ["SP103"], "what cannot be read contradicts no anchor"
    assert anchor(store, place).written == []


def test_a_text_that_could_not_be_read_does_not_vanish_without_a_word(store: Path, place: Path) -> None:
    torn = store / "runs/run-2/journal/0000000006.json"
    torn.write_bytes(b'{"recordType":"led')
    anchor(store, place)
    torn.unlink()
    assert codes(store, place) == ["SP325"], "it may have been an attempt"
    assert anchor(store, place).refused
    decision = safepoint.guard(str(store), "run-2", now=NOW, anchor=place)
    assert decision.verdict == "hand_over"
    assert [reason.code for reason in decision.reasons if reason.layer == "integrity"] == ["SP708"]
    assert not anchor(store, place, accept="looked at it: half of a record that was written again").refused
    assert said(place, 2)["runs"] == {"run-2": {"journal": heads(store, "run-2"), "replaces": True}}
    assert codes(store, place) == []
    assert safepoint.guard(str(store), "run-2", now=NOW, anchor=place).verdict != "hand_over"


def test_a_line_that_was_being_written_when_it_was_anchored_is_finished_later(
    tmp_path: Path, place: Path
) -> None:
    store = tmp_path / "lines"
    record_run(store, "run-1")
    pack(store, "run-1")
    file = store / "runs/run-1/journal.jsonl"
    lines = file.read_bytes()
    file.write_bytes(lines[:-40])
    anchor(store, place)
    assert said(place, 1)["runs"]["run-1"]["unread"] == 1
    file.write_bytes(lines)
    assert codes(store, place) == []
    anchor(store, place)
    assert said(place, 2)["runs"] == {
        "run-1": {"journal": {"sequence": 9, "digest": digest_stored(lines.splitlines()[-1])}, "unread": 0}
    }


def test_a_text_that_cannot_be_had_stops_everything(store: Path, place: Path) -> None:
    os.mkfifo(store / "runs/run-2/journal/0000000006.json")
    with pytest.raises(UnreadableError, match="nobody knows how far its run has come; nothing was anchored"):
        anchor(store, place)
    assert not place.exists()


def test_of_loose_copies_the_one_counts_that_the_run_is_judged_by(tmp_path: Path, place: Path) -> None:
    old = tmp_path / "old"
    record_run(old, "run-1")
    folder = tmp_path / "folder"
    for name in ("a", "b"):
        shutil.copytree(old / "runs", folder / name / "runs")
    anchor(folder, place)
    (folder / "b/runs/run-1/journal/0000000009.json").unlink()
    assert codes(folder, place) == [], "nobody reads the second"
    (folder / "a/runs/run-1/journal/0000000009.json").unlink()
    shutil.copytree(old / "runs", folder / "c" / "runs")
    assert codes(folder, place) == ["SP325"], "a whole copy elsewhere excuses nothing"
    found = safepoint.validate(str(folder), run="run-1", anchor=place)
    assert "SP325" in [finding.code for finding in found]
    decision = safepoint.guard(str(folder), "run-1", now=NOW, anchor=place)
    assert "SP708" in [reason.code for reason in decision.reasons]
    assert anchor(folder, place).refused


def test_no_deletion_accounts_for_records_without_numbers_or_for_what_nobody_could_read(
    tmp_path: Path, place: Path
) -> None:
    store = tmp_path / "store"
    (store / "runs/run-1").mkdir(parents=True)
    (store / "runs/run-1/ledger.jsonl").write_bytes(encode_record(OLD) + b"\n")
    record_run(store, "run-2")
    (store / "runs/run-2/journal/0000000010.json").write_bytes(b'{"recordType":"led')
    anchor(store, place)
    heads_said = {
        "run-1": {"sequence": 9, "digest": "sha256:" + "a" * 64},
        "run-2": said(place, 1)["runs"]["run-2"]["journal"],
    }
    for run_id, head in heads_said.items():
        shutil.rmtree(store / "runs" / run_id)
        (store / "runs" / run_id).mkdir()
        marker = json.loads(deleted(head)) | {"runId": run_id}
        (store / "runs" / run_id / "deleted.json").write_bytes(encode_record(marker))
    assert codes(store, place) == ["SP327", "SP327"]
    assert anchor(store, place).refused
