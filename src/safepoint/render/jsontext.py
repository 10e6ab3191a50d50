"""JSON documents that are written while what they list is still being found.

Decided here: that the bytes are those of `to_json` for the whole document, which is never in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from safepoint.render.terminal import to_json

_INDENT = "  "


def indented(value: Any, depth: int) -> str:
    """`value` as it stands in a document at `depth` levels; the first line is not indented."""
    # line feeds in texts are escaped, so these are only the ones between the lines
    return to_json(value).decode().rstrip("\n").replace("\n", "\n" + _INDENT * depth)


def array_pieces(items: Iterable[Any], depth: int) -> Iterator[str]:
    """The pieces of an array at `depth` levels; each item is rendered when it comes."""
    opening = "["
    for item in items:
        yield f"{opening}\n{_INDENT * (depth + 1)}{indented(item, depth + 1)}"
        opening = ","
    yield "[]" if opening == "[" else f"\n{_INDENT * depth}]"
