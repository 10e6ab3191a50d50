"""What is listed, on every backend and driver: all of it, nothing else, and nothing that is not so."""

from __future__ import annotations

import functools
import random

import pytest
from foreign import put_all
from places import REMOTE, Place, place_at

from safepoint.store import AbsentError, Entry, OutsideStoreError, Store, UnsupportedError, open_store
from safepoint.store.layout import run_ids

FILES = {
    "a.json": b"{}",
    "a/b/c.json": b'{"deep":true}',
    "a-b.json": b"",
    "runs/.tmp-half/x.json": b"torn",
    "runs/=2E./journal/0000000001.json": b'{"run":".."}',
    "runs/r/journal/.tmp-0123": b"torn",
    "runs/r/journal/0000000001.json": b'{"n":1}',
    "runs/r/journal/0000000002.json": b'{"n":2}',
    "runs/r1/loose.json": b"{}",
    "runs/alone.json": b"{}",
    "runs/not encoded/journal/0000000001.json": b"{}",
    "safepoint.json": b"{}",
}
VISIBLE = {key: data for key, data in FILES.items() if ".tmp-" not in key}
MANY = {"s3": 1100, "gs": 1100, "az": 600}
"""Objects: more than the thousand of one page. Azure's has 5,000, which Azurite takes half a minute to store."""


@pytest.fixture
def full(place: Place) -> Store:
    """A store where other tools have laid down `FILES`."""
    put_all(place.foreign, FILES)
    return place.open()


def test_a_listing_is_complete_and_leaves_out_unfinished_writes(full: Store) -> None:
    found = list(full.list())
    assert sorted(entry.key for entry in found) == sorted(VISIBLE)
    assert all(entry.size in {None, len(VISIBLE[entry.key])} for entry in found)
    assert not any(entry.problem for entry in found)


def test_what_lies_in_one_folder_comes_together(full: Store) -> None:
    folders = [entry.key.rpartition("/")[0] for entry in full.list("runs/r")]
    folders += [entry.key.rpartition("/")[0] for entry in full.list("runs/=2E.")]
    assert folders == sorted(folders, key=folders.index)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_prefix_is_a_folder_and_not_a_beginning(full: Store, slash: str) -> None:
    below = {
        prefix: sorted(entry.key for entry in full.list(prefix + slash)) for prefix in ("runs/r", "a", "run")
    }
    assert below == {
        "runs/r": ["runs/r/journal/0000000001.json", "runs/r/journal/0000000002.json"],
        "a": ["a/b/c.json"],
        "run": [],
    }
    assert list(full.folders("runs/r" + slash)) == ["journal"]
    assert list(full.folders("run" + slash)) == []
    assert list(full.list("safepoint.json" + slash)) == []


def test_folders_and_files_are_told_apart(full: Store) -> None:
    assert list(full.folders()) == ["a", "runs"]
    assert list(full.folders("runs")) == ["=2E.", "not encoded", "r", "r1"]
    assert list(run_ids(full)) == ["..", "r", "r1"]
    outside = [key for key in VISIBLE if not (key.startswith("runs/") and key.count("/") > 1)]
    assert sorted(entry.key for entry in full.files()) == sorted(outside)
    asked = ("safepoint.json", "a/b/c.json", "a/b", "nope.json", "no/nope.json", "safepoint.json/below")
    assert [full.exists(key) for key in asked] == [True, True, False, False, False, False]


def test_what_is_listed_can_be_read_and_a_folder_is_a_store_as_well(place: Place, full: Store) -> None:
    entries = list(full.list())
    assert {entry.key: full.get(entry.key) for entry in entries} == VISIBLE
    assert list(full.get_many(entries)) == [VISIBLE[entry.key] for entry in entries]
    below = open_store(full.url_of("runs/r"), **place.options)
    assert below.url == full.url + "/runs/r"
    assert below.get("journal/0000000001.json") == b'{"n":1}'


def test_a_place_with_nothing_in_it_is_no_empty_store(place: Place, store: Store) -> None:
    for ask in (store.list, store.folders, store.files):
        with pytest.raises(AbsentError):
            list(ask())  # type: ignore[call-overload]
    place.foreign.put("safepoint.json", b"{}")
    assert (list(store.list("runs")), list(store.folders("runs"))) == ([], [])


@pytest.mark.parametrize("place", REMOTE, indirect=True)
def test_markers_for_folders_are_no_objects(place: Place, store: Store) -> None:
    put_all(
        place.foreign,
        {"": b"", "runs/": b"", "runs/r1/": b"", "runs/r1/journal/1.json": b"{}", "empty/": b""},
    )
    assert [entry.key for entry in store.list()] == ["runs/r1/journal/1.json"]
    assert [entry.key for entry in store.files()] == []
    assert list(store.folders("runs")) == ["r1"]
    assert not store.exists("empty")
    assert not store.exists("runs/r1")


@pytest.mark.parametrize(
    "place", [name for name in REMOTE if name.startswith(("ministack", "fake"))], indirect=True
)
def test_names_that_cannot_be_keys_are_listed_with_what_is_wrong(place: Place, store: Store) -> None:
    odd = ["d\\e.json", "f//g.json", "h/../i.json"]
    if place.driver == "obstore":
        place.foreign.put("f//g.json", b"{}")
        with pytest.raises(UnsupportedError, match="choose the storage option driver=fsspec"):
            list(store.list())
        return
    put_all(place.foreign, dict.fromkeys([*odd, "good.json"], b"{}"))
    found = {entry.key: bool(entry.problem) for entry in store.list()}
    assert found == {**dict.fromkeys(odd, True), "good.json": False}
    for key in odd:
        with pytest.raises(OutsideStoreError):
            store.get(key)
    assert [type(one) for one in store.get_many(Entry(key, 2) for key in odd)] == [OutsideStoreError] * 3


def test_names_of_any_script_are_listed_and_read(place: Place, store: Store) -> None:
    objects = {
        name: name.encode() for name in ("läuft.json", "x y+z&a=b#c.json", "日本/語.json", "%41%2F.json")
    }
    put_all(place.foreign, objects)
    assert {entry.key: store.get(entry.key) for entry in store.list()} == objects
    assert all(store.exists(key) for key in objects)


@functools.cache
def many_in(server: str) -> tuple[str, frozenset[str]]:
    """The address of a store with `MANY` objects, and their keys."""
    place = place_at(f"{server}-fsspec")
    keys = [f"runs/r{number % 7}/journal/{number:010d}.json" for number in range(MANY[place.backend])]
    put_all(place.foreign, dict.fromkeys(random.Random(1).sample(keys, len(keys)), b"{}"))
    return place.url, frozenset(keys)


@pytest.mark.parametrize("name", REMOTE)
def test_a_listing_of_several_pages_is_complete_and_streams(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, keys = many_in(name.rpartition("-")[0])
    store = open_store(url, **place_at(name).options)
    if name == "azurite-fsspec":
        from azure.storage.blob.aio import ContainerClient

        for method in ("list_blobs", "walk_blobs"):
            asked = functools.partialmethod(getattr(ContainerClient, method), results_per_page=250)
            monkeypatch.setattr(ContainerClient, method, asked)
    assert next(iter(store.list())).key in keys
    found = [entry.key for entry in store.list()]
    assert (len(found), set(found)) == (len(keys), keys)
    assert {entry.key for entry in store.list("runs/r3")} == {
        key for key in keys if key.startswith("runs/r3/")
    }
    assert list(store.folders("runs")) == [f"r{number}" for number in range(7)]
    some = found[:: len(found) // 100]
    assert list(store.get_many(Entry(key, 2) for key in some)) == [b"{}"] * len(some)
