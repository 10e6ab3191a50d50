"""``safepoint validate`` as a process of its own, measured by the kernel: its answer, its memory, its time."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

COMMAND = (sys.executable, "-m", "safepoint", "validate")
RECORD = '{"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}'
MIB = 2**20
MEMORY = 150 * MIB
"""What no input of any size may exceed; the command itself needs about 20 MiB."""
SECONDS = 60
"""Far more than any of these takes on a slow machine: it ends what hangs."""

# A process of its own between the tests and the command: the peak that the kernel reports for a process begins with
# what its parent held when it was started, and a test runner holds more than the command may.
#
# Nobody else's rights are taken for the tests of permissions: another user could not even start this Python, which may
# lie in a folder of root's own. So root is what all others are, one whom a file's mode binds.
MEASURE = """
import ctypes, json, os, resource, subprocess, sys
report, cap, bound, command = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "bound", sys.argv[4:]
if sys.platform == "linux":
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
if bound and os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # to read and to search whatever the mode says; 24 takes it away for good
        if libc.prctl(24, capability, 0, 0, 0):
            sys.exit(os.strerror(ctypes.get_errno()))
process = subprocess.Popen(command)
_, status, usage = os.wait4(process.pid, 0)
peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
with open(report, "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), peak, usage.ru_utime + usage.ru_stime], file)
"""
ADDRESS_SPACE = 4 * 2**30
"""Where a runaway ends, before it takes the machine with it; far above what the peak is held to."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a process left behind."""

    status: int
    out: bytes
    err: bytes
    peak: int
    """Bytes of memory at its largest."""
    cpu: float
    """Seconds of both kinds."""

    @property
    def codes(self) -> list[str]:
        """The code of each line that shows a finding."""
        return re.findall(
            r"^(?:.*:\d+:\d+: )?(?:\w+ )?(SP\d{3}) ", self.out.decode(errors="replace"), re.MULTILINE
        )


def measure(
    folder: Path,
    *arguments: str | bytes | Path,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | None = None,
    bound: bool = False,
    cwd: Path | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> Outcome:
    """Runs ``safepoint validate``, and holds it to what all inputs have in common.

    Args:
        folder: an empty folder for what it says.
        arguments: of the command.
        stdin: its standard input.
        stdout: where its standard output goes, if it is not to be kept.
        bound: a file's mode binds it, even if the tests are run by root.
        cwd: its working folder.
        meanwhile: done while it runs.
    """
    # Neither the colour nor the cost of whoever runs these tests: coverage would be measured too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    report = folder / "report"
    rights = "bound" if bound else "free"
    launcher = [sys.executable, "-I", "-S", "-c", MEASURE, report, str(ADDRESS_SPACE), rights]
    with (folder / "out").open("w+b") as out, (folder / "err").open("w+b") as err:
        process = subprocess.Popen(
            [*launcher, *COMMAND, *arguments],
            stdin=stdin,
            stdout=out if stdout is None else stdout,
            stderr=err,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
        ending = threading.Timer(SECONDS, lambda: os.killpg(process.pid, signal.SIGKILL))
        ending.start()
        try:
            meanwhile()
            launched = process.wait()
        finally:
            ending.cancel()
        assert launched != -signal.SIGKILL, f"it hung: no answer within {SECONDS} s"
        assert launched == 0, (folder / "err").read_text()
        out.seek(0)
        err.seek(0)
        said = out.read(), err.read()
    status, peak, cpu = json.loads(report.read_text())
    outcome = Outcome(status, *said, peak, cpu)
    assert b"Traceback" not in outcome.err, outcome.err.decode()
    assert peak < MEMORY, f"{peak / MIB:.0f} MiB at its largest"
    return outcome
