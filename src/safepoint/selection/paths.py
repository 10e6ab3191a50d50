"""How files are named where people write them down: in patterns, and in a baseline.

Decided here: a local file is named relative to the file that speaks of it, so that a checkout may be moved and the
command called from anywhere; what lies elsewhere by its URL; and that patterns read as in ``.gitignore``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from safepoint.store.opening import local_path

STDIN = "-"

_MARK = re.compile(r"[*?\[]")
"""What makes a pattern of an argument."""

_PARTS = re.compile(r"(\*\*/|/\*\*(?!/)|\*|\?|\[[!^]?[^]]+\])")
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


@lru_cache(maxsize=128)
def file_name(url: str, folder: str) -> str:
    """`url` as it is written down in a file that lies in `folder`.

    Args:
        url: the path or URL in a finding; ``-`` is standard input.
        folder: path of a folder.
    """
    path = None if url in {"", STDIN} else local_path(url)
    name = url if path is None else os.path.relpath(path, folder)
    # a name that is no UTF-8 reaches us as lone surrogates, which no JSON holds
    return name.encode("utf-8", "backslashreplace").decode()


def parse_pattern(text: str) -> re.Pattern[str]:
    """A pattern of paths: ``*`` and ``?`` within one name, ``**`` over folders, ``[…]`` one of some characters.

    A pattern without a slash, but for one at its end, matches a name at any depth; another begins at the top. What
    lies below something that matches is matched as well.
    """
    anchored = "/" in text.rstrip("/")
    parts = _PARTS.split(text.removeprefix("./").removeprefix("/").rstrip("/"))
    matched = "".join(_MEANING.get(part) or _class(part) or re.escape(part) for part in parts if part)
    return re.compile(f"{'' if anchored else '(?:.*/)?'}{matched}(?:/.*)?", re.DOTALL)


def _class(part: str) -> str | None:
    if not (part.startswith("[") and len(part) > 2):
        return None
    negated, inside = ("^", part[2:-1]) if part[1] in "!^" else ("", part[1:-1])
    escaped = inside.replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
    return f"[{negated}{escaped}]"


@dataclass(frozen=True, slots=True)
class PathIgnore:
    """Codes that do not count in some files."""

    pattern: re.Pattern[str]
    codes: frozenset[str]
    reason: str
    """Why, in the words of whoever decided it."""
    written: str
    """The pattern as it was written."""

    @property
    def top(self) -> str:
        """The path that every file it covers lies at or below; ``.`` where it may lie anywhere."""
        if "/" not in self.written.rstrip("/"):
            return os.curdir
        mark = _MARK.search(self.written)
        path = self.written[: mark.start()].rpartition("/")[0] if mark else self.written
        return path.strip("/") or os.curdir

    def covers(self, name: str) -> bool:
        """Whether the file `name`, relative to where the pattern begins, is one of them."""
        return self.pattern.fullmatch(name) is not None


class Scope:
    """What the inputs of a validation reach, so that what was found before and is not found now was really mended."""

    def __init__(self, inputs: Iterable[str]) -> None:
        self._within: list[str] = []
        self._patterns: list[re.Pattern[str]] = []
        for given in inputs:
            path = None if given == STDIN else local_path(given)
            pattern = _MARK.search(given)
            if path is None:
                self._within.append(given[: pattern.start()] if pattern else given)
            elif pattern is None or Path(path).exists():
                self._within.append(_absolute(path))
            else:
                self._patterns.append(parse_pattern(_absolute(path)))

    def reaches(self, file: str, folder: str) -> bool:
        """Whether the inputs reach `file`, as it is written down in `folder`."""
        path = None if file == STDIN else local_path(file)
        name = file if path is None else _absolute(path, folder)
        return any(name == top or name.startswith(f"{top.rstrip('/')}/") for top in self._within) or any(
            pattern.fullmatch(name.removeprefix("/")) for pattern in self._patterns
        )


def _absolute(path: str, folder: str = ".") -> str:
    # not resolved: a linked folder is a name like any other
    return os.path.normpath(Path(folder, path).absolute())
