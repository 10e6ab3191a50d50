"""A fault gets its place from the reader that knows it."""

from __future__ import annotations

from safepoint.core.fault import Fault, Place


def test_a_fault_is_placed_without_being_changed() -> None:
    fault = Fault("SP104", "the name occurs twice", "/a", 7)
    place = Place("runs/journal.jsonl", "journal.jsonl", line=3, offset=120)
    placed = fault.at(place)
    assert (placed.place, fault.place) == (place, None)
    assert (placed.code, placed.message, placed.pointer, placed.offset) == ("SP104", fault.message, "/a", 7)
