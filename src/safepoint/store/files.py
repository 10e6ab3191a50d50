"""Regular files of a local disk: how they are opened without waiting or following, and what an errno means."""

from __future__ import annotations

import errno
import os
import stat

from safepoint.store.errors import (
    AbsentError,
    DeniedError,
    NoSpaceError,
    StoreError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
)

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# a FIFO without a writer must not block, and a link must not be followed before it was judged
READ = os.O_RDONLY | NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

IN_FOLDERS = bool(NOFOLLOW) and os.open in os.supports_dir_fd
"""Whether a file can be opened by its name in an open folder, so that no link is followed on the way."""

SMALL = 1 << 14
"""Bytes: a larger file is not read at once."""


def read_small(name: str, folder: int, most: int) -> bytes | None:
    """The bytes of what is known to be a regular file in an open folder, if it has fewer than `most`; else None."""
    try:
        file = os.open(name, READ, dir_fd=folder)
        try:
            data = os.read(file, most)
        finally:
            os.close(file)
    except (OSError, ValueError):  # no name holds a NUL
        return None
    return data if len(data) < most else None


def kind_of(status: os.stat_result) -> str:
    """What something is that is no regular file, in words."""
    tests = {"a folder": stat.S_ISDIR, "a named pipe": stat.S_ISFIFO, "a socket": stat.S_ISSOCK}
    return next((name for name, test in tests.items() if test(status.st_mode)), "a device")


def error_of(error: OSError, url: str, key: str, *, writing: bool = False) -> StoreError:
    """What `error` means at `url`, where the object `key` was read, or written."""
    problem = error.strerror or type(error).__name__
    match error.errno:
        case errno.ENAMETOOLONG if writing:
            return UnsupportedError(url, "the name is too long for this file system", key, "use a shorter id")
        case errno.EEXIST | errno.ENOTDIR | errno.EISDIR if writing:
            return UnreadableError(url, "a file has the name of a folder, or a folder that of a file", key)
        case errno.ENOENT if writing:
            return AbsentError(url, "its folder was removed meanwhile", key)
        case errno.ENOENT | errno.ENOTDIR | errno.ENAMETOOLONG:
            return AbsentError(url, "nothing is there", key)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return DeniedError(url, problem, key)
        case errno.ENOSPC | errno.EDQUOT:
            return NoSpaceError(url, problem, key)
        case errno.ELOOP | errno.EISDIR | errno.ENXIO | errno.ENODEV:
            return UnreadableError(url, problem, key)
        case _:
            return UnreachableError(url, problem, key)
