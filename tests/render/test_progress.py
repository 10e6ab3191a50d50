"""The line that says how far a long check is: there while one waits, gone when something is printed."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from checks import CLEAN, RUN, summary

from safepoint.core.finding import Checked
from safepoint.render import progress
from safepoint.render.progress import AFTER, EVERY, Progress, watched, writer

WIPE = "\r\x1b[K"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal:
    """What is written to it, and the clock that the progress looks at."""

    def __init__(self, width: int = 80, **counts: Any) -> None:
        self.said: list[str] = []
        self.clock = Clock()
        self.progress = Progress(self.said.append, width, lambda: summary(**counts), self.clock)


def test_a_short_check_shows_nothing() -> None:
    terminal = Terminal()
    terminal.clock.now += AFTER - 0.01
    terminal.progress.draw()
    terminal.progress.wipe()
    assert terminal.said == []


def test_a_long_check_shows_what_was_done_and_found_so_far() -> None:
    terminal = Terminal(100, runs=1204, files=8310, records=45_000, findings={"error": 3, "info": 1})
    terminal.clock.now += 65
    terminal.progress.draw()
    assert terminal.said == [
        f"{WIPE}[           =====] 1,204 runs, 8,310 files, 45,000 records, 3 errors, 1 note, 1 min 5 s"
    ]


def test_the_line_never_reaches_the_last_column() -> None:
    terminal = Terminal(width=30)
    assert len(terminal.progress.line(5)) == 29
    assert Terminal(width=0).progress.line(5) == ""


def test_the_bar_moves_to_and_fro() -> None:
    line = Terminal().progress.line
    bars = [line(seconds)[:18] for seconds in (0, 0.5, 1, 1.5, 2)]
    assert bars == [
        "[=====           ]",
        "[      =====     ]",
        "[           =====]",
        "[      =====     ]",
        "[=====           ]",
    ]


def test_it_is_drawn_no_more_often_than_an_eye_can_follow() -> None:
    terminal = Terminal()
    for moment in (2.0, 2.0 + EVERY / 2, 2.0 + EVERY * 1.5):
        terminal.clock.now = 100 + moment
        terminal.progress.draw()
    assert len(terminal.said) == 2


def test_it_is_wiped_once() -> None:
    terminal = Terminal()
    terminal.clock.now += 2
    terminal.progress.draw()
    terminal.progress.wipe()
    terminal.progress.wipe()
    assert terminal.said[1:] == [WIPE]


def run_through(items: Iterator[Checked]) -> list[str]:
    said: list[str] = []
    for item in watched(items, said.append, 80, summary):
        said.append(item.name)  # noqa: PERF401 - the line itself is written to the same list
    return said


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 1e-9)
    monkeypatch.setattr(threading, "current_thread", lambda: None)  # no signals: only between two items


@pytest.mark.usefixtures("_at_once")
def test_the_line_is_empty_when_findings_are_handed_on() -> None:
    said = run_through(iter([CLEAN, RUN]))
    kinds = ["bar" if text.startswith(f"{WIPE}[") else text for text in said]
    assert kinds == ["bar", "run-2", "bar", WIPE, "run-1", "bar", WIPE]


@pytest.mark.usefixtures("_at_once")
def test_the_line_is_empty_after_a_crash_and_when_nobody_goes_on() -> None:
    def crash() -> Iterator[Checked]:
        yield CLEAN
        raise OSError("disk on fire")

    said: list[str] = []
    with pytest.raises(OSError, match="on fire"):
        list(watched(crash(), said.append, 80, summary))
    assert said[-1] == WIPE
    said.clear()
    stopped = watched(iter([CLEAN, CLEAN]), said.append, 80, summary)
    next(stopped)
    del stopped
    assert said[-1] == WIPE


def test_a_handler_of_somebody_else_is_left_alone() -> None:
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        assert run_through(iter([CLEAN])) == ["run-2"]
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGALRM, before)


SLOW = """
import os, signal, sys, time
from checks import CLEAN, RUN, summary
from safepoint.render.progress import watched, writer
def slow():
    end = time.monotonic() + 1.6
    while time.monotonic() < end:
        sum(range(1000))
    if os.fork() == 0:  # a child inherits no timer, and so draws nothing
        time.sleep(0.3)
        os._exit(0)
    os.wait()
    yield RUN
for item in watched(slow(), writer(2), 60, summary):
    print(item.name, flush=True)
print(signal.getsignal(signal.SIGALRM) is signal.SIG_DFL, signal.getitimer(signal.ITIMER_REAL))
"""


def test_while_one_thing_takes_long_the_line_keeps_moving_and_standard_output_stays_clean() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", SLOW],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")},
    )
    os.close(theirs)
    said = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.stdout == "run-1\nTrue (0.0, 0.0)\n"
    bars = said.split(WIPE)[1:]
    assert 4 <= len(bars) <= 12
    assert bars[0].endswith("] 1 run, 1 file, 1 record, 1 s")
    assert bars[-1] == ""


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    writer(writing)("x")
