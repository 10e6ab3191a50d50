"""Real processes that want the same names at the same time: one winner each, no gap, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign import foreign_to
from places import SHARED, Place, place_at
from racers import RUN, race
from servers import gcp_storage_emulator

from safepoint.store.layout import journal_key

SIZES = {"local": (8, 1000), "seaweedfs": (4, 10)}
"""Processes and numbers. SeaweedFS, and nothing else, stalls for seconds where many want one name."""
USUAL = (8, 20)
"""`python tests/backends/table.py` races longer."""


def test_a_server_that_heeds_no_condition_is_found_out() -> None:
    """Else what these races prove would be nothing."""
    server = gcp_storage_emulator()
    spot = server.spot("fsspec")
    careless = Place("careless", "gs", "fsspec", spot.url, spot.options, foreign_to(server, spot.url), server)
    result = race(careless, 4, 10)
    assert len(result.doubled) > 5


@pytest.mark.parametrize("name", SHARED)
def test_each_number_of_a_chain_has_one_winner_whose_bytes_stay(name: str, tmp_path: Path) -> None:
    racers, numbers = SIZES.get(name.rpartition("-")[0] or name, USUAL)
    result = race(place_at(name, tmp_path), racers, numbers)
    assert result.doubled == []
    assert result.lost == []
    assert sum(result.shares.values()) == numbers
    assert set(result.held) == {journal_key(RUN, number) for number in range(1, numbers + 1)}
    assert len(result.shares) > 1, "nobody raced"
