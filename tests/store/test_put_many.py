"""Many objects at once: as safe as one by one, on a disk in a fraction of the time."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from safepoint.store import Outcome, OutsideStoreError, Store, StoreError, open_store
from safepoint.store.errors import NoSpaceError, UnsupportedError
from safepoint.store.layout import journal_key
from safepoint.store.together import batches, side_by_side

WRITER = """
import json, sys
from safepoint.store import open_store
from safepoint.store.layout import journal_key
store = open_store(sys.argv[1])
first = int(sys.argv[2])
print("ready", flush=True)
while True:
    numbers = range(first, first + 150)
    store.put_many((journal_key("r1", n), json.dumps({"n": n, "filler": "x" * n}).encode()) for n in numbers)
    first += 150
    print(first, flush=True)
"""

DYING = """
import os, signal, sys
from safepoint.store import open_store
step, count = sys.argv[2], int(sys.argv[3])
real, seen = getattr(os, step), 0
def deadly(*arguments, **options):
    global seen
    seen += 1
    if seen == count:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
store = open_store(sys.argv[1])
setattr(os, step, deadly)
store.put_many((f"runs/r1/journal/{n:010d}.json", b'{"n":%d}' % n) for n in range(1, 13))
"""


def records(*numbers: int) -> list[tuple[str, bytes]]:
    return [(journal_key("r1", n), b'{"n":%d}' % n) for n in numbers]


def content(store: Store) -> dict[str, bytes]:
    return {entry.key: store.get(entry.key) for entry in store.list("runs")}


def leftovers(root: Path) -> list[Path]:
    return list(root.rglob(".tmp-*"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"))


def test_all_are_written_whole_in_their_places(store: Store, tmp_path: Path) -> None:
    items = [*records(*range(1, 151)), ("origin.json", b"{}"), ("runs/r2/origin.json", b"[]"), ("empty", b"")]
    assert store.put_many(iter(items)) == [Outcome.WON] * len(items)
    assert {entry.key: store.get(entry.key) for entry in store.list()} == dict(items)
    assert leftovers(tmp_path) == []


def test_of_nothing_nothing_is_made(store: Store, tmp_path: Path) -> None:
    assert store.put_many([]) == []
    assert list(tmp_path.iterdir()) == []


def test_each_name_has_an_outcome_of_its_own_and_nothing_is_overwritten(store: Store, tmp_path: Path) -> None:
    others, mine = records(2, 3)
    store.put_if_absent(others[0], b"others")
    store.put_if_absent(*mine)
    folder = tmp_path / "store" / journal_key("r1", 5)
    folder.mkdir()
    (folder.parent / "0000000006.json").symlink_to("0000000003.json")
    found = store.put_many(records(1, 2, 3, 4, 5, 6))
    won, lost = Outcome.WON, Outcome.LOST
    assert found == [won, lost, won, won, lost, lost]
    assert store.get(others[0]) == b"others"
    assert leftovers(tmp_path) == []


def test_of_two_for_one_name_the_first_wins_and_the_same_bytes_are_no_rival(store: Store) -> None:
    key, data = records(1)[0]
    found = store.put_many([(key, data), (key, b"other"), (key, data)])
    assert found == [Outcome.WON, Outcome.LOST, Outcome.WON]
    assert store.get(key) == data


def test_a_name_that_leads_out_is_refused_and_the_others_are_written(store: Store, tmp_path: Path) -> None:
    one, two = records(1, 2)
    found = store.put_many([one, ("../outside.json", b"{}"), ("runs/../x", b"{}"), two])
    assert [found[0], found[3]] == [Outcome.WON, Outcome.WON]
    assert all(isinstance(each, OutsideStoreError) for each in found[1:3])
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_folder_that_leads_out_is_not_written_to(store: Store, tmp_path: Path) -> None:
    store.put_if_absent("runs/r1/origin.json", b"{}")
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "store/runs/r1/journal").symlink_to(outside)
    found = store.put_many(records(1, 2))
    assert all(isinstance(each, OutsideStoreError) for each in found)
    assert list(outside.iterdir()) == []


def test_bytes_are_durable_before_their_name_and_the_name_before_the_outcome(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_if_absent(*records(99)[0])  # the folders are there
    steps: list[str] = []
    link, fsync = os.link, os.fsync

    def noting_link(*arguments: str, **options: int) -> None:
        steps.append("link")
        link(*arguments, **options)

    def noting_sync(file: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        fsync(file)

    monkeypatch.setattr(os, "link", noting_link)
    monkeypatch.setattr(os, "fsync", noting_sync)
    assert store.put_many(records(1, 2, 3)) == [Outcome.WON] * 3
    assert steps[-7:] == ["file"] * 3 + ["link"] * 3 + ["folder"]


def test_names_that_are_not_durable_yet_are_not_won(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put_if_absent(*records(99)[0])
    fsync = os.fsync

    def failing(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EIO, "the disk is ill")
        fsync(file)

    monkeypatch.setattr(os, "fsync", failing)
    assert store.put_many(records(1, 2, 99)) == [Outcome.UNKNOWN] * 3


def test_bytes_that_cannot_be_made_durable_never_get_their_name(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_if_absent(*records(99)[0])
    write = os.write

    def full(file: int, data: bytes) -> int:
        if b'"n":2' in bytes(data):
            raise OSError(errno.ENOSPC, "no space")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    one, two, three = store.put_many(records(1, 2, 3))
    assert (one, three) == (Outcome.WON, Outcome.WON)
    assert isinstance(two, NoSpaceError)
    assert not store.exists(journal_key("r1", 2))
    assert leftovers(tmp_path) == []


def test_what_the_disk_cannot_sync_is_tried_alone_and_explained(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_if_absent(*records(99)[0])

    def failing(file: int) -> None:
        raise OSError(errno.EIO, "the disk is ill")

    monkeypatch.setattr(os, "fsync", failing)
    found = store.put_many(records(1, 2))
    assert all(isinstance(each, StoreError) for each in found)
    monkeypatch.undo()
    assert set(content(store)) == {journal_key("r1", 99)}


def test_a_disk_without_links_is_refused_as_for_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: str, **__: int) -> None:
        raise OSError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", no_links)
    assert all(isinstance(each, UnsupportedError) for each in store.put_many(records(1, 2)))


def test_no_file_stays_open(store: Store) -> None:
    def opened() -> int:
        return len(list(Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd").iterdir()))

    store.put_many(records(1, 2))
    before = opened()
    store.put_many(records(*range(3, 200)))
    assert opened() == before


@pytest.mark.parametrize("count", [1, 2, 7, 12])
@pytest.mark.parametrize("step", ["write", "fsync", "link", "unlink"])
def test_a_kill_between_any_two_steps_is_made_good_by_the_same_put(
    step: str, count: int, tmp_path: Path
) -> None:
    root = tmp_path / "store"
    command = [sys.executable, "-c", DYING, str(root), step, str(count)]
    died = subprocess.run(command, capture_output=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    store, items = open_store(str(root)), records(*range(1, 13))
    for key, data in items:
        assert not store.exists(key) or store.get(key) == data
    assert store.put_many(items) == [Outcome.WON] * 12
    assert content(store) == dict(items)


def test_a_killed_writer_leaves_each_object_whole_or_absent(tmp_path: Path) -> None:
    drawn, root = random.Random(7), tmp_path / "store"
    first, said = 1, 1
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root), str(first)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout
            writer.stdout.readline()
            time.sleep(drawn.uniform(0, 0.15))
            writer.kill()
            said = max([said, *map(int, writer.stdout.read().split())])
        found = content(open_store(str(root))) if root.exists() else {}
        for key, data in found.items():
            number = int(key[-15:-5])
            assert data == b'{"n": %d, "filler": "%s"}' % (number, b"x" * number)
        assert {journal_key("r1", n) for n in range(1, said)} <= set(found), "what was said to be won is gone"
        first = said


def test_of_writers_that_race_one_wins_each_name(tmp_path: Path) -> None:
    racer = (
        "import os, sys\nfrom safepoint.store import Outcome, open_store\n"
        "sys.stdin.readline()\n"
        "items = [(f'runs/r1/journal/{n:010d}.json', b'%d' % os.getpid()) for n in range(1, 101)]\n"
        "found = open_store(sys.argv[1]).put_many(items)\n"
        "print(*(n for n, each in enumerate(found, 1) if each is Outcome.WON))\n"
    )
    command = [sys.executable, "-c", racer, str(tmp_path / "store")]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for each in racers:
        assert each.stdin
        each.stdin.write("\n")
        each.stdin.flush()
    won = {each.pid: {int(n) for n in each.communicate(timeout=60)[0].split()} for each in racers}
    assert sum(map(len, won.values())) == 100
    assert set().union(*won.values()) == set(range(1, 101))
    for key, data in content(open_store(str(tmp_path / "store"))).items():
        assert int(key[-15:-5]) in won[int(data)]


def test_a_batch_is_bounded_in_number_and_in_bytes() -> None:
    def items() -> Iterator[tuple[str, bytes]]:
        yield from ((f"small-{n}", b"x") for n in range(130))
        yield from ((f"large-{n}", bytes(5 * 2**20)) for n in range(2))
        yield "huge", bytes(20 * 2**20)

    found = list(batches(items()))
    assert [len(batch) for batch in found] == [64, 64, 3, 1, 1]
    assert [key for batch in found for key, _ in batch] == [key for key, _ in items()]


def test_whoever_is_interrupted_does_not_wait_for_the_rest() -> None:
    started: list[str] = []

    def put(key: str, _: bytes) -> str:
        started.append(key)
        if key == "0":
            raise KeyboardInterrupt
        time.sleep(0.02)
        return key

    items = [(str(n), b"") for n in range(60)]
    with pytest.raises(KeyboardInterrupt):
        side_by_side(items, 2, put)
    time.sleep(0.1)
    assert len(started) < 30
