"""What tests of anchors look at: what an anchor says, and what a store says against it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import safepoint
from safepoint.core.digest import digest_stored, encode_record


def said(place: Path, number: int) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((place / f"anchors/{number:010}.json").read_bytes())
    return value


def heads(store: Path, run_id: str) -> dict[str, Any]:
    newest = max((store / "runs" / run_id / "journal").iterdir())
    return {"sequence": int(newest.stem), "digest": digest_stored(newest.read_bytes())}


def codes(store: Path, place: str | Path) -> list[str]:
    found = safepoint.validate(str(store), anchor=place)
    return [finding.code for finding in found if finding.severity == "error"]


def pack(store: Path, run_id: str) -> None:
    folder = store / "runs" / run_id
    lines = [file.read_bytes() + b"\n" for file in sorted((folder / "journal").iterdir())]
    shutil.rmtree(folder / "journal")
    (folder / "journal.jsonl").write_bytes(b"".join(lines))


def deleted(head: dict[str, Any]) -> bytes:
    return encode_record(
        {
            "recordType": "deleted",
            "schemaVersion": "v3",
            "runId": "run-1",
            "deletedAt": "2026-08-07T10:00:00Z",
            "by": "retention@example.org",
            "status": "completed",
            "endedAt": "2026-05-07T10:00:00Z",
            "heads": {"journal": head, "recovery": {"sequence": 0, "digest": None}},
            "counts": {"records": 9, "checkpoints": 2, "actions": 2, "artifacts": 0},
        }
    )


OLD = {
    "checkpointId": "cp-1",
    "runId": "run-1",
    "schemaVersion": "v2",
    "state": "drafting",
    "stepName": "draft",
    "createdAt": "2026-05-07T10:00:00Z",
    "inputSnapshot": {},
    "artifactRefs": [],
    "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
}
