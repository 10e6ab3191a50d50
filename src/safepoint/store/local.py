"""A store on a local disk: reads that cannot be led astray, and the put-if-absent of SPEC.md#commit.

Decided here: how a name is claimed (temporary file, fsync, hard link, fsync of the folder) and how a file is read. Not
decided here: where a link may lead (``within``), what is listed (``listing``), which errno is which error (``files``).
Written on ``os`` alone: fsspec's local create checks and then writes, which two writers can both win, and importing it
costs more than reading a thousand records.
"""

# ruff: noqa: D102 - the interface is explained in base.py; paths are text: pathlib costs more than the reading itself

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NoReturn

from safepoint.store.base import TEMPORARY, Entry, Outcome, Store, why_no_key
from safepoint.store.capabilities import LOCAL
from safepoint.store.durable import Folders, sync_names, write_many, write_new
from safepoint.store.errors import (
    OutsideStoreError,
    StoreError,
    TooLargeError,
    UnreadableError,
    UnsupportedError,
    shown,
    without_slash,
)
from safepoint.store.files import IN_FOLDERS, NOFOLLOW, READ, SMALL, error_of, kind_of, read_small
from safepoint.store.listing import Tree
from safepoint.store.together import batches
from safepoint.store.within import LIST, Folder, Within

_POSIX = os.name == "posix"
_PIECE = 1 << 20
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_REFUSED = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ENOENT, errno.ENAMETOOLONG}

_ANOTHER = {errno.ENOENT, errno.ESTALE}
"""What an open folder says of a name, or of itself, that has been replaced."""


class LocalStore(Store):
    """Files below one folder."""

    capabilities = LOCAL

    def __init__(self, path: str, url: str = "") -> None:
        url = shown(url or path)
        self.url = without_slash(url)
        self._named = partial(_named, self.url, "://" in url)
        # none of them knows the store itself: what it holds open is closed as soon as it is forgotten
        self._within = Within(path, self._named)
        self._root = self._within.root
        self._tree = Tree(self._within, self._named)
        self._folders = Folders(self._within, self._named)

    def get(self, key: str, limit: int | None = None) -> bytes:
        self.require_key(key)
        try:
            file, size = self._open_file(key)
            try:
                if limit is not None and size > limit:
                    raise self.too_large(key, limit)
                data = os.read(file, size + 1)
                # a short read of a regular file is its end; anything else grew, shrank or is huge
                while len(data) != size and (more := os.read(file, _PIECE)):
                    data += more
                    if limit is not None and len(data) > limit:
                        raise self.too_large(key, limit)
                return data
            finally:
                os.close(file)
        except OSError as error:
            raise error_of(error, self.url_of(key), key) from error

    def get_many(self, entries: Iterable[Entry], limit: int | None = None) -> Iterator[bytes | StoreError]:
        # `get` without its questions, for what most objects are: small regular files, many in one folder. Whatever is
        # not that, `get` reads, or says what is wrong.
        within, folder, most = None, None, SMALL if limit is None else min(SMALL, limit + 1)
        for entry in entries:
            place, _, name = entry.key.rpartition("/")
            if place != within:
                within, folder = place, self._folder_of(place)
            # "..", or a name that is refused on other systems, is no name of a listed file
            plain = folder is not None and entry.plain and name[:1] != "." and "\\" not in name
            data = read_small(name, folder.file, most) if plain and folder is not None else None
            yield self._got(entry.key, limit) if data is None else data

    def _got(self, key: str, limit: int | None) -> bytes | StoreError:
        try:
            return self.get(key, limit)
        except StoreError as error:
            return error

    def _folder_of(self, place: str) -> Folder | None:
        """The open folder with this key; None where files cannot be read by their names in it."""
        if IN_FOLDERS:
            with suppress(OSError, StoreError):
                if place:
                    self.require_key(place)
                return self._within.hold(place)
        return None

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
        except BaseException:
            os.close(file)
            raise
        return file, status.st_size

    def list(self, prefix: str = "") -> Iterator[Entry]:
        prefix = self.prefix_of(prefix)
        return self._tree.list(prefix, self._within.folder(prefix.removesuffix("/")))

    def files(self) -> Iterator[Entry]:
        first = [found for found in self._tree.scan("", self._root) if found != "runs/"]
        yield from self._tree.walk("", self._root, first, [])
        below = os.path.join(self._root, "runs")
        if not os.path.islink(below):
            yield from (found for found in self._tree.scan("runs/", below) if isinstance(found, Entry))

    def folders(self, prefix: str = "") -> Iterator[str]:
        prefix = self.prefix_of(prefix)
        found = self._tree.scan(prefix, self._within.folder(prefix.removesuffix("/")))
        yield from (each[len(prefix) : -1] for each in reversed(found) if not isinstance(each, Entry))

    def exists(self, key: str) -> bool:
        self.require_key(key)
        with self._typed(key):
            try:
                status = os.lstat(self._within.path(key))
                if stat.S_ISLNK(status.st_mode):
                    self._within.target(key)  # a link bears the name, wherever in the store it leads
            except OSError as error:
                if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
                    raise
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

    def put_many(self, items: Iterable[tuple[str, bytes]]) -> Sequence[Outcome | StoreError]:
        outcomes: list[Outcome | StoreError] = []
        for batch in batches(items):
            decided = self._put_together(batch) if _POSIX and len(batch) > 1 else {}
            # whatever could not be done together is done, or explained, alone
            outcomes += (
                decided[at] if at in decided else self.put_or_error(key, data)
                for at, (key, data) in enumerate(batch)
            )
        return outcomes

    def _put_together(self, batch: Sequence[tuple[str, bytes]]) -> dict[int, Outcome]:
        """What became of these, by their index; of those in a folder together, as far as nothing is in the way."""
        folders: dict[str, list[int]] = {}
        for at, (key, _) in enumerate(batch):
            if not why_no_key(key):
                folders.setdefault(key.rpartition("/")[0], []).append(at)
        decided: dict[int, Outcome] = {}
        for place, indices in folders.items():
            with suppress(OSError, StoreError):
                self._folders.make(self._within.folder(place), place)
                with self._held(place) as folder:
                    self._folders.require_root(place)
                    self._put_into(folder, {at: batch[at] for at in indices}, decided)
        return decided

    def _put_into(
        self, folder: int, items: Mapping[int, tuple[str, bytes]], decided: dict[int, Outcome]
    ) -> None:
        """Put `items` into their open folder, and add what is `decided` of them."""
        names = {at: key.rpartition("/")[2] for at, (key, _) in items.items()}
        taken = {at for at, name in names.items() if _is_taken(name, folder)}
        new = {at: TEMPORARY + os.urandom(8).hex() for at in items if at not in taken}
        try:
            failed = write_many(((new[at], items[at][1]) for at in new), folder)
            linked = []
            for (at, temporary), error in zip(new.items(), failed, strict=True):
                if error is None:
                    try:
                        os.link(temporary, names[at], src_dir_fd=folder, dst_dir_fd=folder)
                        linked.append(at)
                    except FileExistsError:
                        taken.add(at)
                    except OSError:
                        continue  # alone, it is tried again, and its error is told
            decided |= dict.fromkeys(linked, _settle(folder))
        finally:
            for temporary in new.values():
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
        decided |= {at: self._read_back(items[at][0], folder, items[at][1]) for at in taken}

    def replace(self, key: str, data: bytes) -> None:
        self.require_heartbeat(key)
        with self._temporary(key, data) as (temporary, name, folder):
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            sync_names(folder)

    def delete(self, key: str) -> None:
        self.require_key(key)
        place, _, name = key.rpartition("/")
        with self._typed(key), suppress(FileNotFoundError, NotADirectoryError):
            self._folders.require_root(key)  # what is not there because its disk is not there may come back
            with self._held(place) as folder:
                os.unlink(name, dir_fd=folder)
                sync_names(folder)
            with suppress(OSError, StoreError):  # the first that holds something else ends it
                while place:
                    place, _, name = place.rpartition("/")
                    with self._held(place) as folder:
                        os.rmdir(name, dir_fd=folder)

    def url_of(self, key: str) -> str:
        return self._named(key)

    def _open(self, key: str) -> int:
        """Opens what bears the name `key`, found to lie inside."""
        if not IN_FOLDERS:
            return self._open_by_path(key)
        place, _, name = key.rpartition("/")
        known = self._within.held
        while True:
            try:
                folder = self._within.hold(place)  # by this name, too: it must not be closed meanwhile
                return os.open(name, READ, dir_fd=folder.file)
            except OSError as error:
                if error.errno == errno.ELOOP:
                    return self._open_target(key)
                if error.errno == errno.EACCES:
                    return self._open_by_path(key)  # a folder may be closed to us, and its files not
                if known is None or error.errno not in _ANOTHER:
                    raise
            known = None
            self._within.release()

    def _open_by_path(self, key: str) -> int:
        path = self._within.path(key)
        if NOFOLLOW or not os.path.islink(path):
            try:
                return self._within.open(path, READ, key)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
        return self._open_target(key)

    def _open_target(self, key: str) -> int:
        """As `_open`, for a link."""
        target = self._within.target(key)
        try:
            return self._within.open(target, READ, key)
        except FileNotFoundError:
            # not absent: the name is taken, and whoever tries to write it loses
            raise UnreadableError(self.url_of(key), "a link to nothing", key) from None

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
                self._folders.require_root(key)
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
        folder = self._within.enter(key, LIST)
        try:
            yield folder
        finally:
            with suppress(OSError):
                os.close(folder)
            self._within.release()  # a writer keeps nothing open between its calls, which may be days apart

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

    @contextmanager
    def _typed(self, key: str, *, writing: bool = False) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise error_of(error, self.url_of(key), key, writing=writing) from error


def _named(url: str, is_url: bool, key: str) -> str:
    """Where `key` of the store at `url` is, as the user may open it."""
    if not key:
        return url
    if is_url:
        from urllib.parse import quote

        key = quote(key)
    if url == ".":
        return key
    return url + key if url.endswith("/") else f"{url}/{key}"


def _is_taken(name: str, folder: int) -> bool:
    """Whether something in an open folder bears the name; a no may be out of date at once."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _settle(folder: int) -> Outcome:
    """Won, once the name would survive a power cut."""
    try:
        sync_names(folder)
    except OSError:
        return Outcome.UNKNOWN  # visible, but it may not stay
    return Outcome.WON
