"""Names and what they say: one name for each number, in the order of the numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safepoint.store import open_store
from safepoint.store.layout import (
    KeyName,
    artifact_key,
    heartbeat_key,
    journal_key,
    order,
    parse_key,
    recovery_key,
    run_ids,
    run_prefix,
    stores_below,
)

HEX = "0123456789abcdef" * 4
IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)


@given(IDS, st.integers(1, 2**53 - 1))
def test_every_name_that_is_written_is_read_back(run_id: str, number: int) -> None:
    name = f"{number:010d}.json"
    assert parse_key(journal_key(run_id, number)) == KeyName(run_id, "journal", number, name)
    assert parse_key(recovery_key(run_id, number)) == KeyName(run_id, "recovery", number, name)
    assert parse_key(heartbeat_key(run_id, number)) == KeyName(run_id, "heartbeat", number, name)
    assert parse_key(artifact_key(run_id, f"sha256:{HEX}")) == KeyName(run_id, "artifact", None, HEX)


@given(IDS)
def test_no_id_leads_out_of_the_runs(run_id: str) -> None:
    top, segment, rest = run_prefix(run_id).split("/")
    assert (top, rest) == ("runs", "")
    assert segment not in {"", ".", ".."}
    assert not set(segment) & set("\\/\0 ")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("safepoint.json", KeyName(None, "store", None, "safepoint.json")),
        ("runs/r/journal.jsonl", KeyName("r", "lines", None, "journal.jsonl")),
        ("runs/r/recovery.jsonl", KeyName("r", "lines", None, "recovery.jsonl")),
        ("runs/r/checkpoints.jsonl", KeyName("r", "lines", None, "checkpoints.jsonl")),
        ("runs/r/ledger.jsonl", KeyName("r", "lines", None, "ledger.jsonl")),
        ("runs/r/cp_03.json", KeyName("r", "loose", None, "cp_03.json")),
        ("runs/=2E.=2Fetc/x.jsonl", KeyName("../etc", "loose", None, "x.jsonl")),
        ("cp_03.json", KeyName(None, "loose", None, "cp_03.json")),
        ("deep/down/x.jsonl", KeyName(None, "loose", None, "x.jsonl")),
        ("runs/alone.json", KeyName(None, "loose", None, "alone.json")),
    ],
)
def test_a_known_name_says_what_it_is(key: str, expected: KeyName) -> None:
    assert parse_key(key) == expected


@pytest.mark.parametrize(
    "key",
    [
        "",
        "README.md",
        "runs/r/journal/12.json",
        "runs/r/journal/0000000000.json",
        "runs/r/journal/00000000012.json",
        "runs/r/journal/00000000000000000.json",
        "runs/r/journal/0000000012.jsonl",
        "runs/r/journal/0000000012.json\n",
        "runs/r/journal/٠٠٠٠٠٠٠٠١٢.json",
        "runs/r/journal/x/0000000012.json",
        "runs/r/other/0000000012.json",
        "runs/r/notes.txt",
        "runs/a b/journal/0000000012.json",
        "runs/=2e/journal/0000000012.json",
        "runs/=FF/journal/0000000012.json",
        "runs/../journal/0000000012.json",
        f"runs/r/artifacts/sha256/{HEX.upper()}",
        f"runs/r/artifacts/sha256/{HEX}0",
    ],
)
def test_an_unknown_name_says_nothing(key: str) -> None:
    assert parse_key(key) is None


def test_numbers_count_from_one_and_digests_are_whole() -> None:
    with pytest.raises(ValueError, match="count from 1, got 0"):
        journal_key("r", 0)
    with pytest.raises(ValueError, match="64 lower-case hex digits"):
        artifact_key("r", f"sha256:{HEX.upper()}")


def test_names_are_ordered_by_number_whatever_their_length_and_their_times(tmp_path: Path) -> None:
    numbers = [1, 99_999, 100_000, 9_999_999_999, 10_000_000_000]
    store = open_store(str(tmp_path))
    for age, number in enumerate(numbers):
        key = journal_key("r", number)
        store.put_if_absent(key, b"{}")
        os.utime(tmp_path / key, (1e9 - age, 1e9 - age))
    keys = [entry.key for entry in store.list()]
    assert keys.index(journal_key("r", 10_000_000_000)) < keys.index(journal_key("r", 9_999_999_999)), (
        "as text"
    )
    names = [parse_key(key) for key in sorted(keys, key=order)]
    assert [name.number for name in names if name] == numbers


def test_names_without_a_number_are_ordered_as_text_within_their_folder() -> None:
    keys = ["b.json", "runs/r/journal/12.json", "runs/r/journal/0000000002.json", "a.json", "runs/a/x.json"]
    assert sorted(keys, key=order) == [
        "a.json",
        "b.json",
        "runs/a/x.json",
        "runs/r/journal/12.json",
        "runs/r/journal/0000000002.json",
    ]


def test_runs_are_found_by_their_encoded_ids_without_being_read(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    ids = ["../../etc", ".hidden", "run 1", "run_1", "läuft", "a=b"]
    for run_id in ids:
        store.put_if_absent(journal_key(run_id, 1), b"{}")
    (tmp_path / "store/runs/not encoded").mkdir()
    (tmp_path / "store/runs/=2e").mkdir()
    assert sorted(run_ids(store)) == sorted(ids)
    assert {path.name for path in tmp_path.iterdir()} == {"store"}


def below(folder: Path, *keys: str) -> tuple[str, ...]:
    for key in keys:
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(b"{}")
    return stores_below(open_store(str(folder)))


def test_a_folder_of_stores_names_the_outermost(tmp_path: Path) -> None:
    keys = ("b/safepoint.json", "a/safepoint.json", "a-2/safepoint.json", "deep/down/c/safepoint.json")
    inner = ("a/copy/safepoint.json", "loose/cp.json")
    assert below(tmp_path, *keys, *inner) == ("a", "a-2", "b", "deep/down/c")


@pytest.mark.parametrize("own", ["safepoint.json", "runs/r/journal.jsonl"])
def test_a_store_that_holds_others_is_one_store(tmp_path: Path, own: str) -> None:
    assert below(tmp_path, own, "copy/safepoint.json") == ()


def test_a_folder_of_loose_files_holds_no_store(tmp_path: Path) -> None:
    assert below(tmp_path, "a.json", "b/c.json") == ()
