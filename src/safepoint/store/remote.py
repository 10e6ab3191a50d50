"""A store that is not a local disk: object stores, HTTP, archives, memory.

Decided here: what a name in the store means to a backend, when a question is asked again, and what an unclear answer to
a write becomes. Not decided here: how one question is asked (``client`` and the modules that implement it), and which
of them speaks to a URL (``connecting``).
"""

# ruff: noqa: D102 - the interface is explained in base.py

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import takewhile
from typing import Literal, TypeVar

from safepoint.store.base import TEMPORARY, Entry, Listing, Outcome, Store, why_no_key
from safepoint.store.capabilities import Capabilities
from safepoint.store.client import Client, Connection, Item
from safepoint.store.errors import (
    AbsentError,
    ConflictError,
    NoBucketError,
    OutsideStoreError,
    StoreError,
    UnreachableError,
    UnsupportedError,
    shown,
    without_slash,
)
from safepoint.store.readahead import read_ahead
from safepoint.store.urls import is_plain_on_the_web, split_chain

_T = TypeVar("_T")

_PAUSES = (0.1, 0.4, 1.6)
"""Seconds before each time that a question is asked again."""

_PATIENCE = 30.0
"""Seconds after which it is not asked again: a backend that is silent costs a wait each time."""

_WEB = frozenset({"http", "https"})


class RemoteStore(Store):
    """Objects below one path of a backend."""

    def __init__(
        self, connection: Connection, root: str, url: str, capabilities: Capabilities, query: str = ""
    ) -> None:
        before, main, after = split_chain(shown(url))
        self.url = before + without_slash(main) + after
        self.capabilities = capabilities
        self._connection = connection
        self._root = root.strip("/")
        self._query = query

    @property
    def at_once(self) -> int:
        return self._client.parallel

    @property
    def driver(self) -> str:
        """The library that speaks to the backend: ``fsspec`` or ``obstore``."""
        return self._client.driver

    def get(self, key: str, limit: int | None = None) -> bytes:
        self.require_key(key)
        path = self._path(key)
        return self._within(
            key, self._patiently(key, lambda: self._client.fetch(path, limit).result()), limit
        )

    def get_many(self, entries: Iterable[Entry], limit: int | None = None) -> Iterator[bytes | StoreError]:
        client = self._client

        def begin(entry: Entry) -> Future[bytes]:
            self.require_key(entry.key)
            if limit is not None and (entry.size or 0) > limit:
                raise self.too_large(entry.key, limit)
            return client.fetch(self._path(entry.key), limit)

        def take(entry: Entry, answer: Future[bytes]) -> bytes:
            with self._typed(entry.key):
                return self._within(entry.key, answer.result(), limit)

        return read_ahead(entries, client.parallel, begin, take, lambda entry: self.get(entry.key, limit))

    def pieces(self, key: str) -> Iterator[bytes]:
        self.require_key(key)
        # only the beginning can be asked for again: behind it, the reader has bytes that would come twice
        first = self._patiently(key, lambda: self._begin(key))
        if first is None:
            return
        piece, pieces = first
        with self._typed(key):
            yield piece
            yield from pieces

    def _begin(self, key: str) -> tuple[bytes, Iterator[bytes]] | None:
        pieces = self._client.pieces(self._path(key))
        first = next(pieces, None)
        return None if first is None else (first, pieces)

    def list(self, prefix: str = "") -> Iterator[Entry]:
        prefix = self.prefix_of(prefix)
        if not self._client.flat:
            yield from (found for found in self._walk(prefix) if isinstance(found, Entry))
            return
        empty = True
        for item in self._listing(prefix, self._client.below):
            empty = False
            key = self._key(item.path)
            # what ends with a slash marks a folder, as consoles make them
            if (
                key.startswith(prefix)
                and not item.path.endswith("/")
                and not _is_temporary(key[len(prefix) :])
            ):
                yield Entry(key, item.size, _odd(key))
        if empty and not prefix:
            raise AbsentError(self.url, "nothing is there")

    def folders(self, prefix: str = "") -> Iterator[str]:
        prefix = self.prefix_of(prefix)
        for found in self._scan(prefix):
            if not isinstance(found, Entry):
                yield found[len(prefix) : -1]

    def files(self) -> Iterator[Entry]:
        for found in self._scan(""):
            if isinstance(found, Entry):
                yield found
            elif found == "runs/":
                yield from (below for below in self._scan(found) if isinstance(below, Entry))
            else:
                yield from self.list(found.removesuffix("/"))

    def exists(self, key: str) -> bool:
        self.require_key(key)
        return self._kind(key) == "file"

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        self.require_key(key)
        self._require_claims(key)
        create = self._create_for_one if self.capabilities.assumed else self._client.create
        unclear, pauses = False, _pauses()
        while True:
            try:
                try:
                    with self._typed(key):
                        if create(self._path(key), data):
                            return Outcome.WON
                except (UnreachableError, ConflictError):
                    unclear = True  # it may have arrived; what is there tells
                if (outcome := self._read_back(key, data)) is not None:
                    return outcome
            except StoreError:
                if not unclear:
                    raise
                return Outcome.UNKNOWN  # an earlier try may have arrived, whatever keeps us from looking now
            pause = next(pauses, None)
            if pause is None:
                return Outcome.UNKNOWN
            time.sleep(pause)  # nothing bears the name, or nobody can tell: the same bytes, the same name

    def replace(self, key: str, data: bytes) -> None:
        self.require_heartbeat(key)
        self.require_key(key)
        self._require_claims(key)
        self._patiently(key, lambda: self._client.overwrite(self._path(key), data))

    def delete(self, key: str) -> None:
        self.require_key(key)
        self._patiently(key, lambda: self._client.delete(self._path(key)))

    def url_of(self, key: str) -> str:
        if not key:
            return self.url
        before, main, after = split_chain(self.url)
        return f"{before}{main if main.endswith('://') else main.rstrip('/') + '/'}{key}{after}"

    def require_key(self, key: str) -> None:
        """As every store; on the web also what a server would read as another path."""
        super().require_key(key)
        if self.capabilities.backend in _WEB and not is_plain_on_the_web(key):
            raise OutsideStoreError(self.url, f"the name {key!a} leads elsewhere on the web", key)

    def kind(self) -> Literal["file", "folder"] | None:
        """What the store's own address names: one object, a folder, or nothing."""
        return self._kind("")

    def parent(self) -> tuple[RemoteStore, str]:
        """The store that holds this address as one of its keys, and the key."""
        folder, _, key = self._root.rpartition("/")
        before, main, after = split_chain(self.url)
        cut = main.rstrip("/").removesuffix(key)
        return self._at(folder, f"{before}{cut}{after}"), key

    def below(self, folder: str) -> RemoteStore:
        """The folder `folder` as a store of its own."""
        return self._at("/".join(filter(None, (self._root, folder))), self.url_of(folder))

    def glob(self, pattern: str) -> Iterator[str]:
        """The keys that a pattern matches, sorted; of a matching folder its key with a slash behind it."""
        from fsspec.utils import glob_translate

        matches = re.compile(glob_translate(pattern)).match
        depth = None if "**" in pattern else pattern.count("/")
        for found in self._walk("", depth):
            key = found.key if isinstance(found, Entry) else found
            if matches(key.removesuffix("/")):
                yield key

    @property
    def _client(self) -> Client:
        return self._connection.client

    def _at(self, root: str, url: str) -> RemoteStore:
        return RemoteStore(self._connection, root, url, self.capabilities, self._query)

    # Writing

    def _require_claims(self, key: str) -> None:
        if not self.capabilities.can_claim:
            problem = (
                f"on {self.capabilities.backend} storage two writers cannot be kept apart; reading works"
            )
            remedy = "write to a disk, S3, GCS or Azure; or, if nobody else ever writes, with assume_one_writer=true"
            raise UnsupportedError(self.url_of(key), problem, key, remedy)

    def _create_for_one(self, path: str, data: bytes) -> bool:
        """What stands in for a create where the user promised that nobody else writes."""
        try:
            taken = self._client.kind(path) == "file"
        except Exception as error:
            if self._client.explain(error)[0] is not AbsentError:
                raise
            taken = False
        if not taken:
            self._client.overwrite(path, data)
        return not taken

    def _read_back(self, key: str, data: bytes) -> Outcome | None:
        """What became of a write whose answer was "taken" or unclear: the bytes that are there decide, if any are."""
        try:
            with self._typed(key):
                there = self._client.fetch(self._path(key), len(data)).result()
        except (AbsentError, UnreachableError):
            return None
        return Outcome.WON if there == data else Outcome.LOST

    # Where a name leads

    def _path(self, key: str) -> str:
        return "/".join(filter(None, (self._root, key))) + self._query

    def _key(self, path: str) -> str:
        path = path.rstrip("/") if path.endswith("/") else path
        if not self._root:
            return path
        return path[len(self._root) + 1 :] if path.startswith(self._root + "/") else ""

    def _kind(self, key: str) -> Literal["file", "folder"] | None:
        if not key and not self._root:
            return "folder"
        try:
            return self._patiently(key, lambda: self._client.kind(self._path(key)))
        except AbsentError:
            return None

    # Listing

    def _listing(self, folder: str, ask: Callable[[str], Iterator[Item]]) -> Iterator[Item]:
        """The items of a listing; one that breaks off is begun anew, and taken up behind the last item that came."""

        def begin() -> tuple[Item | None, Iterator[Item]]:
            items = ask(self._path(folder.removesuffix("/")))
            return next(items, None), items

        first, items = self._patiently(folder, begin)
        return iter(()) if first is None else self._rest(folder, ask, first, items)

    def _rest(
        self, folder: str, ask: Callable[[str], Iterator[Item]], last: Item, items: Iterator[Item]
    ) -> Iterator[Item]:
        yield last
        pauses = _pauses()
        while True:
            try:
                with self._typed(folder):
                    for item in items:
                        yield item
                        last = item
            except (AbsentError, UnreachableError) as error:
                # what has begun and breaks off is not whole, whatever the reason
                pause = next(pauses, None)
                if pause is None:
                    problem = f"the listing broke off ({error.problem})"
                    raise UnreachableError(self.url_of(folder), problem, folder) from None
            else:
                return
            time.sleep(pause)
            items = self._behind(last, ask(self._path(folder.removesuffix("/"))))

    @staticmethod
    def _behind(last: Item, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            if item.path == last.path:
                yield from items
                return
        raise ConnectionError  # it is gone: nobody knows from where to go on

    def _walk(self, prefix: str, depth: int | None = None) -> Iterator[Entry | str]:
        """Everything below a folder, sorted by key; each folder before what it holds."""
        top = prefix.count("/")
        pending = self._scan(prefix)[::-1]
        while pending:
            found = pending.pop()
            yield found
            if not isinstance(found, Entry) and (depth is None or found.count("/") - top <= depth):
                pending += self._scan(found)[::-1]

    def _scan(self, folder: str) -> Listing:
        """What lies directly in a folder, sorted by key; a folder in it as its key with a slash behind it."""
        try:
            items = self._listing(folder, self._client.children)
        except AbsentError as error:
            if not folder or isinstance(error, NoBucketError):
                raise
            return []
        found: dict[str, Entry | str] = {}
        empty = True
        for item in items:
            empty = False
            key = self._key(item.path)
            # some backends list the folder itself, a marker for it, or links that lead elsewhere
            if not key.startswith(folder) or len(key) == len(folder) or "/" in key[len(folder) :]:
                continue
            if item.path.endswith("/") or _is_temporary(key[len(folder) :]):
                continue
            if item.folder:
                name = key + "/"
                found[name] = Entry(key, None, _odd(key)) if why_no_key(key) else name
            else:
                found[key] = Entry(key, item.size, _odd(key))
        if (
            empty and not folder and self._client.flat
        ):  # it has no folders that could be there and hold nothing
            raise AbsentError(self.url, "nothing is there")
        return [found[key] for key in sorted(found)]

    # Errors

    def _patiently(self, key: str, ask: Callable[[], _T]) -> _T:
        """The answer to a question that may be asked again without harm."""
        pauses = _pauses()
        while True:
            try:
                with self._typed(key):
                    return ask()
            except UnreachableError:
                pause = next(pauses, None)
                if pause is None:
                    raise
                time.sleep(pause)

    def _within(self, key: str, data: bytes, limit: int | None) -> bytes:
        if limit is not None and len(data) > limit:
            raise self.too_large(key, limit)
        return data

    @contextmanager
    def _typed(self, key: str) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - errors of botocore and of Azure are not OSError
            kind, problem, remedy = self._client.explain(error)
            # without its cause: a traceback would print addresses and headers that may hold credentials
            raise kind(self.url_of(key), problem, key, remedy) from None


def _pauses() -> Iterator[float]:
    """Seconds before each time that a question is asked again; none any more once it has taken too long."""
    end = time.monotonic() + _PATIENCE
    yield from takewhile(lambda _: time.monotonic() < end, _PAUSES)


def _is_temporary(name: str) -> bool:
    return name.startswith(TEMPORARY) or f"/{TEMPORARY}" in name


def _odd(key: str) -> str:
    why = why_no_key(key)
    return f"the object's name {why}; rename it" if why else ""
