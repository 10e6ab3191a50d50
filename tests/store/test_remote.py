"""Stores behind fsspec: an outage is never an absence, and no message holds a secret."""

from __future__ import annotations

import errno
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.spec import AbstractFileSystem

from safepoint.store import (
    AbsentError,
    DeniedError,
    Entry,
    Outcome,
    Store,
    StoreError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
    open_store,
    remote,
)
from safepoint.store.errors import OutsideStoreError, shown

SECRET = "AKIASECRET"


class BotoError(Exception):
    """Errors of botocore and of Azure are no OSError."""

    def __init__(self, status: int) -> None:
        super().__init__(SECRET)
        self.response = {"ResponseMetadata": {"HTTPStatusCode": status}}


class HttpError(Exception):
    def __init__(self, status: int | str) -> None:
        super().__init__(SECRET)
        self.status = status


class NoCredentialsError(Exception):
    """As botocore names it."""


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class Broken(AbstractFileSystem):
    """A file system that answers every question with the same error."""

    protocol = "broken"
    error: ClassVar[Exception] = Exception()

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        raise self.error

    def cat_file(self, path: str, *args: Any, **kwargs: Any) -> Any:
        raise self.error

    def info(self, path: str, **kwargs: Any) -> Any:
        raise self.error


fsspec.register_implementation("broken", Broken, clobber=True)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is asked again, at once."""
    monkeypatch.setattr(remote, "_PAUSES", (0.0,))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError(SECRET), AbsentError),
        (caused(FileNotFoundError(), KeyError(SECRET)), AbsentError),
        (caused(FileNotFoundError(), BotoError(404)), AbsentError),
        (BotoError(404), AbsentError),
        (caused(FileNotFoundError(), HttpError(404)), AbsentError),
        (caused(FileNotFoundError(), HttpError(503)), UnreachableError),
        (caused(FileNotFoundError(), ConnectionRefusedError(SECRET)), UnreachableError),
        (caused(FileNotFoundError(), HttpError(403)), DeniedError),
        (caused(OSError(errno.EIO, SECRET), BotoError(503)), UnreachableError),
        (caused(PermissionError(SECRET), BotoError(403)), DeniedError),
        (BotoError(401), DeniedError),
        (HttpError("403"), DeniedError),
        (NoCredentialsError(SECRET), DeniedError),
        (ConnectionError(SECRET), UnreachableError),
        (TimeoutError(SECRET), UnreachableError),
        (RuntimeError(SECRET), UnreachableError),
        (IsADirectoryError(SECRET), UnreadableError),
        (NotImplementedError(SECRET), UnsupportedError),
        (ImportError("install thing"), UnsupportedError),
    ],
)
def test_every_failure_has_its_kind_and_tells_no_secret(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[StoreError]
) -> None:
    monkeypatch.setattr(Broken, "error", error)
    store = open_store(f"broken://user:{SECRET}@host/store")
    asked = [lambda: store.get("a.json"), lambda: list(store.list()), lambda: list(store.folders())]
    if kind is not AbsentError:
        asked += [lambda: store.exists("a.json"), lambda: store.get("a.json", limit=1)]
    for ask in asked:
        with pytest.raises(kind) as caught:
            ask()
        assert SECRET not in str(caught.value) + repr(caught.value.__cause__) + caught.value.url
        assert caught.value.__suppress_context__
    if kind is AbsentError:
        assert not store.exists("a.json")
        assert list(store.list("runs")) == []


class Odd(AbstractFileSystem):
    """A listing as object stores can give it: the folder's own marker, names that are no keys, links elsewhere."""

    protocol = "odd"

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        return [
            {"name": "s", "size": 0, "type": "directory"},
            {"name": "s/", "size": 0, "type": "file"},
            {"name": "elsewhere/x.json", "size": 1, "type": "file"},
            {"name": "s/..", "size": None, "type": "directory"},
            {"name": "s/a\\b.json", "size": 1, "type": "file"},
            {"name": "s/good.json", "size": None, "type": "file"},
        ]


fsspec.register_implementation("odd", Odd, clobber=True)


def test_a_listing_is_judged_like_a_request() -> None:
    store = open_store("odd://s")
    assert [(entry.key, entry.size, bool(entry.problem)) for entry in store.list()] == [
        ("..", None, True),
        ("a\\b.json", 1, True),
        ("good.json", None, False),
    ]
    for key in ("..", "a\\b.json"):
        with pytest.raises(OutsideStoreError):
            store.get(key)


@pytest.fixture
def memory() -> Iterator[Store]:
    fsspec.filesystem("memory").pipe("/remote/a.json", b"{}")
    yield open_store("memory://remote")
    fsspec.filesystem("memory").rm("/remote", recursive=True)


def test_writing_is_refused_where_it_could_not_be_promised(memory: Store) -> None:
    key = "runs/r/heartbeat/0000000001.json"
    through = open_store("dir::memory://remote")
    for write in (through.put_if_absent, through.replace):
        with pytest.raises(
            UnsupportedError, match=r"two writers cannot be kept apart; reading works; .*assume_one"
        ):
            write(key, b"{}")
    assert [entry.key for entry in memory.list()] == ["a.json"]


def test_who_promises_to_be_the_only_writer_may_write(memory: Store) -> None:
    alone = open_store("dir::memory://remote", assume_one_writer=True)
    assert alone.capabilities.can_claim
    assert not alone.capabilities.create
    for data, outcome in ((b"1", Outcome.WON), (b"1", Outcome.WON), (b"2", Outcome.LOST)):
        assert alone.put_if_absent("runs/r/journal/0000000001.json", data) is outcome
    with pytest.raises(UnsupportedError, match="neither true nor false"):
        open_store("memory://remote", assume_one_writer="yes")


def _fs_of(store: Any) -> Any:
    return store._client._fs


def test_no_listing_is_kept_anywhere_in_a_chain() -> None:
    mine = fsspec.filesystem("memory")
    store: Any = open_store("simplecache::memory://remote")
    assert _fs_of(store).fs is not mine
    assert not _fs_of(store).fs.dircache.use_listings_cache
    assert mine.dircache.use_listings_cache


def test_storage_of_an_unknown_kind_or_without_its_package_says_what_to_do() -> None:
    with pytest.raises(UnsupportedError, match="unknown kind, 'nonsense'"):
        open_store("nonsense://x")
    with pytest.raises(UnsupportedError, match=r"requires .*dropbox.* to be installed"):
        open_store("dropbox://x")


def test_a_chain_around_a_local_folder_is_refused_because_links_would_be_followed(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="follows its links anywhere"):
        open_store(f"simplecache::file://{tmp_path}")


def test_errors_cross_to_another_process() -> None:
    error = AbsentError("s3://b/k", "nothing is there", "k", "look elsewhere")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.url, again.key) == (AbsentError, str(error), "s3://b/k", "k")


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("s3://key:se+cret@bucket/x", "s3://***@bucket/x"),
        ("https://token@host/x?X-Amz-Signature=abc", "https://***@host/x?***"),
        ("zip://a::https://host/x.zip?sig=abc", "zip://a::https://host/x.zip?***"),
        ("abfs://container@account/x", "abfs://container@account/x"),
        ("what?/is@this", "what?/is@this"),
        ("s3://bucket/what?/a@b", "s3://bucket/what?/a@b"),
        ("caf\udce9", "caf\\udce9"),
        ("HTTPS://host/x?sig=SECRET", "HTTPS://host/x?***"),
        ("simplecache::HTTPS://host/x?sig=SECRET", "simplecache::HTTPS://host/x?***"),
        ("az://c/x?sv=1&sig=SECRET", "az://c/x?sv=1&sig=***"),
        ("sftp://u:se/c@h/x", "sftp://***@h/x"),
        ("s3://KEY:SEC/RET@b/x", "s3://***@b/x"),
        ("abfss://c:SECRET@account/x", "abfss://***@account/x"),
        ("https://user:p@ss@host/x", "https://***@host/x"),
        ("http://127.0.0.1:9000/a@b", "http://127.0.0.1:9000/a@b"),
    ],
)
def test_only_what_may_be_shown_is_shown(url: str, text: str) -> None:
    assert shown(url) == text
    assert open_store("memory://" + url.replace("://", "/")).url.encode()


@pytest.mark.parametrize("key", ["%2e%2e/x", "a/%2E./x", "a?b", "a#b", "%2Fx", "a%5cb"])
def test_on_the_web_no_name_leads_to_another_path(key: str) -> None:
    store = open_store("https://host.invalid/store")
    for ask in (store.get, store.exists):
        with pytest.raises(OutsideStoreError):
            ask(key)
    [refused] = store.get_many([Entry(key, None)])
    assert type(refused) is OutsideStoreError
