"""One contract for every backend: what is there, what is not, and what is refused."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from safepoint.store import AbsentError, Entry, OutsideStoreError, Store, TooLargeError, open_store
from safepoint.store.layout import run_ids

FILES = {
    "a.json": b"{}",
    "a/b/c.json": b'{"deep":true}',
    "a-b.json": b"",
    "runs/.tmp-half/x.json": b"torn",
    "runs/=2E./journal/0000000001.json": b'{"run":".."}',
    "runs/r1/journal/.tmp-0123": b"torn",
    "runs/r1/journal/0000000001.json": b'{"n":1}',
    "runs/r1/journal/0000000002.json": b'{"n":2}',
    "runs/r2/loose.json": b"{}",
    "runs/not encoded/journal/0000000001.json": b"{}",
    "safepoint.json": b"{}",
}
VISIBLE = {key: data for key, data in FILES.items() if ".tmp-" not in key}


def write(root: Path) -> None:
    for key, data in FILES.items():
        path = root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.fixture(params=["path", "file-url", "memory", "zip", "cached"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    memory = fsspec.filesystem("memory")
    match request.param:
        case "path":
            write(tmp_path / "my store")
            yield open_store(str(tmp_path / "my store"))
        case "file-url":
            write(tmp_path / "my store")
            yield open_store((tmp_path / "my store").as_uri())
        case "zip":
            with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
                for key, data in FILES.items():
                    archive.writestr(f"inner/{key}", data)
            yield open_store(f"zip://inner::{tmp_path}/s.zip")
        case _:
            memory.pipe({f"/contract/{key}": data for key, data in FILES.items()})
            yield open_store(
                "memory://contract" if request.param == "memory" else "simplecache::memory://contract"
            )
            memory.rm("/contract", recursive=True)


def test_a_listing_is_complete_sorted_and_without_unfinished_writes(store: Store) -> None:
    found = list(store.list())
    assert [entry.key for entry in found] == sorted(VISIBLE)
    assert all(entry.size in {None, len(VISIBLE[entry.key])} for entry in found)


@pytest.mark.parametrize("prefix", ["runs/r1", "runs/r1/"])
def test_a_prefix_is_a_folder_and_not_a_beginning(store: Store, prefix: str) -> None:
    assert [entry.key for entry in store.list(prefix)] == [
        "runs/r1/journal/0000000001.json",
        "runs/r1/journal/0000000002.json",
    ]
    assert list(store.list("runs/r")) == []


def test_what_is_listed_can_be_read(store: Store) -> None:
    assert {entry.key: store.get(entry.key) for entry in store.list()} == VISIBLE


def test_an_absent_object_is_absent(store: Store) -> None:
    with pytest.raises(AbsentError, match=r"nope\.json.*nothing is there; check the name"):
        store.get("runs/r1/nope.json")
    with pytest.raises(AbsentError):
        store.get("no/such/folder/nope.json")


def test_existence_is_asked_of_objects_and_not_of_folders(store: Store) -> None:
    asked = ("safepoint.json", "a/b/c.json", "a/b", "nope.json", "no/nope.json", "safepoint.json/below")
    assert [store.exists(key) for key in asked] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    "key", ["", "/etc/hostname", "../x", "runs/../../x", "runs//x", "runs/./x", "a/", "a\\b", "a\0b", ".."]
)
def test_a_name_that_could_lead_out_is_refused_before_anything_is_read(store: Store, key: str) -> None:
    for ask in (store.get, store.exists):
        with pytest.raises(OutsideStoreError):
            ask(key)
    with pytest.raises(OutsideStoreError):
        list(store.list(key + "//"))


def test_no_more_is_read_than_the_caller_wants(store: Store) -> None:
    assert store.get("a/b/c.json", limit=13) == b'{"deep":true}'
    with pytest.raises(TooLargeError, match="limit of 12 bytes"):
        store.get("a/b/c.json", limit=12)


def test_runs_are_listed_by_their_ids_and_unencoded_folders_are_none(store: Store) -> None:
    assert list(run_ids(store)) == ["..", "r1", "r2"]


def test_a_url_opens_what_it_says(store: Store) -> None:
    assert open_store(store.url_of("runs/not encoded")).get("journal/0000000001.json") == b"{}"
    assert store.url_of("") == store.url


def test_a_store_that_is_not_there_is_absent_and_not_empty(tmp_path: Path) -> None:
    for url in (str(tmp_path / "nope"), "memory://nope/at/all"):
        with pytest.raises(AbsentError):
            list(open_store(url).list())


def test_what_others_write_is_seen_at_once(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe("/fresh/a.json", b"1")
    write(tmp_path)
    for store, put in (
        (open_store("memory://fresh"), lambda: memory.pipe("/fresh/z.json", b"22")),
        (open_store(str(tmp_path)), lambda: (tmp_path / "z.json").write_bytes(b"22")),
    ):
        assert "z.json" not in [entry.key for entry in store.list()]
        put()
        assert "z.json" in [entry.key for entry in store.list()]
        assert store.get("z.json") == b"22"
    memory.rm("/fresh", recursive=True)


def test_listed_objects_come_in_the_order_in_which_they_were_asked_for(store: Store) -> None:
    entries = list(store.list())[::-1]
    assert list(store.get_many(entries)) == [VISIBLE[entry.key] for entry in entries]
    absent = Entry("runs/nothing/journal/0000000001.json", None)
    first, missing, last = store.get_many([entries[0], absent, entries[1]])
    assert (first, last) == (VISIBLE[entries[0].key], VISIBLE[entries[1].key])
    assert type(missing) is AbsentError


def test_the_files_of_a_store_are_those_that_lie_in_no_run(store: Store) -> None:
    outside = [key for key in VISIBLE if not (key.startswith("runs/") and key.count("/") > 1)]
    assert sorted(entry.key for entry in store.files()) == sorted(outside)


def test_an_object_in_pieces_is_the_object(store: Store) -> None:
    for key, data in VISIBLE.items():
        assert b"".join(store.pieces(key)) == data
