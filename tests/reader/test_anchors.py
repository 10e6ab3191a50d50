"""Anchors as they are read again: what is wrong with them, and that they never say less because of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded import anchor, record_run

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.reader.anchors import load_anchors

POLICY = {"recordType": "policy", "schemaVersion": "v3"}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    record_run(store, "run-1")
    record_run(store, "run-2", 1, ends=False)
    return store


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def codes(store: Path, place: str | Path) -> list[str]:
    found = safepoint.validate(str(store), anchor=place)
    return [finding.code for finding in found if finding.severity == "error"]


@pytest.fixture
def chain(store: Path, place: Path) -> Path:
    """Three anchors."""
    for number in range(3):
        record_run(store, f"more-{number}", 0)
        anchor(store, place)
    return place / "anchors"


def faults(place: Path | str) -> list[tuple[str, str, str]]:
    return [(f.code, Path(f.url).name, f.pointer) for f in load_anchors(place, {}).findings()]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda folder: (folder / "0000000002.json").unlink(), [("SP328", "0000000003.json", "/sequence")]),
        (
            lambda folder: (folder / "0000000001.json").unlink(),
            [("SP328", "0000000002.json", "/sequence")],
        ),
        (
            lambda folder: (folder / "0000000002.json").write_bytes(b"{"),
            [("SP103", "0000000002.json", ""), ("SP328", "0000000003.json", "/previousDigest")],
        ),
        (
            lambda folder: shutil.copy(folder / "0000000003.json", folder / "0000000004.json"),
            [
                ("SP008", "0000000004.json", "/sequence"),
                ("SP328", "0000000004.json", "/previousDigest"),
            ],
        ),
        (
            lambda folder: (folder / "0000000004.json").write_bytes(encode_record(POLICY)),
            [("SP009", "0000000004.json", "/recordType")],
        ),
        (lambda folder: (folder / "notes.txt").write_bytes(b""), [("SP005", "notes.txt", "")]),
        (lambda folder: (folder / ".tmp-x").write_bytes(b"{"), []),
    ],
)
def test_what_is_wrong_with_an_anchor_is_said_at_its_place(
    chain: Path, place: Path, change: Callable[[Path], object], expected: list[tuple[str, str, str]]
) -> None:
    change(chain)
    assert faults(place) == expected


def test_a_broken_chain_still_counts_as_far_as_it_can_be_read_and_takes_no_more(
    store: Path, chain: Path, place: Path
) -> None:
    (chain / "0000000002.json").unlink()
    shutil.rmtree(store / "runs/run-1")
    record_run(store, "run-9")
    assert sorted(codes(store, place)) == ["SP327", "SP328"]
    report = anchor(store, place, accept="whatever")
    assert report.refused
    assert [finding.code for finding in report.findings] == ["SP328"]


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        (
            {"runs": {"run-1": {"journal": {"sequence": 3, "digest": "sha256:" + "a" * 64}}}},
            "/runs/run-1/journal",
        ),
        ({"runs": {"run-1": {"replaces": True}}}, "/runs/run-1/replaces"),
        ({"storeDocument": None}, "/storeDocument"),
    ],
)
def test_an_anchor_that_takes_something_back_needs_a_humans_word(
    store: Path, place: Path, members: dict[str, Any], pointer: str
) -> None:
    anchor(store, place)
    first = json.loads((place / "anchors/0000000001.json").read_bytes())
    later = {
        **first,
        "sequence": 2,
        "previousDigest": digest_stored(encode_record(first)),
        "runs": {},
        **members,
    }
    (place / "anchors/0000000002.json").write_bytes(encode_record(later))
    assert faults(place) == [("SP328", "0000000002.json", pointer)]
    shutil.rmtree(store / "runs/run-1")
    (store / "safepoint.json").unlink()
    assert {"SP327", "SP329"} <= set(codes(store, place)), "what was once anchored still counts"


def test_one_anchor_stands_for_all_before_it_which_lie_beside_it(
    store: Path, chain: Path, tmp_path: Path
) -> None:
    shutil.rmtree(store / "runs/more-2")
    assert codes(store, chain / "0000000002.json") == []
    assert codes(store, chain / "0000000003.json") == ["SP327"]
    alone = shutil.copy(chain / "0000000003.json", tmp_path / "alone.json")
    assert faults(alone) == [("SP328", "alone.json", "/sequence")]
    first = shutil.copy(chain / "0000000001.json", tmp_path / "first.json")
    assert faults(first) == []


def test_an_anchor_of_any_number_is_read_at_once(tmp_path: Path, chain: Path) -> None:
    value = json.loads((chain / "0000000003.json").read_bytes())
    (tmp_path / "late.json").write_bytes(encode_record({**value, "sequence": 2**53 - 1}))
    assert faults(tmp_path / "late.json") == [("SP328", "late.json", "/sequence")]


def test_a_place_without_anchors_is_never_a_pass(store: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for nowhere in (tmp_path / "nowhere", tmp_path / "empty", tmp_path / "nowhere.json"):
        validation = safepoint.validate(str(store), anchor=nowhere)
        assert "SP001" in {finding.code for finding in validation}
        assert not validation.evaluated


def test_anchors_in_their_store_are_refused_before_anything_is_read(store: Path) -> None:
    with pytest.raises(ValueError, match="it proves nothing"):
        safepoint.validate(store, anchor=store / "anchors")
    with pytest.raises(ValueError, match="it proves nothing"):
        safepoint.guard(store, "run-1", anchor=store / "anchors")
