"""What a remote store asks of the library that speaks to its backend.

Decided here: the few operations that are left when names, retries and outcomes are somebody else's business
(``remote``). Not decided here: how a library does them (``generic``, ``s3``, ``gcs``, ``azure``, ``obstores``).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Literal, NamedTuple, NoReturn

from safepoint.store.errors import StoreError


class Item(NamedTuple):
    """One object, or one folder, that a listing met."""

    path: str
    """As `Client.fetch` takes it; of a folder without the slash behind it."""
    size: int | None
    """Bytes of an object; None where the backend does not say, and of a folder."""
    folder: bool = False


class Client(ABC):
    """One backend through one library; holds connections, and is never handed to another process.

    A path is the bucket (or container) and the key, with a slash between them and none at its ends; what other
    backends take for a path has no bucket. Operations raise whatever the library raises; `explain` says what it means.
    """

    driver: str
    """The library: ``fsspec`` or ``obstore``."""
    parallel: int = 1
    """How many `fetch` may be under way at once."""
    flat: bool = False
    """Whether `below` is one paged listing, and not a request for each folder."""

    @abstractmethod
    def fetch(self, path: str, limit: int | None = None) -> Future[bytes]:
        """Begins to read an object whole, without asking for its size first.

        Where it has more bytes than `limit`, the future may give up: its result is then `limit` + 1 bytes of it.
        """

    def pieces(self, path: str) -> Iterator[bytes]:
        """The object piece by piece, from one answer of the backend."""
        yield self.fetch(path).result()

    @abstractmethod
    def kind(self, path: str) -> Literal["file", "folder"] | None:
        """Whether an object bears this name, or some lie below it; None for neither."""

    @abstractmethod
    def children(self, path: str) -> Iterator[Item]:
        """What lies directly in a folder (an empty path: in the whole backend), page by page, never from a cache."""

    def below(self, path: str) -> Iterator[Item]:
        """Every object below a folder, page by page; only asked where `flat`."""
        raise NotImplementedError

    # Writing: only asked where the backend's capabilities allow to claim a name, or the user has promised to be alone

    def create(self, path: str, data: bytes) -> bool:
        """Writes an object whole if its name is free; False where the backend says that it is taken.

        One request, or several of which only the last makes the object appear: a library that asked again by itself
        would take its own object for somebody else's. Any exception leaves open what happened.
        """
        raise NotImplementedError

    def overwrite(self, path: str, data: bytes) -> None:
        """Writes an object whole, whatever it held."""
        raise NotImplementedError

    def delete(self, path: str) -> None:
        """Removes one object, of exactly this name; whether none was there does not matter."""
        raise NotImplementedError

    @abstractmethod
    def explain(self, error: Exception) -> tuple[type[StoreError], str, str]:
        """The kind of an error, the problem in words that hold no secret, and the remedy (empty: the kind's own)."""


class Connection:
    """A client of this process: one that was opened by another is never used, and a new one opened instead."""

    def __init__(self, connect: Callable[[], tuple[Client, str]]) -> None:
        self._connect = connect
        self._client, self.root = connect()
        self._process = os.getpid()

    @property
    def client(self) -> Client:
        """The client."""
        if os.getpid() != self._process:
            # after a fork, the threads and sockets of the parent's client are not ours
            (self._client, _), self._process = self._connect(), os.getpid()
        return self._client

    def __reduce__(self) -> NoReturn:
        raise TypeError("a store is not handed to another process: hand over its URL and its options")
