"""How far a long check is: one line at the bottom of the terminal, which is gone before anything else is written.

    for found in watched(validation.checked(), writer(sys.stderr.fileno()), width, validation.summary):
        ...

Decided here: that it shows only after a second, what it says, and that it never stands in the way of the findings. It
is drawn only while the next thing is being checked, and wiped before anything with findings is handed on, so that
whoever prints them finds an empty line. How much there is to check nobody knows before it was read: the bar says that
something moves, and the counts how far it came.

Not decided here: whether standard error is a terminal (``cli`` looks, and wants no progress where it is none).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from safepoint.core.finding import Checked
from safepoint.render.findings import NOUNS
from safepoint.render.terminal import ago, count

AFTER = 1.0
"""Seconds before it shows: a short check needs none."""

EVERY = 0.1
"""Seconds between two drawings."""

_WIPE = "\r\x1b[K"
_BAR = 16
"""Columns of the bar."""


class Progress:
    """The line; it knows when to be there."""

    def __init__(
        self,
        write: Callable[[str], object],
        width: int,
        summary: Callable[[], Mapping[str, Any]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write = write
        self._width = width
        self._summary = summary
        self._clock = clock
        self._began = clock()
        self._drawn: float | None = None
        """When; None: the line is empty."""

    def draw(self) -> None:
        """Say how far it is, if that is due."""
        now = self._clock()
        if now - self._began < AFTER or (self._drawn is not None and now - self._drawn < EVERY):
            return
        self._drawn = now
        self._write(_WIPE + self.line(now - self._began))

    def wipe(self) -> None:
        """Leave the line empty."""
        if self._drawn is not None:
            self._write(_WIPE)
            self._drawn = None

    def line(self, seconds: float) -> str:
        """The line, one column shorter than the terminal, which would scroll otherwise."""
        summary = self._summary()
        found = summary["findings"]
        counts = [
            count(summary["runs"], "run"),
            count(summary["files"], "file"),
            count(summary["records"], "record"),
            *(count(found[severity], noun) for severity, noun in NOUNS.items() if found[severity]),
            ago(int(seconds) * 1_000_000_000),
        ]
        return f"{_bar(seconds)} {', '.join(counts)}"[: max(self._width - 1, 0)]


def _bar(seconds: float) -> str:
    """A block that goes to and fro, once in two seconds."""
    block = 5
    way = _BAR - block
    at = round(seconds / 2 % 1 * 2 * way)
    at = at if at <= way else 2 * way - at
    return f"[{' ' * at}{'=' * block}{' ' * (way - at)}]"


def watched(
    items: Iterator[Checked],
    write: Callable[[str], object],
    width: int,
    summary: Callable[[], Mapping[str, Any]],
) -> Iterator[Checked]:
    """The `items` as they come, with the progress shown while each is waited for.

    Args:
        items: ``Validation.checked()``.
        write: puts text on the terminal at once; see `writer`.
        width: columns of the terminal.
        summary: ``Validation.summary``, asked again and again.
    """
    progress = Progress(write, width, summary)
    try:
        while True:
            with _ticking(progress.draw):
                progress.draw()
                item = next(items, None)
            if item is None:
                return
            if item.findings:  # only then is anything printed; a line that is wiped each time would flicker
                progress.wipe()
            yield item
    finally:
        progress.wipe()


def writer(descriptor: int) -> Callable[[str], object]:
    """What puts text on that file descriptor, past all buffers: a signal may come while one of them is in use."""

    def write(text: str) -> None:
        with suppress(OSError):
            os.write(descriptor, text.encode())

    return write


@contextmanager
def _ticking(draw: Callable[[], None]) -> Iterator[None]:
    """Call `draw` now and then while something takes long.

    By a timer's signal, and not by a thread: a check forks, and a process that has threads must not. A forked process
    has no timer. Where signals are no option, `draw` is only called between two items.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL
    ):
        yield
        return

    def tick(_number: int, _frame: FrameType | None) -> None:
        draw()

    signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, EVERY, EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
