"""Every run of a store, judged in one pass: each is read once, and the fleet's state is told from all of them.

Decided here: what is kept of a run until the last one was read, and that a run which cannot be read is told of and does
not stop the rest. Not decided here: the decisions (``guard``), and what they look like (``render``).
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Self

from safepoint.core.digest import digest_value
from safepoint.core.timestamp import parse_time
from safepoint.guard import Assessment, Decision, assess, conclude, needed_artifacts
from safepoint.guard.fleet import Fleet, room
from safepoint.policy import Policy, parse_policy
from safepoint.reader import Scan, gather_artifacts
from safepoint.reader.fleets import facts_of, with_fleet
from safepoint.reader.scan import scan_runs
from safepoint.reader.stores import require_one
from safepoint.render.overview import state_of
from safepoint.store import Store, StoreError
from safepoint.store.elsewhere import Elsewhere

HELD = 250_000
"""Reasons and items of plans that are held in memory until the fleet is known, some 100 MB; more wait on disk."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One run, and what the guard says of it."""

    run_id: str
    state: str
    """As ``safepoint runs`` says it."""
    workflow: str | None
    decision: Decision | None
    """None: nothing of the run could be read."""
    problem: str = ""
    """Why it, or a part of it, could not be read."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """A run that was looked at, and waits for the fleet."""

    run_id: str
    state: str
    workflow: str | None
    assessment: Assessment | None
    problem: str = ""

    @property
    def weight(self) -> int:
        return 1 + (len(self.assessment.reasons) + len(self.assessment.items) if self.assessment else 0)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every run."""

    now: int
    """Nanoseconds since the Unix epoch."""
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By run id."""
    policy: Mapping[str, Any] | None = None
    fleet: Mapping[str, Any] | None = None
    """How the fleet fares, where that is known already; None: it is told from the runs of the store."""
    states: Collection[str] = ()
    """Only runs in these are told of; empty: in any. The fleet is that of all runs."""
    workflows: Collection[str] = ()
    verdicts: Collection[str] = ()
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    """Where artifacts may be looked at besides the store."""


class Judging(Iterator[Judged]):
    """Every run of a store with its decision, in the order of the listing; the counts are whole when it is exhausted.

    Without a fleet in the question the first decision comes once the last run was read.
    """

    def __init__(self, store: Store, question: Question) -> None:
        """The runs of `store`."""
        self.verdicts: Counter[str] = Counter()
        """Decisions so far, by verdict."""
        self.reasons: Counter[str] = Counter()
        """Runs so far, by each code that their verdict rests on."""
        self.unreadable = 0
        """Runs so far of which something could not be read."""
        self.runs = 0
        """That were looked at, whether they are told of or not."""
        self.fleet: Mapping[str, Any] | None = question.fleet
        """The state of the fleet that the decisions rest on; None until it is known."""
        self.seen_fleet: Mapping[str, Any] | None = None
        """The state of the fleet as the store shows it; None until the last run was read."""
        self.unmet = set(question.facts)
        """Runs that facts were given of and that were not met so far."""
        self._store, self._question = store, question
        self._policies: dict[str | None, tuple[Policy, str]] = {}
        self._told = self._tell()

    def __iter__(self) -> Judging:
        return self

    def __next__(self) -> Judged:
        return next(self._told)

    def policy_of(self, workflow: str | None) -> Policy:
        """The settings in force for runs of `workflow`."""
        return self._policy(workflow)[0]

    @property
    def room(self) -> int | None:
        """How many more recoveries the fleet ratio lets begin now; None where it is not known."""
        fleet = self.fleet or {}
        known = all(
            name in fleet for name in ("recoveriesLastHour", "startsLastHour", "recoveriesLastTenMinutes")
        )
        return room(fleet, self.policy_of(None)) if known else None

    def _policy(self, workflow: str | None) -> tuple[Policy, str]:
        if workflow not in self._policies:
            policy = parse_policy(self._question.policy, workflow=workflow)
            self._policies[workflow] = policy, policy.digest
        return self._policies[workflow]

    def _tell(self) -> Iterator[Judged]:
        require_one(self._store)
        fleet = Fleet(self._question.now, self.policy_of)
        with _Waiting() as waiting:
            failure: StoreError | None = None
            try:
                for name, found in scan_runs(self._store):
                    looked = self._look(name, found, fleet)
                    if not self._wanted(looked):
                        continue
                    if not waiting and self._fleet_of(looked.run_id) is not None:
                        yield from self._conclude(looked)
                    else:
                        waiting.add(looked)
            except StoreError as error:
                failure = error
            self.seen_fleet = fleet.state()
            self.fleet = self.fleet or self.seen_fleet
            for looked in waiting:
                yield from self._conclude(looked)
        if failure is not None:
            raise failure

    def _look(self, name: str, found: Scan, fleet: Fleet) -> _Looked:
        self.runs += 1
        self.unmet.discard(name)
        question, run = self._question, found.run
        if run is None:
            why = next((fault.message for fault in found.faults), "it holds no record")
            return _Looked(name, "unreadable", None, None, f"nothing of a run can be read: {why}")
        workflow = run.workflow
        policy, digest = self._policy(workflow)
        needed = needed_artifacts(run, None)
        elsewhere = question.elsewhere
        artifacts = gather_artifacts(self._store, run, ids=needed, elsewhere=elsewhere) if needed else None
        assessment = assess(
            run,
            self._facts_of(run.run_id),
            policy,
            None,
            question.now,
            artifacts=artifacts,
            claims=self._store.capabilities.claims,
            policy_digest=digest,
        )
        if assessment.member is not None:
            fleet.add(assessment.member, assessment.verdict)
        state = state_of(run, question.now, policy.skew)
        return _Looked(run.run_id, state, workflow, assessment, _problem(found, state))

    def _facts_of(self, run_id: str) -> dict[str, Any]:
        """What is known of a run without the fleet; where that is nothing, when the fleet was looked at."""
        seen = (self._question.fleet or {}).get("observedAt")
        observed = self._question.now if seen is None else parse_time(seen)
        return facts_of(run_id, self._question.facts.get(run_id), observed)

    def _fleet_of(self, run_id: str) -> Mapping[str, Any] | None:
        own: Mapping[str, Any] | None = self._question.facts.get(run_id, {}).get("fleet")
        return self.fleet if own is None else own

    def _wanted(self, looked: _Looked) -> bool:
        question = self._question
        return (not question.states or looked.state in question.states) and (
            not question.workflows or looked.workflow in question.workflows
        )

    def _conclude(self, looked: _Looked) -> Iterator[Judged]:
        decision = None
        if looked.assessment is not None:
            facts = self._facts_of(looked.run_id)
            if "fleet" not in facts:
                assert self.fleet is not None
                facts = with_fleet(facts, self.fleet)
            decision = conclude(looked.assessment, facts["fleet"], digest_value(facts))
        wanted = self._question.verdicts
        if wanted and (decision is None or decision.verdict not in wanted):
            return
        self.unreadable += bool(looked.problem)
        if decision is not None:
            self.verdicts[decision.verdict] += 1
            self.reasons.update({r.code for r in decision.reasons if r.verdict == decision.verdict})
        yield Judged(looked.run_id, looked.state, looked.workflow, decision, looked.problem)


def _problem(found: Scan, state: str) -> str:
    """Why a run counts as unreadable: none of its records can be read, or the storage did not give one out."""
    if state == "unreadable":
        return "none of its records can be read"
    faults = (fault.message for fault in found.faults if fault.code == "SP002")
    return next(faults, "")


class _Waiting:
    """Runs in their order, the first of them in memory and all that come once that is full in a file.

    The file is this process's own and has no name, so that nobody else can put anything into it: pickle is safe there,
    and no format of ours would take less time.
    """

    def __init__(self) -> None:
        self._first: list[_Looked] = []
        self._weight = self._more = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def __bool__(self) -> bool:
        return bool(self._first)

    def add(self, looked: _Looked) -> None:
        """One more."""
        if self._file is None and self._weight < HELD:
            self._first.append(looked)
            self._weight += looked.weight
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="safepoint-guard-")  # noqa: SIM115 - closed by __exit__
        pickle.dump(looked, self._file, pickle.HIGHEST_PROTOCOL)
        self._more += 1

    def __iter__(self) -> Iterator[_Looked]:
        """All of them, each once."""
        yield from self._first
        if self._file is not None:
            self._file.seek(0)
            for _ in range(self._more):
                looked: _Looked = pickle.load(self._file)  # noqa: S301 - written above, by this process
                yield looked
