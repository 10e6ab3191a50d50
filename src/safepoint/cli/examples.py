"""A small valid record of every kind, for ``safepoint schema KIND --example``.

Decided here: what a newcomer sees first of a kind: the members that it needs, and those that hardly anybody leaves out.
All members are in the schema. Records of a run are shown as they lie outside of a journal, where they need no place in
a chain; a lease has no meaning there, so it is shown with its place.
"""

from __future__ import annotations

from typing import Any

from safepoint.core.version import Version

_ZEROS = "sha256:" + "0" * 64
_TIME = "2026-05-07T10:00:00Z"
_V3 = {"schemaVersion": "v3", "runId": "run_123", "createdAt": _TIME}

_EXAMPLES: dict[tuple[str, int], dict[str, Any]] = {
    ("checkpoint", 1): {
        "checkpointId": "cp_03",
        "runId": "run_123",
        "schemaVersion": "v1",
        "state": "waiting_tool_result",
        "stepName": "fetch_customer_profile",
        "createdAt": _TIME,
        "inputSnapshot": {"customerId": "c_456"},
    },
    ("ledger", 1): {
        "actionId": "send_email_001",
        "runId": "run_123",
        "schemaVersion": "v1",
        "stepName": "notify_customer",
        "status": "pending",
    },
    ("checkpoint", 2): {
        "checkpointId": "cp_03",
        "runId": "run_123",
        "schemaVersion": "v2",
        "state": "waiting_tool_result",
        "stepName": "fetch_customer_profile",
        "createdAt": _TIME,
        "inputSnapshot": {"customerId": "c_456"},
        "artifactRefs": ["artifact_plan_01"],
        "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
    },
    ("ledger", 2): {
        "actionId": "send_email_001",
        "runId": "run_123",
        "schemaVersion": "v2",
        "stepName": "notify_customer",
        "idempotencyKey": "run_123_notify_customer_v1",
        "status": "committed",
        "externalRef": "provider_msg_789",
    },
    ("run", 3): {"recordType": "run", **_V3, "status": "started", "workflow": "support"},
    ("checkpoint", 3): {
        "recordType": "checkpoint",
        **_V3,
        "checkpointId": "cp_03",
        "state": "waiting_tool_result",
        "stepName": "fetch_customer_profile",
        "nextSteps": ["notify_customer"],
        "inputSnapshot": {"customerId": "c_456"},
        "artifactRefs": [],
        "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
    },
    ("ledger", 3): {
        "recordType": "ledger",
        **_V3,
        "actionId": "send_email_001",
        "stepName": "notify_customer",
        "idempotencyKey": "run_123_notify_customer_v1",
        "status": "committed",
        "evidence": {"kind": "response", "ref": "provider_msg_789", "by": None, "observedAt": _TIME},
        "declares": {"effect": "message", "idempotency": "keyed", "dedupeWindowSeconds": 86400},
    },
    ("approval", 3): {
        "recordType": "approval",
        **_V3,
        "approvalId": "approval_01",
        "actionId": "send_email_001",
        "event": "requested",
        "contentDigest": _ZEROS,
        "expiresAt": "2026-05-07T22:00:00Z",
    },
    ("lease", 3): {
        "recordType": "lease",
        **_V3,
        "sequence": 1,
        "previousDigest": None,
        "nonce": "0" * 32,
        "leaseEpoch": 1,
        "event": "claimed",
        "purpose": "run",
        "holder": "worker-1",
        "ttlSeconds": 60,
    },
    ("evidence", 3): {
        "recordType": "evidence",
        **_V3,
        "actionId": "send_email_001",
        "attemptNumber": None,
        "result": "applied",
        "kind": "human",
        "by": "editor@example.org",
        "ref": "ticket 1234",
        "observedAt": _TIME,
    },
    ("retract", 3): {
        "recordType": "retract",
        **_V3,
        "targets": ["cp_03"],
        "reason": "the customer asked for erasure",
        "by": "privacy@example.org",
    },
    ("recovery", 3): {"recordType": "recovery", **_V3, "episodeId": "ep_1", "state": "detected"},
    ("heartbeat", 3): {
        "recordType": "heartbeat",
        "schemaVersion": "v3",
        "runId": "run_123",
        "leaseEpoch": 1,
        "nonce": "0" * 32,
        "beatAt": _TIME,
    },
    ("store", 3): {"recordType": "store", "schemaVersion": "v3", "layout": 1},
    ("deleted", 3): {
        "recordType": "deleted",
        "schemaVersion": "v3",
        "runId": "run_123",
        "deletedAt": "2026-08-07T10:00:00Z",
        "by": "retention@example.org",
        "reason": "older than 90 days",
        "status": "completed",
        "endedAt": _TIME,
        "heads": {
            "journal": {"sequence": 8, "digest": _ZEROS},
            "recovery": {"sequence": 0, "digest": None},
        },
        "counts": {"records": 8, "checkpoints": 2, "actions": 1, "artifacts": 0},
    },
    ("policy", 3): {
        "recordType": "policy",
        "schemaVersion": "v3",
        "attemptsWithoutProgress": 3,
        "leaseSeconds": 60,
        "maxFactAgeSeconds": 900,
        "guardContext": {"*": "block", "model": "warn"},
        "actions": {"send_email_001": {"effect": "message", "idempotency": "none", "probe": "byQuery"}},
    },
    ("facts", 3): {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run_123",
        "observedAt": "2026-05-07T10:07:00Z",
        "guardContext": {"workflow": _ZEROS},
        "knownSteps": ["fetch_customer_profile", "notify_customer"],
        "owners": [
            {
                "leaseEpoch": 1,
                "state": "dead",
                "proof": "the node agent reports exit by signal 9",
                "observedAt": "2026-05-07T10:06:40Z",
            }
        ],
        "probes": {
            "send_email_001": {
                "result": "applied",
                "consistency": "strong",
                "observedAt": "2026-05-07T10:06:55Z",
                "externalRef": "provider_msg_789",
            }
        },
        "fleet": {
            "breakers": [],
            "startsLastHour": 240,
            "recoveriesLastHour": 1,
            "recoveriesLastTenMinutes": 0,
        },
    },
    ("request", 3): {
        "recordType": "request",
        "schemaVersion": "v3",
        "goal": "continue",
        "checkpointId": "cp_03",
    },
    ("decision", 3): {
        "recordType": "decision",
        "schemaVersion": "v3",
        "runId": "run_123",
        "evaluatedAt": "2026-05-07T10:07:01Z",
        "goal": "continue",
        "verdict": "resume",
        "checkpointId": "cp_03",
        "plan": [{"stepName": "notify_customer", "do": "run", "key": None, "reason": "SP761"}],
        "reasons": [],
        "notChecked": [],
        "missingEvidence": [],
        "notBefore": None,
        "validUntil": None,
        "basis": {
            "journal": {"sequence": 8, "digest": _ZEROS},
            "leaseEpoch": 1,
            "policyDigest": _ZEROS,
            "factsDigest": None,
        },
    },
    ("report", 3): {
        "recordType": "report",
        "schemaVersion": "v3",
        "generatedAt": "2026-05-07T10:10:00Z",
        "store": "s3://agents/safepoint",
        "metrics": {"recoverySuccessRate": {"value": 0.75, "n": 4, "unit": "ratio"}},
    },
    ("anchor", 3): {
        "recordType": "anchor",
        "schemaVersion": "v3",
        "createdAt": "2026-05-07T10:10:00Z",
        "sequence": 1,
        "previousDigest": None,
        "nonce": "0" * 32,
        "store": "s3://agents/safepoint",
        "storeDocument": _ZEROS,
        "counts": {"runs": 1, "records": 8},
        "runs": {"run_123": {"journal": {"sequence": 8, "digest": _ZEROS}}},
    },
    ("quarantine", 3): {
        "recordType": "quarantine",
        "schemaVersion": "v3",
        "runId": "run_123",
        "objects": [
            {
                "key": "runs/run_123/journal/0000000007.json",
                "fate": "setAside",
                "size": 211,
                "digest": _ZEROS,
                "quarantine": "quarantine/runs/run_123/journal/0000000007.json.aside",
                "texts": [{"code": "SP103"}],
            }
        ],
    },
    ("repair", 3): {
        "recordType": "repair",
        "schemaVersion": "v3",
        "source": "s3://agents/safepoint",
        "tool": "safepoint 0.1.0",
        "totals": {"objects": 1, "copied": 1, "rebuilt": 0, "setAside": 0, "unreadable": 0, "bytes": 46},
        "runs": 0,
        "objects": [
            {"key": "safepoint.json", "fate": "copied", "size": 46, "digest": _ZEROS, "quarantine": None}
        ],
    },
    ("origin", 3): {
        "recordType": "origin",
        "schemaVersion": "v3",
        "runId": "run_123",
        "source": "s3://agents/safepoint",
        "tool": "safepoint 0.1.0",
        "from": {"journal": {"sequence": 9, "digest": _ZEROS}},
        "heads": {"journal": {"sequence": 9, "digest": _ZEROS}},
    },
    ("seal", 3): {
        "recordType": "seal",
        "schemaVersion": "v3",
        "runId": "run_123",
        "source": "s3://agents/safepoint",
        "sequence": 11,
        "digest": _ZEROS,
        "after": {"sequence": 9, "digest": _ZEROS},
    },
}


def example(kind: str, version: Version) -> dict[str, Any]:
    """A small valid record or document of `kind`.

    Raises:
        KeyError: `version` has no such kind.
    """
    return _EXAMPLES[kind, version.major]
