"""One place for each backend and driver; a test asks for `place` and runs in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import EVERYWHERE, Place, place_at

from safepoint.store import Store


@pytest.fixture(params=EVERYWHERE)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A fresh place; parametrize it indirectly with names to have it in some only."""
    return place_at(request.param, tmp_path)


@pytest.fixture
def store(place: Place) -> Store:
    """A store in the place."""
    return place.open()
