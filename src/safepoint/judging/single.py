"""The guard asked about one run of a store, and whether what it once answered still stands.

Decided here: that reading and judging happen in this order, and which input is refused before it is used. Here is the
only place that may look at a clock for a judgement, and only where the caller hands in no time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from safepoint.core.timestamp import parse_time
from safepoint.reader import gather_artifacts
from safepoint.reader.documents import Document, FactsGiven, load_document, load_documents
from safepoint.reader.stores import load
from safepoint.store import Store, open_store
from safepoint.store.copying import overlap
from safepoint.store.elsewhere import Elsewhere

if TYPE_CHECKING:
    from safepoint.guard import Decision
    from safepoint.guard.standing import Standing
    from safepoint.model.run import Run
    from safepoint.policy import Policy


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision, and what it was made from."""

    decision: Decision
    run: Run
    policy: Policy
    """The settings in force for this run: its workflow's overrides have won."""
    anchor: str | None
    """What the newest anchor that was consulted is called; None: none was."""


def judge(
    store: str | os.PathLike[str] | Store,
    run_id: str,
    *,
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    now: str | int | None = None,
    anchor: str | os.PathLike[str] | None = None,
    anchor_storage_options: Mapping[str, Any] | None = None,
    allow_artifact_schemes: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
) -> Judgement:
    """What `safepoint.guard` answers, and what that was made from; arguments and exceptions are the same."""
    from safepoint.guard import evaluate, needed_artifacts
    from safepoint.policy import parse_policy

    elsewhere = Elsewhere(allow_artifact_schemes, storage_options)
    options = elsewhere.own_options
    moment = moment_of(now)
    given = load_documents(run_id, facts=facts, policy=policy, request=request, storage_options=options)
    opened = store if isinstance(store, Store) else open_store(os.fspath(store), **options)
    anchored = None
    if anchor is not None:
        from safepoint.reader.comparing import load_anchored

        require_apart(opened.url, anchor)
        anchored = load_anchored(anchor, {**options, **(anchor_storage_options or {})}, run_id, opened)
    run = load(opened, run_id).run
    assert run is not None
    settings = parse_policy(given.policy, workflow=run.workflow)
    needed = needed_artifacts(run, given.request)
    artifacts = gather_artifacts(opened, run, ids=needed, elsewhere=elsewhere)
    decision = evaluate(
        run,
        given.facts,
        settings,
        given.request,
        moment,
        artifacts=artifacts,
        claims=opened.capabilities.claims,
        anchored=anchored,
    )
    return Judgement(decision, run, settings, anchored.name if anchored else None)


def check_decision(
    store: str | os.PathLike[str] | Store,
    decision: Document,
    *,
    run_id: str | None = None,
    request: Document | None = None,
    **question: Any,
) -> Standing:
    """Whether a stored decision still stands; writes nothing. Exceptions, and what else may be given, are `judge`'s.

    Args:
        store: path, fsspec URL, or an open store.
        decision: the ``decision`` document, or the path or URL of one.
        run_id: which run; None: the one that it is about.
        request: what the guard was asked then; None: what the decision tells of it.
        question: facts, policy and anchor as they were given then, and the moment to compare at.
    """
    from safepoint.guard.standing import request_of, standing

    wanted = load_document("decision", decision, question.get("storage_options"))
    assert wanted is not None
    question |= {"now": moment_of(question.get("now"))}
    asks = request if request is not None else request_of(wanted)
    judged = judge(store, run_id or wanted["runId"], request=asks, **question)
    # where the head is still the same, nothing but the question can have named another checkpoint
    numbered = wanted["basis"]["journal"]["sequence"] is not None
    if request is None and numbered and judged.decision.checkpoint_id != wanted["checkpointId"]:
        named = request_of(wanted, named=True)
        judged = judge(store, run_id or wanted["runId"], request=named, **question)
    return standing(wanted, judged.decision, judged.policy.skew)


def require_apart(store: str, anchor: str | os.PathLike[str]) -> None:
    """Raise where `anchor` lies in the store, or the store in it."""
    if store and overlap(store, os.fspath(anchor)):
        raise ValueError(
            f"anchor: {os.fspath(anchor)} and the store lie in each other, so that it proves nothing"
        )


def moment_of(now: str | int | None) -> int:
    """`now` in nanoseconds since the Unix epoch; None is this machine's clock.

    Raises:
        ValueError: a text that is no RFC 3339 time.
    """
    if now is None:
        return time.time_ns()
    return parse_time(now) if isinstance(now, str) else now
