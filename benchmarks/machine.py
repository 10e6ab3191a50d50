"""Where a benchmark ran: what must stand beside its figures for them to mean anything.

Decided here: processor, system, and the versions of what does the work. Nothing that names the machine or its user.
"""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("safepoint", "orjson", "jsonschema-rs", "jsonschema", "click", "fsspec")


def describe() -> str:
    """Two lines of Markdown."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    system = f"{platform.system()} {platform.release().partition('-')[0]} on {platform.machine()}"
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{_processor()}, {cores} cores, {_memory()}{system}, {python}\n{versions}\n"


def _processor() -> str:
    return _told("/proc/cpuinfo", "model name") or platform.processor() or "unknown processor"


def _memory() -> str:
    told = _told("/proc/meminfo", "MemTotal")
    return f"{int(told.split()[0]) / 2**20:.0f} GiB, " if told else ""


def _told(file: str, name: str) -> str:
    """What a file of the kernel says of `name`; empty where there is no such file."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
