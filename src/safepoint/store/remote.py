"""A store that fsspec reaches: object stores, HTTP, archives, memory. Reading only, in this version.

Decided here: how to ask so that a cache cannot answer, and which of the many errors means "absent". A backend
is believed only when it says so itself: several report an outage as a missing file, or swallow it in their
``walk``, ``find``, ``glob`` and ``exists``, which is why none of those is used.
"""

# ruff: noqa: D102 - the interface is explained in base.py

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, Self

from safepoint.store.base import TEMPORARY, Entry, Outcome, Store, why_no_key
from safepoint.store.capabilities import capabilities_of
from safepoint.store.errors import (
    AbsentError,
    DeniedError,
    StoreError,
    TooLargeError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
    shown,
    without_slash,
)

_LOCAL = ("file", "local")
_WRAPPERS = {"simplecache", "filecache", "blockcache", "cached", "dir"}
_READ_ONLY = "this version writes to local disk only; reading works"


_Listing = list[Entry | str]
"""Objects, and folders as their keys with a slash behind them."""


class FsspecStore(Store):
    """Objects below one path of one fsspec file system."""

    def __init__(self, fs: Any, root: str, url: str, query: str = "") -> None:
        before, main, after = split_chain(shown(url))
        self.url = before + without_slash(main) + after
        protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
        self.capabilities = capabilities_of(protocol)
        self._fs = fs
        self._root = root.strip("/")
        self._query = query

    @classmethod
    def open(cls, url: str, options: Mapping[str, Any]) -> Self:
        """The store at `url`; see `open_store`."""
        before, main, after = split_chain(url)
        # the query of an HTTP address, often a signature, belongs behind every key and into no report
        main, mark, query = main.partition("?") if main.startswith(("http:", "https:")) else (main, "", "")
        with _typed(url):
            fs, root = _connect(url, options)
        return cls(fs, root.removesuffix(mark + query), before + main + after, mark + query)

    def get(self, key: str, limit: int | None = None) -> bytes:
        self.require_key(key)
        with _typed(self.url_of(key), key):
            path = self._path(key)
            if limit is not None and (self._fs.info(path).get("size") or 0) > limit:
                raise self._too_large(key, limit)
            data = bytes(self._fs.cat_file(path))
        if limit is not None and len(data) > limit:
            raise self._too_large(key, limit)
        return data

    def list(self, prefix: str = "") -> Iterator[Entry]:
        for found in self._walk(prefix):
            if isinstance(found, Entry):
                yield found

    def folders(self, prefix: str = "") -> Iterator[str]:
        prefix = self._prefix(prefix)
        for found in self._scan(prefix):
            if not isinstance(found, Entry):
                yield found[len(prefix) : -1]

    def exists(self, key: str) -> bool:
        self.require_key(key)
        return self._kind(key) == "file"

    def put_if_absent(self, key: str, data: bytes) -> Outcome:  # noqa: ARG002 - the interface's
        raise UnsupportedError(self.url_of(key), _READ_ONLY, key)

    def replace(self, key: str, data: bytes) -> None:  # noqa: ARG002 - the interface's
        raise UnsupportedError(self.url_of(key), _READ_ONLY, key)

    def delete(self, key: str) -> None:
        raise UnsupportedError(self.url_of(key), _READ_ONLY, key)

    def url_of(self, key: str) -> str:
        if not key:
            return self.url
        before, main, after = split_chain(self.url)
        return f"{before}{main if main.endswith('://') else main.rstrip('/') + '/'}{key}{after}"

    def kind(self) -> Literal["file", "folder"] | None:
        """What the store's own address names: one object, a folder, or nothing."""
        return self._kind("")

    def parent(self) -> tuple[FsspecStore, str]:
        """The store that holds this address as one of its keys, and the key."""
        folder, _, key = self._root.rpartition("/")
        before, main, after = split_chain(self.url)
        cut = main.rstrip("/").removesuffix(key)
        return FsspecStore(self._fs, folder, f"{before}{cut}{after}", self._query), key

    def below(self, folder: str) -> FsspecStore:
        """The folder `folder` as a store of its own."""
        return FsspecStore(self._fs, self._path(folder), self.url_of(folder), self._query)

    def glob(self, pattern: str) -> Iterator[str]:
        """The keys that a pattern matches, sorted; of a matching folder its key with a slash behind it."""
        from fsspec.utils import glob_translate

        matches = re.compile(glob_translate(pattern)).match
        depth = None if "**" in pattern else pattern.count("/")
        for found in self._walk("", depth):
            key = found.key if isinstance(found, Entry) else found
            if matches(key.removesuffix("/")):
                yield key

    # Where a name leads

    def _path(self, key: str) -> str:
        return "/".join(filter(None, (self._root, key))) + self._query

    def _prefix(self, prefix: str) -> str:
        if not prefix:
            return ""
        folder = prefix.removesuffix("/")
        self.require_key(folder)
        return folder + "/"

    def _kind(self, key: str) -> Literal["file", "folder"] | None:
        if not key and not self._root:
            return "folder"
        try:
            with _typed(self.url_of(key), key):
                return "folder" if self._fs.info(self._path(key))["type"] == "directory" else "file"
        except AbsentError:
            return None

    def _walk(self, prefix: str, depth: int | None = None) -> Iterator[Entry | str]:
        """Everything below a folder, sorted by key; each folder before what it holds."""
        prefix = self._prefix(prefix)
        top = prefix.count("/")
        pending = self._scan(prefix)[::-1]
        while pending:
            found = pending.pop()
            yield found
            if not isinstance(found, Entry) and (depth is None or found.count("/") - top <= depth):
                pending += self._scan(found)[::-1]

    def _scan(self, folder: str) -> _Listing:
        """What lies directly in a folder, sorted by key."""
        try:
            with _typed(self.url_of(folder), folder):
                listing = self._fs.ls(self._path(folder.removesuffix("/")), detail=True)
        except AbsentError:
            if not folder:
                raise
            return []
        found: dict[str, Entry | str] = {}
        for info in listing:
            key = self._key(str(info["name"]))
            # some backends list the folder itself, a marker for it, or links that lead elsewhere
            if not key.startswith(folder) or len(key) == len(folder) or "/" in key[len(folder) :]:
                continue
            if key[len(folder) :].startswith(TEMPORARY):
                continue
            if info["type"] == "directory":
                key += "/"
                found[key] = Entry(key[:-1], None, _odd(key[:-1])) if why_no_key(key[:-1]) else key
            else:
                found[key] = Entry(key, info.get("size"), _odd(key))
        return [found[key] for key in sorted(found)]

    def _key(self, name: str) -> str:
        name = name.strip("/")
        if not self._root:
            return name
        return name.removeprefix(self._root + "/") if name.startswith(self._root + "/") else ""

    def _too_large(self, key: str, limit: int) -> TooLargeError:
        return TooLargeError(self.url_of(key), f"more than the limit of {limit} bytes", key)


def split_chain(url: str) -> tuple[str, str, str]:
    """A chained URL cut around the part that keys belong to: ``simplecache::``, ``s3://bucket``, nothing."""
    parts = url.split("::")
    at = next((index for index, part in enumerate(parts) if "://" in part), 0)
    before, after = parts[:at], parts[at + 1 :]
    return "".join(part + "::" for part in before), parts[at], "".join("::" + part for part in after)


def _connect(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    from fsspec import get_filesystem_class
    from fsspec.core import url_to_fs

    protocols = [part.partition("://")[0] for part in url.split("::")]
    for protocol in (part.partition("://")[0] for part in url.split("::") if "://" in part):
        try:
            get_filesystem_class(protocol)
        except ValueError:
            problem = f"storage of an unknown kind, {protocol!a}"
            raise UnsupportedError(url, problem, remedy="check the address") from None
    outer = next((protocol for protocol in protocols if protocol not in _WRAPPERS), "")
    if outer in _LOCAL and len(protocols) > 1:
        raise UnsupportedError(
            url, "a chain around a local folder follows its links anywhere", remedy="name the folder"
        )
    # an instance of our own, so that nobody else's listings answer, and ours are kept by nobody
    fresh = {"skip_instance_cache": True}
    inner = {protocol: fresh | dict(options.get(protocol, {})) for protocol in protocols[1:]}
    fs, root = url_to_fs(url, **{**options, **inner, **fresh})
    # set afterwards: as an argument, some file systems would hand it on to their client, which refuses it
    link = fs
    while link is not None:
        if hasattr(link, "dircache"):
            link.dircache.use_listings_cache = False
        link = getattr(link, "fs", None)
    return fs, root


@contextmanager
def _typed(url: str, key: str = "") -> Iterator[None]:
    try:
        yield
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - errors of botocore and of Azure are not OSError
        # without its cause: a traceback would print addresses and headers that may hold credentials
        raise _error_of(error, url, key) from None


def _error_of(error: Exception, url: str, key: str) -> StoreError:
    """What the error of some backend means; only its class is quoted: its text may hold credentials."""
    causes = list(_causes(error))
    what = type(causes[-1]).__name__
    statuses = [status for status in map(_status, causes) if status]
    if isinstance(error, ImportError):
        # the one text that is quoted: it names a package, and is known to name nothing else
        return UnsupportedError(url, "this kind of storage needs another package", key, str(error))
    if any(isinstance(cause, PermissionError) or "Credential" in type(cause).__name__ for cause in causes):
        return DeniedError(url, f"access denied ({what})", key)
    if statuses:
        status = statuses[-1]
        if status in {401, 403}:
            return DeniedError(url, f"access denied (status {status})", key)
        if status in {404, 410}:
            return AbsentError(url, "nothing is there", key)
        return UnreachableError(url, f"no usable answer (status {status})", key)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        # fsspec's HTTP file system reports any failure as a missing file; the cause tells
        if isinstance(causes[-1], FileNotFoundError | NotADirectoryError | KeyError):
            return AbsentError(url, "nothing is there", key)
        return UnreachableError(url, f"no usable answer ({what})", key)
    if isinstance(error, IsADirectoryError):
        return UnreadableError(url, "a folder, not a file", key)
    # how fsspec's file systems say that an address, an option or an operation is not theirs
    if isinstance(error, ValueError | TypeError | NotImplementedError):
        return UnsupportedError(
            url, f"this kind of storage cannot do that ({what})", key, "check the address"
        )
    return UnreachableError(url, f"no usable answer ({what})", key)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _status(error: BaseException) -> int:
    """The HTTP status behind an error of aiohttp, botocore, gcsfs or Azure; 0 if there is none."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    for name in ("status", "status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int | str) and str(value).isdigit():
            return int(value)
    return 0


def _odd(key: str) -> str:
    why = why_no_key(key)
    return f"the object's name {why}; rename it" if why else ""
