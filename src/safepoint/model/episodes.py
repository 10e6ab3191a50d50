"""Recovery episodes: the second log, which says how recoveries themselves went (SPEC.md#recovery)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND
from safepoint.model.record import Record

TRANSITIONS: Mapping[str | None, frozenset[str]] = {
    None: frozenset({"detected"}),
    "detected": frozenset({"assessing", "superseded"}),
    "assessing": frozenset(
        {
            "notNeeded",
            "waiting",
            "reconciling",
            "compensating",
            "awaitingHuman",
            "authorized",
            "gaveUp",
            "superseded",
        }
    ),
    "waiting": frozenset({"assessing", "superseded"}),
    "reconciling": frozenset({"assessing", "awaitingHuman", "superseded"}),
    "awaitingHuman": frozenset({"assessing", "gaveUp", "superseded"}),
    # Whoever takes up a decision that another process has recorded judges again: it may be void by then.
    "authorized": frozenset({"claimed", "assessing", "superseded"}),
    # Its process may die before it goes on.
    "claimed": frozenset({"resuming", "failedAttempt", "superseded"}),
    "resuming": frozenset({"probation", "failedAttempt", "superseded"}),
    "probation": frozenset({"recovered", "failedAttempt", "superseded"}),
    "compensating": frozenset({"compensated", "awaitingHuman", "superseded"}),
    "notNeeded": frozenset(),
    "gaveUp": frozenset(),
    "superseded": frozenset(),
    "recovered": frozenset(),
    "failedAttempt": frozenset(),
    "compensated": frozenset(),
}
"""From a state to those that may follow; a state that nothing follows ends the episode."""

UNDECIDED = frozenset(
    {"detected", "assessing", "waiting", "reconciling", "awaitingHuman", "authorized", "compensating"}
)
"""States in which an episode is at work without a lease of its own."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One round of recovery."""

    episode_id: str
    state: str
    failure_signature: str | None
    failure_of: str | None
    """``step``, ``recovery`` or ``infrastructure``."""
    checkpoint_id: str | None
    epoch: int | None
    """The epoch that it claimed, once it did."""
    cost_micros: int | None
    ttl: int | None
    """For how long after its last record it counts as live (nanoseconds), where it says so."""
    writer: str | None
    """The nonce of the process that keeps this episode."""
    number: int
    """The sequence of its first record: the lowest open live one goes first."""
    record: Record
    records: tuple[Record, ...]
    """All that were legal, in order; `record` is the last one."""

    @property
    def released(self) -> bool:
        """Whether its last writer will not claim the run, so that anybody may go on with the episode."""
        return self.record.value.get("released") is True

    @property
    def deciding(self) -> bool:
        """Whether a process may be about to claim by it: others let it go first while it is live."""
        return self.unclaimed and not self.released

    @property
    def failed_by(self) -> str | None:
        """What failed in this attempt: ``step``, ``recovery`` or ``infrastructure``, this one only with evidence.

        None: it did not fail, or nobody said what failed.
        """
        return _failure(self.record) if self.state == "failedAttempt" else None

    @property
    def excuses(self) -> bool:
        """Whether it says, with evidence, that what it recovers from was the infrastructure's fault."""
        return any(_failure(record) == "infrastructure" for record in self.records if self.unclaimed)

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return not TRANSITIONS[self.state]

    @property
    def unclaimed(self) -> bool:
        """Whether it is still deciding, and holds no lease yet."""
        return self.state in UNDECIDED


def _failure(record: Record) -> str | None:
    failed: str | None = record.value.get("failureOf")
    return None if failed == "infrastructure" and not record.value.get("failureEvidence") else failed


def _cost(records: Sequence[Record]) -> int | None:
    """What recovering has cost: behind its first checkpoint it is the run that goes on, unless it fails after all."""
    costs = [(str(r.value["state"]), (r.value.get("cost") or {}).get("costMicros")) for r in records]
    known = [(state, cost) for state, cost in costs if cost is not None]
    if costs[-1][0] != "failedAttempt":
        for state, cost in known:
            if state == "probation":
                return int(cost)
    return int(known[-1][1]) if known else None


def fold_episodes(records: Iterable[Record], faults: list[Fault]) -> dict[str, Episode]:
    """The episodes by id; a state that may not follow is a fault and changes nothing."""
    episodes: dict[str, Episode] = {}
    for record in records:
        value = record.value
        name, state = str(value["episodeId"]), str(value["state"])
        before = episodes.get(name)
        if state not in TRANSITIONS[before.state if before else None]:
            message = f"{state} after {before.state if before else 'nothing'}"
            faults.append(Fault("SP507", message, "/state", place=record.place))
            continue
        epoch = value.get("leaseEpoch") or None
        ttl = value.get("ttlSeconds")
        history = (*(before.records if before else ()), record)
        episodes[name] = Episode(
            episode_id=name,
            state=state,
            failure_signature=value.get("failureSignature") or (before.failure_signature if before else None),
            failure_of=value.get("failureOf") or (before.failure_of if before else None),
            checkpoint_id=value.get("fromCheckpointId") or (before.checkpoint_id if before else None),
            epoch=epoch if epoch is not None else (before.epoch if before else None),
            cost_micros=_cost(history),
            ttl=int(ttl) * SECOND if ttl is not None else (before.ttl if before else None),
            writer=value.get("nonce") or (before.writer if before else None),
            number=before.number if before else record.sequence or 0,
            record=record,
            records=history,
        )
    return episodes
