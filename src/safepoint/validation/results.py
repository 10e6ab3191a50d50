"""What one scan comes to: its findings, what it adds to the totals, and which rules were skipped.

Decided here: the order of findings, and what is counted. Not decided here: what is wrong (``reader``, ``rules``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Checked, Finding, Skipped
from safepoint.model.run import Run
from safepoint.reader import Scan, Scrutiny
from safepoint.reader.artifacts import NOWHERE, verify_artifacts
from safepoint.rules import Excerpts
from safepoint.store import Store
from safepoint.store.elsewhere import Elsewhere

if TYPE_CHECKING:
    from safepoint.payloads import PayloadSchemas
    from safepoint.reader.anchors import Anchors
    from safepoint.schemas import Engine
    from safepoint.selection import Selection


@dataclass(frozen=True, slots=True)
class Options:
    """What is looked at, and how closely."""

    run: str | None = None
    """Only this run of each store."""
    artifacts: bool = False
    """Whether the bytes of artifacts are read and compared with their digests."""
    elsewhere: Elsewhere = NOWHERE
    """Where artifacts may be looked at besides the store."""
    selection: Selection | None = None
    payload_schemas: PayloadSchemas | None = None
    excerpts: Excerpts = "none"
    engine: Engine = "auto"
    jobs: int = 1
    """Processes that share the runs of a store on a local disk."""
    storage_options: Mapping[str, Any] = field(default_factory=dict)
    anchor: str | os.PathLike[str] | None = None
    """Where anchors of the store lie, which it is compared with; None: it is not."""
    anchor_storage_options: Mapping[str, Any] = field(default_factory=dict)
    anchored: Anchors | None = None
    """What they say, once they were read."""

    @property
    def scrutiny(self) -> Scrutiny:
        """The same for the reader."""
        more = self.payload_schemas.check if self.payload_schemas else None
        glance = not self.artifacts and more is None and self.engine == "auto"
        return Scrutiny(engine=self.engine, more=more, glance=glance)


class Count(NamedTuple):
    """What one scan adds to the totals."""

    objects: int
    """Files and objects that hold one text each."""
    lines: frozenset[str]
    """JSON Lines files; several runs may lie in one, so they are told apart by name."""
    records: int
    documents: int
    faulty: int
    runs: int
    artifacts: int = 0
    """That were read, and are what their references say."""

    def plus(self, other: Count) -> Count:
        """Both together."""
        lines = self.lines | other.lines
        numbers = (a + b for a, b in zip(self[2:], other[2:], strict=True))
        return Count(self.objects + other.objects, lines, *numbers)


NOTHING = Count(0, frozenset(), 0, 0, 0, 0)

_NO_RECORD = frozenset({"SP004", "SP111", "SP116"})
"""Codes of texts that are nobody's record, whether or not that is an error."""

Result = tuple[Checked, Count]


def refused(fault: Fault, name: str) -> Checked:
    """What is said of something that could not be looked at."""
    return Checked("input", name, name, 0, (rules.to_finding(fault, None),))


def sound(found: Scan) -> Iterator[Place]:
    """Where the texts lie that are records or documents."""
    other = {fault.place for fault in found.faults if fault.code in _NO_RECORD or _grave(fault)}
    return (place for place in found.texts if place not in other)


def result(found: Scan, store: Store | None, options: Options, more: Iterable[Fault] = ()) -> Result:
    """The findings of one scan, `more` that is known to be wrong with it, and what it adds to the totals."""
    skipped: tuple[Skipped, ...] = ()
    verified = 0
    faults = [*found.faults, *more]
    if options.anchored is not None and store is not None:
        from safepoint.reader.comparing import compare

        faults += compare(options.anchored, found, store)
    if found.run is not None:
        faults += rules.check(found.run)
        if options.artifacts and store is not None:
            verified = _verify(store, found.run, options, faults)
        looked = store is not None if options.artifacts else None
        skipped = tuple(rules.skipped(found.run, artifacts=looked, schemes=options.elsewhere.schemes))
    findings = tuple(findings_of(found, faults, options.excerpts)) if faults else ()
    url = store.url if store is not None else ""
    name = found.run_id or url
    checked = Checked("run" if found.run_id else "file", name, url, found.records, findings, skipped)
    return checked, _count(found)._replace(artifacts=verified)


def _verify(store: Store, run: Run, options: Options, faults: list[Fault]) -> int:
    """How many artifacts are what their references say; what is wrong with the others is appended to `faults`."""
    verified = 0

    def verifying() -> Iterator[Fault]:
        nonlocal verified
        verified = yield from verify_artifacts(store, run, options.elsewhere)

    faults += verifying()
    return verified


def _count(found: Scan) -> Count:
    lines = frozenset(place.url for place in found.texts if place.key.endswith(".jsonl"))
    return Count(
        objects=found.files + sum(not place.key.endswith(".jsonl") for place in found.texts),
        lines=lines,
        records=found.records,
        documents=found.documents,
        faulty=len({f.place for f in found.faults if f.place in found.texts and _grave(f)}),
        runs=int(found.run_id is not None and found.records > 0),
    )


def _grave(fault: Fault) -> bool:
    return rules.severity(fault.code) == "error"


def findings_of(
    found: Scan, faults: Iterable[Fault] | None = None, excerpts: Excerpts = "none"
) -> list[Finding]:
    """Everything that is wrong with one run or loose text, in the order of files, lines, columns and codes.

    Args:
        found: what was read.
        faults: what is wrong with it, where the caller knows; None: what its texts and the rules say.
        excerpts: what is shown of the accused lines.
    """
    if faults is None:
        faults = [*found.faults, *(rules.check(found.run) if found.run else ())]
    together: dict[Place | None, list[Fault]] = {}
    for fault in faults:
        together.setdefault(fault.place, []).append(fault)
    findings = {
        finding: None
        for place, those in together.items()
        for finding in rules.to_findings(those, found.texts.get(place) if place else None, excerpts)
    }
    return sorted(findings, key=by_file)


def by_file(finding: Finding) -> tuple[str, int, int, str, str, str]:
    """Sorts findings by file, line, column and code."""
    f = finding
    return (f.url, f.line, f.column, f.code, f.pointer, f.message)
