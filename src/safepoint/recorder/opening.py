"""Taking a run: starting a new one, or going on with one whose worker is gone.

Decided here: what is written before the first step. A resumed run asks the guard first, and claims the lease at exactly
the number behind the journal that the guard judged: the claim is the check (SPEC.md#claim).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from safepoint.core.digest import digest_value, encode_record
from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.core.version import CURRENT
from safepoint.guard import Decision, evaluate
from safepoint.model.run import Run
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.recorder.episode import Episode, RecoveryLog, supersede
from safepoint.recorder.errors import (
    IllegalRecord,
    RecorderError,
    ResumeRefused,
    RunExists,
    StaleDecision,
)
from safepoint.recorder.journal import Journal
from safepoint.recorder.log import Clock
from safepoint.recorder.run import RecordedRun
from safepoint.store import AbsentError, Outcome, Store
from safepoint.store.layout import STORE_KEY, run_prefix

PROVEN_APPLIED, PROVEN_ABSENT = "SP776", "SP777"
"""The guard's reasons that rest on a probe in the facts."""


def new_nonce() -> str:
    """128 random bits in hex: who wrote a record."""
    return secrets.token_hex(16)


def start_run(
    store: Store,
    run_id: str,
    *,
    workflow: str,
    holder: str,
    ttl_seconds: int | None = None,
    input: Any = None,  # noqa: A002 - the record's own name for it
    parent_run_id: str | None = None,
    definition: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    guard_context: Mapping[str, str] | None = None,
    policy: Mapping[str, Any] | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> RecordedRun:
    """Begin a run and take its lease.

    Args:
        store: where to record it.
        run_id: a new id.
        workflow: name of the workflow.
        holder: who holds the lease, for a human.
        ttl_seconds: after so much silence the lease lapses; None: the policy's leaseSeconds.
        input: the run's input, any JSON value; None leaves it out.
        parent_run_id: the run that announced this one.
        definition: part to digest of what it was started from.
        labels: names and values for finding the run.
        guard_context: part to digest of what the run depends on; each checkpoint records it.
        policy: a policy document; None: the defaults.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        RunExists: the store holds something under this id.
        StoreError: nothing was written.
    """
    settings = parse_policy(policy, workflow=workflow)
    _require_layout(store)
    with suppress(AbsentError):
        if next(iter(store.list(run_prefix(run_id))), None):
            raise RunExists(f"{store.url} already holds a run {run_id}; resume it, or choose another id")
    optional = {
        "input": input,
        "parentRunId": parent_run_id,
        "definition": None if definition is None else dict(definition),
        "labels": None if labels is None else dict(labels),
    }
    members = {
        "recordType": "run",
        "leaseEpoch": 0,
        "status": "started",
        "workflow": workflow,
        **{name: value for name, value in optional.items() if value is not None},
    }
    journal = Journal(store, run_id, nonce=nonce(), clock=clock)
    try:
        journal.append(lambda: members, only_at=1)
    except StaleDecision as taken:
        raise RunExists(f"another process has just started run {run_id} in {store.url}") from taken
    lease = {"purpose": "run", "holder": holder, "ttlSeconds": ttl_seconds or settings.lease_seconds}
    journal.claim(lease, at=journal.sequence + 1)
    return RecordedRun(journal, settings, guard_context=guard_context)


def resume_run(
    store: Store,
    run_id: str,
    *,
    holder: str,
    ttl_seconds: int | None = None,
    facts: Mapping[str, Any] | None = None,
    policy: Mapping[str, Any] | None = None,
    request: Mapping[str, Any] | None = None,
    failure_signature: str | None = None,
    guard_context: Mapping[str, str] | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> RecordedRun:
    """Ask the guard whether the run may go on, and take it over if so.

    Args:
        store: where it is recorded.
        run_id: the run.
        holder: who takes the lease, for a human.
        ttl_seconds: after so much silence the lease lapses; None: the policy's leaseSeconds.
        facts: a facts document: what is true in the world now.
        policy: a policy document; None: the defaults.
        request: a request document; None: continue from the newest checkpoint.
        failure_signature: what makes two failures the same; None: a digest of step and error class.
        guard_context: part to digest of what the run depends on now; None: the facts', else as recorded before.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        ResumeRefused: the verdict is not ``resume``; it holds the decision, and nothing was written.
        StaleDecision: somebody else was faster, or the decision's time is over; try again from the start.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    _require_layout(store)
    run = load_run(store, run_id).run
    if run is None:
        raise AbsentError(store.url, f"there are no records of a run {run_id}", run_prefix(run_id))
    settings = parse_policy(policy, workflow=_workflow(run))
    now = clock()
    decision = evaluate(run, facts, settings, request, now, artifacts=gather_artifacts(store, run))
    if decision.verdict != "resume":
        raise ResumeRefused(decision)
    if run.head.sequence is None or not run.claimable:
        raise RecorderError(
            f"run {run_id} may go on, but its journal is not kept as one object a record, so that nobody can claim it; "
            "copy it to a new store first"
        )
    writer = nonce()
    journal = Journal(store, run_id, nonce=writer, clock=clock)
    journal.follow(run.records)
    log = RecoveryLog(store, run_id, nonce=writer, clock=clock)
    log.follow(run.recovery)
    seconds = ttl_seconds or settings.lease_seconds
    episode = Episode(
        log,
        run,
        holder=holder,
        ttl_seconds=seconds,
        stable_seconds=settings.stable_seconds,
        signature=failure_signature,
    )
    digest = digest_value(decision.document())
    try:
        episode.enter("detected", fromCheckpointId=decision.checkpoint_id)
        episode.enter("assessing")
        episode.enter("authorized", decisionDigest=digest)
    except IllegalRecord as ended:
        raise StaleDecision(f"run {run_id}: another process ended this recovery; judge again") from ended
    lease = {
        "purpose": "recovery",
        "holder": holder,
        "ttlSeconds": seconds,
        "episodeId": episode.episode_id,
        "authorization": digest,
        **_branch(run, decision),
    }
    try:
        _require_valid(decision, clock())
        journal.claim(lease, at=run.head.sequence + 1)
    except StaleDecision:
        with suppress(IllegalRecord):
            episode.end("superseded", "lost the claim")
        raise
    episode.enter("claimed", leaseEpoch=journal.epoch)
    supersede(log, run)
    record_probes(journal, decision, facts or {})
    episode.enter("resuming")
    context = guard_context or (facts or {}).get("guardContext") or _recorded_context(run)
    return RecordedRun(journal, settings, guard_context=context, decision=decision, episode=episode)


def record_probes(journal: Journal, decision: Decision, facts: Mapping[str, Any]) -> None:
    """Write down the probes on which the decision rests, so that the ledger says what the facts said.

    A positive one is evidence that needs no owner; a negative one that the guard believed (rule N) ends each open
    attempt as failed, under the epoch that was just claimed.
    """
    for item in decision.plan:
        probe = (facts.get("probes") or {}).get(item.action_id)
        if probe is None or item.action_id is None or item.reason not in {PROVEN_APPLIED, PROVEN_ABSENT}:
            continue
        observed = probe.get("observedAt") or facts["observedAt"]
        if item.reason == PROVEN_APPLIED:
            journal.append_unowned(
                {
                    "recordType": "evidence",
                    "actionId": item.action_id,
                    "attemptNumber": None,
                    "result": "applied",
                    "kind": "probe",
                    "ref": probe.get("externalRef"),
                    "by": None,
                    "observedAt": observed,
                    "externalRef": probe.get("externalRef"),
                }
            )
            continue
        action = journal.actions[item.action_id]
        for attempt in action.open_attempts:
            members = {
                "recordType": "ledger",
                "status": "failed",
                "actionId": action.action_id,
                "stepName": action.step_name,
                "idempotencyKey": action.key,
                "attempt": attempt.opened.value["attempt"],
                "evidence": {"kind": "probe", "ref": None, "by": None, "observedAt": observed},
                "error": {"class": "notApplied", "message": None, "retryable": True, "sent": "unknown"},
            }
            journal.append_owned(partial(dict, members))


def _workflow(run: Run) -> str | None:
    first = run.records[0] if run.records else None
    return first.value.get("workflow") if first and first.kind == "run" else None


def _recorded_context(run: Run) -> Mapping[str, str] | None:
    checkpoint = run.newest_checkpoint
    context: Mapping[str, str] | None = checkpoint.value.get("guardContext") if checkpoint else None
    return context


def _require_valid(decision: Decision, now: int) -> None:
    if decision.valid_until is not None and now >= decision.valid_until:
        raise StaleDecision(f"run {decision.run_id}: the decision is no longer valid; judge again")


def _branch(run: Run, decision: Decision) -> dict[str, Any]:
    """Where the new owner writes: on the same branch, or on one that forks from an older checkpoint."""
    newest = run.newest_checkpoint
    if (
        decision.checkpoint_id is not None
        and newest
        and newest.value["checkpointId"] != decision.checkpoint_id
    ):
        epoch = (run.ownership.epoch if run.ownership else 0) + 1
        return {"forkFrom": {"checkpointId": decision.checkpoint_id}, "branch": f"branch-{epoch}"}
    return {} if run.branch is None else {"branch": run.branch}


def _require_layout(store: Store) -> None:
    """Mark a new store as one, and refuse to write into one whose layout this library does not know."""
    document = {"recordType": "store", "schemaVersion": str(CURRENT), "layout": 1}
    if store.put_if_absent(STORE_KEY, encode_record(document)) is not Outcome.LOST:
        return
    value, faults = parse(store.get(STORE_KEY))
    identity, more = recognise(value)
    known = identity is not None and identity.kind == "store" and value.get("layout") == 1
    if not known or value.get("features"):
        why = (
            "; ".join(fault.message for fault in (*faults, *more))
            or "its layout or its features are unknown here"
        )
        raise RecorderError(f"{store.url_of(STORE_KEY)}: {why}; nothing is written into such a store")
