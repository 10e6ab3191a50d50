"""JSON text read byte by byte: every fault with its place, and where each value begins.

The reference that decides what strict JSON is (SPEC.md#strict-json; RFC 8259 and RFC 7493). It is slow, and
has two uses: ``strictjson`` for texts that something is wrong with, and ``locate``. It does not recurse, so
that no nesting exhausts the stack, and no fault about a value stops it, so that one look tells all of them.

Not decided here: limits of size, and what torn lines of a JSON Lines file are called (``jsonlines``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from safepoint.core.fault import Fault
from safepoint.core.pointer import join

SAFE_INTEGER = 2**53 - 1
"""The largest integer that every reader keeps exactly (RFC 7493 §2.2)."""

MOST_FAULTS = 1000
"""A text with so many faults is given up on: a hostile one could hold millions."""

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(rb"[ \t\n\r]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_CONTROL = re.compile(rb"[\x00-\x1f]*")
_ESCAPE = re.compile(rb'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))')
_CUT_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_LOW_SURROGATE = re.compile(rb"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
# the end is pinned, so that 01 and 1.5.2 are malformed and not a number with something behind it
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?![-+.0-9eE])")
_NUMBER_LIKE = re.compile(rb"[-+.0-9][-+.0-9eE]*")
_WORD = re.compile(rb"[A-Za-z]+")
_NOT_A_NUMBER = re.compile(rb"-?(?:NaN|Infinity)(?![A-Za-z])")

_CHARACTERS = dict(zip(b'"\\/bfnrt', '"\\/\b\f\n\r\t', strict=True))
_WORDS: dict[bytes, bool | None] = {b"true": True, b"false": False, b"null": None}


class _EndOfScan(Exception):  # noqa: N818 - not an error but control flow: the text cannot be read further
    pass


class Scanner:
    """One reading of one text."""

    def __init__(self, data: bytes, depth: int) -> None:
        self.path: list[str | int] = []
        """Names and indices that lead to the value at hand."""
        self.faults: list[Fault] = []
        """What is wrong, in the order of the bytes."""
        self.value: Any = None
        """The text's value once all was read; meaningless where there are faults."""
        self._data = data
        self._depth = depth
        self._open: list[dict[str, Any] | list[Any]] = []

    def steps(self) -> Iterator[tuple[int, int]]:
        """Read the text once, with a stop at the beginning of each value, to which `path` leads then.

        Yields:
            The bytes where the member's name begins (the value itself, where it has no name) and its value.
        """
        try:
            yield from self._text()
        except _EndOfScan:
            return

    def _text(self) -> Iterator[tuple[int, int]]:
        position = 0
        if self._data.startswith(_BOM):
            position = len(_BOM)
            self._tell("SP101", "the text begins with a byte order mark (BOM): expected UTF-8 without one", 0)
        position = name = self._skip(position)
        if position == len(self._data):
            raise self._stop("SP111", "the text is empty: expected one JSON value", 0)
        while True:
            yield name, position
            value, position = self._value(position)
            if self._open and value is self._open[-1]:  # just opened, and not empty: its first member is next
                name, position = self._member(position)
                continue
            while self._open:
                container = self._open[-1]
                if isinstance(container, dict):
                    container[str(self.path[-1])] = value
                    closer = b"}"
                else:
                    container.append(value)
                    closer = b"]"
                position = self._skip(position)
                if self._data.startswith(b",", position):
                    name, position = self._member(self._skip(position + 1))
                    break
                if not self._data.startswith(closer, position):
                    raise self._unexpected(f"',' or '{closer.decode()}'", position, len(self.path) - 1)
                value = self._open.pop()
                self.path.pop()
                position += 1
            else:  # every container is closed
                self.value = value
                self._end(position)
                return

    def _end(self, position: int) -> None:
        position = self._skip(position)
        if position < len(self._data):
            raise self._bad_character(position, 0) or self._stop(
                "SP117", "more text follows the JSON value: expected nothing behind it", position
            )

    # values

    def _value(self, position: int) -> tuple[Any, int]:
        """The scalar or empty container at `position`, or the container just opened; and where to go on."""
        byte = self._data[position : position + 1]
        if byte == b'"':
            text, position, _ = self._string(position, len(self.path))
            return text, position
        if byte == b"{":
            return self._container({}, b"}", position)
        if byte == b"[":
            return self._container([], b"]", position)
        if found := _NUMBER.match(self._data, position):
            return self._number(found), found.end()
        if found := _NOT_A_NUMBER.match(self._data, position):
            self._tell("SP105", f"{found[0].decode()} is no JSON number: expected a number or null", position)
            return None, found.end()
        if found := _NUMBER_LIKE.match(self._data, position):
            if found.end() == len(self._data):
                raise self._cut("the rest of a number", len(self.path))
            raise self._stop("SP103", "a malformed number: expected a form such as 0, -12 or 1.5e3", position)
        return self._word(position)

    def _container(
        self, empty: dict[str, Any] | list[Any], closer: bytes, position: int
    ) -> tuple[dict[str, Any] | list[Any], int]:
        if len(self._open) == self._depth:
            raise self._stop("SP109", f"nested too deeply: expected at most {self._depth} levels", position)
        position = self._skip(position + 1)
        if self._data.startswith(closer, position):
            return empty, position + 1
        self._open.append(empty)
        self.path.append("")
        return empty, position

    def _member(self, position: int) -> tuple[int, int]:
        """Read up to the next value: where its name begins (in an array: the value), and the value."""
        container = self._open[-1]
        if isinstance(container, list):
            self.path[-1] = len(container)
            return position, position
        level = len(self.path) - 1
        if not self._data.startswith(b'"', position):
            raise self._unexpected("a member's name in double quotes", position, level)
        name, end, sound = self._string(position, level)
        self.path[-1] = name
        if sound and name in container:
            message = (
                "the name occurs twice in one object: expected once, for readers differ in which they keep"
            )
            self._tell("SP104", message, position)
        end = self._skip(end)
        if not self._data.startswith(b":", end):
            raise self._unexpected("':' after a member's name", end, level + 1)
        return position, self._skip(end + 1)

    def _number(self, found: re.Match[bytes]) -> float | None:
        digits = found[0]
        if found[1]:
            number = float(digits)
            if math.isinf(number):
                message = "a number too large for a 64-bit float: expected at most about 1.8e308"
                self._tell("SP106", message, found.start())
            return number
        # the length first: int() refuses thousands of digits with an error of its own
        if len(digits) > 17 or abs(int(digits)) > SAFE_INTEGER:
            message = f"an integer that many readers round: expected at most {SAFE_INTEGER} (2^53-1) in size"
            self._tell("SP107", message, found.start())
            return None
        return int(digits)

    def _word(self, position: int) -> tuple[bool | None, int]:
        found = _WORD.match(self._data, position)
        if found and found[0] in _WORDS:
            return _WORDS[found[0]], found.end()
        if found and found.end() == len(self._data) and any(word.startswith(found[0]) for word in _WORDS):
            raise self._cut("the rest of true, false or null", len(self.path))
        raise self._unexpected("a JSON value", position, len(self.path))

    # strings

    def _string(self, start: int, level: int) -> tuple[str, int, bool]:
        """The string whose quote is at `start`, where it ends, and whether it is sound.

        Of each code only the string's first fault is told; `level` tokens of the path lead to it.
        """
        pieces: list[str] = []
        told: set[str] = set()

        def tell(code: str, message: str, offset: int) -> None:
            if code not in told:
                told.add(code)
                self._tell(code, message, offset, level)

        position = start + 1
        while True:
            plain = _match(_PLAIN, self._data, position)
            pieces.append(_decode(plain, tell))
            position = plain.end()
            byte = self._data[position : position + 1]
            if byte == b'"':
                return "".join(pieces), position + 1, not told
            if byte == b"\\":
                character, position = self._escape(position, level, tell)
            elif byte:
                message = (
                    f"a raw control character (U+{byte[0]:04X}) in a string: expected an escape such as \\n"
                )
                tell("SP112", message, position)
                control = _match(_CONTROL, self._data, position)
                character, position = control[0].decode(), control.end()
            else:
                raise self._cut("the closing quote of a string", level)
            pieces.append(character)

    def _escape(self, position: int, level: int, tell: Callable[[str, str, int], None]) -> tuple[str, int]:
        """The character that the escape at `position` stands for, and where it ends."""
        found = _ESCAPE.match(self._data, position)
        if not found:
            if _CUT_ESCAPE.match(self._data, position):
                raise self._cut("the rest of an escape", level)
            message = "a malformed escape in a string: expected a form such as \\n or \\u00e9"
            raise self._stop("SP103", message, position, level)
        if found[1]:
            return _CHARACTERS[found[1][0]], found.end()
        unit = int(found[2], 16)
        if not 0xD800 <= unit <= 0xDFFF:
            return chr(unit), found.end()
        low = _LOW_SURROGATE.match(self._data, found.end())
        if low and unit < 0xDC00:
            return chr(0x10000 + (unit - 0xD800 << 10) + int(low[1], 16) - 0xDC00), low.end()
        tell("SP108", "half of a surrogate pair stands alone in a string: expected both halves", position)
        return "\ufffd", found.end()

    # faults

    def _skip(self, position: int) -> int:
        return _match(_SPACE, self._data, position).end()

    def _tell(self, code: str, message: str, offset: int, level: int | None = None) -> None:
        """Note a fault; `level` tokens of the path lead to it (None: all of them)."""
        self.faults.append(Fault(code, message, join(*self.path[:level]), offset))
        if len(self.faults) == MOST_FAULTS:
            raise _EndOfScan

    def _stop(self, code: str, message: str, offset: int, level: int | None = None) -> _EndOfScan:
        self._tell(code, message, offset, level)
        return _EndOfScan()

    def _cut(self, expected: str, level: int) -> _EndOfScan:
        return self._stop("SP103", f"the text ends too soon: expected {expected}", len(self._data), level)

    def _unexpected(self, expected: str, position: int, level: int) -> _EndOfScan:
        if position == len(self._data):
            return self._cut(expected, level)
        if bad := self._bad_character(position, level):
            return bad
        character = self._data[position : position + 4].decode(errors="ignore")[0]
        got = (
            repr(character) if character.isascii() and character.isprintable() else f"U+{ord(character):04X}"
        )
        return self._stop("SP103", f"expected {expected}, got {got}", position, level)

    def _bad_character(self, position: int, level: int) -> _EndOfScan | None:
        """The end of the scan, if no valid UTF-8 character begins at `position`."""
        try:
            self._data[position : position + 4].decode()
        except UnicodeDecodeError as error:
            if error.start == 0:
                return self._stop("SP102", _bad_utf8(self._data[position]), position, level)
        return None


def _match(pattern: re.Pattern[bytes], data: bytes, position: int) -> re.Match[bytes]:
    """The match of a pattern that also matches nothing at all."""
    found = pattern.match(data, position)
    assert found is not None
    return found


def _decode(plain: re.Match[bytes], tell: Callable[[str, str, int], None]) -> str:
    try:
        return plain[0].decode()
    except UnicodeDecodeError as error:
        tell("SP102", _bad_utf8(plain[0][error.start]), plain.start() + error.start)
        return plain[0].decode(errors="replace")


def _bad_utf8(byte: int) -> str:
    return f"byte 0x{byte:02X} begins no valid UTF-8 character: expected UTF-8"
