"""Builds runs for tests: plain members in, chained stored bytes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.fault import Place
from safepoint.core.timestamp import SECOND, format_time, parse_time
from safepoint.core.version import V3
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.store.layout import journal_key, recovery_key

START = parse_time("2026-05-07T10:00:00Z")
UNOWNED = {"approval", "evidence", "retract"}


def at(seconds: float) -> str:
    """A time `seconds` after the run's start."""
    return format_time(START + int(seconds * SECOND))


def digest(letter: str) -> str:
    """A well-formed digest that is told from others by its letter."""
    return "sha256:" + letter * 64


def nonce(epoch: int) -> str:
    """The token of the writer that owns `epoch`."""
    return f"{epoch:032x}"


class Journal:
    """Records of one run, numbered and chained as they are added."""

    def __init__(self, run_id: str = "run-1") -> None:
        self.run_id = run_id
        self.values: list[dict[str, Any]] = []
        self.recovery: list[dict[str, Any]] = []

    def add(self, kind: str, seconds: float, /, *, epoch: int | None = None, **members: Any) -> Journal:
        """Append a record of `kind`, made `seconds` after the start."""
        if epoch is None:
            started = kind == "run" and members.get("status") in {"started", "cancelRequested"}
            epoch = 0 if kind in UNOWNED or started else self.epoch
        self.values.append(self._chained(self.values, kind, seconds, epoch, members))
        return self

    def recover(self, seconds: float, state: str, /, **members: Any) -> Journal:
        """Append to the recovery log."""
        members = {"episodeId": "ep-1", "state": state, **members}
        value = self._chained(self.recovery, "recovery", seconds, members.pop("leaseEpoch", 0), members)
        value["leaseEpoch"] = value["leaseEpoch"] or None
        self.recovery.append(value)
        return self

    def _chained(
        self, log: list[dict[str, Any]], kind: str, seconds: float, epoch: int, members: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "recordType": kind,
            "schemaVersion": "v3",
            "runId": self.run_id,
            "createdAt": at(seconds),
            "sequence": len(log) + 1,
            "previousDigest": digest_stored(encode_record(log[-1])) if log else None,
            "nonce": nonce(epoch),
            "leaseEpoch": epoch,
            **members,
        }

    @property
    def epoch(self) -> int:
        """The newest claimed epoch."""
        claims = [
            v["leaseEpoch"] for v in self.values if v["recordType"] == "lease" and v["event"] == "claimed"
        ]
        return claims[-1] if claims else 0

    # the records that most runs have

    def begin(self, ttl: int = 60, **members: Any) -> Journal:
        """A run record and the claim of epoch 1."""
        self.add("run", 0, status="started", workflow="publish", **members)
        return self.claim(1, ttl=ttl)

    def claim(self, seconds: float, *, ttl: int = 60, purpose: str = "run", **members: Any) -> Journal:
        """The next epoch."""
        epoch = self.epoch + 1
        members = {
            "event": "claimed",
            "purpose": purpose,
            "holder": f"worker-{epoch}",
            "ttlSeconds": ttl,
            **members,
        }
        return self.add("lease", seconds, epoch=epoch, **members)

    def checkpoint(self, seconds: float, checkpoint_id: str = "cp-1", **members: Any) -> Journal:
        """A checkpoint behind the last one, which says of the side effects what the ledger says."""
        ledger = [v for v in self.values if v["recordType"] == "ledger"]
        parents = [v["checkpointId"] for v in self.values if v["recordType"] == "checkpoint"]
        value: dict[str, Any] = {
            "checkpointId": checkpoint_id,
            "parentCheckpointId": parents[-1] if parents else None,
            "state": "approved",
            "stepName": "approve",
            "nextSteps": ["notify", "update_status"],
            "reason": "beforeEffect",
            "artifactRefs": [],
            "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None},
            "lastLedgerSequence": ledger[-1]["sequence"] if ledger else 0,
        }
        return self.add("checkpoint", seconds, **{**value, **members})

    def ledger(self, seconds: float, status: str, action: str = "send", /, **members: Any) -> Journal:
        """A ledger record; an action's first one declares ``message``, unkeyed, unprobed unless `declares` is given."""
        first = not any(v.get("actionId") == action and v["recordType"] == "ledger" for v in self.values)
        value: dict[str, Any] = {
            "actionId": action,
            "stepName": "notify",
            "idempotencyKey": f"{self.run_id}_{action}",
            "requestFingerprint": digest("f"),
            "status": status,
        }
        number = 1 + sum(
            1 for v in self.values if v.get("actionId") == action and v.get("status") == "attempting"
        )
        if status == "attempting":
            value["attempt"] = {"number": number, "startedAt": at(seconds), "deadline": at(seconds + 30)}
        if status == "committed":
            value["evidence"] = {"kind": "response", "ref": "msg-1", "by": None, "observedAt": at(seconds)}
        if status == "failed":
            value["error"] = {"class": "ConnectionRefused", "message": None, "retryable": True, "sent": "no"}
        if first and "declares" not in members:
            members["declares"] = declares()
        return self.add("ledger", seconds, **{**value, **members})

    def write(self, store: Path) -> None:
        """Lay the records down as a store's objects."""
        for values, key_of in ((self.values, journal_key), (self.recovery, recovery_key)):
            for value in values:
                path = store / key_of(self.run_id, value["sequence"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(encode_record(value))

    def fold(self) -> Run:
        """The run as the reader would hand it on."""
        return fold(
            self.run_id,
            [as_record(value, journal_key) for value in self.values],
            recovery=[as_record(value, recovery_key) for value in self.recovery],
            claimable=True,
        )


def declares(**members: Any) -> dict[str, Any]:
    """A declaration of the worst kind, but for `members`."""
    return {
        "effect": "message",
        "idempotency": "none",
        "dedupeWindowSeconds": None,
        "probe": "none",
        "probeSettleSeconds": 0,
        "reversibility": "irreversible",
        "compensation": None,
        **members,
    }


def as_record(value: dict[str, Any], key_of: Any = None) -> Record:
    """`value` as a record of the fold."""
    key = key_of(value["runId"], value["sequence"]) if key_of and "sequence" in value else "records.jsonl"
    data = encode_record(value)
    return Record(value["recordType"], V3, value, Place(f"store/{key}", key), digest_stored(data))
