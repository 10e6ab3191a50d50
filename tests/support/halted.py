"""Runs that have stopped where a human has to answer, and what such a test asks of a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from click.testing import Result
from journals import Journal, at, declares, digest

from safepoint.reader import load_run
from safepoint.store import open_store

Run = Callable[..., Result]
RUN = "run_123"
ANN = ("--run", RUN, "--by", "ann")


def now() -> str:
    """The present time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def journal(store: Path) -> list[dict[str, Any]]:
    """The run's records."""
    run = load_run(open_store(str(store)), RUN).run
    assert run is not None
    return [dict(record.value) for record in run.records]


def verdict(run: Run, store: Path, *options: str) -> tuple[str, list[str]]:
    """The guard's answer, and the codes that decided."""
    document = json.loads(run("guard", store, "--run", RUN, "--format", "json", *options).stdout)
    return document["verdict"], [
        r["code"] for r in document["reasons"] if r["verdict"] == document["verdict"]
    ]


def done(run: Run, store: Path, name: str, *options: str) -> Result:
    """An answer of ann's that is taken."""
    result = run(name, store, *ANN, *options)
    assert result.exit_code == 0, result.stderr
    assert f"  safepoint guard {store} --run {RUN}" in result.stdout
    return result


def sound(run: Run, store: Path) -> None:
    """Nothing that was written is wrong."""
    result = run("validate", store, "--fail-on", "error")
    assert result.exit_code == 0, result.stdout


def write_run(store: Path, records: list[dict[str, Any]]) -> Path:
    """A store with the journal of `records`, one a second."""
    journal = Journal(RUN)
    for second, record in enumerate(records):
        members = {name: value for name, value in record.items() if name != "recordType"}
        journal.add(record["recordType"], second, epoch=members.pop("leaseEpoch", 1), **members)
    journal.write(store)
    return store


def started() -> dict[str, Any]:
    return {"recordType": "run", "leaseEpoch": 0, "status": "started", "workflow": "publish"}


def claimed() -> dict[str, Any]:
    return {
        "recordType": "lease",
        "event": "claimed",
        "purpose": "run",
        "holder": "worker-1",
        "ttlSeconds": 60,
    }


def checkpoint(name: str, **members: Any) -> dict[str, Any]:
    return {
        "recordType": "checkpoint",
        "checkpointId": name,
        "state": "running",
        "stepName": "draft",
        "nextSteps": ["notify"],
        "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
        "artifactRefs": [],
        **members,
    }


def ledger(status: str, **members: Any) -> dict[str, Any]:
    common = {"actionId": "notify_1", "stepName": "notify", "idempotencyKey": None}
    return {"recordType": "ledger", **common, "status": status, **members}


def attempting(second: int) -> dict[str, Any]:
    attempt = {"number": 1, "startedAt": at(second), "deadline": at(second + 30)}
    return ledger("attempting", attempt=attempt, declares=declares())


def asked(event: str = "requested", **members: Any) -> dict[str, Any]:
    said = {} if event == "requested" else {"actor": "boss"}
    return {
        "recordType": "approval",
        "leaseEpoch": 0,
        "approvalId": "ap_1",
        "actionId": "notify_1",
        "event": event,
        "contentDigest": digest("f"),
        **said,
        **members,
    }


def planned(**members: Any) -> dict[str, Any]:
    return ledger("planned", requestFingerprint=digest("f"), **members)


def store_of(tmp_path: Path, *records: dict[str, Any]) -> Path:
    return write_run(tmp_path / "store", [started(), claimed(), *records])
