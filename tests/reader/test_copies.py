"""A copy against its origin: what it lacks is found, at a glance as one by one, whatever is done to the run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from closed import LATER, finished, objects
from copied import SOURCE, heads_of, origin, seal
from journals import Journal
from questions import started

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.moving.origin import Heads, origin_document
from safepoint.reader import Scrutiny, load_run, scan
from safepoint.reader.glance import look
from safepoint.store import open_store
from safepoint.store.inputs import Input
from safepoint.store.layout import journal_key, origin_key, recovery_key, seal_key
from safepoint.upkeep.pack import pack, unpack
from safepoint.upkeep.prune import prune


def copied(journal: Journal) -> dict[str, bytes]:
    """A whole copy of a run, as a migration leaves it."""
    records = objects(journal, artifacts=False)
    return {
        **{key: data for key, data in records.items() if "heartbeat" not in key},
        **origin(journal),
        **seal(journal),
    }


def lay(path: Path, content: Mapping[str, bytes]) -> None:
    for key, data in content.items():
        file = path / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def codes(path: Path, **options: Any) -> list[str]:
    return [finding.code for finding in safepoint.validate(str(path), **options)]


def glanced(path: Path) -> bool:
    """Whether the run was found sound without a second look."""
    [found] = scan(Input(open_store(str(path)), None, named=False), Scrutiny(glance=True))
    return found.run is None


def test_a_whole_copy_is_seen_at_a_glance_and_counts_as_it_does_one_by_one(tmp_path: Path) -> None:
    lay(tmp_path, copied(finished()))
    assert glanced(tmp_path)
    store = Input(open_store(str(tmp_path)), None, named=False)
    [fast], [slow] = scan(store, Scrutiny(glance=True)), scan(store)
    assert (fast.records, fast.documents) == (slow.records, slow.documents) == (10, 2)
    assert slow.run is not None
    assert slow.run.origin is not None
    assert slow.run.seal is not None


@pytest.mark.parametrize("journal", [finished(), started()], ids=["with a recovery log", "without"])
def test_every_part_of_a_copy_is_seen_to_be_a_part(tmp_path: Path, journal: Journal) -> None:
    """Objects come in the order in which a migration writes them: the first record of the journal is the last."""
    content = copied(journal)
    del content[seal_key("run-1")]
    begun, first = origin_key("run-1"), journal_key("run-1", 1)
    order = [begun, *sorted(content.keys() - {begun, first}, reverse=True), first]
    for count in range(1, len(order)):
        folder = tmp_path / str(count)
        lay(folder, {key: content[key] for key in order[:count]})
        found = codes(folder)
        assert "SP330" in found or "SP301" in found, order[:count]
        decision = safepoint.guard(str(folder), "run-1", now=LATER)
        assert decision.verdict == "hand_over"
    lay(tmp_path / "whole", content)
    assert codes(tmp_path / "whole") == []


@pytest.mark.parametrize("gone", [journal_key("run-1", 7), recovery_key("run-1", 3)])
def test_a_tail_that_is_cut_is_found_in_a_copy(tmp_path: Path, gone: str) -> None:
    lay(tmp_path, {key: data for key, data in copied(finished()).items() if key != gone})
    assert not glanced(tmp_path)
    assert "SP330" in codes(tmp_path)


def test_more_than_was_copied_is_no_fault(tmp_path: Path) -> None:
    content = copied(started())
    lay(tmp_path, {**content, **objects(started().claim(100).checkpoint(101, "cp-2"), artifacts=False)})
    assert codes(tmp_path) == []


def test_an_unreadable_record_is_not_called_missing_as_well(tmp_path: Path) -> None:
    journal = started()
    lay(tmp_path, {**copied(journal), journal_key("run-1", 3): b'{"recordType": "che'})
    assert codes(tmp_path) == ["SP103"]
    lay(tmp_path, {**copied(journal), journal_key("run-1", 2): b"{"})
    (tmp_path / journal_key("run-1", 3)).unlink()
    assert sorted(codes(tmp_path)) == ["SP103", "SP330"]


def unnumbered(count: int) -> list[bytes]:
    values = [
        {
            "recordType": "run",
            "schemaVersion": "v3",
            "runId": "run-1",
            "createdAt": f"2026-05-07T10:00:{number:02}Z",
            "status": "failed",
        }
        for number in range(count)
    ]
    return [encode_record(value) for value in values]


@pytest.mark.parametrize("most", [100_000, 1])
def test_records_without_a_number_are_told_by_their_digests(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("safepoint.moving.origin.MOST_LISTED", most)
    texts = unnumbered(5)
    heads = Heads()
    for text in texts[:4]:
        heads.add("run", None, text)
    made = origin_document("run-1", source=SOURCE, tool="t", before=heads, after=heads)
    numbers = itertools.count()

    def found(lines: list[bytes]) -> list[str]:
        folder = tmp_path / str(next(numbers))
        ledger = b"".join(line + b"\n" for line in lines)
        lay(folder, {origin_key("run-1"): made, "runs/run-1/ledger.jsonl": ledger})
        return codes(folder)

    assert found(texts[3::-1]) == []
    assert found(texts) == []
    assert found(texts[:3]) == ["SP330"]
    assert found([*texts[:3], texts[4]]) == ["SP330"]
    assert found([*texts[:3], b"{"]) == ["SP114"], "the text that cannot be read may be the one"
    assert sorted(found([*texts[:2], b"{"])) == ["SP114", "SP330"]


def test_a_text_that_could_not_be_read_may_not_vanish(tmp_path: Path) -> None:
    heads = heads_of(started())
    heads.add_unread()
    made = origin_document("run-1", source=SOURCE, tool="t", before=heads, after=heads)
    lay(tmp_path, {**copied(started()), origin_key("run-1"): made})
    assert codes(tmp_path) == ["SP330"]
    (tmp_path / journal_key("run-1", 4)).write_bytes(b"{")
    assert codes(tmp_path) == ["SP103"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (lambda value: value | {"after": {**value["after"], "sequence": 2}}, "/after"),
        (lambda value: value | {"after": {**value["after"], "digest": "sha256:" + "1" * 64}}, "/after"),
        (lambda value: value | {"sequence": 3}, "/sequence"),
        (lambda value: value | {"source": "s3://agents/other"}, "/source"),
    ],
)
def test_a_seal_for_anything_else_does_not_count(
    tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], pointer: str
) -> None:
    content = copied(started())
    value = json.loads(content[seal_key("run-1")])
    lay(tmp_path, {**content, seal_key("run-1"): encode_record(change(value))})
    [finding] = safepoint.validate(str(tmp_path))
    assert (finding.code, finding.pointer, finding.key) == ("SP331", pointer, seal_key("run-1"))
    run = load_run(open_store(str(tmp_path)), "run-1").run
    assert run is not None
    assert run.seal is None


def test_a_seal_of_a_copy_without_numbers_is_for_nothing(tmp_path: Path) -> None:
    heads = Heads()
    [text] = unnumbered(1)
    heads.add("run", None, text)
    made = origin_document("run-1", source=SOURCE, tool="t", before=heads, after=heads)
    documents = {origin_key("run-1"): made, **seal(started())}
    lay(tmp_path, {**documents, "runs/run-1/ledger.jsonl": text + b"\n"})
    assert codes(tmp_path) == ["SP331"]


def test_an_origin_that_cannot_be_read_is_the_only_thing_that_is_said(tmp_path: Path) -> None:
    lay(tmp_path, {**copied(started()), origin_key("run-1"): b"{"})
    assert codes(tmp_path) == ["SP103"]
    assert safepoint.guard(str(tmp_path), "run-1", now=LATER).verdict == "hand_over"


@pytest.mark.parametrize("key", [origin_key("run-1"), seal_key("run-1")])
def test_only_its_own_document_of_its_own_run_lies_under_either_name(tmp_path: Path, key: str) -> None:
    content = copied(started())
    other = {origin_key("run-1"): seal_key("run-1"), seal_key("run-1"): origin_key("run-1")}[key]
    lay(tmp_path / "kind", {**content, key: content[other]})
    assert "SP009" in codes(tmp_path / "kind")
    lay(tmp_path / "run", {**content, key: content[key].replace(b'"run-1"', b'"run-2"')})
    assert "SP007" in codes(tmp_path / "run")


def test_a_folder_of_loose_files_is_checked_too_and_files_named_alone_are_not(tmp_path: Path) -> None:
    content = copied(started())
    run = {key.removeprefix("runs/run-1/"): data for key, data in content.items()}
    lay(tmp_path, {key: data for key, data in run.items() if key != "journal/0000000003.json"})
    assert codes(tmp_path) == ["SP330"]
    assert [f.code for f in safepoint.validate(str(tmp_path / "origin.json"))] == []
    assert [f.code for f in safepoint.validate(str(tmp_path / "seal.json"))] == []


def test_packing_and_unpacking_keep_both_documents_and_pruning_removes_them(tmp_path: Path) -> None:
    content = copied(finished())
    lay(tmp_path, content)
    store = open_store(str(tmp_path))
    assert [change.outcome for change in pack(store, now=LATER)] == ["done"]
    assert codes(tmp_path) == []
    assert {entry.key for entry in store.list()} >= {origin_key("run-1"), seal_key("run-1")}
    assert [change.outcome for change in unpack(store, ["run-1"], now=LATER)] == ["done"]
    assert {entry.key: store.get(entry.key) for entry in store.list()} == content
    done = prune(store, closed_before=LATER, now=LATER, by="ops")
    assert [change.outcome for change in done] == ["done"]
    assert [entry.key for entry in store.list()] == ["runs/run-1/deleted.json"]
    assert codes(tmp_path) == []


def test_the_digests_that_an_origin_asks_for_are_those_of_the_glance() -> None:
    journal = started()
    texts = [encode_record(value) for value in journal.values]
    assert look("run-1", texts).digests[-1] == digest_stored(texts[-1])
    assert heads_of(journal).journal == (3, look("run-1", texts).digests[-1])
