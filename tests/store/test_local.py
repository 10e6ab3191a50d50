"""Reading a local folder that somebody else prepared: links, pipes, odd names, refusals."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from safepoint.store import (
    AbsentError,
    DeniedError,
    Entry,
    OutsideStoreError,
    TooLargeError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
    local,
    open_store,
)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.json"
    path.parent.mkdir()
    path.write_bytes(b'{"secret":1}')
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    (path / "runs/r1/journal").mkdir(parents=True)
    (path / "runs/r1/journal/0000000001.json").write_bytes(b"{}")
    return path


def test_a_link_out_of_the_store_is_seen_but_never_followed(root: Path, secret: Path) -> None:
    (root / "file.json").symlink_to(secret)
    (root / "relative.json").symlink_to("../outside/secret.json")
    (root / "folder").symlink_to(secret.parent)
    (root / "nowhere.json").symlink_to("/no/such/place")
    store = open_store(str(root))
    refused = ["file.json", "folder", "nowhere.json", "relative.json"]
    assert [entry.key for entry in store.list() if entry.problem] == refused
    assert not [entry for entry in store.list() if entry.key.startswith("folder/")]
    for key in [*refused, "folder/secret.json"]:
        for ask in (store.get, store.exists):
            with pytest.raises(OutsideStoreError, match="leads out of the store"):
                ask(key)
    with pytest.raises(OutsideStoreError):
        list(store.list("folder"))
    with pytest.raises(OutsideStoreError):
        store.put_if_absent("folder/new.json", b"{}")
    assert list(secret.parent.iterdir()) == [secret]


def test_links_are_judged_also_where_the_system_cannot_refuse_them(
    root: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "file.json").symlink_to(secret)
    monkeypatch.setattr(local, "IN_FOLDERS", False)
    monkeypatch.setattr(local, "NOFOLLOW", 0)
    store = open_store(str(root))
    with pytest.raises(OutsideStoreError):
        store.get("file.json")
    assert store.get("runs/r1/journal/0000000001.json") == b"{}"


@pytest.mark.parametrize("refuses", [True, False])
def test_many_objects_are_read_with_the_same_care_as_one(
    root: Path, secret: Path, monkeypatch: pytest.MonkeyPatch, *, refuses: bool
) -> None:
    folder = root / "runs/r1/journal"
    for number in range(2, 6):
        (folder / f"{number:010}.json").write_bytes(b"x" * number)
    (folder / "0000000006.json").symlink_to(secret)
    (folder / "0000000007.json").symlink_to("0000000002.json")
    os.mkfifo(folder / "0000000008.json")
    if not refuses:
        monkeypatch.setattr(local, "IN_FOLDERS", False)
        monkeypatch.setattr(local, "NOFOLLOW", 0)
    store = open_store(str(root))
    listed = {entry.key: entry for entry in store.list()}
    key = "runs/r1/journal/{:010}.json".format
    assert [listed[key(number)].plain for number in (1, 2, 6, 7, 8)] == [True, True, False, False, False]
    wanted = [listed[key(number)] for number in (3, 7, 2, 1)]
    assert list(store.get_many(wanted)) == [b"xxx", b"xx", b"xx", b"{}"]
    for bad, error in (
        (listed[key(6)], OutsideStoreError),
        (listed[key(8)], UnreadableError),
        # what has changed since it was listed, and what no listing names
        (Entry(key(6), None, plain=True), OutsideStoreError),
        (Entry(key(9), None, plain=True), AbsentError),
        (Entry("runs/../../2.json", None, plain=True), OutsideStoreError),
        (Entry("runs/r1/journal/..", None, plain=True), OutsideStoreError),
    ):
        first, found = store.get_many([listed[key(4)], bad])
        assert (first, type(found)) == (b"xxxx", error)
    [found] = store.get_many([listed[key(5)]], limit=4)
    assert type(found) is TooLargeError


def test_a_link_inside_the_store_is_read_but_its_folder_is_listed_once(root: Path) -> None:
    (root / "again.json").symlink_to("runs/r1/journal/0000000001.json")
    (root / "runs/latest").symlink_to("r1")
    (root / "runs/r1/round").symlink_to("../..")
    store = open_store(str(root))
    assert list(store.list()) == [
        Entry("again.json", 2),
        Entry("runs/r1/journal/0000000001.json", None, plain=True),
    ]
    assert list(store.folders("runs")) == ["r1"]
    assert store.get("again.json") == b"{}"
    assert store.get("runs/latest/journal/0000000001.json") == b"{}"


def test_a_link_to_nothing_is_unreadable_and_not_absent(root: Path) -> None:
    (root / "gone.json").symlink_to("nothing.json")
    (root / "loop.json").symlink_to("loop.json")
    store = open_store(str(root))
    assert Entry("gone.json", None) in list(store.list())
    assert Entry("loop.json", None) in list(store.list())
    for key in ("gone.json", "loop.json"):
        assert store.exists(key)
        with pytest.raises(UnreadableError):
            store.get(key)


def test_the_root_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert [entry.key for entry in open_store(str(tmp_path / "alias")).list()] == [
        "runs/r1/journal/0000000001.json"
    ]


def test_pipes_sockets_and_devices_are_refused_without_waiting(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe.json")
    monkeypatch.chdir(root)  # a socket's path has little room
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.json")
        store = open_store(".")
        assert {"pipe.json", "socket.json"} <= {entry.key for entry in store.list()}
        with pytest.raises(UnreadableError, match="a named pipe, not a file"):
            store.get("pipe.json")
        with pytest.raises(UnreadableError):
            store.get("socket.json")
    with pytest.raises(UnreadableError, match="a folder, not a file"):
        store.get("runs/r1")
    with pytest.raises(UnreadableError, match="a device, not a file"):
        open_store("/dev").get("null")


def test_names_that_no_key_can_be_are_listed_as_refused_and_printable(root: Path) -> None:
    (root / "back\\slash.json").write_bytes(b"{}")
    (root / os.fsdecode(b"caf\xe9.json")).write_bytes(b"{}")
    store = open_store(str(root))
    refused = [entry for entry in store.list() if entry.problem]
    whys = {"back\\slash.json": "holds a backslash", "caf\\udce9.json": "is not UTF-8"}
    assert [entry.key for entry in refused] == list(whys)
    assert all(whys[entry.key] in entry.problem for entry in refused)
    for entry in refused:
        assert entry.key.encode()
        with pytest.raises(OutsideStoreError, match="contains a backslash"):
            store.get(entry.key)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, DeniedError),
        (errno.EPERM, DeniedError),
        (errno.EIO, UnreachableError),
        (errno.ESTALE, UnreachableError),
        (errno.EMFILE, UnreachableError),
        (errno.ENOENT, AbsentError),
    ],
)
def test_each_refusal_of_the_system_has_its_own_error(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception]
) -> None:
    def refuse(*_: Any, **__: Any) -> int:
        raise OSError(number, os.strerror(number))

    store = open_store(str(root))
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(kind, match=r"0000000001\.json: .+; .+"):
        store.get("runs/r1/journal/0000000001.json")


def test_a_folder_that_cannot_be_listed_is_never_an_empty_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.scandir

    def refuse(folder: int | str) -> Any:
        path = f"/proc/self/fd/{folder}" if isinstance(folder, int) else folder
        if Path(path).resolve().name == "journal":
            raise PermissionError(errno.EACCES, "Permission denied")
        return listed(folder)

    store = open_store(str(root))
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DeniedError, match="runs/r1/journal"):
        list(store.list())


def test_whether_something_exists_is_not_answered_without_permission(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    store = open_store(str(root))
    monkeypatch.setattr(os, "lstat", refuse)
    with pytest.raises(DeniedError):
        store.exists("safepoint.json")


def test_a_file_is_no_store(root: Path) -> None:
    with pytest.raises(UnreadableError, match="not a folder"):
        list(open_store(str(root / "runs/r1/journal/0000000001.json")).list())
    assert list(open_store(str(root)).list("runs/r1/journal/0000000001.json")) == []


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = os.read
    path = root / "runs/r1/journal.jsonl"
    path.write_bytes(b"1\n")
    grown = []

    def grow(file: int, size: int) -> bytes:
        if not grown:
            grown.append(path.write_bytes(b"1\n2\n"))
        return read(file, size)

    monkeypatch.setattr(os, "read", grow)
    store = open_store(str(root))
    assert store.get("runs/r1/journal.jsonl") == b"1\n2\n"
    grown.clear()
    path.write_bytes(b"1\n")
    with pytest.raises(TooLargeError):
        store.get("runs/r1/journal.jsonl", limit=3)


def test_a_name_too_long_for_the_disk_is_absent(root: Path) -> None:
    store = open_store(str(root))
    with pytest.raises(AbsentError):
        store.get("x" * 300)
    assert not store.exists("x" * 300)
    assert not store.exists("runs/" + "x" * 300 + "/journal/0000000001.json")
    with pytest.raises(UnsupportedError, match="use a shorter id"):
        store.put_if_absent("runs/" + "x" * 300 + "/journal/0000000001.json", b"{}")


def test_deep_folders_do_not_exhaust_the_interpreter(tmp_path: Path) -> None:
    depth = 1200
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        here, parent = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(parent)
    os.close(os.open("leaf.json", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)
    assert [entry.key for entry in open_store(str(tmp_path)).list()] == ["d/" * depth + "leaf.json"]
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_a_file_url_names_this_machine(root: Path) -> None:
    store = open_store(f"file://localhost{root}")
    assert store.get("runs/r1/journal/0000000001.json") == b"{}"
    with pytest.raises(UnsupportedError, match="another host"):
        open_store("file://elsewhere/store")


@pytest.mark.parametrize("url", ["", "a\0b"])
def test_an_empty_name_is_never_the_current_folder(url: str) -> None:
    with pytest.raises(AbsentError):
        open_store(url)


def test_places_are_named_as_the_user_named_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    urls = [open_store(url).url_of("a.json") for url in (".", "./", "runs", "runs/", "../store", "/")]
    assert urls == ["a.json", "a.json", "runs/a.json", "runs/a.json", "../store/a.json", "/a.json"]


def test_local_work_never_imports_fsspec(root: Path) -> None:
    script = (
        "import sys; from safepoint.store.inputs import expand; from safepoint.store import open_store\n"
        "store = open_store(sys.argv[1]); list(store.list()); list(expand([sys.argv[1]]))\n"
        "store.put_if_absent('safepoint.json', b'{}')\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'fsspec'])"
    )
    done = subprocess.run([sys.executable, "-c", script, root], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
