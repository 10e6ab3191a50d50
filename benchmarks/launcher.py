"""Runs one command and writes what it cost to a file descriptor: CPU seconds, wall seconds, peak, exit status.

Decided here: nothing but that it is small. The kernel counts the memory of whoever starts a process into the peak of
that process, until it has become another program; so what starts them imports next to nothing.
"""

import os
import sys
import time


def main(report: int, command: list[str]) -> None:
    """Run `command` to its end."""
    os.set_inheritable(report, False)  # noqa: FBT003 - the standard library names it no other way
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    cpu = usage.ru_utime + usage.ru_stime
    os.write(report, f"{cpu} {wall} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
