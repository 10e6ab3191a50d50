"""What somebody outside knows of an effect, written down: a probe's answer, or a human's.

Decided here: who may say what. A positive answer needs no owner; a negative one, and not wanting to know, are written
under an epoch, so that no late worker contradicts them (SPEC.md#writer).
Not decided here: what a probe's answer proves, and whether an owner may still be alive (``guard``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, get_args

from safepoint.core.timestamp import format_time
from safepoint.guard import Decision, Reason
from safepoint.guard.case import Case
from safepoint.model.action import Action
from safepoint.model.ledger import TRANSITIONS
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.reader.documents import Document, FactsGiven
from safepoint.recorder.answering import Answers, lease_of, look, require_filled_in, require_sound
from safepoint.recorder.errors import IllegalRecord, RecorderError, ResolutionRefused, RunEnded
from safepoint.recorder.journal import Journal, require_claimable
from safepoint.recorder.log import Clock, StoreAt, new_nonce

Outcome = Literal["committed", "failed", "abandoned", "cancelled"]
"""What a human can say of an effect."""

PROVEN_APPLIED, PROVEN_ABSENT = "SP776", "SP777"
"""The guard's reasons that rest on a probe in the facts."""


def record_probes(journal: Journal, decision: Decision, facts: Mapping[str, Any]) -> None:
    """Write down the probes on which the decision rests, so that the ledger says what the facts said.

    A positive one is evidence that needs no owner; a negative one that the guard believed (rule N) ends each open
    attempt as failed, under the epoch that was just claimed.
    """
    for item in decision.plan:
        probe = (facts.get("probes") or {}).get(item.action_id)
        if probe is None or item.action_id is None or item.reason not in {PROVEN_APPLIED, PROVEN_ABSENT}:
            continue
        proof = {
            "kind": "probe",
            "ref": probe.get("externalRef"),
            "by": None,
            "observedAt": probe["observedAt"],
        }
        if item.reason == PROVEN_APPLIED:
            journal.append_unowned(_applied(item.action_id, proof, probe.get("externalRef")))
        else:
            for members in _not_applied(journal.actions[item.action_id], proof, None):
                journal.append_owned(partial(dict, members))


def resolve_action(
    store: StoreAt,
    run_id: str,
    action_id: str,
    *,
    outcome: Outcome,
    by: str,
    evidence: str | None = None,
    reason: str | None = None,
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
    dry_run: bool = False,
) -> tuple[Record, ...]:
    """A human's answer to what became of an effect; then ask the guard again.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        action_id: the effect that is in doubt.
        outcome: ``committed``: it happened. ``failed``: it did not happen, and never will; it may be tried again.
            ``abandoned``: nobody will know; the run goes on only where the policy says ``abandonedMaySkip``.
            ``cancelled``: what was planned or has failed is given up, and the run goes on without it.
        by: who says so.
        evidence: where that can be looked up: a ticket, a link, the provider's id.
        reason: why, for other humans; kept with all but ``committed``.
        facts: a facts document, or its path or URL, or several: may prove that the run's owner is dead. ``failed``
            needs that proof of the worker of each attempt that nobody has heard of since: a call may outlast its lease.
        policy: a policy document, or its path or URL; None: the defaults.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.
        dry_run: check everything, and write nothing.

    Returns:
        The records that were written; of a dry run those that would be.

    Raises:
        ResolutionRefused: anything but ``committed`` while the run's owner may be alive and could contradict it; or the
            journal is damaged. It holds the guard's decision, and nothing was written.
        IllegalRecord: the effect is not in doubt, or cannot end so; or a text does not fit the format.
        ValueError: there is no such outcome, or a text is still to be filled in.
        StaleDecision: the journal went on meanwhile; look again.
        InputRefusedError: facts or policy are not sound.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    if outcome not in _OUTCOMES:
        raise ValueError(f"outcome must be one of {', '.join(_OUTCOMES)}, not {outcome!r}")
    require_filled_in(by=by, evidence=evidence, reason=reason)
    seen = look(store, run_id, facts=facts, policy=policy, clock=clock)
    action = _resolvable(seen.run, action_id, outcome)
    require_sound(seen.decision, owned=outcome != "committed")
    if outcome == "failed":
        _require_dead(seen.case, action, seen.decision)
    head = require_claimable(seen.run)
    journal = Answers(seen, nonce=nonce, clock=clock, rehearsed=dry_run)
    proof = {"kind": "human", "ref": evidence, "by": by, "observedAt": format_time(seen.now)}
    if outcome == "committed":
        return (journal.append_unowned(_applied(action_id, proof, None)),)
    answers = list(
        _not_applied(action, proof, reason)
        if outcome == "failed"
        else _given_up(action, outcome, proof, reason)
    )
    lease = lease_of(seen, by)
    # Before anything is written: an answer that no record can hold must not cost an epoch.
    for members in (journal.claiming(lease), *answers):
        record, _ = journal.draft({"leaseEpoch": journal.next_epoch, **members})
        journal.judge(record)
    with journal.telling():
        journal.claim(lease, at=head + 1)
        try:
            for members in answers:
                journal.append_owned(partial(dict, members))
        finally:
            journal.release()
    return tuple(journal.written)


def possible_outcomes(action: Action) -> tuple[Outcome, ...]:
    """What a human may say of `action` as it stands now, by its records alone."""
    return tuple(outcome for outcome in _OUTCOMES if _may_end(action, outcome))


_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


def _may_end(action: Action, outcome: str) -> bool:
    # The action's own status: where one attempt is known to be applied, an open one beside it is no doubt any more.
    status = "inDoubt" if action.status == "attempting" else action.status
    if outcome == "committed":
        # Whoever gave up knowing, or was told that it did not happen, may still learn that it did.
        return bool(action.attempts) and status in {"inDoubt", "prepared", "failed", "abandoned"}
    return outcome in TRANSITIONS[status]


def _resolvable(run: Run, action_id: str, outcome: str) -> Action:
    action = run.actions.get(action_id)
    if run.status == "sealed":
        raise RunEnded(
            f"run {run.run_id} is sealed: another copy of it has the authority now; resolve it there"
        )
    if action is None:
        there = ", ".join(run.actions) or "none"
        raise RecorderError(f"run {run.run_id} holds no effect {action_id}; its effects are: {there}")
    if not _may_end(action, outcome):
        why = f"there is no doubt to resolve as {outcome}"
        if outcome == "cancelled" and action.status in {"attempting", "inDoubt"}:
            why = "cancelled is for what was planned or has failed; say committed, failed or abandoned"
        raise IllegalRecord(f"{action_id} is {action.status}{_said_by(action)}: {why}")
    return action


def _said_by(action: Action) -> str:
    """Which human has resolved the action already, and when."""
    value = action.record.value
    said = value if action.record.kind == "evidence" else value.get("evidence") or {}
    return f", as {said['by']} said at {said['observedAt']}" if said.get("kind") == "human" else ""


def _require_dead(case: Case, action: Action, decision: Decision) -> None:
    """Raise where the worker of an attempt may still be at it: a call may outlast its lease, and then succeed."""
    alive = [
        attempt
        for attempt in action.open_attempts
        # one that its own worker calls in doubt is over: that worker said so
        if not (attempt.status == "inDoubt" and attempt.record.nonce == attempt.nonce)
        and case.death_of(attempt.epoch) is None
    ]
    if not alive:
        return
    reasons = [
        Reason(
            "SP775",
            "effects",
            "reconcile",
            f"the worker of attempt {attempt.number}, epoch {attempt.epoch}, may still be at it",
            attempt.opened.place.key,
        )
        for attempt in alive
    ]
    epochs = sorted({attempt.epoch for attempt in alive})
    raise ResolutionRefused(
        decision, reasons, "give facts that prove it dead; a lapsed lease is no proof", epochs
    )


def _applied(action_id: str, proof: Mapping[str, Any], external_ref: str | None) -> dict[str, Any]:
    return {
        "recordType": "evidence",
        "actionId": action_id,
        "attemptNumber": None,
        "result": "applied",
        **proof,
        "externalRef": external_ref,
    }


def _not_applied(action: Action, proof: Mapping[str, Any], reason: str | None) -> Iterator[dict[str, Any]]:
    """The end of each attempt that may have been applied: one that nobody speaks of would stay in doubt."""
    error = {"class": "notApplied", "message": reason, "retryable": True, "sent": "unknown"}
    for attempt in action.attempts:
        if attempt.open or attempt.status == "prepared":
            detail = attempt.opened.value["attempt"]
            yield {**_said(action, "failed", proof), "attempt": detail, "error": error}


def _given_up(
    action: Action, outcome: str, proof: Mapping[str, Any], reason: str | None
) -> Iterator[dict[str, Any]]:
    error = {"class": outcome, "message": reason, "retryable": None, "sent": "unknown"}
    yield {**_said(action, outcome, proof), **({} if reason is None else {"error": error})}


def _said(action: Action, status: str, proof: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "recordType": "ledger",
        "status": status,
        "actionId": action.action_id,
        "stepName": action.step_name,
        "idempotencyKey": action.key,
        "evidence": dict(proof),
    }
