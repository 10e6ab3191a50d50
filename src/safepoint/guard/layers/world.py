"""Layer 7: is the world still the one that the checkpoint was made in? (SPEC.md#guard-world)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from safepoint.core.digest import canonical
from safepoint.core.pointer import join
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.guard import remake
from safepoint.guard.case import Case, Opinion, pause
from safepoint.guard.decision import REMADE, PlanItem
from safepoint.model.action import Action
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
    if case.stale(observed):
        when = "too old" if case.now > observed else "from the future"
        opinion.say("SP790", "reconcile", f"the facts are {when}; observe them again, or leave them out")
        opinion.need("fact", "observedAt", f"facts no older than {case.policy.max_fact_age_seconds} s")
    else:
        opinion.valid_until.append(observed + case.policy.max_fact_age_seconds * SECOND)


def _approvals(case: Case, opinion: Opinion) -> None:
    """The last word on each action that is not settled, and on the checkpoint that the run would go on from."""
    here = case.checkpoint.value["checkpointId"] if case.checkpoint else None
    last: dict[str, Approval] = {}
    for approval in case.run.approvals.values():
        # what it was asked about: a question about a checkpoint also names the action that it was spent on
        asked = approval.asked.value.get("actionId")
        subject = f"action {asked}" if asked else f"checkpoint {approval.checkpoint_id}"
        if _about_settled(case, asked) or (asked is None and approval.checkpoint_id != here):
            continue
        before = last.get(subject)
        if before is None or _weight(case, before) < _weight(case, approval):
            last[subject] = approval
    for subject, approval in last.items():
        _approval(case, opinion, subject, approval)
    gate = case.checkpoint
    if (
        gate
        and gate.value.get("reason") == "humanGate"
        and not any(_asks(case, gate, a) for a in case.run.approvals.values())
    ):
        message = "a human gate, and nobody was asked yet"
        opinion.say("SP784", "wait", message, evidence=gate, pointer="/reason", until=pause(case))
        opinion.need(
            "approval", str(gate.value["checkpointId"]), "ask for the approval that this gate waits for"
        )


def _asks(case: Case, gate: Record, approval: Approval) -> bool:
    """Whether a question is the one that a gate waits for: about it, or of its time."""
    if approval.checkpoint_id is not None:
        return bool(approval.checkpoint_id == gate.value["checkpointId"])
    later = _time(approval.record) > _time(gate)
    if _about_settled(case, approval.action_id):
        # nobody judges it any more, so that only a yes lets the gate be passed
        said_yes = _event(case, approval) in {"granted", "consumed"} and _refused(case, approval) is None
        return later and said_yes
    parent = case.run.checkpoint(str(gate.value.get("parentCheckpointId")))
    return later or (parent is not None and _time(approval.asked) > _time(parent))


def _about_settled(case: Case, action_id: str | None) -> bool:
    action = case.run.actions.get(action_id or "")
    return action is not None and action.status in _SETTLED


_SETTLED = frozenset({"committed", "compensated", "cancelled"})


def _time(record: Record) -> tuple[int, int]:
    return (record.sequence or 0, record.created or 0)


def _weight(case: Case, approval: Approval) -> tuple[bool, tuple[int, int]]:
    """Later words weigh more; a yes, or a question, for another branch less than any word on this one. A no is a no."""
    here = approval.branch == (case.forks_to or case.run.branch)
    return here or _event(case, approval) in {"rejected", "revoked"}, _time(approval.record)


def _approval(case: Case, opinion: Opinion, subject: str, approval: Approval) -> None:
    record = approval.record
    if _pending(case, approval):
        until = pause(case) if approval.expires is None else min(pause(case), approval.expires)
        message = f"the approval for {subject} is pending"
        opinion.say("SP780", "wait", message, evidence=record, pointer="/event", until=until)
        opinion.need("approval", approval.approval_id, "a human's answer")
        return
    refused = _refused(case, approval)
    if refused:
        code, why = refused
        pointer = "/contentDigest" if code == "SP783" else "/event"
        message = f"the approval for {subject} {why}; ask again"
        opinion.say(code, "hand_over", message, evidence=record, pointer=pointer)
        opinion.need(
            "approval", approval.approval_id, "a new approval of what will be executed, or its withdrawal"
        )
    elif approval.expires is not None and _event(case, approval) != "consumed":
        # What the action has consumed no longer runs out; that it was given in time is in the journal.
        opinion.valid_until.append(approval.expires - case.policy.skew)


def _event(case: Case, approval: Approval) -> str:
    """What became of the question: the journal's word; a fact's where it refuses, or the journal has no answer."""
    said = _said(case, approval.approval_id)
    if said in {"rejected", "revoked", "expired"} or (said == "granted" and approval.event == "requested"):
        return str(said)
    return approval.event


def _said(case: Case, approval_id: str) -> str | None:
    """What a fact says of an approval; an old yes says nothing any more, an old no is still one."""
    fact = case.facts.part("approvals").get(approval_id) or {}
    state: str | None = fact.get("state")
    return None if state in {"granted", "pending"} and case.stale(_observed(fact)) else state


def _observed(fact: Mapping[str, Any]) -> int | None:
    """When an entry of the facts was observed; None: with the rest of them."""
    return parse_time(fact["observedAt"]) if fact.get("observedAt") else None


def _lapsed(case: Case, approval: Approval) -> bool:
    return approval.expires is not None and case.now + case.policy.skew >= approval.expires


def _pending(case: Case, approval: Approval) -> bool:
    """Whether a yes could still come that counts."""
    waits = _event(case, approval) == "requested" and not _lapsed(case, approval)
    return waits and not _for_other_content(case, approval)


def _for_other_content(case: Case, approval: Approval) -> bool:
    action = case.run.actions.get(approval.action_id or "")
    bound = approval.content_digest
    return action is not None and bound is not None and action.fingerprint != bound


def _refused(case: Case, approval: Approval) -> tuple[str, str] | None:
    """Why an answered question gives no leave: its code and the words for it; None where it does."""
    event = _event(case, approval)
    if event in {"rejected", "revoked"}:
        return "SP781", f"was {event}"
    if event == "expired" or (_lapsed(case, approval) and event in {"requested", "granted"}):
        return "SP782", "was never answered and has expired" if event == "requested" else "has expired"
    if _for_other_content(case, approval):
        return (
            "SP783",
            f"{'is' if event == 'requested' else 'was given'} for another content than the ledger records",
        )
    asked = approval.asked.value.get("actor")
    by = approval.granted_by or (case.facts.part("approvals").get(approval.approval_id) or {}).get("actor")
    if asked is not None and event in {"granted", "consumed"} and by != asked:
        return "SP795", "was granted by somebody else than was asked"
    if event == "consumed" and approval.action_id is None:
        return "SP794", "was used up"
    if _before_a_fork(case, approval):
        return "SP785", "was given before the fork and does not carry over"
    return None


def _before_a_fork(case: Case, approval: Approval) -> bool:
    """Whether the run goes on in a history that the human did not see."""
    if case.forks_to is not None:
        return approval.branch != case.forks_to
    if approval.branch is not None:
        return approval.branch != case.run.branch
    fork = case.run.fork
    return fork is not None and (approval.record.sequence or 0) < (fork.sequence or 0)


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
    kind, subject = condition["type"], str(condition.get("subject"))
    member = "version" if kind == "externalVersion" else "value"
    seen = case.facts.part("external").get(subject) or {}
    observed = parse_time(seen["observedAt"]) if seen.get("observedAt") else None
    # A null version is an unknown one; a null value is a value.
    if member not in seen or case.stale(observed) or (member == "version" and seen[member] is None):
        _unknown(
            opinion, kind, f"external.{subject}.{member}", "the subject as it is now", checkpoint, pointer
        )
    elif canonical(seen[member]) != canonical(condition.get("expected")):
        reads = [a for a in case.run.actions.values() if case.declares(a).effect == "read"]
        if member == "version" and case.reads_again and reads and not _rests_on(case, reads):
            message = "the external data moved; the plan runs the reads again"
            opinion.say("SP792", "resume", message, evidence=checkpoint, pointer=pointer)
        else:
            _broken(opinion, "the external data is not what it was at the checkpoint", checkpoint, pointer)


def _rests_on(case: Case, reads: Sequence[Action]) -> bool:
    """Whether an effect that may be sent again was begun behind a read: made of what is read now it may be another."""
    first = min(action.record.sequence or 0 for action in reads)
    return any(
        (attempt.opened.sequence or 0) >= first
        for action in case.run.actions.values()
        if case.declares(action).effect != "read" and (action.open or action.retryable)
        for attempt in action.attempts
        if attempt.status != "committed"
    )


def _granted(case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str) -> None:
    subject = str(condition.get("subject"))
    approval = case.run.approvals.get(subject)
    said = _said(case, subject)
    if approval is None and said is None:
        _unknown(
            opinion,
            "approvalGranted",
            f"approvals.{subject}",
            "the state of the approval",
            checkpoint,
            pointer,
        )
        return
    if (approval and _pending(case, approval)) or (approval is None and said == "pending"):
        message = "an approval that the run waits for is pending"
        opinion.say("SP780", "wait", message, evidence=checkpoint, pointer=pointer, until=pause(case))
        opinion.need("approval", subject, "a human's answer")
        return
    refused = _refused(case, approval) if approval else (None if said == "granted" else ("", f"was {said}"))
    if refused:
        _broken(opinion, f"the approval that the run waits for {refused[1]}", checkpoint, pointer)
    elif approval and approval.expires is not None and _event(case, approval) != "consumed":
        opinion.valid_until.append(approval.expires - case.policy.skew)


def _status(case: Case, artifact_id: str) -> str:
    """``present``, ``missing``, ``damaged`` or ``unknown``: the store's word, else a fact's."""
    found = case.artifacts.get(artifact_id, "unknown")
    fact = case.facts.part("artifacts").get(artifact_id) or {}
    said = fact.get("state")
    old = said == "present" and case.stale(_observed(fact))
    return str(said) if found == "unknown" and said and not old else found


def _artifact(
    case: Case, opinion: Opinion, condition: Precondition, checkpoint: Record, pointer: str
) -> None:
    subject = str(condition.get("subject"))
    status = _status(case, subject)
    if remake.step_of(case, checkpoint, subject, status):
        return  # the checkpoint names it: said there
    if status == "unknown":
        fact = f"artifacts.{subject}"
        _unknown(
            opinion, "artifactPresent", fact, "whether the artifact is there and whole", checkpoint, pointer
        )
    elif status != "present":
        _broken(
            opinion, f"an artifact that the run needs {_gone(case, subject, status)}", checkpoint, pointer
        )


def _gone(case: Case, artifact_id: str, status: str) -> str:
    """What became of an artifact that nobody can read."""
    retracted = status == "missing" and remake.is_retracted(case, artifact_id)
    return "was retracted" if retracted else f"is {status}"


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
        artifact_id, pointer = str(reference["artifactId"]), join("artifactRefs", index)
        status = _status(case, artifact_id)
        if status == "unknown":
            message = (
                "an artifact of the checkpoint lies outside the store or names no digest: nobody looked at it"
            )
            opinion.say("SP793", "reconcile", message, evidence=checkpoint, pointer=pointer)
            opinion.need("fact", f"artifacts.{artifact_id}", "whether the artifact is there and whole")
        elif step := remake.step_of(case, checkpoint, artifact_id, status):
            message = (
                f"an artifact of the checkpoint is {status}; step {step!r}, which only reads, makes it again"
            )
            opinion.say(REMADE, "resume", message, evidence=checkpoint, pointer=pointer)
            again = PlanItem("run", REMADE, step_name=step)
            if again not in opinion.plan:
                opinion.plan.append(again)
        elif status != "present":
            code = "SP786" if status == "missing" else "SP787"
            message = f"an artifact of the checkpoint {_gone(case, artifact_id, status)}"
            opinion.say(code, "hand_over", message, evidence=checkpoint, pointer=pointer)
            way = "go on from a checkpoint that does not need it"
            restore = "" if remake.is_retracted(case, artifact_id) else "restore the artifact, or "
            opinion.need("human", "artifact", f"{restore}{way}")
