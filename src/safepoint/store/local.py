"""A store on a local disk: reads that cannot be led astray, and the put-if-absent of SPEC.md#commit.

Decided here: how a name is claimed (temporary file, fsync, hard link, fsync of the folder), how links are
kept inside, and which errno is which error. Written on ``os`` alone: fsspec's local create checks and then
writes, which two writers can both win, and importing it costs more than reading a thousand records.
"""

# ruff: noqa: D102 - the interface is explained in base.py; paths are text: pathlib costs more than the reading itself

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from safepoint.store.base import TEMPORARY, Entry, Outcome, Store
from safepoint.store.capabilities import LOCAL
from safepoint.store.durable import Folders, sync_names, write_new
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
from safepoint.store.within import Within

_POSIX = os.name == "posix"
_LISTS_OPEN_FOLDERS = os.scandir in os.supports_fd
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
        self._within = Within(path, self.url_of)
        self._root = self._within.root
        self._folders = Folders(self._within)

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
                plain = entry.plain and folder >= 0 and _PLAIN_NAME(name)
                data = read_small(name, folder, most) if plain else None
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
                return self._open_folder(key)
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
        """The open file, which is a regular one of this store, and its size."""
        file = self._open(key)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                self._refuse(key, f"{kind_of(status)}, not a file")
            self._within.require_open(file, key)
        except BaseException:
            os.close(file)
            raise
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
                status = os.lstat(self._within.path(key))
                if stat.S_ISLNK(status.st_mode):
                    self._within.target(key)  # a link bears the name, wherever in the store it leads
            except (FileNotFoundError, NotADirectoryError):
                return False
        return not stat.S_ISDIR(status.st_mode)

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        with self._temporary(key, data) as (temporary, name, folder):
            try:
                os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                if error.errno in _NO_LINKS:
                    problem = "this file system has no hard links, so two writers could both win"
                    raise UnsupportedError(self.url_of(key), problem, key) from error
                if error.errno in _REFUSED:
                    raise
                return self._read_back(key, folder, data)  # taken, or who knows
            return _settle(folder)

    def replace(self, key: str, data: bytes) -> None:
        said = parse_key(key)
        if said is None or said.log != "heartbeat":
            raise ValueError(f"only a heartbeat may be rewritten, got {key!a}")
        with self._temporary(key, data) as (temporary, name, folder):
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            sync_names(folder)

    def delete(self, key: str) -> None:
        self.require_key(key)
        place, _, name = key.rpartition("/")
        with self._typed(key), suppress(FileNotFoundError, NotADirectoryError):
            with self._held(place) as folder:
                os.unlink(name, dir_fd=folder)
                sync_names(folder)
            with suppress(OSError, StoreError):  # the first that holds something else ends it
                while place:
                    place, _, name = place.rpartition("/")
                    with self._held(place) as folder:
                        os.rmdir(name, dir_fd=folder)

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
        return folder + "/", self._within.folder(folder)

    def _open(self, key: str) -> int:
        path = self._within.path(key)
        if NOFOLLOW or not os.path.islink(path):
            try:
                return os.open(path, READ)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
        target = self._within.target(key)
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
                with self._listed(folder.removesuffix("/"), path) as items:
                    for item in items:
                        name = item.name
                        if _PLAIN_NAME(name) and item.is_file(follow_symlinks=False):
                            # what nearly all are; a size would cost another call to the system for each of them
                            found.append(Entry(folder + name, None, "", plain=True))
                        elif (entry := self._judge(folder, path, item)) is not None:
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

    @contextmanager
    def _listed(self, key: str, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """What lies in a folder at `path`, which is opened first where that can be done, and found to lie inside."""
        if not _LISTS_OPEN_FOLDERS:
            with os.scandir(path) as items:
                yield items
            return
        folder = self._open_folder(key, path)
        try:
            with os.scandir(folder) as items:
                yield items
        finally:
            os.close(folder)

    def _judge(self, folder: str, path: str, item: os.DirEntry[str]) -> Entry | str | None:
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
            self._within.require(os.path.realpath(os.path.join(path, name)), key)
            status = item.stat()
        except OutsideStoreError as error:
            return Entry(key, None, str(error), folder=item.is_dir())
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
        """The name of a whole and durable temporary file with `data`, that of `key`, and their folder, open.

        The file is gone afterwards; a process that is killed leaves at most a name that nobody lists.
        """
        self.require_key(key)
        if not _POSIX:
            raise UnsupportedError(self.url, "writing durably needs Linux or macOS", key, "write from there")
        with self._typed(key, writing=True):
            place, _, name = key.rpartition("/")
            self._folders.make(self._within.folder(place), place)
            # opened before anything is written: where this is forbidden, no outcome could be made durable
            with self._held(place) as folder:
                temporary = TEMPORARY + os.urandom(8).hex()
                try:
                    write_new(temporary, data, folder)
                    yield temporary, name, folder
                finally:
                    with suppress(OSError):  # failing to tidy up is no reason to doubt the outcome
                        os.unlink(temporary, dir_fd=folder)

    @contextmanager
    def _held(self, key: str) -> Iterator[int]:
        """The folder with this key, open, so that nothing that is done by names in it happens elsewhere."""
        folder = self._open_folder(key)
        try:
            yield folder
        finally:
            with suppress(OSError):
                os.close(folder)

    def _open_folder(self, key: str, path: str | None = None) -> int:
        folder = os.open(path or self._within.folder(key), os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            self._within.require_open(folder, key)
        except BaseException:
            os.close(folder)
            raise
        return folder

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

    def _refuse(self, key: str, what: str) -> NoReturn:
        raise UnreadableError(self.url_of(key), what, key)

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
