"""A store on a local disk: reads that cannot be led astray, and the put-if-absent of SPEC.md#commit.

Decided here: how a name is claimed (temporary file, fsync, hard link, fsync of the folder), how links are
kept inside, and which errno is which error. Written on ``os`` alone: fsspec's local create checks and then
writes, which two writers can both win, and importing it costs more than reading a thousand records.
"""

# ruff: noqa: D102
# The interface is explained in base.py. Paths are text: pathlib costs more than the reading itself.

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from safepoint.store.base import TEMPORARY, Entry, Outcome, Store
from safepoint.store.capabilities import LOCAL
from safepoint.store.durable import Folders, sync_folder, sync_names, write_new
from safepoint.store.errors import (
    OutsideStoreError,
    StoreError,
    TooLargeError,
    UnreadableError,
    UnsupportedError,
    shown,
    without_slash,
)
from safepoint.store.files import NOFOLLOW, READ, SMALL, error_of, kind_of, read_small
from safepoint.store.layout import parse_key

_POSIX = os.name == "posix"
_PIECE = 1 << 20
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOENT, errno.ENAMETOOLONG}


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=-]*").fullmatch
"""Whether a file's name is one that no question need be asked about."""

_Listing = list[Entry | str]
"""Files, and folders as their keys with a slash behind them."""


class LocalStore(Store):
    """Files below one folder."""

    capabilities = LOCAL

    def __init__(self, path: str, url: str = "") -> None:
        url = shown(url or path)
        self.url = without_slash(url)
        self._is_url = "://" in url
        self._root = os.path.realpath(path)
        self._below = os.path.join(self._root, "")
        self._recent = ("", self._root)
        self._folders = Folders(self._below)

    def get(self, key: str, limit: int | None = None) -> bytes:
        self.require_key(key)
        try:
            file, size = self._open_file(key)
            try:
                if limit is not None and size > limit:
                    raise self._too_large(key, limit)
                data = os.read(file, size + 1)
                # a short read of a regular file is its end; anything else grew, shrank or is huge
                while len(data) != size and (more := os.read(file, _PIECE)):
                    data += more
                    if limit is not None and len(data) > limit:
                        raise self._too_large(key, limit)
                return data
            finally:
                os.close(file)
        except OSError as error:
            raise error_of(error, self.url_of(key), key) from error

    def get_many(self, entries: Iterable[Entry], limit: int | None = None) -> Iterator[bytes | StoreError]:
        # `get` without its questions, for what most objects are: small regular files, many in one folder. Whatever is
        # not that, `get` reads, or says what is wrong.
        within, folder, most = None, -1, SMALL if limit is None else min(SMALL, limit + 1)
        try:
            for entry in entries:
                place, _, name = entry.key.rpartition("/")
                if place != within:
                    within, folder = place, self._reopen(folder, place)
                data = read_small(name, folder, most) if entry.plain and folder >= 0 else None
                yield self._got(entry.key, limit) if data is None else data
        finally:
            self._reopen(folder, None)

    def _got(self, key: str, limit: int | None) -> bytes | StoreError:
        try:
            return self.get(key, limit)
        except StoreError as error:
            return error

    def _reopen(self, folder: int, key: str | None) -> int:
        """Closes `folder` and opens the one with this key; -1 stands for none, and for one that cannot be had so."""
        with suppress(OSError, StoreError):
            if folder >= 0:
                os.close(folder)
            if key:
                self.require_key(key)
            if key is not None and NOFOLLOW and os.open in os.supports_dir_fd:
                return os.open(self._folder(key), os.O_RDONLY)
        return -1

    def pieces(self, key: str) -> Iterator[bytes]:
        self.require_key(key)
        with self._typed(key):
            file, _ = self._open_file(key)
            try:
                while piece := os.read(file, _PIECE):
                    yield piece
            finally:
                os.close(file)

    def _open_file(self, key: str) -> tuple[int, int]:
        """The open file, which is a regular one, and its size."""
        file = self._open(key)
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)
            raise UnreadableError(self.url_of(key), f"{kind_of(status)}, not a file", key)
        return file, status.st_size

    def list(self, prefix: str = "") -> Iterator[Entry]:
        prefix, base = self._prefix(prefix)
        return self._walk(prefix, base, self._scan(prefix, base))

    def files(self) -> Iterator[Entry]:
        yield from self._walk(
            "", self._root, [found for found in self._scan("", self._root) if found != "runs/"]
        )
        below = os.path.join(self._root, "runs")
        if not os.path.islink(below):
            yield from (found for found in self._scan("runs/", below) if isinstance(found, Entry))

    def _walk(self, prefix: str, base: str, pending: _Listing) -> Iterator[Entry]:
        failure: StoreError | None = None
        while pending:
            found = pending.pop()
            if isinstance(found, Entry):
                yield found
                continue
            try:
                pending += self._scan(found, f"{base}{os.sep}{found[len(prefix) :]}")
            except StoreError as error:
                failure = failure or error  # what lies beside a closed folder can still be listed
        if failure:
            raise failure

    def folders(self, prefix: str = "") -> Iterator[str]:
        prefix, base = self._prefix(prefix)
        for found in reversed(self._scan(prefix, base)):
            if not isinstance(found, Entry):
                yield found[len(prefix) : -1]

    def exists(self, key: str) -> bool:
        self.require_key(key)
        with self._typed(key):
            try:
                status = os.lstat(self._path(key))
                if stat.S_ISLNK(status.st_mode):
                    self._target(key)  # a link bears the name, wherever in the store it leads
            except (FileNotFoundError, NotADirectoryError):
                return False
        return not stat.S_ISDIR(status.st_mode)

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        with self._temporary(key, data) as (temporary, path, folder):
            try:
                os.link(temporary, path)
            except OSError as error:
                if error.errno in _NO_LINKS:
                    problem = "this file system has no hard links, so two writers could both win"
                    raise UnsupportedError(self.url_of(key), problem, key) from error
                if error.errno in _REFUSED:
                    raise
                return self._read_back(key, folder, data)  # taken, or who knows
            return _settle(folder)

    def replace(self, key: str, data: bytes) -> None:
        name = parse_key(key)
        if name is None or name.log != "heartbeat":
            raise ValueError(f"only a heartbeat may be rewritten, got {key!a}")
        with self._temporary(key, data) as (temporary, path, folder):
            os.replace(temporary, path)
            sync_names(folder)

    def delete(self, key: str) -> None:
        self.require_key(key)
        with self._typed(key):
            path = self._path(key)
            with suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(path)
                sync_folder(os.path.dirname(path))
            folder = os.path.dirname(path)
            with suppress(OSError):  # the first that holds something else ends it
                while folder.startswith(self._below):
                    os.rmdir(folder)
                    folder = os.path.dirname(folder)

    def url_of(self, key: str) -> str:
        if not key:
            return self.url
        if self._is_url:
            from urllib.parse import quote

            key = quote(key)
        if self.url == ".":
            return key
        return self.url + key if self.url.endswith("/") else f"{self.url}/{key}"

    # Where a name leads

    def _prefix(self, prefix: str) -> tuple[str, str]:
        """The folder `prefix` with a slash behind it (nothing for the root), and its path."""
        if not prefix:
            return "", self._root
        folder = prefix.removesuffix("/")
        self.require_key(folder)
        return folder + "/", self._folder(folder)

    def _folder(self, folder: str) -> str:
        """The path of the folder with this key, its links followed and found to stay inside.

        The last answer is kept: keys come folder by folder, and following links costs more than reading.
        """
        key, path = self._recent
        if key != folder:
            path = self._real(folder)
            self._require_inside(path, folder)
            self._recent = (folder, path)
        return path

    def _real(self, folder: str) -> str:
        """The path of the folder with this key, its links followed; where it has none, that is quickly seen."""
        path = self._root.rstrip(os.sep)
        for name in folder.split("/"):
            path = f"{path}{os.sep}{name}"
            if os.path.islink(path):
                return os.path.realpath(os.path.join(self._root, folder))
        return path

    def _require_inside(self, path: str, key: str) -> None:
        if path != self._root and not path.startswith(self._below):
            raise OutsideStoreError(self.url_of(key), "a link that leads out of the store", key)

    def _path(self, key: str) -> str:
        folder, _, name = key.rpartition("/")
        return f"{self._folder(folder)}{os.sep}{name}"

    def _target(self, key: str) -> str:
        """The path of `key` with every link followed, found to stay inside."""
        path = os.path.realpath(self._path(key))
        self._require_inside(path, key)
        return path

    def _open(self, key: str) -> int:
        path = self._path(key)
        if NOFOLLOW or not os.path.islink(path):
            try:
                return os.open(path, READ)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
        target = self._target(key)
        try:
            return os.open(target, READ)
        except FileNotFoundError:
            # not absent: the name is taken, and whoever tries to write it loses
            raise UnreadableError(self.url_of(key), "a link to nothing", key) from None

    def _scan(self, folder: str, path: str) -> _Listing:
        """What lies directly in a folder, last first; a folder in it as its key with a slash behind it."""
        found: _Listing = []
        sortable = True
        with self._typed(folder.removesuffix("/")):
            try:
                with os.scandir(path) as items:
                    for item in items:
                        name = item.name
                        if _PLAIN_NAME(name) and item.is_file(follow_symlinks=False):
                            # what nearly all are; a size would cost another call to the system for each of them
                            found.append(Entry(folder + name, None, "", plain=True))
                        elif (entry := self._judge(folder, item)) is not None:
                            found.append(entry)
                            sortable = False
            except FileNotFoundError:
                if not folder:
                    raise
                return []  # deleted since its parent was listed, or never there
            except NotADirectoryError:
                if not folder:
                    raise UnreadableError(self.url, "not a folder", remedy="name a folder") from None
                return []
        found.sort(
            key=None if sortable else lambda entry: entry if type(entry) is str else entry[0], reverse=True
        )
        return found

    def _judge(self, folder: str, item: os.DirEntry[str]) -> Entry | str | None:
        name = item.name
        key = folder + name
        if name.startswith(TEMPORARY):
            return None
        if "\\" in name or not (name.isascii() or _is_text(name)):
            what = "holds a backslash" if "\\" in name else "is not UTF-8"
            return Entry(shown(key), None, f"the file's name {what}, so that it cannot be a key; rename it")
        if item.is_dir(follow_symlinks=False):
            return key + "/"
        try:
            if not item.is_symlink():
                return Entry(key, None)
            self._require_inside(os.path.realpath(item.path), key)
            status = item.stat()
        except OutsideStoreError as error:
            return Entry(key, None, str(error))
        except FileNotFoundError:
            # gone since, or a link to nothing: the name is there, and reading it will say what is wrong
            return Entry(key, None) if item.is_symlink() else None
        except OSError:
            return Entry(key, None)
        # a linked folder inside the store is listed where it lies; twice, or round in a circle, helps nobody
        return None if stat.S_ISDIR(status.st_mode) else Entry(key, status.st_size)

    # Writing

    @contextmanager
    def _temporary(self, key: str, data: bytes) -> Iterator[tuple[str, str, int]]:
        """A whole and durable temporary file with `data`, the path of `key`, and their folder, open.

        The file is gone afterwards; a process that is killed leaves at most a name that nobody lists.
        """
        self.require_key(key)
        if not _POSIX:
            raise UnsupportedError(self.url, "writing durably needs Linux or macOS", key, "write from there")
        with self._typed(key, writing=True):
            path = self._path(key)
            parent = os.path.dirname(path)
            self._folders.make(parent)
            # opened before anything is written: where this is forbidden, no outcome could be made durable
            folder = os.open(parent, os.O_RDONLY)
            try:
                temporary = os.path.join(parent, TEMPORARY + os.urandom(8).hex())
                try:
                    write_new(temporary, data)
                    yield temporary, path, folder
                finally:
                    with suppress(OSError):  # failing to tidy up is no reason to doubt the outcome
                        os.unlink(temporary)
            finally:
                with suppress(OSError):
                    os.close(folder)

    def _read_back(self, key: str, folder: int, data: bytes) -> Outcome:
        """What became of a write whose answer was "taken" or unclear: the bytes that are there decide."""
        try:
            there = self.get(key, limit=len(data))
        except (TooLargeError, OutsideStoreError, UnreadableError):
            return Outcome.LOST  # we only ever make regular files
        except StoreError:
            return Outcome.UNKNOWN
        return _settle(folder) if there == data else Outcome.LOST

    # Errors

    def _too_large(self, key: str, limit: int) -> TooLargeError:
        return TooLargeError(self.url_of(key), f"more than the limit of {limit} bytes", key)

    @contextmanager
    def _typed(self, key: str, *, writing: bool = False) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise error_of(error, self.url_of(key), key, writing=writing) from error


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _settle(folder: int) -> Outcome:
    """Won, once the name would survive a power cut."""
    try:
        sync_names(folder)
    except OSError:
        return Outcome.UNKNOWN  # visible, but it may not stay
    return Outcome.WON
