"""Whether the step that made a lost artifact may make it again (SPEC.md#guard-world)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.guard.case import Case
from safepoint.model.journal import Level
from safepoint.model.record import Record


def step_of(case: Case, checkpoint: Record, artifact_id: str, status: str) -> str | None:
    """The step that makes the artifact of `checkpoint` again; None where there is none, or it must not.

    It must not where the step does more than read, where an effect may rest on what the artifact held, and where the
    artifact was retracted. Damaged bytes under their own digest keep that name from whole ones.

    Args:
        case: the question.
        checkpoint: where the run would go on from.
        artifact_id: what it needs.
        status: what became of it: ``missing`` or ``damaged``.
    """
    references = _references(checkpoint, artifact_id)
    steps = {reference.get("producedBy") for reference in references}
    step = next(iter(steps), None)
    if len(steps) != 1 or step is None or status not in {"missing", "damaged"}:
        return None
    if status == "damaged" and any(_lies_by_its_digest(reference) for reference in references):
        return None
    # Without an order of the records nobody can tell which effects came after the artifact.
    if case.run.level is Level.RECORDS or case.undoing or is_retracted(case, artifact_id):
        return None
    if not _only_reads(case, step) or _was_used(case, artifact_id):
        return None
    known = case.facts.value.get("knownSteps")
    return str(step) if known is None or step in known else None


def is_retracted(case: Case, artifact_id: str) -> bool:
    """Whether the artifact was taken out on purpose."""
    retractions = (record for record in case.run.records if record.kind == "retract")
    return any(artifact_id in record.value["targets"] for record in retractions)


def _lies_by_its_digest(reference: Mapping[str, Any]) -> bool:
    own = f"artifacts/{str(reference.get('digest')).replace(':', '/', 1)}"
    return reference.get("uri") in {None, own}


def _only_reads(case: Case, step: str) -> bool:
    actions = (action for action in case.run.actions.values() if action.step_name == step)
    return all(case.declares(action).effect == "read" for action in actions)


def _was_used(case: Case, artifact_id: str) -> bool:
    """Whether an effect, or a human's yes, may rest on what was in the artifact: made anew it may be another."""
    checkpoints = sorted((*case.run.checkpoints, *case.run.retracted), key=lambda c: c.sequence or 0)
    naming = [c for c in checkpoints if _references(c, artifact_id)]
    first = naming[0].sequence or 0
    # it was made at some time since the checkpoint before the first that names it
    since = max((c.sequence or 0 for c in checkpoints if (c.sequence or 0) < first), default=0)
    fixed = (
        (record.sequence or 0) > since
        for action in case.run.actions.values()
        if case.declares(action).effect != "read" and (action.attempts or action.fingerprint is not None)
        for record in action.records
    )
    shown = {
        reference.get("digest") for checkpoint in naming for reference in _references(checkpoint, artifact_id)
    }
    named = {checkpoint.value["checkpointId"] for checkpoint in naming}
    approved = (
        approval.checkpoint_id in named or approval.content_digest in shown
        for approval in case.run.approvals.values()
        if approval.event in {"granted", "consumed"}
    )
    return any(fixed) or any(approved)


def _references(checkpoint: Record, artifact_id: str) -> list[Mapping[str, Any]]:
    return [r for r in checkpoint.value.get("artifactRefs") or () if r["artifactId"] == artifact_id]
