"""What a case of the guard's conformance suite is, and what many of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journals import Journal, at

from safepoint.core.digest import digest_bytes, encode_record
from safepoint.guard.case import Claims

LATER = 200.0
"""Seconds after the start: the lease of epoch 1 (60 s, skew 5 s) has lapsed."""


@dataclass(frozen=True)
class Case:
    name: str
    summary: str
    journal: Journal
    verdict: str
    codes: Sequence[str]
    """The codes of all reasons, in order."""
    now: float = LATER
    facts: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    request: Mapping[str, Any] | None = None
    source: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Objects laid over the journal's, by key; empty bytes stay empty."""
    without: Sequence[str] = ()
    """Keys that are taken away."""
    anchor: Mapping[str, Any] | None = None
    """What an anchor says of the run."""
    anchored_document: str | None = None
    """What it says of the store's description."""
    claims: Claims = "enforced"
    """What keeps two claims apart in the store; `write` only says so, whoever runs the case sees to it."""


def anchor(heads: Mapping[str, Any], document: str | None) -> dict[str, Any]:
    """The first anchor of a store of one run."""
    return {
        "recordType": "anchor",
        "schemaVersion": "v3",
        "createdAt": at(100),
        "sequence": 1,
        "previousDigest": None,
        "nonce": "0" * 32,
        "store": "store",
        "storeDocument": document,
        "counts": {"runs": 1, "records": 3},
        "runs": {"run-1": heads} if heads else {},
    }


def newest(journal: Journal) -> dict[str, Any]:
    """The journal's head, as an anchor says it."""
    data = encode_record(journal.values[-1])
    return {"sequence": len(journal.values), "digest": digest_bytes(data)}


def policy(**members: Any) -> dict[str, Any]:
    return {"recordType": "policy", "schemaVersion": "v3", **members}


DEAD = {"owners": [{"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": at(10)}]}
DESCRIPTION = encode_record({"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": []})
JOURNAL_4 = "runs/run-1/journal/0000000004.json"
