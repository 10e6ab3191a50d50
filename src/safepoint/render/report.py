"""What every output format of ``safepoint validate`` is handed, and how much of what was found it shows.

A report is a function ``report(checked, context) -> Iterator[str]``: it takes what was checked as it comes, and gives
the pieces of the output as they can be said. Whoever writes them writes each at once, as UTF-8, and needs no memory
for what was written. ``reports`` lists the formats by name.

Decided here: what a format may know, and which findings are hidden where there are too many.
Not decided here: what is a finding, which are suppressed, and the exit status.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from safepoint.core.finding import Checked, Finding, Severity
from safepoint.render.terminal import Screen, count

RANKS: Mapping[Severity, int] = {"error": 2, "warning": 1, "info": 0}
"""Which severity is the graver one."""


class CodeFacts(Protocol):
    """What is known of a code; ``rules.catalogue.Code`` is one."""

    @property
    def id(self) -> str:
        """``SP`` and three digits."""

    @property
    def name(self) -> str:
        """The same in words."""

    @property
    def severity(self) -> Severity:
        """How grave it is."""

    @property
    def section(self) -> str:
        """Anchor in SPEC.md."""

    @property
    def summary(self) -> str:
        """What it means, in one line."""

    @property
    def text(self) -> str:
        """The whole explanation: the summary, why, and how to fix it."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a report knows besides the findings."""

    describe: Callable[[str], CodeFacts]
    """What is known of a code: ``rules.catalogue.code``."""
    summary: Callable[[], Mapping[str, Any]]
    """``Validation.summary``; asked once everything was checked."""
    screen: Screen = field(default_factory=Screen)
    """What the text is for; the other formats do not look at it."""
    seconds: Callable[[], float] | None = None
    """Time since the start, asked as it goes on; None: not told. Only text, github and JUnit tell it: equal input gives
    equal JSON and SARIF."""
    evaluated: Callable[[], bool] = lambda: True
    """Whether everything could be looked at; asked at the end."""
    status: Callable[[], int] = lambda: 0
    """The exit status that will follow; asked at the end."""
    command: str = "validate"
    """Which command reports: SARIF and JUnit name themselves after it, so that two of them are kept apart."""
    fail_on: Severity | None = "error"
    """The mildest severity that makes a check fail; None: none does."""
    here: str = ""
    """Absolute path of the folder that relative paths of the findings start from: the working directory."""
    base: str = ""
    """Absolute path of the folder that paths in SARIF and annotations start from."""
    settings: str = ""
    """The settings file that was gone by; empty: none."""
    version: str = ""
    """The tool's version."""
    most: int = 0
    """So many findings are shown in all; 0: no limit."""
    most_of_a_code: int = 0
    """So many findings of one code are shown; 0: no limit."""
    quiet: bool = False
    """Findings only: text and github leave out their last lines."""

    def name(self, code: str) -> str:
        """The code's name in words."""
        return self.describe(code).name

    def fails(self, finding: Finding) -> bool:
        """Whether it makes its check fail."""
        return self.fail_on is not None and RANKS[finding.severity] >= RANKS[self.fail_on]


Report = Callable[[Iterable[Checked], Context], Iterator[str]]
"""What was checked, as it comes, to the pieces of the output."""


class Limit:
    """Which findings are shown: all, up to a number, and up to a number of each code; the rest is only counted."""

    def __init__(self, context: Context) -> None:
        self.hidden = 0
        """Findings that were not shown so far."""
        self._context = context
        self._shown = 0
        self._of_a_code: Counter[str] = Counter()

    def __call__(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Those of the `findings` that are shown."""
        for finding in findings:
            if self._admits(finding.code):
                self._shown += 1
                self._of_a_code[finding.code] += 1
                yield finding
            else:
                self.hidden += 1

    def _admits(self, code: str) -> bool:
        most, of_a_code = self._context.most, self._context.most_of_a_code
        return (not most or self._shown < most) and (not of_a_code or self._of_a_code[code] < of_a_code)

    def summary(self) -> dict[str, Any]:
        """The context's summary, with ``hidden``, the findings that were counted but not shown, and ``settings``."""
        settings = self._context.settings or None
        return {**self._context.summary(), "hidden": self.hidden, "settings": settings}


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Rules that were not checked for one reason."""

    reason: str
    codes: tuple[str, ...]
    runs: str
    """In how many runs, in words."""


def unchecked(skipped: Iterable[Mapping[str, Any]]) -> list[Unchecked]:
    """The rules in `skipped` of a summary by reason, those of the most runs first."""
    rules: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in skipped:
        rules[each["reason"]][each["code"]] += each["runs"]
    ranked = sorted(rules.items(), key=lambda rule: (-max(rule[1].values()), rule[0]))
    return [Unchecked(reason, tuple(sorted(codes)), _runs(codes)) for reason, codes in ranked]


def _runs(codes: Counter[str]) -> str:
    most = max(codes.values())
    return f"{'' if most == min(codes.values()) else 'up to '}{count(most, 'run')}"
