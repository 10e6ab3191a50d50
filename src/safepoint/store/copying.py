"""What all that writes to a place beside a store needs: copies, anchors, packed forms.

Decided here: whether two places lie apart, and that an object which is there already counts only if it is the same.
Not decided here: what is written (``migrate``, ``upkeep``).
"""

from __future__ import annotations

import os
import time
from hashlib import sha256

from safepoint.store.base import Outcome, Store
from safepoint.store.errors import AbsentError, StoreError, UnreachableError
from safepoint.store.opening import local_path

_TRIES = 5
"""How often a name is tried whose outcome is unclear."""

_PAUSE = 0.05
"""Seconds before the second try, doubled each time."""

_ALIKE = {"s3a": "s3", "gcs": "gs", "abfs": "az", "abfss": "az"}
"""Protocols that are another name for the same storage."""


def put(target: Store, key: str, data: bytes) -> bool:
    """Whether `key` holds exactly `data` now, whoever wrote it; False: it holds something else.

    Nothing is ever overwritten.

    Raises:
        UnreachableError: nobody can tell.
        StoreError: nothing was written.
    """
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE * 2**attempt)
        outcome = target.put_if_absent(key, data)
        if outcome is not Outcome.UNKNOWN:
            return outcome is Outcome.WON or target.get(key) == data
    problem = "nobody can tell whether it was written"
    raise UnreachableError(
        target.url_of(key), problem, key, "do the same again when the storage answers: what is there counts"
    )


def digest_in(store: Store, key: str) -> str:
    """The digest of what `key` holds, which is never held whole; errors as in `Store.pieces`."""
    found = sha256()
    for piece in store.pieces(key):
        found.update(piece)
    return f"sha256:{found.hexdigest()}"


def keys_of(target: Store) -> set[str]:
    """The names of all that is in `target`; none where there is no such store yet."""
    try:
        return {entry.key for entry in target.list()}
    except AbsentError:
        return set()


def overlap(one: str, other: str) -> bool:
    """Whether one of two paths or URLs lies in the other, by whatever names they are called; in doubt it does.

    A copy that lies in its store would be met by the listing that it is made from, and what vouches for a store would
    be changed and lost with it.
    """
    first, second = _place(one), _place(other)
    return first.startswith(second) or second.startswith(first)


def absolute(url: str) -> str:
    """`url` in one spelling: a path with its links followed, a URL without a slash behind it."""
    path = local_path(url)
    return url.rstrip("/") if path is None else os.path.realpath(path)


def _place(url: str) -> str:
    """Where the bytes of a path or URL lie, as one text with a slash behind it."""
    try:
        path = local_path(url)
    except StoreError:
        path = None
    if path is not None:
        return os.path.realpath(path).rstrip(os.sep) + os.sep
    before, chained, last = url.rpartition("::")
    if chained and last:
        return _place(last)  # a cache, or a way into an archive: the storage stands at the end of a chain
    scheme, _, rest = (before or url).partition("://")
    scheme = _ALIKE.get(scheme.lower(), scheme.lower())
    root, *names = rest.split("/")
    if scheme == "az":
        root = root.partition("@")[0]  # the account behind it may as well be said by an option
    return "/".join([f"{scheme}:/", *(name for name in (root, *names) if name not in {"", "."}), ""])
