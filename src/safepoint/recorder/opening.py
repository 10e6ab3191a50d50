"""Taking a run: starting a new one, or going on with one whose worker is gone.

Decided here: what is written before the first step. A resumed run asks the guard first, and claims the lease at exactly
the number behind the journal that the guard judged: the claim is the check (SPEC.md#claim).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from safepoint.core.digest import digest_value, encode_record
from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.core.timestamp import parse_time
from safepoint.core.version import CURRENT
from safepoint.guard import Decision, evaluate, needed_artifacts
from safepoint.model.run import Run
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.documents import Document, load_document, load_documents
from safepoint.reader.fleets import facts_of, load_fleet, with_fleet
from safepoint.recorder.answering import require_filled_in
from safepoint.recorder.cause import cause_of
from safepoint.recorder.episode import Episode, RecoveryLog, supersede
from safepoint.recorder.errors import (
    RecorderError,
    ResumeRefused,
    RunExists,
    StaleDecision,
    Unclear,
)
from safepoint.recorder.evidence import record_probes
from safepoint.recorder.journal import Journal, require_claimable
from safepoint.recorder.log import TRIES, Clock, StoreAt, new_nonce, open_at
from safepoint.recorder.run import RecordedRun
from safepoint.store import AbsentError, Outcome, Store
from safepoint.store.elsewhere import Elsewhere
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
        IllegalRecord: no reader would accept the run's first records; nothing was written.
        StaleDecision: another process took the run over before this one could claim it.
        InputRefusedError: the policy is not sound.
        ValueError: `holder` is still to be filled in.
        StoreError: nothing was written.
    """
    require_filled_in(holder=holder)
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
    ttl = settings.lease_seconds if ttl_seconds is None else ttl_seconds
    lease = {"purpose": "run", "holder": holder, "ttlSeconds": ttl}
    journal = Journal(opened, run_id, nonce=nonce(), clock=clock)
    # Before anything is written: what readers refuse would make a run for nobody, or one without an owner.
    journal.draft(members)
    journal.draft(journal.claiming(lease))
    _require_layout(opened)
    with suppress(AbsentError):
        if next(iter(opened.list(run_prefix(run_id))), None):
            raise RunExists(f"{opened.url} already holds a run {run_id}; resume it, or choose another id")
    try:
        journal.append(lambda: members, only_at=1)
    except StaleDecision as taken:
        raise RunExists(f"another process has just started run {run_id} in {opened.url}") from taken
    while True:
        try:
            journal.claim(lease, at=journal.sequence + 1)
            break
        except StaleDecision:
            # Anybody may ask for an approval or for an end of a run that is there; only another owner ends this.
            if journal.next_epoch > 1:
                raise
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
    fleet: Document | None = None,
    failure_signature: str | None = None,
    failure_of: str | None = None,
    failure_evidence: str | None = None,
    guard_context: Mapping[str, str] | None = None,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> RecordedRun:
    """Ask the guard whether the run may go on, and take it over if so.

    Where the request's goal is ``unwind`` and the verdict ``compensate``, the run is opened to be undone: its `plan`
    names what to compensate, and only effects with ``compensates=`` are attempted in it.

    Args:
        store: where it is recorded: an open store, or its path or URL.
        run_id: the run.
        holder: who takes the lease, for a human.
        ttl_seconds: after so much silence the lease lapses; None: the policy's leaseSeconds.
        facts: a facts document, or its path or URL: what is true in the world now.
        policy: a policy document, or its path or URL; None: the defaults.
        request: a request document, or its path or URL; None: continue from the newest checkpoint.
        fleet: how the fleet fares, as ``safepoint guard --all --fleet-output`` writes it, or its path or URL.
        failure_signature: what makes two failures the same; None: a digest of step and error class.
        failure_of: what failed before: ``step``, ``recovery`` or ``infrastructure``; None: what the records show.
        failure_evidence: where the evidence for that can be looked up. The infrastructure is only blamed with some,
            of which the facts' proof of the owner's death is one.
        guard_context: part to digest of what the run depends on now; None: the facts', else as recorded before.
        allow_artifact_schemes: of URLs, such as ``s3``, by which the guard looks at artifacts elsewhere as well.
        storage_options: for those artifacts: under the name of a scheme, or as the store's own were.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Raises:
        ResumeRefused: the verdict is not ``resume`` (or ``compensate``, where that was asked for); it holds the
            decision, and nothing was written.
        IllegalRecord: no reader would accept the claim or the episode; nothing was written.
        StaleDecision: somebody else was faster, or the decision's time is over; try again from the start.
        PutAway: the run was packed or deleted meanwhile; nothing may be done by this decision.
        InputRefusedError: facts, policy or request are not sound; nothing was judged by them.
        ValueError: one of `allow_artifact_schemes` is no scheme that could be read from; `failure_of` is none of the
            three, or comes without the evidence that it needs; or a text is still to be filled in.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    require_filled_in(holder=holder, failure_signature=failure_signature, failure_evidence=failure_evidence)
    elsewhere = Elsewhere(allow_artifact_schemes, storage_options)
    opened = open_at(store)
    given = load_documents(run_id, facts=facts, policy=policy, request=request)
    if fleet is not None:
        counted = load_fleet(fleet)
        own = facts_of(run_id, given.facts, parse_time(counted["observedAt"]))
        given = replace(given, facts=with_fleet(own, counted))
    run = load_run(opened, run_id).run
    if run is None:
        raise AbsentError(opened.url, f"there are no records of a run {run_id}", run_prefix(run_id))
    settings = parse_policy(given.policy, workflow=run.workflow)
    cause = cause_of(
        run,
        signature=failure_signature,
        failure_of=failure_of,
        evidence=failure_evidence,
        facts=given.facts,
    )
    now = clock()
    artifacts = gather_artifacts(opened, run, ids=needed_artifacts(run, given.request), elsewhere=elsewhere)
    claims = opened.capabilities.claims
    decision = evaluate(run, given.facts, settings, given.request, now, artifacts=artifacts, claims=claims)
    unwinding = decision.verdict == "compensate" and decision.goal == "unwind"
    if decision.verdict != "resume" and not unwinding:
        raise ResumeRefused(decision)
    head = require_claimable(run)
    _require_layout(opened)
    journal = Journal(opened, run_id, nonce=nonce(), clock=clock)
    journal.follow(run.records)
    log = RecoveryLog(journal)
    log.follow(run.recovery)
    seconds = settings.lease_seconds if ttl_seconds is None else ttl_seconds
    episode = Episode(
        log,
        run,
        cause,
        going_on=log.left_open(run),
        common={"holder": holder, "ttlSeconds": seconds},
        claims=True,
        stable_seconds=settings.stable_seconds,
    )
    digest = digest_value(decision.document())
    lease = {
        "purpose": "recovery",
        "holder": holder,
        "ttlSeconds": seconds,
        "episodeId": episode.episode_id,
        "authorization": digest,
        **_branch(run, journal, decision),
    }
    # Before anything is written: a recovery that no reader accepts would stand in the way of the next one.
    log.draft(episode.record("detected", fromCheckpointId=decision.checkpoint_id))
    journal.draft(journal.claiming(lease))
    for state in episode.way_to("compensating" if unwinding else "authorized"):
        decided = {"decisionDigest": digest} if state in {"compensating", "authorized"} else {}
        episode.enter(state, fromCheckpointId=decision.checkpoint_id, **decided)
    try:
        _require_valid(decision, clock())
        journal.claim(lease, at=head + 1)
    except StaleDecision:
        episode.end("superseded", "lost the claim")
        raise
    episode.claimed(journal.epoch, journal.checkpoint.value.get("usage") if journal.checkpoint else None)
    supersede(log, run, own=episode.episode_id, cause=cause, stable_seconds=settings.stable_seconds)
    known = given.facts or {}
    record_probes(journal, decision, known)
    if not unwinding:
        episode.say("resuming")
    context = guard_context or known.get("guardContext") or _recorded_context(run)
    return RecordedRun(journal, settings, guard_context=context, decision=decision, episode=episode)


def _recorded_context(run: Run) -> Mapping[str, str] | None:
    checkpoint = run.newest_checkpoint
    context: Mapping[str, str] | None = checkpoint.value.get("guardContext") if checkpoint else None
    return context


def _require_valid(decision: Decision, now: int) -> None:
    if decision.valid_until is not None and now >= decision.valid_until:
        raise StaleDecision(f"run {decision.run_id}: the decision is no longer valid; judge again")


def _branch(run: Run, journal: Journal, decision: Decision) -> dict[str, Any]:
    """Where the new owner writes: on the same branch, or on one that forks from where the guard said to go on."""
    held = journal.checkpoint.value["checkpointId"] if journal.checkpoint else None
    if decision.checkpoint_id is not None and (
        decision.goal == "roll_back" or decision.checkpoint_id != held
    ):
        fork = {"checkpointId": decision.checkpoint_id}
        return {"forkFrom": fork, "branch": run.next_branch}
    return {} if journal.branch is None else {"branch": journal.branch}


def _require_layout(store: Store) -> None:
    """Mark a new store as one, and refuse to write into one whose layout this library does not know."""
    document = {"recordType": "store", "schemaVersion": str(CURRENT), "layout": 1}
    for _ in range(TRIES):
        if store.put_if_absent(STORE_KEY, encode_record(document)) is Outcome.WON:
            return
        with suppress(AbsentError):
            there = store.get(STORE_KEY)
            break
    else:
        raise Unclear(f"{store.url_of(STORE_KEY)}: the store did not say whether it was written; try again")
    value, faults = parse(there)
    identity, more = recognise(value)
    known = identity is not None and identity.kind == "store" and value.get("layout") == 1
    if not known or value.get("features"):
        why = (
            "; ".join(fault.message for fault in (*faults, *more))
            or "its layout or its features are unknown here"
        )
        raise RecorderError(f"{store.url_of(STORE_KEY)}: {why}; nothing is written into such a store")
