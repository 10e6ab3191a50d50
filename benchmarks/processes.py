"""What whole processes cost: CPU time, wall time, peak memory.

Decided here: how it is measured. A command is run to its end with everything that it started, rows of one table take
turns in rounds (A B C, A B C, …) so that a slow minute of the machine hits all of them, and a first round that is not
counted brings the files into the page cache and the byte code into its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

Command = Sequence[str]

SLOWING = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONDEVMODE", "PYTHONMALLOC", "PYTHONPROFILEIMPORTTIME"})
"""What must not be in the environment of what is measured: the first makes every start compile all modules anew, the
others turn on checks. Users run without them."""

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one process with its children."""

    cpu: float
    """Seconds of user and system time together."""
    wall: float
    """Seconds."""
    peak: int
    """Bytes of resident memory, of the largest process among them."""
    status: int
    """Exit status."""
    said: str
    """The last line on standard error, or else on standard output."""
    crashed: bool
    """Whether it ended in a Python traceback: its exit status is then 1, as if it had found something."""


def run(command: Command) -> Cost:
    """Run `command` to its end.

    Raises:
        OSError: there is no such program.
    """
    environment = {name: value for name, value in os.environ.items() if name not in SLOWING}
    read, write = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            subprocess.run(  # noqa: S603 - the commands are those of `rows`
                [sys.executable, "-I", "-S", _LAUNCHER, str(write), *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                pass_fds=[write],
                check=False,
            )
        finally:
            os.close(write)
        with os.fdopen(read) as report:
            told = report.read().split()
        said, complained = _tail(out), _tail(err)
    if len(told) != 4:
        raise OSError(f"{command[0]} could not be started: {complained[-1:]}")
    # Linux counts in KiB, macOS in bytes
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(
        cpu=float(told[0]),
        wall=float(told[1]),
        peak=int(told[2]) * unit,
        status=int(told[3]),
        said=next(iter([*complained[-1:], *said[-1:]]), ""),
        crashed="Traceback (most recent call last):" in complained,
    )


def _tail(stream: IO[bytes]) -> list[str]:
    """The last lines of what was written, without empty ones."""
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - 20_000))
    return [line for line in stream.read().decode(errors="replace").splitlines() if line.strip()]


def interleave(
    commands: Mapping[str, Command],
    rounds: int,
    told: Callable[[str], None] = lambda _: None,
    prepare: Callable[[str], None] = lambda _: None,
) -> dict[str, list[Cost]]:
    """The costs of each command in each of `rounds` rounds, in which all take their turns; one more goes before.

    Before each of them `prepare` is called with its name, and is not measured.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            told(f"round {number} of {rounds}: {name}")
            prepare(name)
            cost = run(command)
            if number:
                costs[name].append(cost)
    return costs
