"""Where a key leads on a disk: no further than the folder of its store, whatever links lie in it.

Decided here: that a link is judged before it is followed, and that whatever was opened is judged once more by where it
really lies: between the two, somebody may have put a link into the way. Hard links cannot be told from files, and are
files of the store: nothing is ever changed in place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

from safepoint.store.errors import OutsideStoreError

_OUTSIDE = "a link that leads out of the store"
_GONE = " (deleted)"
"""What Linux puts behind the name of an open file that no longer has one."""


class Within:
    """One folder, and what lies in it."""

    def __init__(self, path: str, url_of: Callable[[str], str]) -> None:
        self.root = os.path.realpath(path)
        self.below = os.path.join(self.root, "")
        self._url_of = url_of
        self._recent = ("", self.root)

    def path(self, key: str) -> str:
        """The path of `key`, itself perhaps a link, in a folder that is none."""
        folder, _, name = key.rpartition("/")
        return f"{self.folder(folder)}{os.sep}{name}"

    def folder(self, key: str) -> str:
        """The path of the folder with this key, its links followed and found to stay inside.

        The last answer is kept: keys come folder by folder, and following links costs more than reading.
        """
        recent, path = self._recent
        if recent != key:
            path = self._real(key)
            self.require(path, key)
            self._recent = (key, path)
        return path

    def target(self, key: str) -> str:
        """The path of `key` with every link followed, found to stay inside."""
        path = os.path.realpath(self.path(key))
        self.require(path, key)
        return path

    def require(self, path: str, key: str) -> None:
        """Refuses a path, without links in it, that lies outside."""
        if path != self.root and not path.startswith(self.below):
            raise OutsideStoreError(self._url_of(key), _OUTSIDE, key)

    def require_open(self, file: int, key: str) -> None:
        """Refuses an open file or folder that really lies outside.

        Where the system does not say where it lies, nothing is left but the judgement before it was opened.
        """
        place = _place_of(file)
        if place is None or place.startswith(self.below) or place == self.root:
            return
        # a system that ignores case may know the store by other letters than its user
        own = os.path.join(self._as_the_system_says(), "")
        if not os.path.join(place, "").startswith(own):
            self._recent = ("", self.root)
            raise OutsideStoreError(self._url_of(key), _OUTSIDE, key)

    def _as_the_system_says(self) -> str:
        with suppress(OSError):
            own = os.open(self.root, os.O_RDONLY)
            try:
                return _place_of(own) or self.root
            finally:
                os.close(own)
        return self.root

    def _real(self, folder: str) -> str:
        """The path of the folder with this key, its links followed; where it has none, that is quickly seen."""
        if not folder:
            return self.root
        path = self.root.rstrip(os.sep)
        for name in folder.split("/"):
            path = f"{path}{os.sep}{name}"
            if os.path.islink(path):
                return os.path.realpath(os.path.join(self.root, folder))
        return path


def _place_of(file: int) -> str | None:
    """The path of an open file, as the system knows it; None where it does not say."""
    try:
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(file, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
        return os.readlink(f"/proc/self/fd/{file}").removesuffix(_GONE)
    except OSError:
        return None
