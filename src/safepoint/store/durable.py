"""Bytes and names that survive a power cut.

Decided here: what "durable" asks of the operating system. Not decided here: when it is asked (``local``).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

from safepoint.store.errors import UnreachableError
from safepoint.store.within import LIST, Within

_WAITING = 8
"""Files that are waited for at once; more of them gain nothing on a disk of one's own."""


def write_new(name: str, data: bytes, folder: int) -> None:
    """Makes a new file with `data` in an open folder, and waits until its bytes are durable."""
    file = _begin(name, data, folder)
    try:
        _sync(file)
    finally:
        os.close(file)


def write_many(files: Iterable[tuple[str, bytes]], folder: int) -> list[OSError | None]:
    """As `write_new` for each name and its data, at a fraction of the cost: why it failed, or None; in their order.

    All are written before the first is waited for, and several are waited for at once: so a disk has much to write
    together, and a file system with a log ends one entry of it for many files.
    """
    from concurrent.futures import ThreadPoolExecutor

    begun: list[int | OSError] = []
    try:
        for name, data in files:
            try:
                begun.append(_begin(name, data, folder))
            except OSError as error:
                begun.append(error)
        with ThreadPoolExecutor(_WAITING) as threads:
            return list(threads.map(_end, begun))
    finally:
        for file in begun:
            if isinstance(file, int):
                with suppress(OSError):  # what it wrote is durable already, or is no longer asked for
                    os.close(file)


def _begin(name: str, data: bytes, folder: int) -> int:
    """A new file, open, with `data` in it that is not durable yet."""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
    except BaseException:
        os.close(file)
        raise
    return file


def _end(begun: int | OSError) -> OSError | None:
    if isinstance(begun, OSError):
        return begun
    try:
        _sync(begun)
    except OSError as error:
        return error
    return None


def sync_names(folder: int) -> None:
    """Waits until the names in an open folder are durable."""
    try:
        _sync(folder)
    except OSError as error:
        # some file systems have no such call for folders, and then there is nothing more to ask of them
        if error.errno not in {errno.EINVAL, errno.EBADF}:
            raise


class Folders:
    """The folders that a store has made, or found made, and whose names survive a power cut.

    Its own folder is made at most once: where that vanishes, a mount has gone, and what lies below it is another disk.
    """

    def __init__(self, within: Within, url_of: Callable[[str], str]) -> None:
        self._within = within
        self._url_of = url_of
        self._durable: set[str] = set()
        self._root: tuple[int, int] | None = None
        with suppress(OSError):  # what cannot be looked at is not known yet
            self._root = _identity(within.root)

    def make(self, folder: str, key: str) -> None:
        """Makes `folder` and sees to it that its name survives a power cut.

        Once for each store also where the folder exists: who made it may have died before it was durable.

        Args:
            folder: its path.
            key: what to call it where it leads out of the store.

        Raises:
            UnreachableError: the store's own folder is not the one it was.
        """
        if folder in self._durable and os.path.isdir(folder):
            return
        parent, name = os.path.split(folder)
        own = folder == self._within.root
        if own:
            self.require_root(key)
        inside = folder.startswith(self._within.below)
        if inside or not os.path.isdir(parent):
            self.make(parent, key)
        try:
            held = os.open(parent, LIST)
        except PermissionError:
            if inside or not os.path.isdir(folder):  # what lies above the store may be closed to us
                raise
        else:
            try:
                if inside:
                    self._within.require_open(held, key)
                    self.require_root(key)  # it was still there when the parent was opened
                if (
                    not own or self._root is None
                ):  # or else it was there, and is not made again if it is gone now
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=held)
                sync_names(held)
            finally:
                os.close(held)
        if own and self._root is None:
            self._root = _identity(folder)
        self._durable.add(folder)

    def require_root(self, key: str) -> None:
        """Refuses to write `key` once the store's own folder is gone, or another one has its name.

        Raises:
            UnreachableError: it is.
        """
        if self._root is None or self._root == (now := _identity(self._within.root)):
            return
        problem = "it is gone" if now is None else "another one is there now"
        remedy = "see whether its disk is still mounted; if it was replaced on purpose, open the store again"
        raise UnreachableError(
            self._url_of(""), f"the store's folder is not the one it was: {problem}", key, remedy
        )


def _identity(folder: str) -> tuple[int, int] | None:
    """What tells a folder from one that takes its place; None where there is none."""
    try:
        status = os.stat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def _sync(file: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
        except OSError:
            pass  # not every file system there has it
        else:
            return
    os.fsync(file)
