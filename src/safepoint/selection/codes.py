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


class CodesError(ValueError):
    """What was written means no code."""


def parse_codes(texts: Iterable[str]) -> frozenset[str]:
    """The codes that `texts` name: each one or several, separated by commas.

    Raises:
        CodesError: one of them is no code, no beginning of a code, and no code's name.
    """
    words = (word.strip() for text in texts for word in text.split(","))
    return frozenset(code for word in words if word for code in _parse(word))


def parse_ignored(texts: Iterable[str]) -> frozenset[str]:
    """As `parse_codes`, for codes that are to be ignored.

    Raises:
        CodesError: also for a code that is never hidden, where it is named outright.
    """
    texts = list(texts)
    ignored = parse_codes(texts)
    for text in texts:
        if named := {word.strip().upper() for word in text.split(",")} & NEVER_HIDDEN:
            raise CodesError(f"{min(named)} is never ignored: what was not looked at has not passed")
    return ignored - NEVER_HIDDEN


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
    raise CodesError(_unknown(word, by_name.keys(), by_name.values()))


def _unknown(word: str, names: Iterable[str], ids: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.upper(), ids, n=2) or get_close_matches(word.lower(), names, n=2)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; safepoint explain lists all codes"
    return f"{word!r} is no code, no beginning of codes such as SP3, and no code's name{hint}"
