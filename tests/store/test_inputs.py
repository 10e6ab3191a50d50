"""What arguments stand for; one that names nothing is never an empty success."""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from safepoint.core.fault import Fault
from safepoint.store import AbsentError
from safepoint.store.inputs import Input, expand

Short = tuple[str, tuple[str, ...] | None, bool] | tuple[str, str]


def short(*arguments: str) -> list[Short]:
    """Inputs as (url, keys, named), faults as (code, place)."""
    found: list[Short] = []
    for item in expand(arguments):
        if isinstance(item, Input):
            found.append((item.store.url, item.keys, item.named))
        else:
            assert item.place
            found.append((item.code, item.place.url))
    return found


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "a.json",
        "b.json",
        "[c].json",
        "stores/one/x.json",
        "stores/two/y.json",
        "stores/.tmp-1.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    (tmp_path / "empty/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def memory() -> Iterator[Any]:
    memory = fsspec.filesystem("memory")
    memory.pipe({"/in/a.json": b"{}", "/in/b.json": b"{}", "/in/deep/c.json": b"{}"})
    yield memory
    memory.rm("/in", recursive=True)


def test_a_file_is_named_and_a_folder_is_searched(here: Path) -> None:
    assert short("a.json", "stores/one/x.json", "stores", str(here / "a.json")) == [
        (".", ("a.json",), True),
        ("stores/one", ("x.json",), True),
        ("stores", None, False),
        (str(here), ("a.json",), True),
    ]


def test_a_repeated_argument_counts_once() -> None:
    assert short("a.json", "a.json") == [(".", ("a.json",), True)]


def test_what_an_input_names_can_be_read() -> None:
    for item in expand(["a.json", "stores/*/*.json", "stores"]):
        assert isinstance(item, Input)
        keys = item.keys if item.keys is not None else [entry.key for entry in item.store.list()]
        assert [item.store.get(key) for key in keys] == [b"{}"] * len(keys) != []


@pytest.mark.parametrize(
    "argument", ["", "nope.json", "nope/", "a.json/b", "*.yaml", "empty", "nope/**", "a\0b"]
)
def test_what_names_nothing_is_a_fault(argument: str) -> None:
    assert short(argument) == [("SP001", argument)]


def test_a_pattern_stands_for_its_files_and_folders(here: Path) -> None:
    assert short("*.json") == [(".", ("[c].json", "a.json", "b.json"), False)]
    assert short("stores/*/*.json") == [
        ("stores/one", ("x.json",), False),
        ("stores/two", ("y.json",), False),
    ]
    assert short("stores/*") == [("stores/one", None, False), ("stores/two", None, False)]
    assert short("stores/**") == short("stores/**/*.json")
    (here / "round").symlink_to("stores")
    assert short("**/[xy].json") in (
        [("round/one", ("x.json",), False), ("round/two", ("y.json",), False)],
        [("stores/one", ("x.json",), False), ("stores/two", ("y.json",), False)],
    )


def test_a_file_whose_name_looks_like_a_pattern_or_a_chain_is_itself(here: Path) -> None:
    (here / "x::y.json").write_bytes(b"{}")
    assert short("[c].json", "x::y.json") == [(".", ("[c].json",), True), (".", ("x::y.json",), True)]


def test_a_link_that_the_user_named_is_followed(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "real.json"
    elsewhere.write_bytes(b"{}")
    (here / "link.json").symlink_to(elsewhere)
    (item,) = expand(["link.json"])
    assert isinstance(item, Input)
    assert item.keys == ("real.json",)
    assert item.store.get("real.json") == b"{}"


def test_what_cannot_be_read_is_said_to_be_unreadable(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(here / "pipe.json")
    (here / "dangling.json").symlink_to("nothing")
    assert short("pipe.json", "dangling.json") == [("SP002", "pipe.json"), ("SP002", "dangling.json")]

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    (fault,) = expand(["stores"])
    assert isinstance(fault, Fault)
    assert (fault.code, fault.message) == (
        "SP002",
        "Permission denied; check the permissions, or the credentials that are in use",
    )
    monkeypatch.setattr(os, "stat", refuse)
    assert short("a.json") == [("SP002", "a.json")]


def test_a_url_is_asked_whether_it_is_an_object_or_a_folder(memory: Any) -> None:
    assert short("memory://in/a.json", "memory://in", "memory://in/deep/", "memory://") == [
        ("memory://in", ("a.json",), True),
        ("memory://in", None, False),
        ("memory://in/deep", None, False),
        ("memory://", None, False),
    ]
    memory.pipe("/top.json", b"{}")
    (item,) = expand(["memory://top.json"])
    assert isinstance(item, Input)
    assert item.keys
    assert (item.store.get(item.keys[0]), item.store.url_of(item.keys[0])) == (b"{}", "memory://top.json")
    memory.rm("/top.json")


def test_a_pattern_in_a_url_is_expanded_there(memory: Any) -> None:
    assert short("memory://in/?.json") == [("memory://in", ("a.json", "b.json"), False)]
    assert short("memory://in/**/*.json") == [("memory://in", ("a.json", "b.json", "deep/c.json"), False)]
    assert short("memory://in/d*") == [("memory://in/deep", None, False)]
    assert short("memory://in/*/*.json") == [("memory://in", ("deep/c.json",), False)]


def test_a_url_that_names_nothing_or_cannot_be_opened_is_a_fault(memory: Any) -> None:
    assert short("memory://in/nope.json", "memory://nope/", "memory://in/*.yaml", "memory://nope/*") == [
        ("SP001", "memory://in/nope.json"),
        ("SP001", "memory://nope/"),
        ("SP001", "memory://in/*.yaml"),
        ("SP001", "memory://nope/*"),
    ]
    assert short("nonsense://x", "file://elsewhere/x") == [
        ("SP002", "nonsense://x"),
        ("SP002", "file://elsewhere/x"),
    ]


def test_an_object_inside_an_archive_can_be_named(here: Path) -> None:
    with zipfile.ZipFile(here / "s.zip", "w") as archive:
        archive.writestr("in/a.json", "{}")
        archive.writestr("in/b.json", "{}")
    assert short("zip://in/a.json::s.zip", "zip://in/*.json::s.zip", "zip://in::s.zip") == [
        ("zip://in::s.zip", ("a.json",), True),
        ("zip://in::s.zip", ("a.json", "b.json"), False),
        ("zip://in::s.zip", None, False),
    ]


def test_a_file_url_is_a_path(here: Path) -> None:
    (item,) = expand([(here / "a.json").as_uri()])
    assert isinstance(item, Input)
    assert (item.keys, item.named) == (("a.json",), True)
    with pytest.raises(AbsentError):
        item.store.get("nope.json")


def test_a_folder_of_stores_is_each_of_them_and_the_files_beside(here: Path) -> None:
    for name in ("one", "two"):
        (here / "stores" / name / "safepoint.json").write_bytes(b"{}")
    (here / "stores/three").mkdir()
    (here / "stores/three/z.json").write_bytes(b"{}")
    assert short("stores") == [
        ("stores/one", None, False),
        ("stores/two", None, False),
        ("stores", ("three/z.json",), False),
    ]


def test_a_remote_folder_of_stores_is_each_of_them(memory: Any) -> None:
    memory.pipe({"/in/s/safepoint.json": b"{}", "/in/t/safepoint.json": b"{}"})
    assert short("memory://in") == [
        ("memory://in/s", None, False),
        ("memory://in/t", None, False),
        ("memory://in", ("a.json", "b.json", "deep/c.json"), False),
    ]
