"""What a recovery has used, from the ``usage`` of checkpoints (SPEC.md#recovery).

Decided here: that it is what a later checkpoint counts more than the one that the recovery began at; what either does
not say stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COUNTED = ("seconds", "tokens", "costMicros", "attempts")
"""Members of ``usage`` that only grow."""


def spent_since(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The difference of two usages of a run, as a ``cost``; None where they have nothing in common."""
    if before is None or after is None or before.get("currency") != after.get("currency"):
        return None
    both = [name for name in COUNTED if before.get(name) is not None and after.get(name) is not None]
    spent = {name: after[name] - before[name] for name in both if after[name] >= before[name]}
    if not spent:
        return None
    currency = after.get("currency") if "costMicros" in spent else None
    return spent if currency is None else {**spent, "currency": currency}
