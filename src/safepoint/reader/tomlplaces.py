"""On which line of a TOML text a member stands, for whoever has to mend it.

Decided here: that a member which cannot be found is shown by its nearest ancestor that can. The standard library's
parser keeps no places; this only looks at lines of a text which that parser has accepted, and never decides anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from safepoint.core.pointer import split

_TABLE = re.compile(r"\s*\[(?P<array>\[?)\s*(?P<name>[^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')"
_KEY = re.compile(rf"\s*(?P<name>{_PART}(?:\s*\.\s*{_PART})*)\s*=")


def line_of(text: str, pointer: str) -> int:
    """The line of the TOML `text`, from 1, on which the member begins that `pointer` leads to.

    A member of an inline table or of an array in brackets is shown by the line on which that begins, a table without a
    line of its own by its first member.
    """
    wanted = split(pointer)
    table: list[str] = []
    newest: dict[tuple[str, ...], int] = {}
    best, line = 0, 1
    for number, content in enumerate(text.splitlines(), 1):
        if found := _TABLE.match(content):
            here = _indexed(_parts(found["name"]), newest)
            if found["array"]:
                newest[tuple(here)] = newest.get(tuple(here), -1) + 1
                here.append(str(newest[tuple(here)]))
            table = here
        elif found := _KEY.match(content):
            here = [*table, *_parts(found["name"])]
        else:
            continue
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(here, wanted, strict=False)))
        if shared > best:
            best, line = shared, number
    return line


def _indexed(parts: list[str], newest: Mapping[tuple[str, ...], int]) -> list[str]:
    """The way to a table, with the number of the newest entry behind each array of tables before the last part."""
    way: list[str] = []
    for part in parts:
        if tuple(way) in newest:
            way.append(str(newest[tuple(way)]))
        way.append(part)
    return way


def _parts(name: str) -> list[str]:
    """The parts of a dotted key, as the parser reads it; none of what is no key after all."""
    import tomllib

    try:
        value: Any = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        return []
    parts = []
    while isinstance(value, dict):
        part, value = next(iter(value.items()))
        parts.append(part)
    return parts
