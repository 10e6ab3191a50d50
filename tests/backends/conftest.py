"""One place for each backend and driver; a test asks for `place` and runs in all of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from places import EVERYWHERE, Place, place_at

from safepoint.store import Store, remote


@pytest.fixture(params=EVERYWHERE)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A fresh place; parametrize it indirectly with names to have it in some only."""
    return place_at(request.param, tmp_path)


@pytest.fixture
def store(place: Place) -> Store:
    """A store in the place."""
    return place.open()


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """For stores that are opened from now on: how long they wait before they ask again changes no answer."""
    monkeypatch.setattr(remote, "_PAUSES", (0.01, 0.02, 0.04))


@pytest.fixture
def seed() -> int:
    """Printed, so that a failure can be had again."""
    drawn = random.randrange(2**32)
    print("seed", drawn)  # noqa: T201 - what pytest shows of a failure
    return drawn
