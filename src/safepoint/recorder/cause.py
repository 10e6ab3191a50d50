"""Why a round of recovery begins: what set it off, and what failed before it (SPEC.md#recovery).

Decided here: what the records say of that by themselves, and that nobody may blame the infrastructure without evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.model.attempts import fold_attempts
from safepoint.model.episodes import Episode
from safepoint.model.run import Run

FAILURES = ("step", "recovery", "infrastructure")
"""What may have failed: the business step, the recovery itself, or what lies under both."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What a round of recovery says of its beginning."""

    trigger: str | None
    signature: str | None
    failure_of: str | None
    evidence: str | None
    guessed: bool
    """Whether the signature is only made from the records."""
    said: bool
    """Whether somebody has said what failed, and it is not only what the records suggest."""

    def members(self, before: Episode | None) -> dict[str, Any]:
        """As members of a recovery record; what the episode `before` says already gives way to no guess."""
        keeps = before is not None and before.failure_of is not None and not self.said
        known = before is not None and before.failure_signature is not None and self.guessed
        return {
            "trigger": None if before else self.trigger,
            "failureSignature": None if known else self.signature,
            "failureOf": None if keeps else self.failure_of,
            "failureEvidence": None if keeps else self.evidence,
        }


def cause_of(
    run: Run,
    *,
    trigger: str | None = None,
    signature: str | None = None,
    failure_of: str | None = None,
    evidence: str | None = None,
    facts: Mapping[str, Any] | None = None,
    alive: bool = False,
) -> Cause:
    """What the records, or those who know better, say of the failure before.

    Args:
        run: the run as it was judged.
        trigger: what set the recovery off; None: what the records show.
        signature: what makes two failures the same; None: a digest of step and error class.
        failure_of: one of `FAILURES`; None: what the records suggest.
        evidence: where the evidence for it can be looked up.
        facts: may hold the proof of the owner's death, which is evidence too.
        alive: whether nothing has failed as far as anybody knows.

    Raises:
        ValueError: `failure_of` is none of these, or blames the infrastructure without evidence; or there is evidence
            for nothing.
    """
    if failure_of not in {None, *FAILURES}:
        raise ValueError(f"failure_of: got {failure_of!r}, expected one of {', '.join(FAILURES)}")
    if evidence is not None and failure_of is None:
        raise ValueError("failure_evidence: say with failure_of what it is evidence for")
    if failure_of == "infrastructure" and not evidence:
        evidence = _proof(run, facts)
        if not evidence:
            raise ValueError(
                "failure_of: the infrastructure is only blamed with failure_evidence: an incident, a node event, or "
                "a proof of the owner's death in the facts"
            )
    return Cause(
        trigger or ("operator" if alive else _trigger(run)),
        signature or _signature(run),
        failure_of or (None if alive else _failure_of(run)),
        evidence,
        guessed=signature is None,
        said=failure_of is not None,
    )


def _proof(run: Run, facts: Mapping[str, Any] | None) -> str | None:
    """How the facts prove that the newest owner is dead."""
    epoch = run.ownership.epoch if run.ownership else None
    owners = [owner for owner in (facts or {}).get("owners") or () if owner.get("leaseEpoch") == epoch]
    if any(owner.get("state") != "dead" for owner in owners):
        return None
    return next((str(owner["proof"]) for owner in owners if owner.get("proof")), None)


def _trigger(run: Run) -> str:
    if run.status == "failed":
        return "runFailed"
    if run.ownership is None:
        return "noOwner"
    return "leaseReleased" if run.ownership.released else "ownerGone"


def _signature(run: Run) -> str:
    """Digest of step and error class: the same crash at the same step is the same failure."""
    checkpoint = run.newest_checkpoint
    steps = (checkpoint.value.get("nextSteps") or [checkpoint.value["stepName"]]) if checkpoint else [None]
    error = (run.ended_by.value.get("error") or {}) if run.ended_by else {}
    return digest_value([steps[0], error.get("class", "crash")])


def _failure_of(run: Run) -> str:
    """``recovery`` where the last owner was a recovery that never got to work, else ``step``."""
    attempts = fold_attempts(run)
    last = run.ownership.lease if run.ownership else None
    return attempts[-1].failed_by if attempts and attempts[-1].claim is last else "step"
