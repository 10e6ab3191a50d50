"""A few texts that fit a regular expression, to be tried as payloads.

Decided here: nothing for good; whoever takes such a text asks the real engine whether it fits. Of expressions with
look-around, back references or flags there are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_VARIANTS = 8
_MANY = (0, 1, 2, 9)
"""How many more than the fewest repetitions are tried."""

_CLASSES = {"d": "07", "w": "aZ_5", "s": " ", "D": "a", "W": "-", "S": "a"}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}

_Piece = Callable[[int], str]
"""Gives a text for each variant."""


def samples(pattern: str) -> list[str]:
    """Texts in which the engine finds `pattern`, the simplest first."""
    try:
        piece = _Reading(pattern).whole()
        found = dict.fromkeys(piece(variant) for variant in range(_VARIANTS))
        return [text for text in found if re.search(pattern, text)]
    except (_UnknownError, re.error, RecursionError, OverflowError):
        return []


class _UnknownError(Exception):
    """The expression has something that is not understood here."""


class _Reading:
    """Reads one expression."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def whole(self) -> _Piece:
        found = self._alternatives()
        if self._at < len(self._text):
            raise _UnknownError
        return found

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        letter = self._peek()
        if not letter:
            raise _UnknownError
        self._at += 1
        return letter

    def _alternatives(self) -> _Piece:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._next()
            branches.append(self._sequence())
        return lambda variant: branches[variant % len(branches)](variant // len(branches))

    def _sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while self._peek() not in {"", "|", ")"}:
            pieces.append(self._repeated(self._atom()))
        return lambda variant: "".join(piece(variant) for piece in pieces)

    def _atom(self) -> _Piece:
        letter = self._next()
        match letter:
            case "^" | "$":
                return lambda _: ""
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                return _one_of(self._escape())
            case ".":
                return _one_of("aZ0 ")
            case "*" | "+" | "?":
                raise _UnknownError
        return lambda _: letter

    def _group(self) -> _Piece:
        if self._peek() == "?":
            self._next()
            kind = self._next()
            if kind == "P" and self._peek() == "<":
                while self._next() != ">":
                    pass
            elif kind != ":":
                raise _UnknownError
        inner = self._alternatives()
        if self._next() != ")":
            raise _UnknownError
        return inner

    def _escape(self) -> str:
        letter = self._next()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter in {"A", "Z", "b"}:
            return ""
        if letter in {"u", "x"}:
            digits = "".join(self._next() for _ in range(4 if letter == "u" else 2))
            try:
                return chr(int(digits, 16))
            except ValueError as error:
                raise _UnknownError from error
        if letter.isalnum() and letter not in _CONTROLS:
            raise _UnknownError
        return _CONTROLS.get(letter, letter)

    def _class(self) -> _Piece:
        negated = self._peek() == "^"
        if negated:
            self._next()
        letters: list[str] = []
        first = True
        while first or self._peek() != "]":
            first = False
            letter = self._next()
            found = self._escape() if letter == "\\" else letter
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in {"]", ""}:
                self._next()
                end = self._next()
                end = self._escape() if end == "\\" else end
                letters += [found, end, chr((ord(found[0]) + ord(end[0])) // 2)]
            else:
                letters += found
        self._next()
        if negated:
            text = re.escape("".join(letters))
            letters = [one for one in "aZ0_- é" if not re.search(f"[{text}]", one)]
        return _one_of("".join(letters))

    def _repeated(self, piece: _Piece) -> _Piece:
        least, most = 1, 1
        for counts in self._counts():
            least, most = counts

        def repeat(variant: int) -> str:
            more = _MANY[variant % len(_MANY)]
            times = least + more if most < 0 else min(least + more, most)
            return "".join(piece(variant + number) for number in range(min(times, 2000)))

        return repeat

    def _counts(self) -> Iterator[tuple[int, int]]:
        letter = self._peek()
        counted = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}").match(self._text, self._at)
        if letter in {"*", "+", "?"} and letter:
            self._next()
            yield {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[letter]
        elif counted:
            self._at = counted.end()
            least = int(counted[1])
            yield least, least if counted[2] is None else int(counted[3]) if counted[3] else -1
        else:
            return
        if self._peek() == "?":
            self._next()


def _one_of(letters: str) -> _Piece:
    return lambda variant: letters[variant % len(letters)] if letters else ""
