"""Patterns of paths on this machine, matched without going through a link that leads out of what was named.

Decided here: what is met on the way. Python's ``glob`` follows every link that it meets, and passes over folders that
it may not look into. Not decided here: what a match stands for (``inputs``).
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

MARKS = "*?["


class Matching:
    """One pattern, in which ``**`` stands for any number of folders, none of them a link."""

    def __init__(self, pattern: str) -> None:
        at = min((pattern.find(mark) for mark in MARKS if mark in pattern), default=len(pattern))
        self._named = pattern[: pattern.rfind(os.sep, 0, at) + 1]
        self._parts = pattern[len(self._named) :].split(os.sep)
        self._inside = os.path.join(os.path.realpath(self.base), "")
        self.closed: dict[str, str] = {}
        """Folders that could not be looked into, and why."""

    @property
    def base(self) -> str:
        """The folder that the pattern names before its first mark: the user meant it, wherever its links lead."""
        return self._named or os.curdir

    def leads_out(self, path: str) -> bool:
        """Whether a path below `base` lies elsewhere, once its links are followed."""
        return not os.path.join(os.path.realpath(path), "").startswith(self._inside)

    def paths(self) -> Iterator[str]:
        """The paths that match; of what lies behind a link that leads out the link alone."""
        return self._below(self._named, self._parts)

    def _below(self, at: str, parts: list[str]) -> Iterator[str]:
        part, rest = parts[0], parts[1:]
        if part == "**":
            for folder, folders, _ in os.walk(at or os.curdir, onerror=self._note):
                folders[:] = [name for name in folders if not name.startswith(".")]
                here = os.path.join(folder, "") if at else os.path.join(folder, "").removeprefix(f".{os.sep}")
                yield from self._below(here, rest or ["*"])
            return
        for name in self._names(at, part):
            path = at + name
            if not rest:
                yield path
            elif os.path.isdir(path):
                if os.path.islink(path) and self.leads_out(path):
                    yield path
                else:
                    yield from self._below(path + os.sep, rest)

    def _names(self, at: str, part: str) -> list[str]:
        if not any(mark in part for mark in MARKS):
            return [part] if os.path.lexists(at + part) else []
        try:
            names = os.listdir(at or os.curdir)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._note(error)
            return []
        hidden = part.startswith(".")
        return fnmatch.filter((name for name in names if hidden or not name.startswith(".")), part)

    def _note(self, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            self.closed[os.fspath(error.filename or self.base)] = error.strerror or type(error).__name__
