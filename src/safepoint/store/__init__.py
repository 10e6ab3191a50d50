"""Where bytes lie: stores on disk and elsewhere, their layout, and the put-if-absent that a journal rests on.

Decided here: which names exist, how they are listed, read and claimed, and how failures are named.
Not decided here: what the bytes mean. The only room that knows fsspec.
"""

from safepoint.store.base import Entry, Outcome, Store
from safepoint.store.capabilities import Capabilities
from safepoint.store.errors import (
    AbsentError,
    ConflictError,
    CorruptError,
    DeniedError,
    NoSpaceError,
    OutsideStoreError,
    StoreError,
    ThrottledError,
    TooLargeError,
    UnreachableError,
    UnreadableError,
    UnsupportedError,
)
from safepoint.store.opening import open_store

__all__ = [
    "AbsentError",
    "Capabilities",
    "ConflictError",
    "CorruptError",
    "DeniedError",
    "Entry",
    "NoSpaceError",
    "Outcome",
    "OutsideStoreError",
    "Store",
    "StoreError",
    "ThrottledError",
    "TooLargeError",
    "UnreachableError",
    "UnreadableError",
    "UnsupportedError",
    "open_store",
]
