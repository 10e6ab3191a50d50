"""What text may look like on this output: colours, width, tables; and what must never reach a terminal raw.

Decided here: the palette, and that a pipe gets one unwrapped line for each row, so that ``grep`` works.
Not decided here: whether the output is a terminal (``cli`` looks).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import orjson

_ANSI = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}

Cell = str | tuple[str, str]
"""A table's cell: its text, or text and style."""


def plain(text: str) -> str:
    """`text` on one line: what no terminal prints as a letter, a sign or a space becomes an escape.

    Names and messages hold what others wrote: control characters could move the cursor or hide a line, overrides
    of the writing direction could turn it round, and lone surrogates break the encoder.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def to_json(document: Any, *, indent: bool = True) -> bytes:
    """`document` as UTF-8 JSON, indented or on one line, with a final line feed; equal documents give equal bytes."""
    options = (orjson.OPT_INDENT_2 if indent else 0) | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(document, option=options)
    except TypeError:
        # A file name that is no UTF-8 reaches us as lone surrogates, which JSON cannot hold.
        return orjson.dumps(_encodable(document), option=options)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(name): _encodable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Screen:
    """The output that text is rendered for."""

    colour: bool = False
    width: int | None = None
    """Columns of the terminal; None: no terminal, and nothing is wrapped."""

    def paint(self, text: str, style: str) -> str:
        """`text` in `style`, words of the palette such as ``bold red``; as it is without colour."""
        if not self.colour or not style:
            return text
        return f"\x1b[{';'.join(_ANSI[word] for word in style.split())}m{text}\x1b[0m"

    def prose(self, text: str, first: str = "", rest: str | None = None) -> list[str]:
        """`text` in lines that fit the terminal, cut between words only; one line where there is no terminal.

        Not for what is to be copied: a command, a place or JSON that is cut in two is none.

        Args:
            text: made `plain` by the caller.
            first: put before the first line.
            rest: put before each other line; None: as many spaces as `first` is long.
        """
        if self.width is None:
            return [f"{first}{text}"]
        lines = textwrap.wrap(
            text,
            max(self.width, 40),
            initial_indent=first,
            subsequent_indent=" " * len(first) if rest is None else rest,
            break_on_hyphens=False,
            break_long_words=False,
        )
        return lines or [first]

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]], indent: str = "  ") -> str:
        """Aligned columns: wrapped to the terminal by rich, or one line for each row.

        Args:
            headings: one for each column.
            rows: cells are made `plain` here.
            indent: put before every line.
        """
        cells = [[(plain(c), "") if isinstance(c, str) else (plain(c[0]), c[1]) for c in row] for row in rows]
        if self.width is None:
            return self._aligned(headings, cells, indent)
        return self._wrapped(headings, cells, indent, self.width)

    def _aligned(self, headings: Sequence[str], rows: list[list[tuple[str, str]]], indent: str) -> str:
        widths = [
            max(map(len, column)) for column in zip(headings, *([t for t, _ in r] for r in rows), strict=True)
        ]
        lines = [[(heading, "dim") for heading in headings], *rows]
        return "".join(indent + self._row(line, widths) + "\n" for line in lines)

    def _row(self, cells: list[tuple[str, str]], widths: list[int]) -> str:
        *first, (last, style) = cells
        padded = [
            self.paint(text, style) + " " * (width - len(text))
            for (text, style), width in zip(first, widths, strict=False)
        ]
        return "  ".join([*padded, self.paint(last, style)]).rstrip()

    def _wrapped(
        self, headings: Sequence[str], rows: list[list[tuple[str, str]]], indent: str, width: int
    ) -> str:
        # rich costs more than a small job, and only a terminal needs it
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for number, heading in enumerate(headings):
            # Only the last column gives way: ids and times stay whole as long as they fit.
            table.add_column(heading, no_wrap=False, overflow="fold", ratio=None, min_width=len(heading))
            table.columns[number].no_wrap = number < len(headings) - 1 and _narrow(rows, number)
        for row in rows:
            table.add_row(*(Text(text, style) for text, style in row))
        console = Console(
            width=max(width - len(indent), 40),
            color_system="standard" if self.colour else None,
            force_terminal=self.colour,
            no_color=not self.colour,
            highlight=False,
            markup=False,
            emoji=False,
        )
        with console.capture() as captured:
            console.print(table)
        return "".join(f"{indent}{line.rstrip()}\n" for line in captured.get().splitlines())


def _narrow(rows: list[list[tuple[str, str]]], column: int) -> bool:
    return all(len(row[column][0]) <= 30 for row in rows)


def ago(nanoseconds: int) -> str:
    """A length of time in its two largest units: ``3 h 12 min``."""
    seconds = abs(nanoseconds) // 1_000_000_000
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    for (large, size), (small, part) in pairwise(units):
        if seconds >= size:
            rest = seconds % size // part
            return f"{seconds // size} {large} {rest} {small}" if rest else f"{seconds // size} {large}"
    return f"{seconds} s"


def count(number: int, noun: str) -> str:
    """``1 record``, ``2 records``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
