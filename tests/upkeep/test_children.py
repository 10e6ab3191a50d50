"""No run is deleted that a child may need: one that is not closed, and whatever may be such a child."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from closed import LATER, filled, finished, objects
from crashing import Watched, objects_of
from journals import Journal, at

from safepoint.core.digest import encode_record
from safepoint.store import Store, StoreError, UnreachableError, open_store
from safepoint.store.layout import artifact_key, heartbeat_key, journal_key
from safepoint.upkeep.prune import prune
from safepoint.upkeep.runs import Change

FIRST = journal_key("child", 1)


def child() -> Journal:
    return Journal("child").begin(parentRunId="run-1").checkpoint(2).ledger(3, "attempting")


def pruned(store: Store) -> Change:
    """What becomes of the parent, which alone is named."""
    [change] = prune(store, closed_before=LATER, now=LATER, by="ann", runs=["run-1"])
    return change


def with_torn_beginning(store: Path) -> None:
    (store / FIRST).write_bytes(b"{")


def with_byte_order_mark(store: Path) -> None:
    (store / FIRST).write_bytes(b"\xef\xbb\xbf" + (store / FIRST).read_bytes())


def with_pipe_for_its_beginning(store: Path) -> None:
    (store / FIRST).unlink()
    os.mkfifo(store / FIRST)


def without_beginning(store: Path) -> None:
    (store / FIRST).unlink()


def in_a_loose_file(store: Path) -> None:
    shutil.rmtree(store / "runs/child")
    (store / "child.jsonl").write_bytes(b"".join(encode_record(value) + b"\n" for value in child().values))


def without_numbers_and_begun_last(store: Path) -> None:
    shutil.rmtree(store / "runs/child/journal")
    left_out = {"sequence", "previousDigest", "nonce", "leaseEpoch"}
    values = [
        {name: member for name, member in value.items() if name not in left_out}
        for value in child().values
        if value["recordType"] != "lease"
    ]
    values[1]["createdAt"] = at(-5)
    (store / "runs/child/all.jsonl").write_bytes(b"".join(encode_record(value) + b"\n" for value in values))


def with_nothing_but_a_heartbeat(store: Path) -> None:
    shutil.rmtree(store / "runs/child/journal")
    key = heartbeat_key("child", 1)
    (store / key).parent.mkdir()
    (store / key).write_bytes(objects(finished("child"))[key])


def with_nothing_but_an_artifact(store: Path) -> None:
    shutil.rmtree(store / "runs/child/journal")
    (store / artifact_key("child", "sha256:" + "0" * 64)).parent.mkdir(parents=True)
    (store / artifact_key("child", "sha256:" + "0" * 64)).write_bytes(b"")


def in_a_folder_that_is_named_like_no_run(store: Path) -> None:
    (store / "runs/child").rename(store / "runs/%zz")


def in_a_torn_loose_file(store: Path) -> None:
    shutil.rmtree(store / "runs/child")
    (store / "child.json").write_bytes(encode_record(child().values[0])[:-1])


CHILDREN: list[Callable[[Path], None]] = [
    with_torn_beginning,
    with_byte_order_mark,
    with_pipe_for_its_beginning,
    without_beginning,
    in_a_loose_file,
    without_numbers_and_begun_last,
    with_nothing_but_a_heartbeat,
    with_nothing_but_an_artifact,
    in_a_folder_that_is_named_like_no_run,
    in_a_torn_loose_file,
]


@pytest.mark.parametrize("lies", CHILDREN)
def test_the_parent_of_what_may_be_an_open_child_is_left_and_the_child_named(
    lies: Callable[[Path], None], tmp_path: Path
) -> None:
    store = filled("local", tmp_path, objects(finished()))
    place = next(tmp_path.iterdir())
    child().write(place)
    lies(place)
    before = {path: path.is_fifo() or path.read_bytes() for path in place.rglob("*") if not path.is_dir()}
    change = pruned(store)
    assert change.outcome == "left"
    assert "child" in change.message
    assert before == {
        path: path.is_fifo() or path.read_bytes() for path in place.rglob("*") if not path.is_dir()
    }


def test_what_is_no_child_holds_nobody(tmp_path: Path) -> None:
    others = [Journal("other").begin(), Journal("another").begin(parentRunId="other")]
    content = objects(finished(), *others, finished("closed", parentRunId="run-1"), artifacts=False)
    content["settings.json"] = b'{"colour": "red"}'
    content["runs/stray/notes.txt"] = b"mine"
    content["safepoint.json"] = encode_record({"recordType": "store", "schemaVersion": "v3", "layout": 1})
    assert pruned(filled("memory", tmp_path, content)).outcome == "done"


def test_several_doubts_are_counted_and_the_run_itself_is_none(tmp_path: Path) -> None:
    content = objects(finished(), child(), Journal("more").begin(), artifacts=False)
    del content[FIRST]
    del content[journal_key("more", 1)]
    content["copy.jsonl"] = encode_record(finished().values[4]) + b"\n"
    store = filled("memory", tmp_path, content)
    assert pruned(store).message == "run child may be a child of it: its beginning is not there; and 1 more"


def test_a_child_whose_beginning_is_not_answered_for_holds_its_parent(tmp_path: Path) -> None:
    inner = filled("memory", tmp_path, objects(finished(), child()))

    def silent(what: str, key: str) -> None:
        if (what, key) == ("before get", FIRST):
            raise UnreachableError(inner.url, "503 slow down", key)

    change = pruned(Watched(inner, silent))
    assert (change.outcome, change.message) == (
        "left",
        "run child may be a child of it: 0000000001.json cannot be read",
    )


@pytest.mark.parametrize("operation", ["before folders", "before list"])
def test_where_the_runs_cannot_be_listed_nothing_is_deleted(operation: str, tmp_path: Path) -> None:
    inner = filled("memory", tmp_path, objects(finished(), child()))

    def silent(what: str, key: str) -> None:
        if what == operation and "run-1" not in key:
            raise UnreachableError(inner.url, "no answer", key)

    with pytest.raises(StoreError):
        pruned(Watched(inner, silent))
    assert objects_of(inner) == objects(finished(), child())


def test_loose_files_of_a_store_on_disk_are_looked_at(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    for key, data in objects(finished(), artifacts=False).items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(data)
    (tmp_path / "exports/of/children").mkdir(parents=True)
    (tmp_path / "exports/of/children/one.json").write_bytes(encode_record(child().values[0]))
    assert pruned(store).message == "its child child is not closed, and names it as its parent"
