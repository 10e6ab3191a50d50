"""The guard's answer as data, and as the ``decision`` document (SPEC.md#decision)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.core.version import CURRENT

EXIT_CODES: Mapping[str, int] = {
    "resume": 0,
    "wait": 10,
    "reconcile": 11,
    "compensate": 12,
    "hand_over": 13,
    "give_up": 14,
    "no_op": 15,
}
"""Verdict to the exit status of ``safepoint guard``."""


GRAVITY: Mapping[str, int] = {
    "resume": 0,
    "wait": 1,
    "reconcile": 2,
    "compensate": 3,
    "give_up": 4,
    "hand_over": 5,
}
"""In layers 3 to 7 the gravest verdict wins; give_up ends a run and so yields only to a human."""


REMADE = "SP796"
"""The reason of a plan's step that only makes a lost artifact again."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that speaks for its verdict, with its evidence."""

    code: str
    layer: str
    verdict: str
    """What this reason alone would ask for."""
    message: str
    key: str | None = None
    """Store-relative name of the evidence."""
    pointer: str | None = None

    def document(self) -> dict[str, Any]:
        """The reason as a member of ``reasons[]``."""
        return {
            "code": self.code,
            "layer": self.layer,
            "verdict": self.verdict,
            "message": self.message,
            "key": self.key,
            "pointer": self.pointer,
        }


@dataclass(frozen=True, slots=True)
class PlanItem:
    """What to do with one action or one step when the run goes on."""

    do: str
    """``skip`` (inject the recorded result), ``replay`` (same key), ``run``, ``wait``, ``reconcile``, ``compensate``,
    ``handOver``, ``confirm`` or ``void``."""
    reason: str
    action_id: str | None = None
    step_name: str | None = None
    key: str | None = None
    """The idempotency key to use."""

    def document(self) -> dict[str, Any]:
        """The item as a member of ``plan[]``."""
        subject = {"actionId": self.action_id} if self.action_id is not None else {"stepName": self.step_name}
        return {**subject, "do": self.do, "key": self.key, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Missing:
    """Evidence that would change the answer."""

    kind: str
    """``probe``, ``approval``, ``fact``, ``owner``, ``outcome`` (what became of an action) or ``human``."""
    subject: str
    message: str

    def document(self) -> dict[str, Any]:
        """The evidence as a member of ``missingEvidence[]``."""
        return {"kind": self.kind, "subject": self.subject, "message": self.message}


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, why, and what it rests on; it is void as soon as the journal's head is another."""

    run_id: str
    evaluated_at: int
    """Nanoseconds since the Unix epoch, as all times here."""
    goal: str
    verdict: str
    checkpoint_id: str | None
    plan: tuple[PlanItem, ...]
    reasons: tuple[Reason, ...]
    not_checked: tuple[str, ...]
    missing_evidence: tuple[Missing, ...]
    not_before: int | None
    valid_until: int | None
    head_sequence: int | None
    head_digest: str | None
    lease_epoch: int
    policy_digest: str
    facts_digest: str | None
    anchor_digest: str | None = None
    """Of the newest anchor that was consulted; None: none was."""

    def document(self) -> dict[str, Any]:
        """The ``decision`` document; equal decisions give equal documents, member order included."""
        return {
            "recordType": "decision",
            "schemaVersion": str(CURRENT),
            "runId": self.run_id,
            "evaluatedAt": format_time(self.evaluated_at),
            "goal": self.goal,
            "verdict": self.verdict,
            "checkpointId": self.checkpoint_id,
            "plan": [item.document() for item in self.plan],
            "reasons": [reason.document() for reason in self.reasons],
            "notChecked": list(self.not_checked),
            "missingEvidence": [missing.document() for missing in self.missing_evidence],
            "notBefore": None if self.not_before is None else format_time(self.not_before),
            "validUntil": None if self.valid_until is None else format_time(self.valid_until),
            "basis": {
                "journal": {"sequence": self.head_sequence, "digest": self.head_digest},
                "leaseEpoch": self.lease_epoch,
                "policyDigest": self.policy_digest,
                "factsDigest": self.facts_digest,
                **({"anchorDigest": self.anchor_digest} if self.anchor_digest is not None else {}),
            },
        }
