"""What each point is handed: the run, what the rules find wrong with it, what they could not check, and the policy.

Decided here: when something that is not in the records was never written. Not decided here: any of the ten answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.model.run import Run
from safepoint.policy import Policy
from safepoint.rules.needs import lacking

_UNSOUND = frozenset({"SP302", "SP303", "SP304", "SP306", "SP307", "SP313", "SP314"})
"""Faults of the journal itself: after one of them nobody can say that it holds everything that was written."""

_REPAIR = "see what is wrong with: safepoint validate STORE --run RUN; then safepoint repair"
_NUMBER = "write runs as one numbered journal each, with the recorder or by SPEC.md#journal; old ones stay as they are"


@dataclass(frozen=True, slots=True)
class Given:
    """The policy of the project, for one run."""

    policy: Policy
    """The effective one: the workflow's overrides have won, and defaults fill the rest."""
    place: Place | None = None
    """Where the document lies; None: the project has said nothing, and all of `policy` are defaults."""

    def says(self, name: str) -> bool:
        """Whether the project has set `name` itself, a member of the policy document."""
        return self.policy.origins.get(name, "default") != "default"


@dataclass(frozen=True, slots=True)
class Case:
    """One run as the points look at it."""

    run: Run
    given: Given
    faults: Mapping[str, tuple[Fault, ...]]
    """By code: of its texts, of the fold and of the rules."""
    skipped: Mapping[str, str]
    """Rules that had something to look at and could not be checked, with the reason."""
    missing: frozenset[str]
    """Of ``rules.needs.WHY``: what the run does not have."""

    @property
    def policy(self) -> Policy:
        """The effective policy."""
        return self.given.policy

    @property
    def place(self) -> Place | None:
        """Where the run begins: for what is wrong with it as a whole."""
        records = (*self.run.records, *self.run.recovery)
        return records[0].place if records else self.hole

    @property
    def hole(self) -> Place | None:
        """The first text of the run that could not be read, or the first record behind a gap; else None."""
        unread = next((fault.place for text in self.run.unread for fault in text.faults if fault.place), None)
        return unread or next((fault.place for fault in self.faults.get("SP301", ())), None)

    @property
    def ordered(self) -> bool:
        """Whether the records are numbered, so that before and after are known."""
        return "order" not in self.missing

    @property
    def fenced(self) -> bool:
        """Whether leases say who worked on the run."""
        return "leases" not in self.missing

    @property
    def whole(self) -> bool:
        """Whether what is not in the journal was never written."""
        return self.ordered and "whole" not in self.missing and not self._unsound

    @property
    def log_whole(self) -> bool:
        """Whether what is not in the recovery log was never written."""
        return "recovery" not in self.missing

    @property
    def why_not_whole(self) -> str:
        """Why absence proves nothing here."""
        if "whole" in self.missing:
            return "something of the run is missing or cannot be read"
        if self._unsound:
            return f"the journal itself is not sound ({self._unsound[0].code})"
        return "records without a number prove no absence"

    @property
    def cure(self) -> str:
        """What would make absence provable."""
        return _REPAIR if "whole" in self.missing or self._unsound or not self.log_whole else _NUMBER

    @property
    def _unsound(self) -> tuple[Fault, ...]:
        return tuple(fault for code in sorted(_UNSOUND) for fault in self.faults.get(code, ()))


def case_of(run: Run, texts: Iterable[Fault], given: Given) -> Case:
    """`run` with everything that is wrong with it.

    Args:
        run: folded.
        texts: what the reader found wrong with its texts and names.
        given: the policy.
    """
    faults: defaultdict[str, list[Fault]] = defaultdict(list)
    for fault in (*texts, *rules.check(run)):
        faults[fault.code].append(fault)
    skipped = {rule.code: rule.reason for rule in rules.skipped(run, artifacts=None)}
    found = {code: tuple(those) for code, those in faults.items()}
    return Case(run, given, found, skipped, lacking(run))
