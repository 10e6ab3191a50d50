"""Bytes and names that survive a power cut.

Decided here: what "durable" asks of the operating system. Not decided here: when it is asked (``local``).
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

from safepoint.store.within import Within


def write_new(name: str, data: bytes, folder: int) -> None:
    """Makes a new file with `data` in an open folder, and waits until its bytes are durable."""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
        _sync(file)
    finally:
        os.close(file)


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

    def __init__(self, within: Within) -> None:
        self._within = within
        self._durable: set[str] = set()

    def make(self, folder: str, key: str) -> None:
        """Makes `folder` and sees to it that its name survives a power cut.

        Once in a process also where the folder exists: who made it may have died before it was durable.

        Args:
            folder: its path.
            key: what to call it where it leads out of the store.
        """
        if folder in self._durable and os.path.isdir(folder):
            return
        parent, name = os.path.split(folder)
        inside = folder.startswith(self._within.below)
        if inside or not os.path.isdir(parent):
            self.make(parent, key)
        try:
            held = os.open(parent, os.O_RDONLY)
        except PermissionError:
            if inside or not os.path.isdir(folder):  # what lies above the store may be closed to us
                raise
        else:
            try:
                if inside:
                    self._within.require_open(held, key)
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=held)
                sync_names(held)
            finally:
                os.close(held)
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
