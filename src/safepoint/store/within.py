"""Where a key leads on a disk: no further than the folder of its store, whatever links lie in it.

Decided here: that what is opened by its name in an open folder, without following a link, lies where that folder does;
that a link is judged before it is followed; that what was opened by a path is judged once more by where it really lies,
because between the two somebody may have put a link into the way; and for how long all this holds. Hard links cannot be
told from files, and are files of the store: nothing is ever changed in place.
"""

from __future__ import annotations

import errno
import os
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any
from weakref import ref

from safepoint.store.errors import OutsideStoreError
from safepoint.store.files import NOFOLLOW

_OUTSIDE = "a link that leads out of the store"
_GONE = " (deleted)"
"""What Linux puts behind the name of an open file that no longer has one."""

_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
LIST = os.O_RDONLY | _DIRECTORY
"""How a folder is opened that is to be listed, or whose names are to be made durable."""

PASS = getattr(os, "O_PATH", os.O_RDONLY) | _DIRECTORY
"""How a folder is opened in which names are only looked up, for which one need not be allowed to list it."""

_FRESH = 0.001
"""Seconds for which a judgement holds, and folders are kept for the next name in them.

As short as that because a folder may be moved away and replaced, and is then not to be read any longer; and long enough
for objects that are read one after the other, where judging would cost more than reading.
"""

_DEEPEST = 16
"""So many folders, one in the other, are kept open."""

_MOST = 16
"""So many stores of a process keep folders open."""


class Folder:
    """An open folder that lies inside; closed as soon as nobody holds it any more, whatever the reason.

    Whoever opens something in it holds it meanwhile, so that another thread cannot close it, and the system give its
    number to something else.
    """

    __slots__ = ("above", "file", "key", "until")

    def __init__(self, key: str, file: int, above: Folder | None = None, until: float = 0.0) -> None:
        self.key = key
        self.file = file
        self.above = above
        """One that lies above it, and in which it was opened; only the store's own folder has none."""
        self.until = until
        """When it must be opened again."""

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        try:  # noqa: SIM105 - `suppress` takes as long as the closing
            close(self.file)
        except OSError:
            pass


class Within:
    """One folder, and what lies in it."""

    def __init__(self, path: str, url_of: Callable[[str], str]) -> None:
        self.root = os.path.realpath(path)
        self.below = os.path.join(self.root, "")
        self.held: Folder | None = None
        """The folder that names were last looked up in, if that is still open."""
        self._url_of = url_of
        self._recent = ("", self.root, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "held": None}  # another process has other open files

    def path(self, key: str) -> str:
        """The path of `key`, itself perhaps a link, in a folder that is none."""
        folder, _, name = key.rpartition("/")
        return f"{self.folder(folder)}{os.sep}{name}"

    def folder(self, key: str) -> str:
        """The path of the folder with this key, its links followed and found to stay inside.

        What was just found is not asked again: keys come folder by folder, and following links costs more than reading.
        """
        recent, path, until = self._recent
        now = monotonic()
        if recent != key or now >= until:
            path = self._real(key)
            self.require(path, key)
            self._recent = (key, path, now + _FRESH)
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

    # What is open

    def open(self, path: str, flags: int, key: str) -> int:
        """Opens what lies at the path that `key` was found to have, and sees to it that it really lies inside."""
        file = os.open(path, flags)
        try:
            self.require_open(file, key)
        except BaseException:
            os.close(file)
            raise
        return file

    def enter(self, key: str, flags: int) -> int:
        """Opens the folder with this key, which really lies inside."""
        if not key:
            return self.open(self.root, flags, key)
        path = self.folder(key)
        try:
            return self.open(path, flags | NOFOLLOW, key)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
        self._forget()  # a link since it was judged, perhaps: then the judgement is another one
        return self.open(self.folder(key), flags | NOFOLLOW, key)

    def hold(self, key: str) -> Folder:
        """The folder with this key, open for looking up names in it.

        The one that is held, if it was opened just now; or else it is entered from above, folder by folder, so that no
        link can be in the way.
        """
        held = self.held
        if held is None or (now := monotonic()) >= held.until:
            if held is None:
                _bound(self)
            now = monotonic()
            self.held = held = Folder("", os.open(self.root, PASS), None, now + _FRESH)
        if held.key != key:
            self.held = held = self._descend(held, key)
        return held

    def _descend(self, held: Folder, key: str) -> Folder:
        """The folder with this key, entered from the last that is above it, and that `held` was entered from."""
        while held.above is not None and not f"{key}/".startswith(f"{held.key}/"):
            held = held.above
        if key.count("/") < _DEEPEST:
            for name in filter(None, key[len(held.key) :].split("/")):
                try:
                    file = os.open(name, PASS | NOFOLLOW, dir_fd=held.file)
                except OSError as error:
                    if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                        raise
                    break  # a link, which is to be judged
                held = Folder(f"{held.key}/{name}" if held.key else name, file, held, held.until)
            else:
                return held
        while held.above is not None:
            held = held.above
        return Folder(key, self.enter(key, PASS), held, held.until)

    def release(self) -> None:
        """Keeps no folder open any longer."""
        self.held = None

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
            self._forget()
            raise OutsideStoreError(self._url_of(key), _OUTSIDE, key)

    def _as_the_system_says(self) -> str:
        with suppress(OSError):
            own = os.open(self.root, PASS)
            try:
                return _place_of(own) or self.root
            finally:
                os.close(own)
        return self.root

    def _forget(self) -> None:
        self._recent = ("", self.root, 0.0)

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


_holding: deque[ref[Within]] = deque()


def _bound(within: Within) -> None:
    """Those that began first to hold a folder let go of it, where there are many."""
    _holding.append(ref(within))
    while len(_holding) > _MOST:
        if first := _holding.popleft()():
            first.release()


def _let_go() -> None:
    while _holding:
        if each := _holding.popleft()():
            each.release()


if hasattr(os, "register_at_fork"):
    # before the child does anything: it may close all that it has inherited, and these numbers are then others' files
    os.register_at_fork(after_in_child=_let_go)


def _place_of(file: int) -> str | None:
    """The path of an open file, as the system knows it; None where it does not say."""
    try:
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(file, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
        return os.readlink(f"/proc/self/fd/{file}").removesuffix(_GONE)
    except OSError:
        return None
