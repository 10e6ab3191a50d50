"""Stores with closed runs, for what is done to them: packed, deleted, retracted."""

from __future__ import annotations

import json
import uuid
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fsspec
from journals import START, Journal, at, nonce

from safepoint.core.digest import digest_bytes, encode_record
from safepoint.core.timestamp import SECOND
from safepoint.store import Store, open_store
from safepoint.store.layout import artifact_key, heartbeat_key, journal_key, recovery_key

LATER = START + 3600 * SECOND
"""When every lease here has lapsed."""

PICTURE, PLAN = b"a picture", b"a plan"


def reference(artifact_id: str, data: bytes) -> dict[str, Any]:
    """A reference to bytes in the run's own folder."""
    return {
        "artifactId": artifact_id,
        "uri": None,
        "digest": digest_bytes(data),
        "size": len(data),
        "mediaType": "text/plain",
    }


def finished(run_id: str = "run-1", status: str = "completed", **members: Any) -> Journal:
    """A run with an effect, artifacts and two rounds of recovery, which has ended."""
    journal = Journal(run_id).begin(**members)
    journal.checkpoint(2, "cp-1", artifactRefs=[reference("plan", PLAN), reference("picture", PICTURE)])
    journal.ledger(3, "attempting").ledger(4, "committed")
    journal.checkpoint(5, "cp-2", artifactRefs=[reference("plan-again", PLAN)], nextSteps=[])
    end = {"successor": {"uri": "s3://bucket/new", "runId": run_id}} if status == "sealed" else {}
    journal.add("run", 6, status=status, **end)
    journal.recover(400, "detected", trigger="operator").recover(401, "assessing").recover(402, "notNeeded")
    return journal


def objects(*journals: Journal, artifacts: bool = True) -> dict[str, bytes]:
    """What a store holds with these runs in it: records, a heartbeat and the bytes of the artifacts."""
    found: dict[str, bytes] = {}
    for journal in journals:
        run_id = journal.run_id
        for values, key_of in ((journal.values, journal_key), (journal.recovery, recovery_key)):
            found |= {key_of(run_id, value["sequence"]): encode_record(value) for value in values}
        beat = {"recordType": "heartbeat", "schemaVersion": "v3", "runId": run_id, "leaseEpoch": 1}
        found[heartbeat_key(run_id, 1)] = encode_record({**beat, "nonce": nonce(1), "beatAt": at(5)})
        if artifacts:
            found |= {artifact_key(run_id, digest_bytes(data)): data for data in (PICTURE, PLAN)}
    return found


def fresh(kind: str, folder: Path) -> Store:
    """An empty store, on disk or in memory; what is in memory goes with it, or each listing would have to pass it."""
    name = uuid.uuid4().hex
    if kind == "local":
        return open_store(str(folder / name))
    store = open_store(f"memory://{name}/store")
    weakref.finalize(store, _forget, f"/{name}/")
    return store


def _forget(prefix: str) -> None:
    objects: dict[str, Any] = fsspec.filesystem("memory").store
    for path in [path for path in objects if path.startswith(prefix)]:
        del objects[path]


def filled(kind: str, folder: Path, content: Mapping[str, bytes]) -> Store:
    """A new store with these objects."""
    store = fresh(kind, folder)
    for key, data in content.items():
        if "/heartbeat/" in key:
            store.replace(key, data)
        else:
            store.put_if_absent(key, data)
    return store


def said(data: bytes) -> dict[str, Any]:
    """A document that a command has printed."""
    value: dict[str, Any] = json.loads(data)
    return value
