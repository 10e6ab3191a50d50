"""Layer 7: is the world still the one that the checkpoint was made in? (SPEC.md#guard-world)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from safepoint.core.pointer import join
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.guard.case import Case, Opinion
from safepoint.model.approvals import Approval
from safepoint.model.record import Record


def judge(case: Case, opinion: Opinion) -> None:
    """Facts, approvals, preconditions and artifacts."""
    _age_of_facts(case, opinion)
    _approvals(case, opinion)
    checkpoint = case.checkpoint
    if checkpoint is None:
        return
    for index, condition in enumerate(checkpoint.value.get("resumePreconditions") or ()):
        pointer = join("resumePreconditions", index)
        check = _PRECONDITIONS.get(condition.get("type"))
        if check is None:
            opinion.say(
                "SP788",
                "hand_over",
                "a precondition of a type that we do not know",
                evidence=checkpoint,
                pointer=pointer,
            )
            opinion.need("human", case.run.run_id, "decide whether the precondition holds")
        else:
            check(case, opinion, condition, checkpoint, pointer)
    _artifacts(case, opinion, checkpoint)


def _age_of_facts(case: Case, opinion: Opinion) -> None:
    observed = case.facts.observed
    if observed is None:
        return
    limit = case.policy.max_fact_age_seconds * SECOND
    # No skew is granted to facts from the future: a worse clock must never be a reason to go on.
    if case.now > observed + limit or observed > case.now:
        when = "too old" if case.now > observed else "from the future"
        opinion.say("SP790", "reconcile", f"the facts are {when}; observe them again")
        opinion.need("fact", "observedAt", f"facts no older than {case.policy.max_fact_age_seconds} s")
    else:
        opinion.valid_until.append(observed + limit)


def _approvals(case: Case, opinion: Opinion) -> None:
    """The newest approval for each action that is not settled, and for the checkpoint that the run would go on from."""
    newest: dict[str, Approval] = {}
    for approval in case.run.approvals.values():
        if approval.action_id is not None:
            newest[f"action {approval.action_id}"] = approval
        elif case.checkpoint and approval.checkpoint_id == case.checkpoint.value["checkpointId"]:
            newest[f"checkpoint {approval.checkpoint_id}"] = approval
    for subject, approval in newest.items():
        action = case.run.actions.get(approval.action_id or "")
        if action is None or action.status not in {"committed", "compensated", "cancelled"}:
            _approval(case, opinion, subject, approval)
    gate = case.checkpoint
    if gate and gate.value.get("reason") == "humanGate" and not newest:
        until = case.now + case.policy.max_fact_age_seconds * SECOND
        opinion.say(
            "SP784",
            "wait",
            "a human gate, and nobody was asked yet",
            evidence=gate,
            pointer="/reason",
            until=until,
        )
        opinion.need(
            "approval", str(gate.value["checkpointId"]), "ask for the approval that this gate waits for"
        )


def _approval(case: Case, opinion: Opinion, subject: str, approval: Approval) -> None:
    record = approval.record
    event = approval.event
    said = (case.facts.part("approvals").get(approval.approval_id) or {}).get("state")
    if event == "requested" and said in {"granted", "rejected", "expired"}:
        event = str(said)
    if said in {"rejected", "revoked", "expired"}:
        event = str(said)
    action = case.run.actions.get(approval.action_id or "")
    lapsed = approval.expires is not None and case.now + case.policy.skew >= approval.expires
    if event == "requested" and not lapsed:
        pause = case.now + case.policy.max_fact_age_seconds * SECOND
        until = pause if approval.expires is None else min(pause, approval.expires)
        opinion.say(
            "SP780",
            "wait",
            f"the approval for {subject} is pending",
            evidence=record,
            pointer="/event",
            until=until,
        )
        opinion.need("approval", approval.approval_id, "a human's answer")
        return
    if event in {"rejected", "revoked"}:
        code, why = "SP781", f"was {event}"
    elif event == "expired" or (lapsed and event in {"requested", "granted"}):
        code, why = "SP782", "has expired" if event != "requested" else "was never answered and has expired"
    elif action and action.fingerprint and approval.content_digest not in {None, action.fingerprint}:
        code, why = "SP783", "was given for another content than the ledger records"
    elif case.goal == "roll_back":
        code, why = "SP785", "was given before the fork and does not carry over"
    else:
        # What the action has consumed no longer runs out; that it was given in time is in the journal.
        if approval.expires is not None and event != "consumed":
            opinion.valid_until.append(approval.expires - case.policy.skew)
        return
    pointer = "/contentDigest" if code == "SP783" else "/event"
    opinion.say(
        code, "hand_over", f"the approval for {subject} {why}; ask again", evidence=record, pointer=pointer
    )
    opinion.need("approval", approval.approval_id, "a new approval of exactly what will be executed")


Precondition = Mapping[str, Any]


def _unknown(opinion: Opinion, kind: str, fact: str, message: str, checkpoint: Record, pointer: str) -> None:
    opinion.say(
        "SP789",
        "reconcile",
        f"no fact tells whether the precondition holds ({kind})",
        evidence=checkpoint,
        pointer=pointer,
    )
    opinion.need("fact", fact, message)


def _broken(opinion: Opinion, message: str, checkpoint: Record, pointer: str) -> None:
    opinion.say("SP791", "hand_over", message, evidence=checkpoint, pointer=pointer)
    opinion.need("human", "precondition", "decide whether the run may go on although the world has changed")


def _external(
    case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str
) -> None:
    member = "version" if condition["type"] == "externalVersion" else "value"
    seen = case.facts.part("external").get(str(condition.get("subject")))
    if seen is None or member not in seen:
        fact = f"external.{condition.get('subject')}.{member}"
        _unknown(opinion, condition["type"], fact, "the subject as it is now", checkpoint, pointer)
    elif seen[member] != condition.get("expected"):
        if member == "version" and case.policy.external_moved == "rerun_reads":
            opinion.say(
                "SP792",
                "resume",
                "the external data moved; the plan runs the reads again",
                evidence=checkpoint,
                pointer=pointer,
            )
        else:
            _broken(opinion, "the external data is not what it was at the checkpoint", checkpoint, pointer)


def _granted(case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str) -> None:
    subject = condition.get("subject")
    approval = case.run.approvals.get(str(subject))
    said = (case.facts.part("approvals").get(str(subject)) or {}).get("state")
    if (approval and approval.event in {"granted", "consumed"}) or said == "granted":
        return
    if approval is None and said is None:
        _unknown(
            opinion,
            "approvalGranted",
            f"approvals.{subject}",
            "the state of the approval",
            checkpoint,
            pointer,
        )
    elif (said or (approval and approval.event)) in {"requested", "pending"}:
        until = case.now + case.policy.max_fact_age_seconds * SECOND
        opinion.say(
            "SP780",
            "wait",
            "an approval that the run waits for is pending",
            evidence=checkpoint,
            pointer=pointer,
            until=until,
        )
        opinion.need("approval", str(subject), "a human's answer")
    else:
        _broken(opinion, "the approval that the run waits for was not given", checkpoint, pointer)


def _artifact(
    case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str
) -> None:
    status = case.artifacts.get(str(condition.get("subject")), "unknown")
    if status == "unknown":
        _unknown(
            opinion,
            "artifactPresent",
            f"artifact {condition.get('subject')}",
            "whether the artifact is whole",
            checkpoint,
            pointer,
        )
    elif status != "present":
        _broken(opinion, f"an artifact that the run needs is {status}", checkpoint, pointer)


def _not_after(
    case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str
) -> None:
    try:
        limit = parse_time(str(condition.get("expected")))
    except ValueError:
        _broken(opinion, "a notAfter precondition without a readable time", checkpoint, pointer)
        return
    if case.now + case.policy.skew >= limit:
        _broken(opinion, "the time until which the run may go on has passed", checkpoint, pointer)
    else:
        opinion.valid_until.append(limit - case.policy.skew)


def _outbox(case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str) -> None:
    state = case.facts.part("outbox").get(str(condition.get("subject")))
    if state is None or state == "unknown":
        _unknown(
            opinion,
            "outboxState",
            f"outbox.{condition.get('subject')}",
            "the message's delivery state",
            checkpoint,
            pointer,
        )
    elif state != condition.get("expected"):
        _broken(opinion, "the message is not in the state that the run expects", checkpoint, pointer)


_PRECONDITIONS: Mapping[Any, Callable[[Case, Opinion, Precondition, Record, str], None]] = {
    "externalVersion": _external,
    "externalEquals": _external,
    "approvalGranted": _granted,
    "artifactPresent": _artifact,
    "notAfter": _not_after,
    "outboxState": _outbox,
}


def _artifacts(case: Case, opinion: Opinion, checkpoint: Record) -> None:
    for index, reference in enumerate(checkpoint.value.get("artifactRefs") or ()):
        status = case.artifacts.get(str(reference["artifactId"]), "unknown")
        pointer = join("artifactRefs", index)
        if status in {"missing", "damaged"}:
            code = "SP786" if status == "missing" else "SP787"
            opinion.say(
                code,
                "hand_over",
                f"an artifact of the checkpoint is {status}",
                evidence=checkpoint,
                pointer=pointer,
            )
            opinion.need(
                "human", "artifact", "restore the artifact, or go on from a checkpoint that does not need it"
            )
        elif status == "unknown":
            opinion.unchecked.append(
                f"artifact reference {index}: it lies outside the store, or names no digest"
            )
