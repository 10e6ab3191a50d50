"""A store that is killed at a chosen operation, before it or right after it, and one that lets others in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from safepoint.store import Entry, Outcome, Store, StoreError


class KilledError(BaseException):
    """The process ends here; like a kill, nothing that catches exceptions may see it."""


class Watched(Store):
    """Passes everything on, and calls `moment` before and after each operation on one object or listing."""

    def __init__(self, inner: Store, moment: Callable[[str, str], None]) -> None:
        self.inner, self.moment = inner, moment
        self.url, self.capabilities = inner.url, inner.capabilities

    def _do(self, name: str, key: str, function: Callable[[], Any]) -> Any:
        self.moment(f"before {name}", key)
        answer = function()
        self.moment(f"after {name}", key)
        return answer

    def get(self, key: str, limit: int | None = None) -> bytes:
        data: bytes = self._do("get", key, lambda: self.inner.get(key, limit))
        return data

    def get_many(self, entries: Iterable[Entry], limit: int | None = None) -> Iterator[bytes | StoreError]:
        for entry in entries:
            try:
                yield self.get(entry.key, limit)
            except StoreError as error:
                yield error

    def pieces(self, key: str) -> Iterator[bytes]:
        yield self.get(key)

    def list(self, prefix: str = "") -> Iterator[Entry]:
        return iter(self._do("list", prefix, lambda: [*self.inner.list(prefix)]))

    def folders(self, prefix: str = "") -> Iterator[str]:
        return iter(self._do("folders", prefix, lambda: [*self.inner.folders(prefix)]))

    def exists(self, key: str) -> bool:
        found: bool = self._do("exists", key, lambda: self.inner.exists(key))
        return found

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        outcome: Outcome = self._do("put", key, lambda: self.inner.put_if_absent(key, data))
        return outcome

    def replace(self, key: str, data: bytes) -> None:
        self._do("replace", key, lambda: self.inner.replace(key, data))

    def delete(self, key: str) -> None:
        self._do("delete", key, lambda: self.inner.delete(key))

    def url_of(self, key: str) -> str:
        return self.inner.url_of(key)


WRITES = frozenset({"put", "replace", "delete"})


class Countdown:
    """Kills at the moment of the given number, counted from 1; None: never, it only counts.

    To be killed beside a read leaves what the write before it has left: with `writes` only those moments count.
    """

    def __init__(self, at: int | None = None, *, writes: bool = False) -> None:
        self.at, self.moments, self.writes = at, 0, writes

    def __call__(self, what: str, key: str) -> None:
        if self.writes and what.partition(" ")[2] not in WRITES:
            return
        self.moments += 1
        if self.moments == self.at:
            raise KilledError


def objects_of(store: Store) -> dict[str, bytes]:
    """Everything that is there."""
    return {entry.key: store.get(entry.key) for entry in store.list()}


def moments_of(store: Store, work: Callable[[Store], object], *, writes: bool = False) -> int:
    """How many moments `work` has; with `writes`, how many beside a write."""
    whole = Countdown(writes=writes)
    work(Watched(store, whole))
    assert whole.moments
    return whole.moments


def kills(
    store_of: Callable[[], Store], work: Callable[[Store], object], every: int = 1
) -> Iterator[tuple[int, Store]]:
    """`work` on a fresh store, killed before and after each of its writes: which moment it was, and what is left.

    Args:
        store_of: a store as it is before.
        work: what is done to it.
        every: of the moments every so-manieth.
    """
    for at in range(1, moments_of(store_of(), work, writes=True) + 1, every):
        store = store_of()
        try:
            work(Watched(store, Countdown(at, writes=True)))
        except KilledError:
            yield at, store
        else:
            raise AssertionError(f"the work has no moment {at}")
