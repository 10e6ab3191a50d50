"""One module a pair of neighbouring versions; the newer version's module owns both directions.

Each has ``up(kind, value)`` and ``down(kind, value)``: pure functions on plain values that were valid before.
Frozen once released: a later change of mind is a new format version with a step of its own.
"""
