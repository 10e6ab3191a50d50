"""v1 ↔ v2: the naive record gets the members that v2 brought, all unknown (SPEC.md#migration)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.version import V1, V2
from safepoint.migrate.steps.exchange import Down, Exchange, Members

_CHECKPOINT: Members = dict.fromkeys(
    ("checkpointId", "runId", "state", "stepName", "createdAt", "inputSnapshot")
)
_LEDGER: Members = dict.fromkeys(("actionId", "runId", "stepName", "status", "createdAt"))


def _head(_kind: str) -> dict[str, Any]:
    return {"schemaVersion": "v2"}


def _tail(kind: str, _value: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "ledger":
        return {"idempotencyKey": None}
    return {"artifactRefs": None, "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None}}


_EXCHANGE = Exchange(V1, V2, {"checkpoint": _CHECKPOINT, "ledger": _LEDGER}, _head, _tail)


def up(kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A valid v1 record as v2."""
    return _EXCHANGE.up(kind, value)


def down(kind: str, value: Mapping[str, Any]) -> Down:
    """A valid v2 record as v1."""
    return Down(_EXCHANGE.down(kind, value))
