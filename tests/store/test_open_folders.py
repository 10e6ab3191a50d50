"""What a local store keeps open between two questions: little, not for long, and to nobody's harm."""

from __future__ import annotations

import gc
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from safepoint.store import AbsentError, Entry, OutsideStoreError, Store, StoreError, open_store

JOURNAL = "runs/r{}/journal"
RECORD = JOURNAL + "/0000000001.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(8):
        path = tmp_path / "store" / RECORD.format(number)
        path.parent.mkdir(parents=True)
        path.write_bytes(b"%d" % number)
    (tmp_path / "outside").mkdir()
    (tmp_path / "store/runs/away").symlink_to(tmp_path / "outside")
    return tmp_path / "store"


def open_files(root: Path) -> set[tuple[str, str]]:
    """The numbers of all that is open in a store or beside it, and what it is."""
    found = set()
    for number in list(Path("/proc/self/fd").iterdir()):
        with suppress(FileNotFoundError):  # the listing itself
            found.add((number.name, str(number.readlink())))
    # sockets of other tests' servers come and go
    return {(number, path) for number, path in found if path.startswith(str(root.parent))}


def entry(number: int) -> Entry:
    return Entry(RECORD.format(number), None, plain=True)


def begun(items: Iterator[Any]) -> Iterator[Any]:
    next(items)
    return items


ASKS: dict[str, Callable[[Store], Any]] = {
    "get": lambda store: [store.get(RECORD.format(number)) for number in (1, 2, 1)],
    "get what is absent": lambda store: store.get(RECORD.format(99)),
    "get a folder": lambda store: store.get("runs/r1"),
    "get behind a link": lambda store: store.get("runs/away/x.json"),
    "get below a file": lambda store: store.get(RECORD.format(1) + "/x"),
    "exists": lambda store: store.exists(RECORD.format(1)),
    "pieces": lambda store: list(store.pieces(RECORD.format(1))),
    "pieces, left": lambda store: begun(store.pieces(RECORD.format(1))),
    "get_many": lambda store: list(store.get_many([entry(1), entry(99), entry(2)])),
    "get_many, left": lambda store: begun(store.get_many([entry(1), entry(2)])),
    "list": lambda store: list(store.list()),
    "list, left": lambda store: begun(store.list()),
    "list, not begun": lambda store: store.list(),
    "list what is absent": lambda store: list(store.list("runs/r99")),
    "list behind a link": lambda store: list(store.list("runs/away")),
    "folders": lambda store: list(store.folders("runs")),
    "files": lambda store: list(store.files()),
    "put": lambda store: store.put_if_absent(RECORD.format(1), b"mine"),
    "put behind a link": lambda store: store.put_if_absent("runs/away/x.json", b"mine"),
    "delete": lambda store: store.delete(RECORD.format(1)),
}


@pytest.mark.parametrize("ask", ASKS)
def test_nothing_stays_open_once_a_store_is_forgotten(root: Path, ask: str) -> None:
    gc.collect()
    gc.disable()  # it is closed at once, and not when the collector comes by
    try:
        before = open_files(root)
        store = open_store(str(root))
        with suppress(StoreError):
            ASKS[ask](store)
        writes = ask.startswith(("put", "delete"))
        assert not writes or open_files(root) == before, "a writer keeps nothing open between its calls"
        del store
        assert open_files(root) == before
    finally:
        gc.enable()


def test_many_stores_keep_few_folders_open(root: Path) -> None:
    before = len(open_files(root))
    stores = [open_store(str(root)) for _ in range(100)]
    for store in stores:
        assert store.get(RECORD.format(1)) == b"1"
    assert len(open_files(root)) - before <= 16 * len(RECORD.split("/"))
    assert {store.get(RECORD.format(2)) for store in stores} == {b"2"}


def test_a_listing_keeps_few_of_the_folders_above_it_open(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"d" * 60)
    for folder in (deep, *deep.parents[:60]):
        (folder / "e").mkdir(parents=True)
        (folder / "e/leaf.json").write_bytes(b"")
    before, most = len(open_files(tmp_path / "d")), 0
    found = []
    for each in open_store(str(tmp_path)).list():
        found.append(each.key)
        most = max(most, len(open_files(tmp_path / "d")) - before)
    assert sorted(found) == sorted("d/" * depth + "e/leaf.json" for depth in range(61))
    assert most <= 20


def test_a_folder_that_is_replaced_is_read_anew(root: Path) -> None:
    store = open_store(str(root))
    assert store.get(RECORD.format(1)) == b"1"
    for name in ("runs/r1/journal", "runs/r1", "runs"):
        (root / name).rename(root / f"old-{name.replace('/', '-')}")
        (root / JOURNAL.format(1)).mkdir(parents=True)
        new = f"{JOURNAL.format(1)}/{name.count('/')}.json"
        (root / new).write_bytes(b"new")
        assert store.get(new) == b"new", "what is new is found at once"
        time.sleep(0.002)
        with pytest.raises(AbsentError):
            store.get(RECORD.format(1))
        (root / RECORD.format(1)).write_bytes(b"1")
        assert store.get(RECORD.format(1)) == b"1"


def test_what_is_absent_is_found_as_soon_as_it_is_there(root: Path) -> None:
    store, other = open_store(str(root)), open_store(str(root))
    for number in range(20, 40):
        with pytest.raises(AbsentError):
            store.get(RECORD.format(number))
        other.put_if_absent(RECORD.format(number), b"new")
        assert store.get(RECORD.format(number)) == b"new"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_that_closes_all_it_has_inherited_is_not_disturbed(root: Path) -> None:
    store = open_store(str(root))
    assert store.get(RECORD.format(1)) == b"1"
    held = {int(number) for number, _ in open_files(root)}
    assert held
    child = os.fork()
    if not child:
        status = 1
        try:
            os.closerange(min(held), max(held) + 20)
            mine = [os.open("/", os.O_RDONLY) for _ in range(max(held) - min(held) + 1)]
            right = store.get(RECORD.format(1)) == b"1" and store.get(RECORD.format(2)) == b"2"
            del store
            status = 0 if right and all(os.fstat(file) for file in mine) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.get(RECORD.format(1)) == b"1"


def test_a_store_that_goes_to_another_process_takes_no_open_folder_along(root: Path) -> None:
    store = open_store(str(root))
    assert store.get(RECORD.format(1)) == b"1"
    before = open_files(root)
    there = pickle.loads(pickle.dumps(store))
    del there
    assert open_files(root) == before
    assert pickle.loads(pickle.dumps(store)).get(RECORD.format(2)) == b"2"


def test_threads_that_share_a_store_do_not_close_each_others_folders(root: Path) -> None:
    store = open_store(str(root))
    wrong: list[object] = []

    def read(number: int) -> None:
        end = time.monotonic() + 0.5
        try:
            while time.monotonic() < end:
                if (found := store.get(RECORD.format(number))) != b"%d" % number:
                    wrong.append(found)
        except Exception as error:  # noqa: BLE001 - a thread's error is lost if it is not kept
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_links_inside_are_followed_wherever_they_stand(root: Path) -> None:
    (root / "runs/latest").symlink_to("r3")
    (root / "all").symlink_to("runs")
    (root / "runs/r4/record.json").symlink_to("journal/0000000001.json")
    (root / "runs/round").symlink_to("round")
    store = open_store(str(root))
    for key, data in (
        ("runs/latest/journal/0000000001.json", b"3"),
        ("all/r2/journal/0000000001.json", b"2"),
        ("all/latest/journal/0000000001.json", b"3"),
        ("all/r4/record.json", b"4"),
        (RECORD.format(5), b"5"),
    ):
        for _ in range(2):
            assert store.get(key) == data
            assert list(store.get_many([Entry(key, None, plain=True)])) == [data]
    with pytest.raises(OutsideStoreError):
        store.get("all/away/x.json")
    with pytest.raises(StoreError):
        store.get("runs/round/x.json")


def test_keys_of_many_folders_are_read_like_others(root: Path) -> None:
    key = "/".join("d" * 40) + "/leaf.json"
    (root / key).parent.mkdir(parents=True)
    (root / key).write_bytes(b"leaf")
    store = open_store(str(root))
    assert [store.get(key) for _ in range(2)] == [b"leaf", b"leaf"]
    assert store.get(RECORD.format(1)) == b"1"
