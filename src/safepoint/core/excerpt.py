"""The accused line as it may be shown: a window of it around the accused place, with every value masked.

Decided here: what of a stored text may be seen by whoever reads a report. Names of members, punctuation, ``true``,
``false``, ``null`` and the empty string stay; every other string and number becomes a mask. Of the values only three
members of the record itself stay, and only where they hold a word of the format: ``recordType``, ``schemaVersion``
and ``status``. They tell records of a JSON Lines file apart, and a word that SPEC.md lists is nobody's secret.

In doubt it is masked. A name is only what stands in a name's place of a text that was sound up to there: behind the
first thing that JSON does not allow, no string is taken for a name, since a lost quote or comma turns values into
what looks like names. A name that holds punctuation is masked as well: it may be one that lost its closing quote and
has swallowed the value behind it. So no single damage to a sound text, wherever it is, lets a value through.

Not decided here: how wide the window finally is, and what becomes of control characters (``render``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from safepoint.core.finding import Excerpt
from safepoint.core.kind import KINDS
from safepoint.core.status import OLD_STATUSES
from safepoint.core.version import Version

BEFORE, AFTER = 800, 800
"""Bytes of the line that are looked at on either side: more than any screen is wide, less than a line of 16 MB."""

FAR = 2**20
"""So many bytes before a window are read to know which strings are names there. Further on nothing is taken for a
name: it would cost seconds in a text of 16 MB, and the masks are safe without."""

_DEEP = 1000
"""Levels that are followed."""

_TOKEN = re.compile(
    rb"""
      (?P<space>[ \t\n\r]++|\A\xef\xbb\xbf)
    | (?P<sign>[{}\[\],:])
    | (?P<string>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
    | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+(?![^ \t\n\r{}\[\],:"]))
    | (?P<word>(?:true|false|null)(?![^ \t\n\r{}\[\],:"]))
    | (?P<torn>"(?:[^"\\\n]++|\\.)*+"?)
    | (?P<junk>[^ \t\n\r{}\[\],:"]++)
    """,
    re.VERBOSE,
)
"""One token, sound or not: of any bytes one of these begins at each of them."""

_COLON = re.compile(rb"[ \t\n\r]*+:")

_PUNCTUATION = re.compile(rb"[{}\[\],:]")

_KINDS = frozenset().union(*KINDS.values())

_Next = Literal["value", "value or ]", "name", "name or }", ":", ","]


def excerpt(data: bytes, offset: int, end: int | None = None, *, show_values: bool = False) -> Excerpt:
    """As `excerpts`, for one place."""
    return excerpts(data, [(offset, end)], show_values=show_values)[0]


def excerpts(
    data: bytes, places: Iterable[tuple[int, int | None]], *, show_values: bool = False
) -> list[Excerpt]:
    """The line of `data` around each of the `places`, in their order; lines end with a line feed.

    Args:
        data: one JSON text, from its first byte; it may be damaged.
        places: the accused bytes: where they begin, and where they end (None: with the token that begins there).
        show_values: nothing is masked.
    """
    places = list(places)
    reading = _Reading(data)
    found: dict[tuple[int, int | None], Excerpt] = {}
    for offset, end in sorted(set(places), key=lambda place: place[0]):
        window = _Window(data, offset)
        found[offset, end] = _plain(window, end) if show_values else _masked(window, end, reading)
    return [found[place] for place in places]


class _Window:
    """The bytes that are looked at: the line of `offset`, or as much of it as lies near."""

    def __init__(self, data: bytes, offset: int) -> None:
        self.data = data
        self.offset = offset = min(max(offset, 0), len(data))
        near = max(offset - BEFORE, 0)
        self.begin = max(data.rfind(b"\n", near, offset) + 1, near)
        self.cut_before = self.begin > 0 and not data.endswith(b"\n", 0, self.begin)
        if self.cut_before:
            self.begin = next(at for at in range(self.begin, offset + 1) if at == offset or _starts(data, at))
        far = min(offset + AFTER, len(data))
        line_end = data.find(b"\n", offset, far)
        self.end = far if line_end < 0 else line_end
        self.cut_after = line_end < 0 and far < len(data) and not data.startswith(b"\n", far)
        if self.cut_after:
            self.end = next(at for at in range(far, offset - 1, -1) if at == offset or _starts(data, at))
        elif self.end - 1 > offset and data.endswith(b"\r", 0, self.end):
            self.end -= 1  # of a line end, unless it is what is accused

    def excerpt(self, parts: Iterable[str], end: int) -> Excerpt:
        """The parts, marked where the line goes on; the accused bytes go to `end`."""
        before, accused, after = parts
        whole = not (self.cut_after and end == self.end)
        columns = len(self.data[self.offset : end].decode(errors="replace")) if whole else 0
        if self.cut_before and not before.startswith("…"):
            before = "…" + before
        if self.cut_after and not after.endswith("…"):
            after += "…"
        return Excerpt(before, accused, after, columns)


def _starts(data: bytes, at: int) -> bool:
    """Whether a character begins at that byte."""
    return data[at] & 0xC0 != 0x80


def _plain(window: _Window, end: int | None) -> Excerpt:
    data, offset = window.data, window.offset
    if end is None:
        token = _TOKEN.match(data, offset, window.end)
        end = _end(token) if token else offset
    end = min(max(end, offset), window.end)
    cuts = (slice(window.begin, offset), slice(offset, end), slice(end, window.end))
    return window.excerpt((data[cut].decode(errors="replace") for cut in cuts), end)


def _masked(window: _Window, end: int | None, reading: _Reading) -> Excerpt:
    data, offset, parts = window.data, window.offset, ["", "", ""]
    reading.go_to(window.begin)
    reading = reading.copy()
    until = end  # where the accused tokens end
    reached = offset
    while reading.position < window.end:
        token = reading.match(window.end)
        mask = reading.take(token)
        begin, stop = max(token.start(), window.begin), token.end()
        if until is None and begin <= offset < stop:
            until = _end(token, offset)
        last = offset if until is None else max(until, offset)
        if mask is None:
            middle, right = min(max(offset, begin), stop), min(max(last, begin), stop)
            cuts = (slice(begin, middle), slice(middle, right), slice(right, stop))
            for number, cut in enumerate(cuts):
                parts[number] += data[cut].decode(errors="replace")
            reached = right if right > middle else reached
        else:
            number = 0 if stop <= offset else 2 if begin >= last else 1
            # behind a damage masks stand side by side: one says it all
            parts[number] += "" if parts[number].endswith("…") else mask
            reached = stop if number == 1 else reached
    return window.excerpt(parts, reached)


def _end(token: re.Match[bytes], offset: int | None = None) -> int:
    """Where what is accused ends if it begins within `token`: of white space it is one byte."""
    begin = token.start() if offset is None else offset
    return begin + 1 if token.lastgroup == "space" and token[0].isascii() else token.end()


class _Reading:
    """A text read token by token, as far as it is needed to know which strings are names."""

    __slots__ = ("_data", "_name", "_next", "_objects", "_sound", "position")

    def __init__(self, data: bytes) -> None:
        self.position = 0
        self._data = data
        self._sound = True
        """Whether all of it was JSON up to here; once it was not, nothing is a name any more."""
        self._objects: list[bool] = []
        """Of each open container, whether it is an object."""
        self._next: _Next | None = "value"
        self._name = b""
        """The member of the record itself whose value is next or at hand."""

    def copy(self) -> _Reading:
        """The same state, to read on from without losing it."""
        twin = _Reading(self._data)
        twin.position, twin._sound, twin._objects = self.position, self._sound, self._objects.copy()
        twin._next, twin._name = self._next, self._name
        return twin

    def go_to(self, position: int) -> None:
        """Read on, up to the beginning of the token that reaches beyond `position`."""
        if position - self.position > FAR:
            # Wherever in a string or outside of one this is: unsound text is masked inside and out.
            self.position, self._sound = position, False
        while self.position < position:
            token = self.match(position + 1)
            if token.end() > position:
                return
            self.take(token)

    def match(self, end: int) -> re.Match[bytes]:
        """The token at hand, of the bytes before `end`."""
        token = _TOKEN.match(self._data, self.position, end)
        assert token is not None
        return token

    def take(self, token: re.Match[bytes]) -> str | None:
        """Read on behind `token`.

        Returns:
            What is to be shown in its place; None: itself.
        """
        self.position = token.end()
        match token.lastgroup:
            case "space":
                return None
            case "sign":
                self._sound = self._sound and self._sign(token[0].decode())
                return None
            case "word" | "number":
                self._sound = self._sound and self._value()
                return None if token.lastgroup == "word" else "…"
            case "string" if self._sound:
                return self._string(token)
        opened = self._sound and token.lastgroup == "torn"
        self._sound = False
        return '"…' if opened else "…"

    def _string(self, token: re.Match[bytes]) -> str | None:
        content = token[0][1:-1]
        if self._next in {"name", "name or }"} and _COLON.match(self._data, token.end()):
            self._next = ":"
            self._name = content if len(self._objects) == 1 else b""
            return '"…"' if _PUNCTUATION.search(content) else None
        self._sound = self._value()
        at_top = self._sound and len(self._objects) == 1
        return None if not content or (at_top and _is_of_the_format(self._name, content)) else '"…"'

    def _value(self) -> bool:
        """Whether a value may stand here; it was read."""
        allowed = self._next in {"value", "value or ]"}
        self._next = "," if self._objects else None
        return allowed

    def _sign(self, sign: str) -> bool:
        """Whether this punctuation may stand here; it was read."""
        inside, expected = self._objects[-1] if self._objects else None, self._next
        match sign:
            case "{" | "[":
                self._objects.append(sign == "{")
                self._next = "name or }" if sign == "{" else "value or ]"
                return expected in {"value", "value or ]"} and len(self._objects) <= _DEEP
            case "}" | "]":
                if inside is None:
                    return False
                self._objects.pop()
                self._next = "," if self._objects else None
                return inside == (sign == "}") and expected in {",", f"name or {sign}", f"value or {sign}"}
            case ",":
                self._next = "name" if inside else "value"
                return expected == ","
        self._next = "value"
        return expected == ":"


def _is_of_the_format(name: bytes, content: bytes) -> bool:
    """Whether SPEC.md itself lists this value of this member of a record."""
    text = content.decode(errors="replace")
    match name:
        case b"recordType":
            return text in _KINDS
        case b"schemaVersion":
            return len(text) <= len("v10.10") and Version.parse(text) is not None
        case b"status":
            return text in OLD_STATUSES
    return False
