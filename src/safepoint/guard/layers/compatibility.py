"""Layer 3: would today's code understand what was saved? (SPEC.md#guard-compatibility)."""

from __future__ import annotations

from safepoint.core.pointer import join
from safepoint.guard.case import Case, Opinion
from safepoint.model.journal import Level
from safepoint.model.record import Record


def judge(case: Case, opinion: Opinion) -> None:
    """Each part of the guard context, then the payload, then the next steps."""
    checkpoint = case.checkpoint
    if checkpoint is None:
        return
    current = case.facts.part("guardContext")
    for part, recorded in sorted((checkpoint.value.get("guardContext") or {}).items()):
        pointer = join("guardContext", part)
        rule = case.policy.context_rule(part)
        if rule == "ignore":
            opinion.unchecked.append(f"guardContext part {part}: the policy ignores it")
        elif part not in current:
            opinion.say(
                "SP732", "reconcile", f"no fact says what {part} is now", evidence=checkpoint, pointer=pointer
            )
            opinion.need("fact", f"guardContext.{part}", "the part's digest as it is now")
        elif current[part] != recorded and not case.policy.excuses(part, recorded, current[part]):
            blocks = rule == "block"
            opinion.say(
                "SP730" if blocks else "SP731",
                "hand_over" if blocks else "resume",
                f"{part} is not what it was at the checkpoint"
                + ("" if blocks else "; the policy only warns"),
                evidence=checkpoint,
                pointer=pointer,
            )
            if blocks:
                opinion.need(
                    "human", part, "go on with the part as it was, or list the change under compatibleWith"
                )
    _payload(case, opinion, checkpoint)
    _next_steps(case, opinion)
    if case.run.level is not Level.RECORDS and not case.undoing:
        _missing_results(case, opinion, checkpoint)


def _payload(case: Case, opinion: Opinion, checkpoint: Record) -> None:
    """Whether today's code reads what was saved, by the name of its schema."""
    name = checkpoint.value.get("payloadSchema")
    known = case.facts.value.get("knownPayloadSchemas")
    if name is None:
        return
    if known is None:
        opinion.unchecked.append("payloadSchema: no facts.knownPayloadSchemas to compare it with")
    elif name not in known:
        read = ", ".join(sorted(known)) or "none"
        message = (
            f"the saved payload is of {name}, which is not among the ones that today's code reads: {read}"
        )
        opinion.say("SP733", "hand_over", message, evidence=checkpoint, pointer="/payloadSchema")
        how = "migrate the store's payloads to a schema that the code reads, or run it with code that reads this one"
        opinion.need("human", "payloadSchema", how)


def _missing_results(case: Case, opinion: Opinion, checkpoint: Record) -> None:
    """Effects that were begun since, in a step behind the next one: what the steps between found is not saved.

    To be sent again, such a request would have to come out the same. That steps between are among the next ones, or the
    action among ``replaySafeActions``, is the author's word that it does.
    """
    steps = list(checkpoint.value.get("nextSteps") or ())
    said = set(checkpoint.value.get("replaySafeActions") or ())
    if not steps:
        return
    elsewhere = _other_branches(case, checkpoint)
    for action in case.run.actions.values():
        begun = [
            a
            for a in action.attempts
            if (a.opened.sequence or 0) > elsewhere.get(a.epoch, checkpoint.sequence or 0)
        ]
        if not begun or action.step_name == steps[0] or case.declares(action).effect == "read":
            continue
        again = action.open or (action.status == "failed" and action.retryable)
        listed = action.step_name in steps or action.action_id in said
        message = (
            f"{action.action_id}: it was begun after the checkpoint in step {action.step_name!r}, and what the steps "
            "before that found is not saved: they may come out otherwise"
        )
        verdict = "hand_over" if again and not listed else "resume"
        opinion.say("SP736", verdict, message, evidence=action.attempts[0].opened, pointer="/stepName")
        if verdict == "hand_over":
            how = (
                "find out whether it was applied; nobody can tell whether its request would come out the same"
            )
            opinion.need("outcome", action.action_id, how)


def _other_branches(case: Case, checkpoint: Record) -> dict[int, int]:
    """Epochs that wrote on another branch than the checkpoint's, to the sequence at which this one began."""
    branch = checkpoint.value.get("branch")
    leases = case.run.ownership.leases if case.run.ownership else ()
    declared = next((x for x in leases if x.value.get("forkFrom") and x.value.get("branch") == branch), None)
    if declared is None:
        return {}
    origin = case.run.checkpoint(str(declared.value["forkFrom"]["checkpointId"]))
    left = (origin.sequence or 0) if origin else 0
    return {lease.epoch: left for lease in leases if lease.value.get("branch") != branch}


def _next_steps(case: Case, opinion: Opinion) -> None:
    assert case.checkpoint is not None
    steps = list(case.checkpoint.value.get("nextSteps") or ())
    known = case.facts.value.get("knownSteps")
    wanted = case.request.get("stepName")
    if wanted is not None and wanted not in steps:
        opinion.say(
            "SP735",
            "hand_over",
            "the step that the request names is not among the steps that come next at this checkpoint",
            evidence=case.checkpoint,
            pointer="/nextSteps",
        )
        opinion.need("human", "nextSteps", "name one of the checkpoint's next steps, or another checkpoint")
    if known is None:
        if steps:
            opinion.unchecked.append("nextSteps: no facts.knownSteps to compare them with")
        return
    for index, step in enumerate(steps):
        if step not in known:
            _unknown(
                opinion,
                "the next step does not exist in today's code",
                case.checkpoint,
                join("nextSteps", index),
            )
    for action in case.run.actions.values():
        unfinished = action.open or action.status in {"planned", "failed"}
        if unfinished and action.step_name not in known and action.step_name not in steps:
            message = f"{action.action_id}: its step does not exist in today's code"
            _unknown(opinion, message, action.record, "/stepName")


def _unknown(opinion: Opinion, message: str, evidence: Record, pointer: str) -> None:
    opinion.say("SP734", "hand_over", message, evidence=evidence, pointer=pointer)
    opinion.need("human", "nextSteps", "run it with the version that has this step, or say where to go on")
