"""What a user may write where codes are selected or ignored.

Decided here: ``SP214``, ``SP2`` for all that begin so, and ``missing-version`` mean codes; anything else is a mistake
that is named. Not decided here: what the codes mean (``rules``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from safepoint.rules import catalogue

NEVER_HIDDEN = frozenset({"SP001", "SP002"})
"""Something could not be looked at: to hide that would turn "not checked" into "passed"."""

_PREFIX = re.compile(r"SP[0-9]{0,3}")
_WHOLE = 5
"""Letters of a whole code."""
_BETWEEN = re.compile(r"[\s,]+")

_LETTERS = str.maketrans("OIL", "011")
"""Letters that are typed for digits."""


class CodesError(ValueError):
    """What was written means no code."""


def parse_codes(texts: str | Iterable[str]) -> frozenset[str]:
    """The codes that `texts` name: each one or several, with commas or blanks between them.

    Raises:
        CodesError: one of them is no code, no beginning of a code, and no code's name.
    """
    return frozenset(code for word in _words(texts) for code in _parse(word))


def parse_ignored(texts: str | Iterable[str]) -> frozenset[str]:
    """As `parse_codes`, for codes that are to be ignored.

    Raises:
        CodesError: also for a code that is never hidden, where it is named outright.
    """
    words = _words(texts)
    ignored = parse_codes(words)
    if named := {word.upper() for word in words} & NEVER_HIDDEN:
        raise CodesError(f"{min(named)} is never ignored: what was not looked at has not passed")
    return ignored - NEVER_HIDDEN


def hint(word: str) -> str:
    """What may have been meant by `word`, which means no code."""
    from difflib import get_close_matches

    known = catalogue.codes()
    if _PREFIX.fullmatch(word.upper()):
        hundreds = sorted({code.id[:3] for code in known})
        if (hundred := word.upper()[:3]) in hundreds:
            return f"safepoint explain {hundred} lists those that begin so"
        return f"codes begin with {hundreds[0]} to {hundreds[-1]}; safepoint explain lists all"
    typed = word.upper()[:2] + word.upper()[2:].translate(_LETTERS)
    near = get_close_matches(typed, [code.id for code in known], n=1 if typed != word.upper() else 2)
    near = near or get_close_matches(word.lower(), [code.name for code in known], n=2)
    return f"did you mean {' or '.join(near)}?" if near else "safepoint explain lists all codes"


def _words(texts: str | Iterable[str]) -> list[str]:
    given = [texts] if isinstance(texts, str) else texts
    return [word for text in given for word in _BETWEEN.split(text) if word]


def _parse(word: str) -> frozenset[str]:
    wanted = word.upper()
    if _PREFIX.fullmatch(wanted):
        if len(wanted) == _WHOLE:
            try:
                return frozenset({catalogue.code(wanted).id})
            except KeyError:
                pass
        elif found := frozenset(known.id for known in catalogue.codes() if known.id.startswith(wanted)):
            return found
    by_name = {known.name: known.id for known in catalogue.codes()}
    if word.lower() in by_name:
        return frozenset({by_name[word.lower()]})
    raise CodesError(
        f"{word!r} is no code, no beginning of codes such as SP3, and no code's name; {hint(word)}"
    )
