"""Bytes and names that survive a power cut.

Decided here: what "durable" asks of the operating system. Not decided here: when it is asked (``local``).
"""

from __future__ import annotations

import errno
import os
import sys


def write_new(path: str, data: bytes) -> None:
    """Makes a new file with `data`, and waits until its bytes are durable."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        _sync(file)
    finally:
        os.close(file)


def sync_folder(path: str) -> None:
    """Waits until the names in the folder at `path` are durable."""
    folder = os.open(path, os.O_RDONLY)
    try:
        sync_names(folder)
    finally:
        os.close(folder)


def sync_names(folder: int) -> None:
    """Waits until the names in an open folder are durable."""
    try:
        _sync(folder)
    except OSError as error:
        # some file systems have no such call for folders, and then there is nothing more to ask of them
        if error.errno not in {errno.EINVAL, errno.EBADF}:
            raise


class Folders:
    """The folders that this process has made, or found made, and whose names survive a power cut."""

    def __init__(self, below: str) -> None:
        self._below = below
        """The store's own folder, with its separator."""
        self._durable: set[str] = set()

    def make(self, folder: str) -> None:
        """Makes `folder` and sees to it that its name survives a power cut.

        Once in a process also where the folder exists: who made it may have died before it was durable.
        """
        if folder in self._durable and os.path.isdir(folder):
            return
        parent = os.path.dirname(folder)
        below = folder.startswith(self._below)
        if below or not os.path.isdir(parent):
            self.make(parent)
        made = True
        try:
            os.mkdir(folder)
        except FileExistsError:
            made = False
        try:
            sync_folder(parent)
        except PermissionError:
            if made or below:  # what lies above the store may be closed to us; its names were there before
                raise
        self._durable.add(folder)


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
