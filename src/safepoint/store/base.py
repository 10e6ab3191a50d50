"""What every backend offers, and which names it accepts.

Decided here: the interface, the outcomes of a put-if-absent, and the names that are refused before any I/O.
Not decided here: which names mean what (``layout``) and how a backend does it (``local``, ``remote``).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from safepoint.store.capabilities import Capabilities
from safepoint.store.errors import OutsideStoreError, StoreError, TooLargeError
from safepoint.store.together import side_by_side

TEMPORARY = ".tmp-"
"""How the name of an unfinished write begins; such names are never listed."""


_PLAIN_KEY = re.compile(r"(?:[A-Za-z0-9=_-][A-Za-z0-9=._-]*/)*[A-Za-z0-9=_-][A-Za-z0-9=._-]*")
"""What nearly every key looks like, and nothing is wrong with; the others are looked at piece by piece."""


class Outcome(Enum):
    """What became of a put-if-absent."""

    WON = "won"
    """The name holds exactly these bytes, durably."""
    LOST = "lost"
    """The name holds something else. Read on to the head, and judge again before appending behind it."""
    UNKNOWN = "unknown"
    """Nobody can tell yet. Try the same bytes at the same name again; do nothing else before."""


class Entry(NamedTuple):
    """One object that a listing met."""

    key: str
    """Its store-relative name, as `Store.get` takes it."""
    size: int | None
    """Bytes; None where the backend does not say."""
    problem: str = ""
    """Why `Store.get` refuses it: it leads out of the store, or its name cannot be a key; empty if nothing does."""
    plain: bool = False
    """A regular file, as the listing saw it, so that reading it need not ask again."""
    folder: bool = False
    """A link to a folder out of the store: whatever lies in it is not listed."""


Listing = list[Entry | str]
"""What a listing of one folder met: objects, and folders as their keys with a slash behind them."""


class Store(ABC):
    """Immutable objects under names; nothing that a store says is ever cached."""

    url: str
    """Where it is, as the user gave it, without secrets."""

    capabilities: Capabilities
    """What its backend promises."""

    @property
    def at_once(self) -> int:
        """How many questions are asked at once, because an answer takes long; 1 where it does not."""
        return 1

    @property
    def far(self) -> bool:
        """Whether an answer takes so long that several questions are asked at once."""
        return self.at_once > 1

    @abstractmethod
    def get(self, key: str, limit: int | None = None) -> bytes:
        """The bytes of `key`.

        Args:
            key: store-relative name.
            limit: refuse more bytes than this.

        Raises:
            AbsentError: the backend answered that nothing is there.
            OutsideStoreError: the name leads out of the store; raised before anything is read.
            TooLargeError: more than `limit` bytes.
            StoreError: any other reason, by its kind.
        """

    def get_many(self, entries: Iterable[Entry], limit: int | None = None) -> Iterator[bytes | StoreError]:
        """Of each object that a listing has met its bytes, or why they could not be read; in their order.

        A remote backend reads ahead: a bounded number of objects and of bytes at once, whatever `entries` hold.
        """
        for entry in entries:
            try:
                yield self.get(entry.key, limit)
            except StoreError as error:
                yield error

    def pieces(self, key: str) -> Iterator[bytes]:
        """The bytes of `key` piece by piece, so that a huge object is never held whole; errors as in `get`.

        A backend that can only read an object at once gives it at once.
        """
        yield self.get(key)

    @abstractmethod
    def list(self, prefix: str = "") -> Iterator[Entry]:
        """Every object below the folder `prefix`, as the listing goes on; unfinished writes are left out.

        What lies in one folder comes together, in the order of names wherever the backend lists so, as local disks and
        the large object stores do; a caller that needs an order sorts. A folder that does not exist holds nothing.

        Raises:
            AbsentError: there is no store at all.
            StoreError: the listing is not complete, for whatever reason; never passed over in silence.
        """

    @abstractmethod
    def folders(self, prefix: str = "") -> Iterator[str]:
        """The names of the folders directly below the folder `prefix`, sorted; errors as in `list`."""

    def files(self) -> Iterator[Entry]:
        """As `list`, in any order, for everything that lies in no folder below ``runs``."""
        return (e for e in self.list() if not (e.key.startswith("runs/") and "/" in e.key[len("runs/") :]))

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Whether something bears this name; an outage is an error, not a no."""

    @abstractmethod
    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        """Writes `data` under `key` unless the name is taken: whole, durably, and for one winner only.

        `data` must be unmistakably the writer's own (a record holds its writer's nonce): where the name
        already holds these very bytes, an earlier try had arrived although its answer was lost: that is WON.

        Raises:
            UnsupportedError: this backend cannot promise that.
            StoreError: nothing was written under `key`.
        """

    def put_many(self, items: Iterable[tuple[str, bytes]]) -> Sequence[Outcome | StoreError]:
        """As `put_if_absent` for each key, which may come once, and its data; in their order.

        Of each its outcome, or what a single put would raise. Several may be put at the same time; what is won is as
        durable as after a single put. Who is killed in between leaves any of them written, each whole.
        """
        if self.far:
            return side_by_side(items, self.at_once, self.put_or_error)
        return [self.put_or_error(key, data) for key, data in items]

    def put_or_error(self, key: str, data: bytes) -> Outcome | StoreError:
        """As `put_if_absent`, with what it raises as a value."""
        try:
            return self.put_if_absent(key, data)
        except StoreError as error:
            return error

    @abstractmethod
    def replace(self, key: str, data: bytes) -> None:
        """Writes `data` over what a heartbeat's `key` holds, atomically; no other object is ever rewritten.

        Raises:
            ValueError: `key` names no heartbeat.
            StoreError: as in `put_if_absent`.
        """

    @abstractmethod
    def delete(self, key: str) -> None:
        """Removes `key`; where nothing is there, nothing happens. For `prune`, and for what a probe has made.

        Raises:
            StoreError: it may still be there.
        """

    @abstractmethod
    def url_of(self, key: str) -> str:
        """Where `key` is, as the user may open it."""

    def require_key(self, key: str) -> None:
        """Refuses a name that is not a plain relative path below the store.

        Raises:
            OutsideStoreError: it is not.
        """
        if problem := why_no_key(key):
            raise OutsideStoreError(self.url, f"the name {key!a} {problem}", key)

    def require_heartbeat(self, key: str) -> None:
        """Refuses to rewrite anything but a heartbeat.

        Raises:
            ValueError: `key` names none.
        """
        from safepoint.store.layout import parse_key  # which needs the interface that is defined here

        said = parse_key(key)
        if said is None or said.log != "heartbeat":
            raise ValueError(f"only a heartbeat may be rewritten, got {key!a}")

    def prefix_of(self, folder: str) -> str:
        """How the keys in `folder` begin, which may be given with a slash behind it or without; nothing for the root.

        Raises:
            OutsideStoreError: it is no name.
        """
        if not folder:
            return ""
        key = folder.removesuffix("/")
        self.require_key(key)
        return key + "/"

    def too_large(self, key: str, limit: int | None) -> TooLargeError:
        """What to raise where `key` has more bytes than the reader takes."""
        return TooLargeError(self.url_of(key), f"more than the limit of {limit} bytes", key)


def why_no_key(key: str) -> str:
    """What keeps `key` from naming an object on every backend; empty if nothing does."""
    if _PLAIN_KEY.fullmatch(key):
        return ""
    if "\\" in key:
        return "contains a backslash"
    if "\0" in key:
        return "contains a NUL"
    if key.startswith("/"):
        return "is absolute"
    for segment in key.split("/"):
        if segment in {"", ".", ".."}:
            return f"contains the segment {segment!r}"
    return ""
