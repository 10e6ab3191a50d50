"""v2 ↔ v3: records name their kind; what v2 never said is null or absent (SPEC.md#migration)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.status import OLD_STATUSES
from safepoint.core.timestamp import format_time, parse_time
from safepoint.core.version import V2, V3
from safepoint.migrate.steps.exchange import ABSENT, Down, Exchange, Members, Rewrite, is_own

_OWED = {
    "attempting": "attempt",
    "committed": "evidence",
    "abandoned": "evidence",
    "failed": "error",
    "prepared": "reservation",
}
"""The member that v3 wants beside a status; null: unknown."""

_EFFECTS = frozenset({"writePerformed", "externalMessageSent"})


def _same(value: Any) -> Any:
    return value


def _status_up(status: Any) -> Any:
    # v2 left the word to the writer; one that nobody knows may stand for a send
    return OLD_STATUSES.get(status, "inDoubt") if isinstance(status, str) else status


def _time_up(time: Any) -> Any:
    if not isinstance(time, str) or time.endswith("Z"):
        return time
    try:
        return format_time(parse_time(time))
    except ValueError:  # from a residue that no step made; v2 itself admits no such time
        return time


def _ledger_time_up(time: Any) -> Any:
    return None if time is ABSENT else _time_up(time)


def _ledger_time_down(time: Any) -> Any:
    return ABSENT if time is None else time


def _artifacts_up(references: Any) -> Any:
    if not isinstance(references, list):
        return references
    return [
        {"artifactId": reference, "uri": None, "digest": None, "size": None, "mediaType": None}
        for reference in references
    ]


def _artifacts_down(references: Any) -> Any:
    if not isinstance(references, list):
        return references
    ids = [reference.get("artifactId") if isinstance(reference, dict) else None for reference in references]
    # v2 wants each id once; v3 may name two places of one artifact
    return list(dict.fromkeys(ids)) if set(map(type, ids)) <= {str} else ids


def _effects(status: Any) -> Any:
    """Both members, null where one is missing, and own members; the same in both directions."""
    if not isinstance(status, dict) or status.keys() == _EFFECTS:
        return status
    own = {name: part for name, part in status.items() if is_own(name)}
    return {name: status.get(name) for name in ("writePerformed", "externalMessageSent")} | own


_CHECKPOINT: Members = {
    "checkpointId": None,
    "runId": None,
    "state": None,
    "stepName": None,
    "createdAt": Rewrite(_time_up, _same),
    "inputSnapshot": None,
    "artifactRefs": Rewrite(_artifacts_up, _artifacts_down),
    "sideEffectStatus": Rewrite(_effects, _effects),
}
_LEDGER: Members = {
    "actionId": None,
    "runId": None,
    "stepName": None,
    "status": Rewrite(_status_up, _same),
    "createdAt": Rewrite(_ledger_time_up, _ledger_time_down),
    "idempotencyKey": None,
    "externalRef": None,
}


def _head(kind: str) -> dict[str, Any]:
    return {"recordType": kind, "schemaVersion": "v3"}


def _tail(kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    status = value.get("status") if kind == "ledger" else None
    owed = _OWED.get(status) if isinstance(status, str) else None
    return ({owed: None} if owed else {}) | {"orderEvidence": "time"}


_EXCHANGE = Exchange(V2, V3, {"checkpoint": _CHECKPOINT, "ledger": _LEDGER}, _head, _tail)


def up(kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A valid v2 record as v3."""
    return _EXCHANGE.up(kind, value)


def down(kind: str, value: Mapping[str, Any]) -> Down:
    """A valid v3 checkpoint or ledger record as v2; v2 readers will not honour ``requires``."""
    lowered = _EXCHANGE.down(kind, value)
    demands = value.get("requires")
    if not demands:
        return Down(lowered)
    return Down(lowered, tuple(f"/requires/{name}" for name in ("read", "resume") if demands.get(name)))
