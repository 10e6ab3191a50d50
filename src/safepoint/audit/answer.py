"""An answer to one point, with the evidence for it and the remedy.

Decided here: that one failure outweighs every doubt, and that a doubt never counts as passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from safepoint.core.fault import Fault, Place
from safepoint.rules import catalogue

if TYPE_CHECKING:
    from safepoint.audit.case import Case

Result = Literal["passed", "failed", "cannot tell"]
"""Three values: *cannot tell* is no milder *failed*, and no *passed*."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place that speaks against a point, or that leaves a doubt."""

    message: str
    """What was found there; never a payload's value."""
    remedy: str
    """What to do about it: a command, or the member to write."""
    place: Place | None
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the records of one run say to one point."""

    result: Result
    message: str
    """Why, in one sentence."""
    evidence: tuple[Evidence, ...] = ()
    """All of it, in the order of the records; none where the point is passed."""

    @property
    def remedies(self) -> tuple[str, ...]:
        """What to do, each thing once."""
        return tuple(dict.fromkeys(found.remedy for found in self.evidence))


@dataclass(slots=True)
class Notes:
    """What one point finds in a run, until it concludes."""

    case: Case
    failures: list[Evidence] = field(default_factory=list)
    doubts: list[Evidence] = field(default_factory=list)

    def fail(self, message: str, remedy: str, place: Place | None = None, pointer: str = "") -> None:
        """Something speaks against the point; without a place it is the run as a whole."""
        self.failures.append(Evidence(message, remedy, place or self.case.place, pointer))

    def doubt(self, message: str, remedy: str, place: Place | None = None, pointer: str = "") -> None:
        """Something that would have to be known is not."""
        self.doubts.append(Evidence(message, remedy, place or self.case.place, pointer))

    def unsaid(self, message: str, remedy: str) -> None:
        """Something would have to be said, and that in no record: there is no place to point to."""
        self.doubts.append(Evidence(message, remedy, None))

    def break_of(self, codes: Iterable[str]) -> None:
        """Every fault of the rules `codes` fails the point; one that could not be checked leaves a doubt."""
        for code in codes:
            for fault in self.case.faults.get(code, ()):
                self.fail_by(fault)
        self.unchecked(codes)

    def fail_by(self, fault: Fault) -> None:
        """A fault that a rule has found fails the point, with that rule's remedy."""
        self.fail(f"{fault.code}: {fault.message}", fix_of(fault.code), fault.place, fault.pointer)

    def unchecked(self, codes: Iterable[str]) -> None:
        """Rules that had something to look at and could not be checked leave one doubt for each reason."""
        reasons: dict[str, list[str]] = {}
        for code in codes:
            if code in self.case.skipped:
                reasons.setdefault(self.case.skipped[code], []).append(code)
        for reason, those in reasons.items():
            self.doubt(f"{', '.join(sorted(those))} not checked: {reason}", self.case.cure, self.case.hole)

    def unless_whole(self, what: str = "what is there holds") -> None:
        """Where something of the run is missing there may be more: `what` is known of the rest alone."""
        told = any(doubt.remedy == self.case.cure for doubt in self.doubts)
        if not self.case.whole and not told:
            self.doubt(f"{what}, but {self.case.why_not_whole}", self.case.cure, self.case.hole)

    def answer(self, passed: str) -> Answer:
        """The answer; `passed` says why where nothing speaks against it."""
        if self.failures:
            return Answer("failed", self.failures[0].message, tuple(self.failures))
        if self.doubts:
            return Answer("cannot tell", self.doubts[0].message, tuple(self.doubts))
        return Answer("passed", passed)


def fix_of(code: str) -> str:
    """The remedy that ``safepoint explain`` gives for `code`, on one line."""
    paragraphs = catalogue.code(code).text.split("\n\n")
    said = next(text for text in paragraphs if text.startswith("Fix:"))
    return " ".join(said.removeprefix("Fix:").split()) + f" (safepoint explain {code})"
