"""Many objects in their order, several of them asked for before they are wanted.

Decided here: how far ahead, and that an outage is waited for once and not once for each object.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future

from safepoint.store.base import Entry
from safepoint.store.errors import AbsentError, StoreError, UnreachableError

_AHEAD = 8 * 2**20
"""Bytes that are asked for ahead of the reader; an object of unknown size counts as `_GUESS`."""

_GUESS = 64 * 2**10


def read_ahead(
    entries: Iterable[Entry],
    at_once: int,
    begin: Callable[[Entry], Future[bytes]],
    take: Callable[[Entry, Future[bytes]], bytes],
    again: Callable[[Entry], bytes],
) -> Iterator[bytes | StoreError]:
    """Of each of `entries` its bytes, or why they could not be read.

    Args:
        entries: what a listing has met; taken as far as is asked ahead.
        at_once: how many may be under way.
        begin: asks for one; raises a `StoreError` where it must not be asked for.
        take: what became of that; raises a `StoreError`.
        again: asks once more, with patience, and waits.
    """
    ahead: deque[tuple[Entry, int, Future[bytes] | StoreError]] = deque()
    size, patient = 0, True

    def arrived(entry: Entry, answer: Future[bytes] | StoreError) -> bytes | StoreError:
        nonlocal patient
        if isinstance(answer, StoreError):
            return answer
        try:
            try:
                return take(entry, answer)
            except (AbsentError, UnreachableError) as error:
                # what was just listed and now is missing is asked for again too
                if isinstance(error, UnreachableError) and not patient:
                    return error
                return again(entry)
        except StoreError as error:
            patient = patient and not isinstance(error, UnreachableError)
            return error

    try:
        for entry in entries:
            expected = _GUESS if entry.size is None else entry.size
            while ahead and (len(ahead) >= at_once or size + expected > _AHEAD):
                first, of_first, answer = ahead.popleft()
                size -= of_first
                yield arrived(first, answer)
            try:
                ahead.append((entry, expected, begin(entry)))
            except StoreError as error:
                ahead.append((entry, expected, error))
            size += expected
        while ahead:
            first, _, answer = ahead.popleft()
            yield arrived(first, answer)
    finally:
        for _, _, answer in ahead:  # nobody wants the rest
            if isinstance(answer, Future):
                answer.cancel()
