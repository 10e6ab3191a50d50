"""What lies in the folders of a local disk: names and keys, without reading what the files hold.

Decided here: in which order it is listed, which names are no keys, and that a folder is entered from the one above it,
which stays open meanwhile: so no link can get between them, and nothing must be judged twice. Not decided here: where a
link may lead (``within``).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator

from safepoint.store.base import TEMPORARY, Entry, Listing
from safepoint.store.errors import OutsideStoreError, StoreError, UnreadableError, shown
from safepoint.store.files import IN_FOLDERS, NOFOLLOW, error_of
from safepoint.store.within import LIST, Folder, Within

_OPEN_FIRST = IN_FOLDERS and os.scandir in os.supports_fd

_MOST_OPEN = 16
"""Folders above the one that is listed; where there are more, the uppermost are closed, and opened again later."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._=-]*").fullmatch
"""Whether a file's name is one that no question need be asked about."""

Above = list[Folder]
"""Open folders, each below the one before it; their keys have a slash behind them."""


class Tree:
    """The folders of one store."""

    def __init__(self, within: Within, url_of: Callable[[str], str]) -> None:
        self._within = within
        self._url_of = url_of

    def list(self, prefix: str, base: str) -> Iterator[Entry]:
        """All files below a folder; errors as in `walk`, but that it cannot be listed itself is said at once.

        Args:
            prefix: its key with a slash behind it; nothing for the root.
            base: its path.
        """
        above: Above = []
        return self.walk(prefix, base, self.scan(prefix, base, above), above)

    def walk(self, prefix: str, base: str, pending: Listing, above: Above) -> Iterator[Entry]:
        """All files of `pending`, and of the folders in it with everything below; last first.

        Args:
            prefix: the folder that `pending` was found in, as a key with a slash behind it.
            base: its path.
            pending: emptied on the way.
            above: as in `scan`.

        Raises:
            StoreError: a folder could not be listed; raised once all the others were.
        """
        failure: StoreError | None = None
        while pending:
            found = pending.pop()
            if isinstance(found, Entry):
                yield found
                continue
            try:
                pending += self.scan(found, f"{base}{os.sep}{found[len(prefix) :]}", above)
            except StoreError as error:
                failure = failure or error  # what lies beside a closed folder can still be listed
        if failure:
            raise failure

    def scan(self, folder: str, path: str, above: Above | None = None) -> Listing:
        """What lies directly in a folder, last first.

        Args:
            folder: its key with a slash behind it; nothing for the root.
            path: its path.
            above: the open folders above it, which become those above what lies in it.
        """
        try:
            if not _OPEN_FIRST:
                return self._read(folder, path, path)[0]
            opened = self._open(folder, above)
            plain = True
            try:
                found, plain = self._read(folder, path, opened)
            finally:
                if plain or above is None:
                    os.close(opened)
            if not plain and above is not None:
                above.append(Folder(folder, opened))  # perhaps there are folders in it
                if len(above) > _MOST_OPEN:
                    del above[0]
        except FileNotFoundError as error:
            if not folder:
                raise error_of(error, self._url_of(""), "") from error
            return []  # deleted since its parent was listed, or never there
        except NotADirectoryError:
            if not folder:
                raise UnreadableError(self._url_of(""), "not a folder", remedy="name a folder") from None
            return []
        except OSError as error:
            key = folder.removesuffix("/")
            raise error_of(error, self._url_of(key), key) from error
        return found

    def _read(self, folder: str, path: str, where: str | int) -> tuple[Listing, bool]:
        """What lies in the folder at `path`, open already where that can be; and whether all of it are plain files."""
        found: Listing = []
        plain = True
        with os.scandir(where) as items:
            for item in items:
                name = item.name
                usual = _PLAIN_NAME(name)
                if usual and item.is_file(follow_symlinks=False):
                    # what nearly all are; a size would cost another call to the system for each of them
                    found.append(Entry(folder + name, None, "", plain=True))
                    continue
                plain = False
                if usual and item.is_dir(follow_symlinks=False):
                    found.append(f"{folder}{name}/")
                elif (entry := self._judge(folder, path, item)) is not None:
                    found.append(entry)
        if len(found) > 1:
            found.sort(key=None if plain else _key_of, reverse=True)
        return found, plain

    def _open(self, folder: str, above: Above | None) -> int:
        if above is None or not folder:
            return self._within.enter(folder.removesuffix("/"), LIST)
        parent = folder[: folder.rfind("/", 0, -1) + 1]
        while above and (nearest := above[-1].key) != parent and not parent.startswith(nearest):
            above.pop()
        if not above or above[-1].key != parent:
            above.append(Folder(parent, self._within.enter(parent.removesuffix("/"), LIST)))
        try:
            return os.open(folder[len(parent) : -1], LIST | NOFOLLOW, dir_fd=above[-1].file)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
        # a link since its parent was listed, which is to be judged
        return self._within.enter(folder.removesuffix("/"), LIST)

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


def _key_of(found: Entry | str) -> str:
    return found if type(found) is str else found[0]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
