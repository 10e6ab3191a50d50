"""Ids as path segments: one id, one name, on every backend, and none that leads elsewhere.

Decided here: the encoding of SPEC.md#path-segments.
Not decided here: which ids a record may hold (``schemas``), and which segments make up a key (``store``).
"""

from __future__ import annotations

import re
from functools import lru_cache

_OTHER = re.compile(rb"^\.|[^A-Za-z0-9._-]")
_SEGMENT = re.compile(r"(?:[A-Za-z0-9._-]|=[0-9A-F]{2})+")
_ESCAPE = re.compile(rb"=([0-9A-F]{2})")


def encode_segment(identifier: str) -> str:
    """`identifier` as a path segment.

    Every UTF-8 byte outside ``[A-Za-z0-9._-]``, and a leading dot, becomes ``=`` and two upper-case hex
    digits.

    Raises:
        ValueError: the id is empty, or holds a lone surrogate, so that it has no UTF-8 form.
    """
    if not identifier:
        raise ValueError("an empty id has no path segment")
    return _OTHER.sub(lambda found: b"=%02X" % found[0][0], identifier.encode()).decode("ascii")


@lru_cache(maxsize=64)
def decode_segment(segment: str) -> str:
    """The id that `segment` was made from.

    Raises:
        ValueError: `encode_segment` never gives this segment, so it names no id.
    """
    if not _SEGMENT.fullmatch(segment):
        raise ValueError("expected letters, digits, '.', '_', '-', and '=' with two upper-case hex digits")
    raw = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode("ascii")), segment.encode("ascii"))
    identifier = raw.decode()
    # one id has one segment: "=41" would be a second name of "A", and ".x" one of a hidden file
    if encode_segment(identifier) != segment:
        raise ValueError("expected an id encoded in the one canonical way")
    return identifier
