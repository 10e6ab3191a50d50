"""What reading and listing an object store costs: ``python -m benchmarks storage``.

Decided here: what is compared, and how it is shown. The server is a process of its own on loopback that has every
answer ready (``object_server``), so that what is measured is the client; each client is a fresh process
(``object_client``). Of each round the ratio to s3fs in the same round is taken, and of these the smallest, the median
and the largest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.object_client import CONNECTIONS
from benchmarks.object_server import PAGE, SIZE
from benchmarks.processes import Cost, interleave, run
from benchmarks.table import aligned

OBJECTS = 5_000
KEYS = (10_000, 100_000)
LIBRARIES = ("obstore", "s3fs", "aiobotocore")
READING = {
    f"floor: bare sockets, {CONNECTIONS} connections": "floor",
    "s3fs.cat(list), its defaults": "s3fs",
    "open_store, list, get_many, with s3fs": "fsspec",
    "open_store, list, get_many, with obstore": "obstore",
}
LISTING = {"with s3fs": "list-fsspec", "with obstore": "list-obstore"}
_BASE = "s3fs.cat(list), its defaults"


def report(rounds: int, told: Callable[[str], None]) -> str:
    """Both tables, and where they were made."""
    with _server(OBJECTS) as port:
        commands = {name: _client(what, port, OBJECTS) for name, what in READING.items()}
        costs = interleave(commands, rounds, lambda what: told(f"reading: {what}"))
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    head = f"{machine.describe()}{libraries}\n{rounds} rounds\n\n"
    return f"{head}{reading(costs)}\n{listing(_listed(told))}"


def reading(costs: Mapping[str, Sequence[Cost]]) -> str:
    """How long it took to have all objects, and how many times faster than s3fs that is."""
    figures = {name: [_figures(cost) for cost in these] for name, these in costs.items()}
    base = [figure["seconds"] for figure in figures[_BASE]]
    lines = []
    for name, these in figures.items():
        seconds = [figure["seconds"] for figure in these]
        times = [that / this for that, this in zip(base, seconds, strict=True)]
        peak = max(cost.peak for cost in costs[name]) / 1e6
        cpu = median(figure["cpu"] for figure in these)
        lines.append((name, _spread(seconds, 2), f"{cpu:.2f}", _spread(times, 1), f"{peak:.0f}"))
    title = f"{OBJECTS:,} objects of {SIZE:,} bytes"
    return aligned((title, "seconds", "CPU s", "times as fast as s3fs.cat", "peak MB"), lines, text={0})


def listing(costs: Mapping[str, Sequence[Cost]]) -> str:
    """How long a listing takes, what is asked before its first key, and what memory it takes."""
    few, many = KEYS
    lines = []
    for name, (smaller, larger) in costs.items():
        figures = _figures(larger)
        pages = f"{figures['result']} of {many // PAGE}"
        peaks = [cost.peak / 1e6 for cost in (smaller, larger)]
        lines.append(
            (
                name,
                f"{figures['seconds']:.2f}",
                pages,
                *(f"{peak:.0f}" for peak in peaks),
                f"{round(peaks[1] - peaks[0]):+d}",
            )
        )
    head = (f"listing {many:,} keys", "seconds", "pages before the first key", f"peak MB, {few:,} keys")
    return aligned((*head, f"peak MB, {many:,} keys", "more"), lines, text={0})


def _listed(told: Callable[[str], None]) -> dict[str, list[Cost]]:
    costs: dict[str, list[Cost]] = {name: [] for name in LISTING}
    for keys in KEYS:
        with _server(keys) as port:
            for name, what in LISTING.items():
                told(f"listing {keys:,} keys {name}")
                costs[name].append(run(_client(what, port, keys)))
    return costs


@contextmanager
def _server(objects: int) -> Iterator[int]:
    """The object store, and the port that it listens on."""
    program = str(Path(__file__).with_name("object_server.py"))
    with subprocess.Popen(  # noqa: S603 - a program of ours
        [sys.executable, program, str(objects)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()


def _client(what: str, port: int, objects: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.object_client", what, str(port), str(objects)]


def _figures(cost: Cost) -> dict[str, Any]:
    """What the client measured.

    Raises:
        RuntimeError: it ended in an error.
    """
    if cost.status or cost.crashed:
        raise RuntimeError(f"the client ended with {cost.status}: {cost.said}")
    figures: dict[str, Any] = json.loads(cost.said)
    return figures


def _spread(values: Sequence[float], digits: int) -> str:
    return " / ".join(f"{value:.{digits}f}" for value in (min(values), median(values), max(values)))
