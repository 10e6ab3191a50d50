"""What every human's answer has in common: a look at the run first, and a journal that can also be rehearsed.

Decided here: what speaks against any answer, and that a rehearsal asks all that a real answer asks, and writes nothing.
Not decided here: what may be answered (``evidence``, ``consent``, ``ending``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from safepoint.guard import Decision, evaluate
from safepoint.guard.case import Case, ask
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.policy import Policy, parse_policy
from safepoint.reader import load_run
from safepoint.reader.documents import Document, Documents, FactsGiven, load_documents
from safepoint.recorder.errors import RecorderError, ResolutionRefused
from safepoint.recorder.journal import Journal, require_claimable
from safepoint.recorder.log import Build, Clock, StoreAt, open_at
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.layout import run_prefix

WHERE_TO_START = frozenset({"SP701", "SP703", "SP704", "SP706", "SP718"})
"""The guard's reasons of its first layer that only say from where a run goes on: no matter for an answer."""


@dataclass(frozen=True, slots=True)
class Look:
    """The run as it was when a human answered, and what the guard said of it."""

    store: Store
    run: Run
    given: Documents
    settings: Policy
    now: int
    """Nanoseconds since the Unix epoch."""
    decision: Decision

    @property
    def case(self) -> Case:
        """What the guard was asked."""
        return ask(self.run, self.given.facts, self.settings, self.given.request, self.now)

    def judge(self, records: tuple[Record, ...]) -> Decision:
        """What the guard would say with `records` behind those that are there."""
        run = self.run
        after = fold(
            run.run_id,
            [*run.records, *records],
            recovery=run.recovery,
            claimable=run.claimable,
            origin=run.origin,
            seal=run.seal,
        )
        given, claims = self.given, self.store.capabilities.claims
        return evaluate(after, given.facts, self.settings, given.request, self.now, claims=claims)


def look(
    store: StoreAt,
    run_id: str,
    *,
    facts: FactsGiven | None = None,
    policy: Document | None = None,
    request: Document | None = None,
    clock: Clock,
) -> Look:
    """Read the run, and ask the guard about it.

    Raises:
        InputRefusedError: facts or policy are not sound.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read.
    """
    opened = open_at(store)
    given = load_documents(run_id, facts=facts, policy=policy, request=request)
    run = load_run(opened, run_id).run
    if run is None:
        raise AbsentError(opened.url, f"there are no records of a run {run_id}", run_prefix(run_id))
    settings = parse_policy(given.policy, workflow=run.workflow)
    now = clock()
    claims = opened.capabilities.claims
    decision = evaluate(run, given.facts, settings, given.request, now, claims=claims)
    return Look(opened, run, given, settings, now, decision)


def require_filled_in(**texts: str | None) -> None:
    """Raise where the guard's template was handed in as it was printed."""
    for name, text in texts.items():
        if text is not None and text.startswith("FILL IN"):
            raise ValueError(f"{name} is still {text!r}: say it in your own words")


def require_sound(decision: Decision, *, owned: bool) -> None:
    """Raise where the guard says that something may be hidden, or (for what needs an epoch) that an owner may live."""
    layers = {"integrity", "ownership"} if owned else {"integrity"}
    against = [
        reason
        for reason in decision.reasons
        if reason.layer in layers and reason.verdict != "resume" and reason.code not in WHERE_TO_START
    ]
    if not against:
        return
    if any(reason.layer == "integrity" for reason in against):
        hint = "repair the journal first"
    elif any(reason.code == "SP725" for reason in against):
        hint = "open the store by the URL that its records were written to"
    elif any(reason.code == "SP726" for reason in against):
        hint = (
            "seal the original by the migration that made this copy, or give facts that prove its owner dead"
        )
    else:
        hint = "wait for its lease to lapse, or give facts that prove it dead"
    leased = any(reason.code == "SP721" for reason in against)
    raise ResolutionRefused(decision, against, hint, [decision.lease_epoch] if leased else [])


class Answers(Journal):
    """A run's journal as a human answers in it: it knows what was written, and rehearsed it writes nothing."""

    def __init__(self, seen: Look, *, nonce: Callable[[], str], clock: Clock, rehearsed: bool) -> None:
        require_claimable(seen.run)
        super().__init__(seen.store, seen.run.run_id, nonce=nonce(), clock=clock)
        self.written: list[Record] = []
        self._rehearsed = rehearsed
        self.follow(seen.run.records)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """An error that comes after a part was written says which part."""
        try:
            yield
        except (RecorderError, StoreError) as error:
            if self.written and not self._rehearsed:
                numbers = ", ".join(str(record.sequence) for record in self.written)
                error.add_note(f"before that was written: record {numbers} of the journal")
            raise

    def append(self, build: Build, *, only_at: int | None = None) -> Record:
        """As any journal does it."""
        record = super().append(build, only_at=only_at)
        self.written.append(record)
        return record

    def _try(self, record: Record, data: bytes) -> bool:
        """Rehearsed, a number that is free counts as won."""
        return self._slot(self.sequence + 1) is None if self._rehearsed else super()._try(record, data)

    def confirm(self, record: Record) -> None:
        """What was only rehearsed stands nowhere."""
        if not self._rehearsed:
            super().confirm(record)


def lease_of(seen: Look, holder: str) -> dict[str, Any]:
    """The members of a lease that is claimed to answer: branch and origin stay as they are."""
    there = seen.run.ownership.lease.value if seen.run.ownership else {}
    same = {name: there[name] for name in ("branch", "forkFrom") if there.get(name) is not None}
    return {
        "purpose": "resolution",
        "holder": holder,
        "ttlSeconds": seen.settings.lease_seconds,
        **same,
    }
