"""Which runs may be packed, deleted or retracted from: what has ended, and what is still open in it.

Decided here: why a run is not closed, and why its records are not sound enough to be touched; in doubt there is always
a reason. Not decided here: what is then done to it (``pack``, ``prune``, ``retract``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from safepoint import rules
from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.core.timestamp import SECOND, format_time
from safepoint.model.journal import ENDED, Level
from safepoint.model.run import Run
from safepoint.policy import Policy
from safepoint.reader import Scan, load_run
from safepoint.store import AbsentError, Outcome, Store, UnreachableError, UnsupportedError
from safepoint.store.layout import STORE_KEY, run_ids, run_prefix

_TRIES = 5
"""How often an unclear answer to a write is asked again."""

_PAUSE = 0.05
"""Seconds before the second try, doubled each time."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one run."""

    run_id: str
    outcome: Literal["done", "would", "already", "passed", "left"]
    """``would``: it was only tried. ``already``: there was nothing to do. ``passed``: it was not asked for: it is too
    young, or has not ended. ``left``: refused, for the reason that the message gives."""
    message: str
    counts: Mapping[str, int] = field(default_factory=dict)
    """How much was written and removed, by name."""


def require_writable(store: Store) -> None:
    """Refuse a store in which no name can be claimed, or whose layout this library does not know.

    Raises:
        UnsupportedError: nothing may be written to it.
        StoreError: it cannot be read.
    """
    if not store.capabilities.can_claim:
        problem = "nothing keeps two writers apart in storage of this kind, so that nothing of it is changed"
        raise UnsupportedError(store.url, problem)
    try:
        value, faults = parse(store.get(STORE_KEY))
    except AbsentError:
        return
    identity, more = recognise(value)
    known = identity is not None and identity.kind == "store" and value.get("layout") == 1
    if faults or not known or value.get("features"):
        said = "; ".join(fault.message for fault in (*faults, *more))
        problem = said or "its layout or its features are unknown to this version"
        raise UnsupportedError(
            store.url_of(STORE_KEY), problem, STORE_KEY, "use a newer version of Safepoint"
        )


def runs_of(store: Store, named: Iterable[str]) -> Iterator[str]:
    """The `named` runs, each once; all runs of the store where none is named.

    Raises:
        AbsentError: the store has no folder of such a run; raised before the first run is given.
        StoreError: the store cannot be read.
    """
    chosen = tuple(dict.fromkeys(named))
    for run_id in chosen:
        try:
            there = next(store.list(run_prefix(run_id)), None)
        except ValueError:
            there = None
        if there is None:
            problem = f"no folder of a run {run_id!a} is there"
            raise AbsentError(store.url, problem, remedy=f"list the runs: safepoint runs {store.url}")
    yield from chosen or tuple(run_ids(store))


def load(store: Store, run_id: str) -> Scan:
    """The run as it lies; read again where an object went away between listing and reading.

    Somebody else may be packing or deleting the same run at this moment, which is no damage.

    Raises:
        StoreError: the store cannot be read, or nothing of the run is there any more.
    """
    for _ in range(_TRIES):
        found = load_run(store, run_id)
        if all(fault.code != "SP002" for fault in found.faults):
            break
    return found


def why_unsound(found: Scan) -> str:
    """What is wrong with the records of a run, so that they must not be touched; empty where nothing is."""
    run = found.run
    if run is None:
        return "none of its records can be read"
    faults = [*found.faults, *rules.check(run)]
    grave = next((fault for fault in faults if rules.severity(fault.code) == "error"), None)
    if grave is not None:
        return (
            f"its records are not sound: {grave.code} {grave.message}; validate the run, and repair it first"
        )
    if run.unread:
        return f"{run.unread[0].name} cannot be read, and may hide a record; repair the run first"
    if run.level is Level.RECORDS:
        return "its records are not numbered, so that nobody can tell whether they are all there"
    return ""


def why_at_work(run: Run, now: int) -> str:
    """Why somebody may still write to the run as its owner; empty where nobody may.

    Args:
        run: the folded run.
        now: nanoseconds since the Unix epoch.
    """
    if run.status == "failed":
        return "it failed, and may still be taken up again; end it first"
    if run.status not in ENDED:
        return "it has not ended"
    return why_owned(run, now)


def why_owned(run: Run, now: int) -> str:
    """How long the owner of a run may still be alive; empty where its lease was given back or has lapsed."""
    owner, skew = run.ownership, Policy().skew
    if owner is None or owner.released or now >= owner.lapses_at(now, skew):
        return ""
    return f"the lease of epoch {owner.epoch} is live until {format_time(owner.lapses_at(now, skew))}"


def why_open(run: Run, now: int) -> str:
    """Why the run is not closed: not ended, or something in it is still open; empty where it is closed.

    Args:
        run: the folded run.
        now: nanoseconds since the Unix epoch.
    """
    if why := why_at_work(run, now):
        return why
    policy = Policy()
    effects = [action.action_id for action in run.open_actions if action.declares.effect != "read"]
    if effects:
        return f"the end of {', '.join(effects)} is not known; settle it first"
    asked = (a for a in run.approvals.values() if a.event == "requested")
    if pending := [a.approval_id for a in asked if a.expires is None or now < a.expires]:
        return f"a human was asked for {', '.join(pending)} and has not answered"
    for episode in run.episodes.values():
        ttl = policy.lease_seconds * SECOND if episode.ttl is None else episode.ttl
        if episode.unclaimed and now < (episode.record.created or 0) + ttl + 2 * policy.skew:
            return f"recovery {episode.episode_id} is under way ({episode.state})"
    return ""


def last_written(run: Run) -> int:
    """The time of the run's newest record, whichever log holds it, in nanoseconds."""
    return max(record.created or 0 for record in (*run.records, *run.recovery))


def put(store: Store, key: str, data: bytes) -> bool:
    """Whether `key` holds exactly `data` now, durably, whoever wrote it; False: it holds something else.

    Raises:
        StoreError: nobody can tell, or nothing was written.
    """
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE * 2**attempt)
        outcome = store.put_if_absent(key, data)
        if outcome is Outcome.WON:
            return True
        if outcome is Outcome.LOST:
            return store.get(key) == data
    raise UnreachableError(store.url_of(key), "nobody can tell whether it was written", key)
