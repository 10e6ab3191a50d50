"""Writers in processes of their own, which do one thing at a time to a store when they are told to.

Decided here: how they are started and ended, and that they are handed a URL and its options, never an open store.
Not decided here: what they are told, and what follows from their answers (``probing``).
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from safepoint.store.base import Outcome, Store
from safepoint.store.errors import AbsentError, StoreError, UnreachableError
from safepoint.store.opening import open_store

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PATIENCE = 120.0
"""Seconds that one answer may take: longer than all the tries that a client makes."""

_SHORTLY = 0.003
"""Seconds until all of them begin: enough for the last one to hear of it."""


class Order(NamedTuple):
    """What one writer is to do."""

    do: Literal["put", "get", "list"]
    key: str = ""
    data: bytes = b""
    at: float = 0
    """When to begin, by the clock of `Answer`; what lies in the past is now."""


class Answer(NamedTuple):
    """What came of an order."""

    got: Outcome | bytes | tuple[str, ...] | StoreError | None
    """The outcome of a put, the bytes of an object (None: absent), the keys of a listing, or why there is none."""
    began: float
    ended: float
    """By a clock that all processes of a machine share, in seconds."""


class Rivals:
    """Some writers to one store, ready to begin at the same moment."""

    def __init__(self, url: str, options: Mapping[str, Any], count: int, *, threads: bool = False) -> None:
        """Names the store and how many there are; `threads` is for what lives in one process only."""
        self._place = url, dict(options)
        self.count = count
        self._threads = threads
        self._switch = sys.getswitchinterval()
        self._workers: list[Any] = []
        self._lines: list[Connection] = []

    def __enter__(self) -> Self:
        """Starts them, and waits until each has opened the store.

        Raises:
            StoreError: one of them could not.
        """
        try:
            if self._threads:
                sys.setswitchinterval(1e-6)  # else each is done before the next one begins
            with _interrupts_held_back():
                for _ in range(self.count):
                    self._start()
            self._await()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Lets each finish what it does, so that nothing appears later; whoever does not come back is killed."""
        for line in self._lines:
            line.close()
        until = time.monotonic() + 5
        for worker in self._workers:
            worker.join(max(0, until - time.monotonic()))
        if not self._threads:
            for worker in self._workers:
                worker.kill()
                worker.join()
        self._workers, self._lines = [], []
        sys.setswitchinterval(self._switch)

    def ask(self, who: int, order: Order) -> Answer:
        """What comes of one order to one writer."""
        self._send(self._lines[who], order)
        answer: Answer = self._receive(self._lines[who])
        return answer

    def begin(self, orders: Sequence[Order]) -> None:
        """Gives each writer its order, to be begun by all at the same moment."""
        at = time.monotonic() + _SHORTLY
        for line, order in zip(self._lines, orders, strict=True):
            self._send(line, order._replace(at=at))

    @property
    def busy(self) -> bool:
        """Whether a writer has not answered what it was told by `begin`."""
        return not all(line.poll() for line in self._lines)

    def answers(self) -> list[Answer]:
        """What came of what each was told by `begin`."""
        return [self._receive(line) for line in self._lines]

    def _start(self) -> None:
        from multiprocessing import get_context

        # a fresh process, because the threads and sockets of a client do not survive a fork
        spawn = get_context("spawn")
        ours, theirs = spawn.Pipe()
        work = (theirs, *self._place)
        worker: Any = (
            threading.Thread(target=_work, args=work, daemon=True)
            if self._threads
            else spawn.Process(target=_work, args=work, daemon=True)
        )
        worker.start()
        self._workers.append(worker)
        self._lines.append(ours)
        if not self._threads:
            theirs.close()

    def _await(self) -> None:
        for line in self._lines:
            failure = self._receive(line)
            if isinstance(failure, StoreError):
                raise failure

    def _send(self, line: Connection, order: Order) -> None:
        with suppress(BrokenPipeError):  # whoever is gone gives no answer, and that is said there
            line.send(order)

    def _receive(self, line: Connection) -> Any:
        try:
            if line.poll(PATIENCE):
                return line.recv()
            problem = f"one of the writers gave no answer for {PATIENCE:.0f} s"
        except EOFError:
            problem = "one of the writers was killed"
        raise UnreachableError(self._place[0], problem)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C is for whoever asked, who then ends the writers: what is held back here, a new process never hears of."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # else it starts with the first process, and lets everything through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what came meanwhile comes now


def _work(line: Connection, url: str, options: Mapping[str, Any]) -> None:
    """One writer's life: to its end, or to that of whoever gives the orders."""
    with suppress(EOFError, OSError), line:
        try:
            store = open_store(url, **options)
        except StoreError as error:
            line.send(error)
            return
        line.send(None)
        while True:
            order: Order = line.recv()
            time.sleep(max(0, order.at - time.monotonic()))
            began = time.monotonic()
            got = _do(store, order)
            line.send(Answer(got, began, time.monotonic()))


def _do(store: Store, order: Order) -> Outcome | bytes | tuple[str, ...] | StoreError | None:
    try:
        match order.do:
            case "put":
                return store.put_if_absent(order.key, order.data)
            case "get":
                return store.get(order.key)
            case _:
                return tuple(entry.key for entry in store.list())
    except AbsentError:
        return () if order.do == "list" else None
    except StoreError as error:
        return error
