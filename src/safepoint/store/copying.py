"""What every copy of a store to a new place needs.

Decided here: that source and target lie apart, and that an object which is there already counts only if it is the same.
Not decided here: what is copied (``migrate``, ``upkeep``).
"""

from __future__ import annotations

from pathlib import Path

from safepoint.store.base import Outcome, Store
from safepoint.store.errors import AbsentError, UnreachableError
from safepoint.store.opening import local_path

_ATTEMPTS = 5
"""How often an unclear answer to a write is asked again."""


def put(target: Store, key: str, data: bytes) -> bool:
    """Whether `key` holds `data` now, whoever wrote it; nothing is ever overwritten.

    Raises:
        UnreachableError: nobody can tell.
        StoreError: nothing was written.
    """
    for _ in range(_ATTEMPTS):
        outcome = target.put_if_absent(key, data)
        if outcome is not Outcome.UNKNOWN:
            return outcome is Outcome.WON or target.get(key) == data
    raise UnreachableError(target.url, f"nobody can tell whether {key!a} was written", key)


def keys_of(target: Store) -> set[str]:
    """The names of all that is in `target`; none where there is no such store yet."""
    try:
        return {entry.key for entry in target.list()}
    except AbsentError:
        return set()


def overlap(one: str, other: str) -> bool:
    """Whether one store lies in the other, which would make a listing meet what was just written."""
    first, second = (f"{absolute(url)}/" for url in (one, other))
    return first.startswith(second) or second.startswith(first)


def absolute(url: str) -> str:
    """`url` in one spelling: a path with its links followed, a URL without a slash behind it."""
    path = local_path(url)
    return url.rstrip("/") if path is None else str(Path(path).resolve())
