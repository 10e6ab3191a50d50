"""The scripted world of ``worker.py`` as fixtures, and a clock that only moves when it is looked at."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from safepoint.store import Store

START = 1_800_000_000 * 10**9
WORKER = Path(__file__).with_name("worker.py")


class Clock:
    """Nanoseconds; a millisecond passes with every look."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += int(seconds * 10**9)


def _load() -> ModuleType:
    name = "recorder_worker"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, WORKER)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def world() -> ModuleType:
    """The module ``worker.py``."""
    return _load()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(world: ModuleType) -> Store:
    memory: Store = world.MemoryStore()
    return memory
