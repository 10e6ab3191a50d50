"""JSON Pointers (RFC 6901): how a fault names a place inside a value.

Decided here: the text form of a pointer, and what it leads to in a parsed value.
Not decided here: where that place lies in the bytes (``locate``).
"""

from __future__ import annotations

import re
from typing import Any

_GRAMMAR = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]*")


def join(*tokens: str | int) -> str:
    """The pointer whose reference tokens are `tokens`: member names and array indices from the root down."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def split(pointer: str) -> list[str]:
    """The reference tokens of `pointer`, unescaped; none for the whole value.

    Raises:
        ValueError: `pointer` breaks the grammar of RFC 6901 §3.
    """
    if not _GRAMMAR.fullmatch(pointer):
        raise ValueError("expected a JSON Pointer: empty, or tokens that each begin with '/'")
    # "~1" first: "~01" means the two characters "~1"
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def resolve(value: Any, pointer: str) -> Any:
    """What `pointer` leads to in `value`.

    Raises:
        KeyError: it leads nowhere, or is no pointer.
    """
    try:
        tokens = split(pointer)
    except ValueError as error:
        raise KeyError(pointer) from error
    for token in tokens:
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list) and _INDEX.fullmatch(token) and _is_below(token, len(value)):
            value = value[int(token)]
        else:
            raise KeyError(pointer)
    return value


def _is_below(digits: str, length: int) -> bool:
    # lengths first: int() refuses thousands of digits with an error of its own
    return len(digits) <= len(str(length)) and int(digits) < length
