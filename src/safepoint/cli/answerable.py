"""What a human can answer about a run that the guard has judged, for the commands that its decision prints.

Decided here: nothing about the run; what the records say is only put where ``render`` looks for it. Not decided here:
which command answers what (``render.remedies``).
"""

from __future__ import annotations

from typing import Any

from safepoint import api
from safepoint.model.approvals import Approval
from safepoint.recorder.approvals import subject_of
from safepoint.recorder.evidence import possible_outcomes
from safepoint.render.asked import Question


def answerable(judged: api.Judgement) -> dict[str, Any]:
    """Members of an `Asked`: what can be said of each effect and question, and from where else the run could go on."""
    run, decision = judged.run, judged.decision
    # the storage refuses to write where nothing keeps two claims apart
    fenced = not any(reason.code == "SP725" for reason in decision.reasons)
    writable = run.claimable and run.deleted is None and run.status != "sealed" and fenced
    newest = run.newest_checkpoint.value["checkpointId"] if run.newest_checkpoint else None
    start = run.checkpoint(decision.checkpoint_id) if decision.checkpoint_id is not None else None
    others = [str(c.value["checkpointId"]) for c in reversed(run.checkpoints)]
    return {
        "outcomes": {action.action_id: possible_outcomes(action) for action in run.actions.values()},
        "questions": {name: _question(judged, approval) for name, approval in run.approvals.items()},
        "checkpoints": tuple(name for name in dict.fromkeys(others) if name != decision.checkpoint_id),
        "steps": tuple(start.value.get("nextSteps") or ()) if start else (),
        "writable": writable,
        "claimable": run.claimable,
        "stopping": run.cancel_requested is not None,
        "endable": writable and run.status in {"started", "failed"},
        "elsewhere": decision.goal == "roll_back" or decision.checkpoint_id not in {None, newest},
    }


def _question(judged: api.Judgement, approval: Approval) -> Question:
    action_id, checkpoint_id = subject_of(approval)
    lapses, now = approval.expires, judged.decision.evaluated_at + judged.policy.skew
    pending = approval.event == "requested" and (lapses is None or now < lapses)
    if action_id is not None:
        return Question("--action", action_id, pending)
    return Question("--checkpoint", str(checkpoint_id), pending)
