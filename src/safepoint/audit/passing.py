"""A pass over many runs: each examined as it is read, and the answers folded.

Decided here: that a point which fails in one run fails as a whole, that one which nobody can tell in one run is not
passed as a whole, and that nothing is kept of a run but its counts and the first few places of evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from posixpath import basename

from safepoint import rules
from safepoint.audit.answer import Answer, Evidence, Result
from safepoint.audit.case import Given
from safepoint.audit.checklist import POINTS, Point, examine
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Finding
from safepoint.policy import parse_policy
from safepoint.reader import Scan
from safepoint.reader.documents import Loaded
from safepoint.reader.tomlplaces import line_of

KEPT = 5
"""Places of evidence, and different reasons, that are kept of each point; all evidence is counted."""

_WORST_FIRST: tuple[Result, ...] = ("failed", "cannot tell", "passed")


@dataclass(frozen=True, slots=True)
class RunAudit:
    """One run, examined."""

    run_id: str
    records: int
    """Readable records of it."""
    answers: tuple[Answer, ...]
    """To the ten points, in their order."""
    findings: tuple[tuple[Finding, ...], ...]
    """For each answer its evidence as findings: errors where it failed, warnings where nobody can tell."""

    @property
    def result(self) -> Result:
        """The worst of the answers."""
        return _worst(answer.result for answer in self.answers)


@dataclass(slots=True)
class Verdict:
    """What all runs together say to one point."""

    point: Point
    runs: Counter[Result] = field(default_factory=Counter)
    """In how many runs it came out how."""
    reasons: dict[Result, Counter[str]] = field(default_factory=dict)
    """Why, of each result, and in how many runs; the first `KEPT` reasons that were met."""
    evidence: list[tuple[str, Finding]] = field(default_factory=list)
    """The first places of evidence for `result`, each with its run."""
    evidence_count: int = 0
    """How many there are in all."""
    remedies: list[str] = field(default_factory=list)
    """What to do, each thing once."""

    @property
    def result(self) -> Result:
        """The worst that one run says; *cannot tell* where there was none."""
        return _worst(self.runs) if self.runs else "cannot tell"

    @property
    def because(self) -> tuple[str, ...]:
        """Why it came out so, the most frequent reason first."""
        return tuple(reason for reason, _ in self.reasons.get(self.result, Counter()).most_common())

    def add(self, run_id: str, answer: Answer, findings: Iterable[Finding]) -> None:
        """One more run's answer."""
        before = self.result if self.runs else "passed"
        self.runs[answer.result] += 1
        reasons = self.reasons.setdefault(answer.result, Counter())
        if answer.message in reasons or len(reasons) < KEPT:
            reasons[answer.message] += 1
        if self.result != before:
            # what only left a doubt is no evidence for a failure
            self.evidence, self.evidence_count, self.remedies = [], 0, []
        if answer.result == self.result:
            self.evidence_count += len(answer.evidence)
            self.evidence += [(run_id, finding) for finding in findings][: KEPT - len(self.evidence)]
            self.remedies += [remedy for remedy in answer.remedies if remedy not in self.remedies]


class Audit(Iterator[RunAudit]):
    """One pass: iterate it for the runs; the verdicts are whole when it is exhausted."""

    def __init__(self, scans: Iterable[Scan], policy: Loaded | None = None) -> None:
        """A pass over `scans`, under the sound `policy` of the project; None: it has given none."""
        self.verdicts = tuple(Verdict(point) for point in POINTS)
        """To the ten points, in their order."""
        self.runs = 0
        """That were examined."""
        self.deleted = 0
        """Runs that were deleted on purpose: nothing of them is left to look at."""
        self.records = 0
        self.results: Counter[Result] = Counter()
        """Runs by the worst of their answers."""
        self.policy = policy
        self._place = None if policy is None else Place(policy.url, basename(policy.url))
        self._runs = self._examined(scans)

    def __next__(self) -> RunAudit:
        return next(self._runs)

    @property
    def result(self) -> Result:
        """The worst of the ten; *cannot tell* where there was no run."""
        return _worst(verdict.result for verdict in self.verdicts)

    def _examined(self, scans: Iterable[Scan]) -> Iterator[RunAudit]:
        for scan in scans:
            if scan.run is None:
                continue
            if scan.run.deleted is not None:
                self.deleted += 1
                continue
            yield self._examine(scan)

    def _examine(self, scan: Scan) -> RunAudit:
        assert scan.run is not None
        document = self.policy.value if self.policy else None
        settings = parse_policy(document, workflow=scan.run.workflow)
        answers = examine(scan.run, scan.faults, Given(settings, self._place))
        found = tuple(
            tuple(self._finding(point, evidence, scan, answer.result) for evidence in answer.evidence)
            for point, answer in zip(POINTS, answers, strict=True)
        )
        for verdict, answer, findings in zip(self.verdicts, answers, found, strict=True):
            verdict.add(scan.run.run_id, answer, findings)
        examined = RunAudit(scan.run.run_id, scan.records, answers, found)
        self.runs += 1
        self.records += scan.records
        self.results[examined.result] += 1
        return examined

    def _finding(self, point: Point, evidence: Evidence, scan: Scan, result: Result) -> Finding:
        """One place of evidence, at the line where it lies."""
        place, text = evidence.place or Place(""), scan.texts.get(evidence.place or Place(""))
        if self.policy and self.policy.data and place == self._place:
            if place.url.endswith(".toml"):
                place = replace(place, line=line_of(self.policy.data.decode(), evidence.pointer))
            else:
                text = self.policy.data
        finding = rules.to_finding(Fault(point.code, evidence.message, evidence.pointer, place=place), text)
        return finding if result == "failed" else replace(finding, severity="warning")


def _worst(results: Iterable[Result]) -> Result:
    found = set(results)
    return next((result for result in _WORST_FIRST if result in found), "passed")
