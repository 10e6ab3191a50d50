"""Whether two places lie apart, by whatever names they are called; and a write that is made sure of."""

from __future__ import annotations

from pathlib import Path

import pytest

from safepoint.store import Outcome, UnreachableError
from safepoint.store import copying as module
from safepoint.store.copying import overlap, put
from safepoint.store.local import LocalStore


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a/store", "/a/store"),
        ("/a/store", "/a/store/anchors"),
        ("/a/store", "/a"),
        ("/", "/a/copy"),
        ("/a/store", "/a/b/../store"),
        ("/a/store", "/a/store/anchors/0000000001.json"),
        ("file:///a/store", "/a/store/x"),
        ("local:///a/store", "file:///a/store/x"),
        ("simplecache::file:///a/store", "/a/store/x"),
        ("zip://inside::/a/store.zip", "/a/store.zip"),
        ("zip://one::/a/store.zip", "zip://two::/a/store.zip"),
        ("s3://bucket/store/", "s3a://bucket/store/x"),
        ("S3://bucket/store", "s3://bucket/store/x"),
        ("s3://bucket/store", "s3://bucket//store/x"),
        ("s3://bucket/store", "s3://bucket/./store/x"),
        ("simplecache::s3://bucket/store", "s3://bucket/store/x"),
        ("filecache::s3://bucket/store", "simplecache::s3a://bucket/store/x"),
        ("gs://bucket", "gcs://bucket/copy"),
        ("az://box/store", "abfs://box/store/x"),
        ("az://box/store", "abfss://box@account.dfs.core.windows.net/store/x"),
        ("memory://store", "memory:///store/x"),
    ],
)
def test_a_place_lies_in_the_other_by_whatever_name(one: str, other: str) -> None:
    assert overlap(one, other)
    assert overlap(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/a/store", "/a/anchors"),
        ("/a/store", "/a/store-anchors"),
        ("s3://bucket/store", "s3://bucket/anchors"),
        ("s3://bucket/store", "s3://bucket/store2"),
        ("s3://bucket/store", "gs://bucket/store"),
        ("s3://bucket/store", "/bucket/store"),
        ("zip://::/a/one.zip", "zip://::/a/two.zip"),
        ("http://user@host/store", "http://host/store"),
    ],
)
def test_places_that_lie_apart(one: str, other: str) -> None:
    assert not overlap(one, other)
    assert not overlap(other, one)


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "store")
    assert overlap(str(tmp_path / "store"), str(tmp_path / "link/copy"))


class Answers(LocalStore):
    """A store whose first answers get lost, whether or not the object was written."""

    def __init__(self, path: Path, lost: int, *, written: bool) -> None:
        super().__init__(str(path))
        self.lost, self.written = lost, written

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        self.lost -= 1
        if self.lost < 0:
            return super().put_if_absent(key, data)
        if self.written:
            super().put_if_absent(key, data)
        return Outcome.UNKNOWN


@pytest.mark.parametrize("written", [True, False])
def test_a_lost_answer_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0)
    assert put(Answers(tmp_path, 4, written=written), "a.json", b"{}")
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    assert not put(Answers(tmp_path, 4, written=written), "a.json", b"{ }"), "others' bytes stay"
    assert (tmp_path / "a.json").read_bytes() == b"{}"
    with pytest.raises(UnreachableError, match="what is there counts"):
        put(Answers(tmp_path, 5, written=written), "b.json", b"{}")
