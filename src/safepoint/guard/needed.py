"""What a decision depends on: the artifacts that have to be read, and whose death would count.

Decided here: what is asked for beforehand. Not decided here: what an answer means (``layers``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from safepoint.core.timestamp import format_time
from safepoint.guard.case import ask, start_of
from safepoint.model.run import Run
from safepoint.policy import Policy


def needed_artifacts(run: Run, request: Mapping[str, Any] | None) -> frozenset[str]:
    """Ids of the artifacts that the guard asks about: those of the checkpoint that the run would go on from.

    A checkpoint names all that the run needs to go on, whatever its ancestors named, on this branch or before a fork.
    """
    checkpoint = start_of(run, request or {})
    if checkpoint is None:
        return frozenset()
    value = checkpoint.value
    names = {str(reference["artifactId"]) for reference in value.get("artifactRefs") or ()}
    for condition in value.get("resumePreconditions") or ():
        if condition.get("type") == "artifactPresent":
            names.add(str(condition.get("subject")))
    return frozenset(names)


def unproven_owners(
    run: Run, facts: Mapping[str, Any] | None, policy: Policy, now: int
) -> dict[str, tuple[int, ...]]:
    """Each action in doubt, with the epochs of its open attempts whose worker is not proven dead.

    Under the run's own id its present owner, where that is not. Empty for a run without leases: it has no epochs to
    tell its workers apart.
    """
    if run.ownership is None:
        return {}
    case = ask(run, facts, policy, None, now)
    found = {
        action.action_id: {a.epoch for a in action.open_attempts if case.death_of(a.epoch) is None}
        for action in run.open_actions
    }
    if case.owner_death is None:
        found[run.run_id] = {run.ownership.epoch}
    return {subject: tuple(sorted(epochs)) for subject, epochs in found.items() if epochs}


def supposing_dead(
    facts: Mapping[str, Any] | None, run: Run, epochs: Collection[int], now: int
) -> dict[str, Any]:
    """The same facts, and that the owners of `epochs` are dead: to see what would be missing then.

    Without epochs it is the one worker that a run without leases has.
    """
    when = format_time(now)
    known = facts or {"recordType": "facts", "schemaVersion": "v3", "runId": run.run_id, "observedAt": when}
    dead = {"state": "dead", "proof": "supposed", "observedAt": when}
    owners = [{"leaseEpoch": epoch, **dead} for epoch in epochs] or [{"holder": "supposed", **dead}]
    return {**known, "owners": [*(known.get("owners") or ()), *owners]}


def still_true(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Of facts that are too old: what does not change any more, each with its own time."""
    when = {"observedAt": facts["observedAt"]}
    dead = [{**when, **owner} for owner in facts.get("owners") or () if owner["state"] == "dead"]
    done = {
        name: probe for name, probe in (facts.get("probes") or {}).items() if probe["result"] == "applied"
    }
    return {name: value for name, value in (("owners", dead), ("probes", done)) if value}
