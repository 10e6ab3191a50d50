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
from safepoint.guard import Decision, Reason, evaluate
from safepoint.guard.case import Case, ask
from safepoint.model.action import Action
from safepoint.model.ledger import TRANSITIONS
from safepoint.model.run import Run
from safepoint.policy import parse_policy
from safepoint.reader import load_run
from safepoint.reader.documents import Document, load_documents
from safepoint.recorder.errors import IllegalRecord, RecorderError, ResolutionRefused, RunEnded
from safepoint.recorder.journal import Journal, require_claimable
from safepoint.recorder.log import Clock, StoreAt, new_nonce, open_at
from safepoint.store import AbsentError
from safepoint.store.layout import run_prefix

Outcome = Literal["committed", "failed", "abandoned", "cancelled"]
"""What a human can say of an effect."""

PROVEN_APPLIED, PROVEN_ABSENT = "SP776", "SP777"
"""The guard's reasons that rest on a probe in the facts."""

WHERE_TO_START = frozenset({"SP701", "SP703", "SP704", "SP706"})
"""The guard's reasons of its first layer that only say from where a run goes on: no matter for an effect."""


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
    facts: Document | None = None,
    policy: Document | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> None:
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
        facts: a facts document, or its path or URL: may prove that the run's owner is dead. ``failed`` needs that proof
            of the worker of each attempt that nobody has heard of since: a call may outlast its lease.
        policy: a policy document, or its path or URL; None: the defaults.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

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
    _require_filled_in(outcome, by=by, evidence=evidence, reason=reason)
    opened = open_at(store)
    given = load_documents(run_id, facts=facts, policy=policy)
    run = load_run(opened, run_id).run
    if run is None:
        raise AbsentError(opened.url, f"there are no records of a run {run_id}", run_prefix(run_id))
    settings = parse_policy(given.policy, workflow=run.workflow)
    now = clock()
    action = _resolvable(run, action_id, outcome)
    decision = evaluate(run, given.facts, settings, None, now, claims=opened.capabilities.claims)
    _require_sound(decision, owned=outcome != "committed")
    if outcome == "failed":
        _require_dead(ask(run, given.facts, settings, None, now), action, decision)
    head = require_claimable(run)
    journal = Journal(opened, run_id, nonce=nonce(), clock=clock)
    journal.follow(run.records)
    proof = {"kind": "human", "ref": evidence, "by": by, "observedAt": format_time(now)}
    if outcome == "committed":
        journal.append_unowned(_applied(action_id, proof, None))
        return
    answers = list(
        _not_applied(action, proof, reason)
        if outcome == "failed"
        else _given_up(action, outcome, proof, reason)
    )
    lease = {"purpose": "resolution", "holder": by, "ttlSeconds": settings.lease_seconds, **_same_branch(run)}
    # Before anything is written: an answer that no record can hold must not cost an epoch.
    for members in (journal.claiming(lease), *answers):
        journal.draft({"leaseEpoch": journal.next_epoch, **members})
    journal.claim(lease, at=head + 1)
    try:
        for members in answers:
            journal.append_owned(partial(dict, members))
    finally:
        journal.release()


def _require_filled_in(outcome: str, **texts: str | None) -> None:
    """Raise where the guard's template was handed in as it was printed."""
    if outcome not in get_args(Outcome):
        raise ValueError(f"outcome must be one of {', '.join(get_args(Outcome))}, not {outcome!r}")
    for name, text in texts.items():
        if text is not None and text.startswith("FILL IN"):
            raise ValueError(f"{name} is still {text!r}: say it in your own words")


def _resolvable(run: Run, action_id: str, outcome: str) -> Action:
    action = run.actions.get(action_id)
    if run.status == "sealed":
        raise RunEnded(
            f"run {run.run_id} is sealed: another copy of it has the authority now; resolve it there"
        )
    if action is None:
        there = ", ".join(run.actions) or "none"
        raise RecorderError(f"run {run.run_id} holds no effect {action_id}; its effects are: {there}")
    if outcome == "committed":
        # Whoever gave up knowing, or was told that it did not happen, may still learn that it did.
        legal = action.open_attempts or (
            action.attempts and action.status in {"prepared", "failed", "abandoned"}
        )
    else:
        legal = outcome in TRANSITIONS["inDoubt" if action.open_attempts else action.status]
    if not legal:
        raise IllegalRecord(
            f"{action_id} is {action.status}{_said_by(action)}: there is no doubt to resolve as {outcome}"
        )
    return action


def _said_by(action: Action) -> str:
    """Which human has resolved the action already, and when."""
    value = action.record.value
    said = value if action.record.kind == "evidence" else value.get("evidence") or {}
    return f", as {said['by']} said at {said['observedAt']}" if said.get("kind") == "human" else ""


def _require_sound(decision: Decision, *, owned: bool) -> None:
    """Raise where the guard says that something may be hidden, or (for what needs an epoch) that an owner may live."""
    layers = {"integrity", "ownership"} if owned else {"integrity"}
    against = [
        reason
        for reason in decision.reasons
        if reason.layer in layers and reason.verdict != "resume" and reason.code not in WHERE_TO_START
    ]
    if not against:
        return
    lives = all(reason.layer == "ownership" for reason in against)
    hint = (
        "wait for its lease to lapse, or give facts that prove it dead"
        if lives
        else "repair the journal first"
    )
    raise ResolutionRefused(decision, against, hint)


def _require_dead(case: Case, action: Action, decision: Decision) -> None:
    """Raise where the worker of an attempt may still be at it: a call may outlast its lease, and then succeed."""
    for attempt in action.open_attempts:
        if attempt.status == "inDoubt" and attempt.record.nonce == attempt.nonce:
            continue  # it said itself that its call is over
        if case.death_of(attempt.epoch) is None:
            why = f"the worker of attempt {attempt.number}, epoch {attempt.epoch}, may still be at it"
            reason = Reason("SP775", "effects", "reconcile", why, attempt.opened.place.key)
            raise ResolutionRefused(
                decision, [reason], "give facts that prove it dead; a lapsed lease is no proof"
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


def _same_branch(run: Run) -> dict[str, Any]:
    """The newest lease's branch and its origin: a resolution changes neither."""
    lease = run.ownership.lease.value if run.ownership else {}
    return {name: lease[name] for name in ("branch", "forkFrom") if lease.get(name) is not None}
