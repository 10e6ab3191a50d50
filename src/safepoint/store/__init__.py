"""Where bytes lie: stores on disk and elsewhere, their layout, and the put-if-absent that a journal rests on.

Decided here: which names exist, how they are listed, read and claimed, and how failures are named.
Not decided here: what the bytes mean. The only room that knows fsspec.
"""

from safepoint.store.base import Entry, Outcome, Store
from safepoint.store.errors import (
    AbsentError,
    DeniedError,
    NoSpaceError,
    OutsideStoreError,
    StoreError,
    TooLargeError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
)
from safepoint.store.opening import open_store

__all__ = [
    "AbsentError",
    "DeniedError",
    "Entry",
    "NoSpaceError",
    "Outcome",
    "OutsideStoreError",
    "Store",
    "StoreError",
    "TooLargeError",
    "UnreachableError",
    "UnreadableError",
    "UnsupportedError",
    "open_store",
]
