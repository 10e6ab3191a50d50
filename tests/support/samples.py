"""Records and files that several tests of validation begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LEDGER = {"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}
BAD = {**LEDGER, "createdAt": "soon"}
"""One error: SP207 at /createdAt."""
ODD = {**LEDGER, "colour": 1}
"""One warning: SP204 at /colour."""
CHECKPOINT = {
    "recordType": "checkpoint",
    "schemaVersion": "v3",
    "runId": "r",
    "createdAt": "2026-05-07T10:00:00Z",
    "checkpointId": "cp",
    "state": "s",
    "stepName": "s",
    "artifactRefs": [],
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
}


def write(path: Path, *records: Any) -> Path:
    """`records` as JSON Lines at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
