"""What an anchoring writes, when it refuses, and what the anchors say when they are read again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from anchored import codes, deleted, heads, pack, said
from questions import started
from recorded import START, anchor, record_run, work

import safepoint
from safepoint.core.digest import digest_stored
from safepoint.reader.anchors import Mark, load_anchors
from safepoint.store import (
    AbsentError,
    ConflictError,
    Outcome,
    UnreachableError,
    copying,
    open_store,
)
from safepoint.store.local import LocalStore
from safepoint.upkeep import anchor as anchoring
from safepoint.upkeep.anchor import NothingToAcceptError, anchor_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    record_run(store, "run-1")
    record_run(store, "run-2", 1, ends=False)
    return store


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


# What is written.


def test_the_first_anchor_has_the_head_of_every_run(store: Path, place: Path) -> None:
    report = anchor(store, place)
    first = said(place, 1)
    assert first["runs"] == {run_id: {"journal": heads(store, run_id)} for run_id in ("run-1", "run-2")}
    assert (first["sequence"], first["previousDigest"]) == (1, None)
    assert first["storeDocument"] == digest_stored((store / "safepoint.json").read_bytes())
    assert first["counts"] == {"runs": 2, "records": 14}
    assert first["store"] == str(store)
    assert (report.sequence, report.runs, report.records, report.changed) == (1, 2, 14, 2)
    assert not list(safepoint.validate(str(place)))


@pytest.mark.parametrize("packed", [False, True])
def test_the_recovery_log_has_a_head_of_its_own(tmp_path: Path, place: Path, packed: bool) -> None:
    journal = started().recover(10, "detected", trigger="leaseLapsed", failureSignature="worker gone")
    journal.recover(11, "assessing").write(tmp_path / "store")
    folder = tmp_path / "store/runs/run-1/recovery"
    lines = [file.read_bytes() for file in sorted(folder.iterdir())]
    if packed:
        shutil.rmtree(folder)
        folder.with_suffix(".jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    anchor(tmp_path / "store", place)
    head = {"sequence": 2, "digest": digest_stored(lines[1])}
    assert said(place, 1)["runs"]["run-1"]["recovery"] == head
    assert codes(tmp_path / "store", place) == []
    if packed:
        folder.with_suffix(".jsonl").write_bytes(lines[0] + b"\n")
    else:
        (folder / "0000000002.json").unlink()
    assert codes(tmp_path / "store", place) == ["SP325"]


def test_nothing_new_is_not_written(store: Path, place: Path) -> None:
    anchor(store, place)
    pack(store, "run-1")
    report = anchor(store, place)
    assert (report.written, report.sequence, report.refused) == ([], 1, False)
    assert len(list((place / "anchors").iterdir())) == 1


def test_a_later_anchor_says_only_what_is_new(store: Path, place: Path) -> None:
    run = record_run(store, "run-3", 1, ends=False)
    anchor(store, place)
    work(run, 1)
    record_run(store, "run-4")
    report = anchor(store, place)
    assert said(place, 2)["runs"].keys() == {"run-3", "run-4"}
    assert said(place, 2)["previousDigest"] == digest_stored((place / "anchors/0000000001.json").read_bytes())
    assert said(place, 2)["counts"]["runs"] == 4
    assert report.digest == digest_stored((place / "anchors/0000000002.json").read_bytes())
    everything = load_anchors(place, {})
    assert everything.sound
    assert everything.runs["run-3"].journal == Mark(**heads(store, "run-3"))
    assert everything.runs["run-1"].anchor == 1


def test_many_runs_take_several_anchors_each_sound_by_itself(
    store: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchoring, "PART", 300)
    for number in range(3, 9):
        record_run(store, f"run-{number}", 0)
    report = anchor(store, place)
    assert [written.sequence for written in report.written] == list(range(1, len(report.written) + 1))
    assert len(report.written) > 3
    assert report.changed == 8
    assert codes(store, place) == []
    assert codes(store, report.written[-1].url) == []
    shutil.rmtree(store / "runs/run-1")
    assert codes(store, place) == ["SP327"]


def test_a_run_in_its_folder_decides_over_copies_beside_it(store: Path, place: Path) -> None:
    copy = store / "copy.jsonl"
    files = sorted((store / "runs/run-1/journal").iterdir())
    copy.write_bytes(b"".join(file.read_bytes() + b"\n" for file in files))
    anchor(store, place)
    files[-1].unlink()
    assert codes(store, place) == ["SP325"]
    copy.unlink()
    assert codes(store, place) == ["SP325"]


def test_an_empty_place_for_a_store_is_no_store(tmp_path: Path, place: Path) -> None:
    (tmp_path / "store").mkdir()
    with pytest.raises(AbsentError, match="no run was found"):
        anchor(tmp_path / "store", place)
    assert not place.exists()


# What contradicts the anchors.


def test_what_contradicts_the_anchors_is_not_anchored(store: Path, place: Path) -> None:
    anchor(store, place)
    record_run(store, "run-3")
    max((store / "runs/run-2/journal").iterdir()).unlink()
    report = anchor(store, place)
    assert report.refused
    assert [finding.code for finding in report.findings] == ["SP325"]
    assert len(list((place / "anchors").iterdir())) == 1


def test_a_human_may_answer_for_it_and_the_reason_stays(store: Path, place: Path) -> None:
    anchor(store, place)
    max((store / "runs/run-2/journal").iterdir()).unlink()
    shutil.rmtree(store / "runs/run-1")
    (store / "safepoint.json").unlink()
    report = anchor(store, place, accept="restored from a copy")
    assert not report.refused
    assert sorted(finding.code for finding in report.findings) == ["SP325", "SP327", "SP329"]
    second = said(place, 2)
    assert second["accepted"] == {"reason": "restored from a copy", "by": "m.moreau"}
    assert second["runs"] == {
        "run-1": {"replaces": True},
        "run-2": {"journal": heads(store, "run-2"), "replaces": True},
    }
    assert codes(store, place) == []
    assert sorted(codes(store, place / "anchors/0000000001.json")) == ["SP325", "SP327", "SP329"]
    assert anchor(store, place).written == []


def test_a_word_that_nobody_needs_is_refused_so_that_it_does_not_become_a_habit(
    store: Path, place: Path
) -> None:
    with pytest.raises(NothingToAcceptError):
        anchor(store, place, accept="as always")
    assert not place.exists()


def test_a_run_that_was_pruned_is_accounted_for_once_and_for_all(store: Path, place: Path) -> None:
    anchor(store, place)
    before = shutil.copytree(store / "runs/run-1", store.with_name("run-1"))
    marker = deleted(heads(store, "run-1"))
    shutil.rmtree(store / "runs/run-1")
    (store / "runs/run-1").mkdir()
    (store / "runs/run-1/deleted.json").write_bytes(marker)
    assert codes(store, place) == []
    assert not anchor(store, place).refused
    assert said(place, 2)["runs"] == {"run-1": {"deleted": digest_stored(marker)}}
    assert anchor(store, place).written == []
    assert codes(store, place) == []
    (store / "runs/run-1/deleted.json").write_bytes(deleted(heads(before.parents[0] / "store", "run-2")))
    assert codes(store, place) == ["SP326"]
    shutil.rmtree(store / "runs/run-1")
    assert codes(store, place) == ["SP327"]
    before.rename(store / "runs/run-1")
    assert codes(store, place) == ["SP326"]


# A place in which other things lie.


def test_a_stray_file_does_not_keep_the_first_anchor_out(store: Path, place: Path) -> None:
    (place / "anchors").mkdir(parents=True)
    (place / "anchors/.DS_Store").write_bytes(b"x")
    assert anchor(store, place).sequence == 1
    assert codes(store, place) == []


# Others who anchor at the same moment, and answers that get lost.


class Crowded(LocalStore):
    """A place where something happens just before each of the first writes."""

    def __init__(self, path: Path, *meanwhile: Callable[[], object]) -> None:
        super().__init__(str(path))
        self.meanwhile = list(meanwhile)

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return super().put_if_absent(key, data)


def test_whoever_loses_a_number_reads_everything_again(store: Path, place: Path) -> None:
    run = record_run(store, "run-3", 1, ends=False)

    def other() -> None:
        work(run, 1)
        anchor(store, place)

    report = anchor_store(open_store(str(store)), Crowded(place, other), now=START, nonce="1" * 32)
    assert (report.written, report.sequence, report.refused) == ([], 1, False)
    assert said(place, 1)["nonce"] == "0" * 32


def test_whoever_always_loses_gives_up(store: Path, place: Path) -> None:
    def other(number: int) -> Callable[[], object]:
        return lambda: (record_run(store, f"other-{number}", 0), anchor(store, place))

    def grow(number: int) -> Callable[[], object]:
        return lambda: (other(number)(), record_run(store, f"own-{number}", 0))

    crowd = Crowded(place, *(grow(number) for number in range(9)))
    with pytest.raises(ConflictError, match="others write anchors of this store all the time"):
        anchor_store(open_store(str(store)), crowd, now=START, nonce="1" * 32)
    assert codes(store, place) == []


class Unclear(LocalStore):
    """A place that does not answer."""

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        return Outcome.UNKNOWN


def test_an_answer_that_never_comes_is_an_error_that_says_what_to_do(
    store: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PAUSE", 0)
    with pytest.raises(UnreachableError, match="do the same again"):
        anchor_store(open_store(str(store)), Unclear(str(place)), now=START, nonce="1" * 32)
