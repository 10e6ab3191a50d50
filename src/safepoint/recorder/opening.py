"""Taking a run: starting a new one, or going on with one whose worker is gone.

Decided here: what is written before the first step. A resumed run asks the guard first, and claims the lease at exactly
the number behind the journal that the guard judged: the claim is the check (SPEC.md#claim).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from safepoint.core.digest import digest_value, encode_record
from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.core.version import CURRENT
from safepoint.guard import Decision, evaluate
from safepoint.model.run import Run
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.documents import Document, load_document, load_documents
from safepoint.recorder.episode import Episode, RecoveryLog, supersede
from safepoint.recorder.errors import (
    IllegalRecord,
    RecorderError,
    ResumeRefused,
    RunExists,
    StaleDecision,
)
from safepoint.recorder.evidence import record_probes
from safepoint.recorder.journal import Journal, require_claimable, workflow_of
from safepoint.recorder.log import Clock, StoreAt, new_nonce, open_at
from safepoint.recorder.run import RecordedRun
from safepoint.store import AbsentError, Outcome, Store
from safepoint.store.layout import STORE_KEY, run_prefix


def start_run(
    store: StoreAt,
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
    policy: Document | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> RecordedRun:
    """Begin a run and take its lease.

    Args:
        store: where to record it: an open store, or its path or URL.
        run_id: a new id, of this run alone and for ever: 1 to 256 characters, and no ``..`` as a part of a path.
        workflow: name of the workflow.
        holder: who holds the lease, for a human.
        ttl_seconds: after so much silence the lease lapses; None: the policy's leaseSeconds.
        input: the run's input, any JSON value; None leaves it out.
        parent_run_id: the run that announced this one.
        definition: part to digest of what it was started from.
        labels: names and values for finding the run.
        guard_context: part to digest of what the run depends on; each checkpoint records it.
        policy: a policy document, or its path or URL; None: the defaults.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        RunExists: the store holds something under this id; `resume_run` goes on with it.
        IllegalRecord: no reader would accept the run's first record; nothing was written.
        InputRefusedError: the policy is not sound.
        StoreError: nothing was written.
    """
    opened = open_at(store)
    settings = parse_policy(load_document("policy", policy), workflow=workflow)
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
    journal = Journal(opened, run_id, nonce=nonce(), clock=clock)
    journal.draft(
        members
    )  # before anything is written: an id that readers refuse would make a run for nobody
    _require_layout(opened)
    with suppress(AbsentError):
        if next(iter(opened.list(run_prefix(run_id))), None):
            raise RunExists(f"{opened.url} already holds a run {run_id}; resume it, or choose another id")
    try:
        journal.append(lambda: members, only_at=1)
    except StaleDecision as taken:
        raise RunExists(f"another process has just started run {run_id} in {opened.url}") from taken
    lease = {"purpose": "run", "holder": holder, "ttlSeconds": ttl_seconds or settings.lease_seconds}
    journal.claim(lease, at=journal.sequence + 1)
    return RecordedRun(journal, settings, guard_context=guard_context)


def resume_run(
    store: StoreAt,
    run_id: str,
    *,
    holder: str,
    ttl_seconds: int | None = None,
    facts: Document | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    failure_signature: str | None = None,
    guard_context: Mapping[str, str] | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> RecordedRun:
    """Ask the guard whether the run may go on, and take it over if so.

    Args:
        store: where it is recorded: an open store, or its path or URL.
        run_id: the run.
        holder: who takes the lease, for a human.
        ttl_seconds: after so much silence the lease lapses; None: the policy's leaseSeconds.
        facts: a facts document, or its path or URL: what is true in the world now.
        policy: a policy document, or its path or URL; None: the defaults.
        request: a request document, or its path or URL; None: continue from the newest checkpoint.
        failure_signature: what makes two failures the same; None: a digest of step and error class.
        guard_context: part to digest of what the run depends on now; None: the facts', else as recorded before.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        ResumeRefused: the verdict is not ``resume``; it holds the decision, and nothing was written.
        StaleDecision: somebody else was faster, or the decision's time is over; try again from the start.
        InputRefusedError: facts, policy or request are not sound; nothing was judged by them.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    opened = open_at(store)
    given = load_documents(run_id, facts=facts, policy=policy, request=request)
    run = load_run(opened, run_id).run
    if run is None:
        raise AbsentError(opened.url, f"there are no records of a run {run_id}", run_prefix(run_id))
    settings = parse_policy(given.policy, workflow=workflow_of(run))
    now = clock()
    artifacts = gather_artifacts(opened, run)
    decision = evaluate(run, given.facts, settings, given.request, now, artifacts=artifacts)
    if decision.verdict != "resume":
        raise ResumeRefused(decision)
    head = require_claimable(run)
    _require_layout(opened)
    writer = nonce()
    journal = Journal(opened, run_id, nonce=writer, clock=clock)
    journal.follow(run.records)
    log = RecoveryLog(opened, run_id, nonce=writer, clock=clock)
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
        journal.claim(lease, at=head + 1)
    except StaleDecision:
        with suppress(IllegalRecord):
            episode.end("superseded", "lost the claim")
        raise
    episode.enter("claimed", leaseEpoch=journal.epoch)
    supersede(log, run)
    known = given.facts or {}
    record_probes(journal, decision, known)
    episode.enter("resuming")
    context = guard_context or known.get("guardContext") or _recorded_context(run)
    return RecordedRun(journal, settings, guard_context=context, decision=decision, episode=episode)


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
