"""Decision documents made by hand, and their text."""

from __future__ import annotations

from typing import Any

from safepoint.render.asked import Asked
from safepoint.render.decision import decision_text
from safepoint.render.terminal import Screen

PIPE = Screen()


def document(verdict: str, **members: Any) -> dict[str, Any]:
    """A decision document about ``run 1``."""
    return {
        "recordType": "decision",
        "schemaVersion": "v3",
        "runId": "run 1",
        "evaluatedAt": "2026-05-07T10:00:00Z",
        "goal": "continue",
        "verdict": verdict,
        "checkpointId": "cp_1",
        "plan": [],
        "reasons": [],
        "notChecked": [],
        "missingEvidence": [],
        "notBefore": None,
        "validUntil": None,
        "basis": {
            "journal": {"sequence": 7, "digest": "sha256:" + "ab" * 32},
            "leaseEpoch": 2,
            "policyDigest": "sha256:" + "00" * 32,
            "factsDigest": None,
        },
        **members,
    }


def text(verdict: str, asked: Asked | None = None, **members: Any) -> str:
    """What a human reads of it."""
    return decision_text(document(verdict, **members), asked or Asked("my store"), PIPE)


def need(kind: str, subject: str, message: str = "because") -> dict[str, str]:
    """A piece of missing evidence."""
    return {"kind": kind, "subject": subject, "message": message}


def reason(code: str, verdict: str) -> dict[str, Any]:
    """A reason for a verdict."""
    return {
        "code": code,
        "layer": "world",
        "verdict": verdict,
        "message": f"{code} says so",
        "key": None,
        "pointer": None,
    }


HANDED = {"actionId": "send", "do": "handOver", "key": None, "reason": "SP766"}
