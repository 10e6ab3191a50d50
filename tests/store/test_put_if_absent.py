"""One winner for each name: with real processes, real kills, lost answers and full disks."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from safepoint.store import (
    AbsentError,
    DeniedError,
    NoSpaceError,
    Outcome,
    StoreError,
    UnreadableError,
    UnsupportedError,
    local,
    open_store,
)
from safepoint.store.layout import heartbeat_key, journal_key

KEY = journal_key("r1", 1)
MINE = b'{"nonce":"mine"}'
OTHERS = b'{"nonce":"others"}'

RECORD = """
import hashlib, json, os, sys
from safepoint.store import Outcome, open_store
from safepoint.store.layout import journal_key
store = open_store(sys.argv[1])
def record(number):
    filler = os.urandom(4000).hex()
    return json.dumps({"n": number, "pid": os.getpid(), "filler": filler,
                       "digest": hashlib.sha256(filler.encode()).hexdigest()}).encode()
"""

RACER = (
    RECORD
    + """
import time
print("ready", flush=True)
time.sleep(max(0, float(sys.stdin.readline()) - time.time()))
won = [n for n in range(1, 101) if store.put_if_absent(journal_key("r1", n), record(n)) is Outcome.WON]
print(json.dumps({"pid": os.getpid(), "won": won}))
"""
)

WRITER = (
    RECORD
    + """
number = 1
while store.exists(journal_key("r1", number)):
    number += 1
print("ready", flush=True)
while store.put_if_absent(journal_key("r1", number), record(number)) is Outcome.WON:
    number += 1
"""
)

STEPS = ["write", "fsync", "link", "unlink"]
DYING = """
import os, signal, sys
from safepoint.store import open_store
step, when = sys.argv[2], sys.argv[3]
real = getattr(os, step)
def deadly(*arguments, **options):
    if when == "after":
        real(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
store = open_store(sys.argv[1])
store.put_if_absent("runs/r1/journal/0000000009.json", b"{}")  # folders are there
setattr(os, step, deadly)
store.put_if_absent(sys.argv[4], sys.argv[5].encode())
"""


def read(root: Path) -> dict[int, dict[str, Any]]:
    """All records by number, each found whole."""
    store = open_store(str(root))
    records = {}
    for entry in store.list("runs"):
        value = json.loads(store.get(entry.key))
        assert value["digest"] == hashlib.sha256(value["filler"].encode()).hexdigest()
        assert entry.key == journal_key("r1", value["n"])
        records[value["n"]] = value
    return records


def is_folder(file: int) -> bool:
    return stat.S_ISDIR(os.fstat(file).st_mode)


def leftovers(root: Path) -> list[Path]:
    return list(root.rglob(".tmp-*"))


def test_of_four_racing_processes_exactly_one_wins_each_number(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACER, str(tmp_path / "store")]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout
        racer.stdout.readline()
    start = time.time() + 0.2  # all at once, however long it takes to tell them
    for racer in racers:
        assert racer.stdin
        racer.stdin.write(f"{start}\n")
        racer.stdin.flush()
    results = [json.loads(racer.communicate(timeout=60)[0]) for racer in racers]
    wins = {number: result["pid"] for result in results for number in result["won"]}
    assert sum(len(result["won"]) for result in results) == len(wins) == 100
    assert len(set(wins.values())) > 1, "nobody raced"
    assert {number: value["pid"] for number, value in read(tmp_path / "store").items()} == wins
    assert leftovers(tmp_path) == []


def test_a_killed_writer_leaves_each_record_whole_or_absent(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)  # noqa: T201 - what pytest shows of a failure
    chance = random.Random(seed)
    root = tmp_path / "store"
    before = 0
    for _ in range(20):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, root], stdout=subprocess.PIPE)
        assert writer.stdout
        writer.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        writer.kill()
        writer.communicate()
        assert writer.returncode == -signal.SIGKILL, "it stopped before it was killed"
        records = read(root)
        assert sorted(records) == list(range(1, len(records) + 1))
        assert len(records) >= before
        before = len(records)
    assert before


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_between_any_two_steps_can_be_made_good_by_the_same_put(
    tmp_path: Path, step: str, when: str
) -> None:
    command = [sys.executable, "-c", DYING, tmp_path, step, when, KEY, MINE.decode()]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    store = open_store(str(tmp_path))
    linked = step == "unlink" or (step, when) == ("link", "after")
    assert store.exists(KEY) is linked
    # the one step of "after" that tidies up leaves nothing; all others leave a name that nobody lists
    assert bool(leftovers(tmp_path)) is ((step, when) != ("unlink", "after"))
    assert [entry.key for entry in store.list("runs/r1/journal")][0 if linked else 1 :] == (
        [KEY, journal_key("r1", 9)] if linked else []
    )
    assert store.put_if_absent(KEY, OTHERS) is (Outcome.LOST if linked else Outcome.WON)
    assert store.get(KEY) == (MINE if linked else OTHERS)


def test_the_second_writer_loses_and_nothing_is_overwritten(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "new/store"))
    assert store.put_if_absent(KEY, OTHERS) is Outcome.WON
    assert store.put_if_absent(KEY, MINE) is Outcome.LOST
    assert store.put_if_absent(KEY, OTHERS + b" ") is Outcome.LOST
    assert store.get(KEY) == OTHERS
    assert leftovers(tmp_path) == []


def test_the_same_bytes_again_are_our_own_earlier_try(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    assert [store.put_if_absent(KEY, MINE) for _ in range(2)] == [Outcome.WON, Outcome.WON]


def test_a_name_is_durable_before_it_is_won(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def recorded(name: str) -> Any:
        real = getattr(os, name)

        def step(first: Any, *rest: Any, **options: Any) -> Any:
            steps.append(f"{name} folder" if name == "fsync" and is_folder(first) else name)
            return real(first, *rest, **options)

        return step

    store = open_store(str(tmp_path / "store"))
    for name in ("mkdir", "fsync", "write", "link", "unlink"):
        monkeypatch.setattr(os, name, recorded(name))
    assert store.put_if_absent(KEY, MINE) is Outcome.WON
    made = ["mkdir", "fsync folder"] * 4  # store, runs, r1, journal, each with the folder that names it
    claim = ["write", "fsync", "link", "fsync folder", "unlink"]
    assert steps == made + claim
    steps.clear()
    assert store.put_if_absent(journal_key("r1", 2), MINE) is Outcome.WON
    assert steps == claim


@pytest.mark.parametrize("there", [None, MINE, OTHERS])
@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EEXIST])
def test_after_an_unclear_answer_the_slot_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bytes | None, number: int
) -> None:
    real = os.link

    def unclear(source: str, target: str, **folders: int) -> None:
        if there == MINE:
            real(source, target, **folders)
        elif there is not None:
            (tmp_path / KEY).write_bytes(there)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", unclear)
    store = open_store(str(tmp_path))
    expected = {None: Outcome.UNKNOWN, MINE: Outcome.WON, OTHERS: Outcome.LOST}[there]
    assert store.put_if_absent(KEY, MINE) is expected
    monkeypatch.undo()
    assert store.put_if_absent(KEY, MINE) is (Outcome.LOST if there == OTHERS else Outcome.WON)
    assert store.get(KEY) == (there or MINE)
    assert leftovers(tmp_path) == []


def test_what_cannot_be_read_back_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(tmp_path))
    store.put_if_absent(KEY, MINE)

    def refuse(*_: Any) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "read", refuse)
    assert store.put_if_absent(KEY, MINE) is Outcome.UNKNOWN


def test_a_name_that_is_not_yet_durable_is_not_won(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(tmp_path))
    store.put_if_absent(journal_key("r1", 2), MINE)
    real, synced = os.fsync, []

    def fail_on_the_folder(file: int) -> None:
        synced.append(file)
        if len(synced) == 2:
            raise OSError(errno.EIO, "Input/output error")
        real(file)

    monkeypatch.setattr(os, "fsync", fail_on_the_folder)
    assert store.put_if_absent(KEY, MINE) is Outcome.UNKNOWN
    assert store.put_if_absent(KEY, MINE) is Outcome.WON


def test_a_file_system_that_cannot_sync_folders_is_asked_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(file: int) -> None:
        if is_folder(file):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(file)

    monkeypatch.setattr(os, "fsync", only_files)
    assert open_store(str(tmp_path)).put_if_absent(KEY, MINE) is Outcome.WON


@pytest.mark.parametrize(
    ("step", "number", "kind"),
    [
        ("write", errno.ENOSPC, NoSpaceError),
        ("write", errno.EDQUOT, NoSpaceError),
        ("fsync", errno.EIO, StoreError),
        ("link", errno.ENOSPC, NoSpaceError),
        ("link", errno.EROFS, DeniedError),
        ("link", errno.ENOENT, AbsentError),
        ("link", errno.EPERM, UnsupportedError),
        ("link", errno.ENOTSUP, UnsupportedError),
        ("mkdir", errno.EACCES, DeniedError),
        ("open", errno.EACCES, DeniedError),
    ],
)
def test_an_error_means_that_nothing_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int, kind: type[StoreError]
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    store = open_store(str(tmp_path))
    monkeypatch.setattr(os, step, refuse)
    with pytest.raises(kind) as caught:
        store.put_if_absent(KEY, MINE)
    monkeypatch.undo()
    assert caught.value.key == KEY
    assert caught.value.remedy in str(caught.value)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_trouble_behind_the_link_does_not_hide_that_it_was_won(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(tmp_path))
    store.put_if_absent(journal_key("r1", 9), MINE)
    real, closed = os.close, []

    def fail(file: int) -> None:
        folder = is_folder(file)
        real(file)
        if folder:
            closed.append(file)
            raise OSError(errno.EIO, "Input/output error")

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", fail)
    assert store.put_if_absent(KEY, MINE) is Outcome.WON
    monkeypatch.setattr(os, "unlink", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.put_if_absent(journal_key("r1", 2), MINE)
    assert len(closed) == 2


def test_half_written_bytes_never_get_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, bytes(data[:3])))
    store = open_store(str(tmp_path))
    assert store.put_if_absent(KEY, MINE) is Outcome.WON
    assert store.get(KEY) == MINE


def test_a_taken_name_is_lost_whatever_took_it(tmp_path: Path) -> None:
    folder = tmp_path / "runs/r1/journal"
    (folder / "0000000001.json").mkdir(parents=True)
    os.mkfifo(folder / "0000000002.json")
    (folder / "0000000003.json").symlink_to("/etc/hostname")
    (folder / "0000000004.json").symlink_to("nothing.json")
    store = open_store(str(tmp_path))
    assert {store.put_if_absent(journal_key("r1", number), MINE) for number in range(1, 5)} == {Outcome.LOST}
    assert not (folder / "nothing.json").exists()


def test_a_file_where_a_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_bytes(b"")
    with pytest.raises(UnreadableError, match="the name of a folder"):
        open_store(str(tmp_path)).put_if_absent(KEY, MINE)


def test_a_run_that_was_deleted_meanwhile_is_made_again(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    store.put_if_absent(KEY, MINE)
    subprocess.run(["rm", "-r", tmp_path / "store/runs"], check=True)
    assert store.put_if_absent(KEY, OTHERS) is Outcome.WON


def test_folders_above_the_store_may_be_closed_to_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def closed(path: str, *rest: Any, **options: Any) -> int:
        if path == str(tmp_path.parent):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, *rest, **options)

    store = open_store(str(tmp_path))
    monkeypatch.setattr(os, "open", closed)
    assert store.put_if_absent("safepoint.json", MINE) is Outcome.WON


def test_writing_elsewhere_than_on_posix_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_POSIX", False)
    with pytest.raises(UnsupportedError, match="needs Linux or macOS"):
        open_store(str(tmp_path)).put_if_absent(KEY, MINE)


def test_an_owner_rewrites_its_heartbeat(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    for beat in (b'{"beat":1}', b'{"beat":2}'):
        store.replace(heartbeat_key("r1", 4), beat)
        assert store.get(heartbeat_key("r1", 4)) == beat
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("key", [KEY, "safepoint.json", "runs/r1/heartbeat/4.json"])
def test_nothing_but_a_heartbeat_is_ever_rewritten(tmp_path: Path, key: str) -> None:
    store = open_store(str(tmp_path))
    with pytest.raises(ValueError, match="only a heartbeat"):
        store.replace(key, MINE)
    assert list(tmp_path.iterdir()) == []
