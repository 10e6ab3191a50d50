"""Stores made by hand: records chained as SPEC.md says, one object each; and a runner for the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from halted import checkpoint, claimed, ledger, started
from samples import BAD, ODD, write

from safepoint.cli.main import safepoint
from safepoint.core.digest import digest_stored, encode_record

NONCE = "0123456789abcdef0123456789abcdef"
RUN = "run_123"


def at(second: int) -> str:
    return f"2026-05-07T10:00:{second:02}Z"


def write_run(store: Path, records: Iterable[dict[str, Any]], run_id: str = RUN) -> Path:
    """`records` without their common members as the journal of `run_id`; every second one record."""
    folder = store / "runs" / run_id / "journal"
    folder.mkdir(parents=True)
    previous = None
    for number, members in enumerate(records, 1):
        record = {
            "schemaVersion": "v3",
            "runId": run_id,
            "createdAt": at(number),
            "sequence": number,
            "previousDigest": previous,
            "nonce": NONCE,
            "leaseEpoch": 1,
            **members,
        }
        data = encode_record(record)
        previous = digest_stored(data)
        (folder / f"{number:010}.json").write_bytes(data)
    return store


def attempting(second: int, **members: Any) -> dict[str, Any]:
    return ledger(
        "attempting",
        attempt={"number": 1, "startedAt": at(second), "deadline": at(second + 30)},
        declares={
            "effect": "message",
            "idempotency": "none",
            "probe": "none",
            "reversibility": "irreversible",
        },
        **members,
    )


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """Killed during an unkeyed send that nobody can probe; its payload holds a secret."""
    secret = {"inputSnapshot": {"token": "s3cret"}}
    return write_run(
        tmp_path / "crashed", [started(), claimed(), checkpoint("cp_1", **secret), attempting(4)]
    )


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """Killed after the send and before the next checkpoint."""
    outcome = ledger(
        "committed",
        evidence={"kind": "response", "ref": "250 queued", "by": None, "observedAt": at(5)},
        result={"token": "s3cret"},
    )
    records = [started(), claimed(), checkpoint("cp_1"), attempting(4), outcome]
    return write_run(tmp_path / "committed", records)


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """A human was asked and has not answered."""
    asked = {
        "recordType": "approval",
        "leaseEpoch": 0,
        "approvalId": "ap_1",
        "actionId": "notify_1",
        "event": "requested",
        "contentDigest": "sha256:" + "0" * 64,
        "expiresAt": "2026-05-08T10:00:00Z",
    }
    return write_run(tmp_path / "waiting", [started(), claimed(), checkpoint("cp_1"), asked])


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """Somebody asked it to stop, and its owner gave the lease back."""
    wish = {"recordType": "run", "leaseEpoch": 0, "status": "cancelRequested", "by": "ann"}
    released = {"recordType": "lease", "event": "released"}
    return write_run(tmp_path / "stopped", [started(), claimed(), wish, released])


@pytest.fixture
def completed(tmp_path: Path) -> Path:
    """It came to its end."""
    return write_run(
        tmp_path / "completed", [started(), claimed(), {"recordType": "run", "status": "completed"}]
    )


@pytest.fixture
def late(tmp_path: Path) -> Path:
    """Its lease lasts longer than the calendar, and its newest record was made at the end of it."""
    lease = claimed() | {"ttlSeconds": 2**53 - 1}
    last = checkpoint("cp_1", createdAt="9999-12-31T23:59:59Z")
    return write_run(tmp_path / "late", [started(), lease, last])


@pytest.fixture
def attested(tmp_path: Path) -> Path:
    """A human wrote a text where a reference belongs."""
    proof = {"kind": "human", "ref": "I saw it. " * 20 + "s3cret", "by": "ann", "observedAt": at(4)}
    outcome = ledger("committed", evidence=proof)
    return write_run(tmp_path / "attested", [started(), claimed(), attempting(3), outcome])


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs ``safepoint`` with arguments, and bytes on standard input."""
    monkeypatch.delenv("NO_COLOR", raising=False)

    def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(safepoint, [str(a) for a in arguments], input=stdin)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two files, one with an error and one with a warning, and no settings."""
    (tmp_path / "project/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    write(tmp_path / "project/records/bad.json", BAD)
    write(tmp_path / "project/records/odd.json", ODD)
    return tmp_path / "project"


@pytest.fixture
def check(run: Callable[..., Result]) -> Callable[..., tuple[int, list[str]]]:
    """The exit status, and the codes that counted."""

    def call(*arguments: str | Path) -> tuple[int, list[str]]:
        result = run("validate", *arguments, "--format", "json")
        codes = [finding["code"] for finding in json.loads(result.stdout)["findings"]]
        return result.exit_code, sorted(codes)

    return call
