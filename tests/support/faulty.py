"""Two stores in memory as processes reach them that are killed, held up, or meet an outage, at a chosen operation.

Every operation on either store is numbered, from 1. What a process finds once it was killed is nothing: whatever it
still asks for is never done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Literal, TypeVar

from safepoint.store import AbsentError, Entry, Outcome, Store, UnreachableError
from safepoint.store.capabilities import MEMORY

Mode = Literal["killed before", "killed after", "unclear, done", "unclear, not done", "outage", "silence"]
MODES: tuple[Mode, ...] = (
    "killed before",
    "killed after",
    "unclear, done",
    "unclear, not done",
    "outage",
    "silence",
)
"""``unclear``: the answer to a put is that nobody can tell; to anything else, as ``outage``: one error, and nothing was
done. ``silence``: the operation is done, its answer is lost, and nothing is answered any more."""

_Answer = TypeVar("_Answer")


class KilledError(BaseException):
    """The process ends here; like a kill, nothing that catches exceptions may see it."""


class Process:
    """One process: counts its operations, and has at most one fault; or somebody else is at work before one."""

    def __init__(
        self, mode: Mode | None = None, at: int = 0, *, meanwhile: Callable[[], object] | None = None
    ) -> None:
        self.mode, self.at, self.count, self.meanwhile = mode, at, 0, meanwhile
        self.dead = self.silent = False

    @property
    def met(self) -> bool:
        """Whether it came to its fault."""
        return self.mode is not None and self.count >= self.at

    def do(self, url: str, operation: Callable[[], _Answer], *, put: bool = False) -> _Answer:
        """One operation, or what becomes of it."""
        if self.dead:
            raise KilledError
        if self.silent:
            raise UnreachableError(url, "no answer")
        self.count += 1
        if self.meanwhile is not None and self.count == self.at:
            self.meanwhile()
        if self.mode is None or self.count != self.at:
            return operation()
        if self.mode == "killed before":
            self.dead = True
            raise KilledError
        if self.mode == "outage" or (self.mode not in {"killed after", "silence"} and not put):
            raise UnreachableError(url, "no answer")
        if self.mode == "unclear, not done":
            return self._unclear(url, put=put)
        operation()
        if self.mode == "killed after":
            self.dead = True
            raise KilledError
        self.silent = self.mode == "silence"
        return self._unclear(url, put=put)

    def _unclear(self, url: str, *, put: bool) -> Any:
        if put:
            return Outcome.UNKNOWN
        raise UnreachableError(url, "no answer")


class FaultyStore(Store):
    """Objects as one process reaches them."""

    capabilities = MEMORY

    def __init__(self, url: str, objects: MutableMapping[str, bytes], process: Process | None = None) -> None:
        self.url, self.objects, self.process = url, objects, process or Process()

    def _do(self, operation: Callable[[], _Answer], *, put: bool = False) -> _Answer:
        return self.process.do(self.url, operation, put=put)

    def get(self, key: str, limit: int | None = None) -> bytes:
        return self._do(lambda: self._get(key))

    def _get(self, key: str) -> bytes:
        if key not in self.objects:
            raise AbsentError(self.url, "nothing is there", key)
        return self.objects[key]

    def list(self, prefix: str = "") -> Iterator[Entry]:
        below = self.prefix_of(prefix)
        return iter(
            self._do(
                lambda: [
                    Entry(key, len(self.objects[key]))
                    for key in sorted(self.objects)
                    if key.startswith(below)
                ]
            )
        )

    def folders(self, prefix: str = "") -> Iterator[str]:
        below = self.prefix_of(prefix)
        return iter(self._do(lambda: sorted(self._folders(below))))

    def _folders(self, below: str) -> set[str]:
        names = (key.removeprefix(below) for key in self.objects if key.startswith(below))
        return {name.partition("/")[0] for name in names if "/" in name}

    def exists(self, key: str) -> bool:
        return self._do(lambda: key in self.objects)

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        return self._do(lambda: self._put(key, data), put=True)

    def _put(self, key: str, data: bytes) -> Outcome:
        return Outcome.WON if self.objects.setdefault(key, data) == data else Outcome.LOST

    def replace(self, key: str, data: bytes) -> None:
        self.require_heartbeat(key)
        self._do(lambda: self.objects.update({key: data}))

    def delete(self, key: str) -> None:
        self._do(lambda: self.objects.pop(key, None))

    def url_of(self, key: str) -> str:
        return f"{self.url}/{key}"
