"""An accused line with a caret under the accused place, as wide as the screen and no wider.

Decided here: what of the excerpt fits, and where the caret goes. Columns are those that a terminal shows: wide
characters take two, combining ones none. Tabs of the indentation become spaces, and whatever could move the cursor
becomes an escape.
Not decided here: what may be seen of the line (``core.excerpt``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from safepoint.core.finding import Excerpt
from safepoint.render.terminal import Screen, plain

WIDTH = 120
"""Columns where no terminal says how many there are."""

_NARROW = 20
"""Columns that the line itself gets at least, however wide its number is."""

_TAB = "    "


def excerpt_lines(excerpt: Excerpt, line: int, style: str, screen: Screen, indent: str = "") -> list[str]:
    """The line and the caret below it; nothing where the line could say nothing, for it is only a bracket.

    Args:
        excerpt: what to show.
        line: its number in the file.
        style: how the caret is painted.
        screen: where it goes.
        indent: put before both.
    """
    before = _indentation(excerpt.before)
    accused, after = plain(excerpt.accused), plain(excerpt.after)
    if not (before + after).strip() and accused.strip() in {"", "{", "["}:
        return []
    number, blank = f"{line} | ", f"{'':{len(str(line))}} | "
    room = max((screen.width or WIDTH) - len(indent) - len(number), _NARROW)
    before, accused, after = _window(before, accused, after, room)
    caret = "^" * max(cells(accused), 1)
    return [
        f"{indent}{screen.paint(number, 'dim')}{before}{screen.paint(accused, style)}{after}".rstrip(),
        f"{indent}{screen.paint(blank, 'dim')}{'':{cells(before)}}{screen.paint(caret, style)}",
    ]


def cells(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _indentation(text: str) -> str:
    rest = text.lstrip(" \t")
    return text[: len(text) - len(rest)].replace("\t", _TAB) + plain(rest)


def _window(before: str, accused: str, after: str, room: int) -> tuple[str, str, str]:
    """The three parts, cut to `room` columns: the accused part is kept first, then what leads to it."""
    # where nothing is accused, the caret still takes a column
    if cells(before) + max(cells(accused) + cells(after), 1) <= room:
        return before, accused, after
    # A third is left for what surrounds the accused part, however long it is.
    accused = _head(accused, room * 2 // 3)
    rest = room - max(cells(accused), 1)
    before = _tail(before, max(rest * 2 // 3, rest - cells(after)))
    after = _head(after, rest - cells(before))
    return before, accused, after.removeprefix("…") if accused.endswith("…") else after


def _head(text: str, room: int) -> str:
    """As much of the beginning as fits, with a mark where something is left out."""
    if cells(text) <= room:
        return text
    # a mask that begins there is a mark already
    return "".join(_fitting(text, room - 1)).rstrip("…") + "…" if room > 0 else ""


def _tail(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    return "…" + "".join(reversed(list(_fitting(reversed(text), room - 1)))).lstrip("…") if room > 0 else ""


def _fitting(letters: Iterable[str], room: int) -> Iterable[str]:
    width: Callable[[str], int] = cells
    for letter in letters:
        room -= width(letter)
        if room < 0:
            return
        yield letter
