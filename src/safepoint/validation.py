"""A validation: one pass over everything that was named, run by run and file by file.

Decided here: in which order findings come, what is counted, which runs are checked side by side, and that nothing is
kept of a run once its findings are out. Not decided here: what is wrong (``reader``, ``rules``), and which findings
the caller does not want to see (``selection``).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Checked, Finding, Skipped
from safepoint.reader import (
    Scan,
    Scrutiny,
    load_run,
    scan,
    scan_bytes,
    scan_files,
    scan_folder,
    scan_loose,
)
from safepoint.rules import Excerpts
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.inputs import Input, expand
from safepoint.store.layout import run_ids
from safepoint.store.local import LocalStore

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from safepoint.payloads import PayloadSchemas
    from safepoint.schemas import Engine
    from safepoint.selection import Selection

Source = str | os.PathLike[str] | bytes | BinaryIO
"""A path, pattern or URL; the bytes of one JSON text or of JSON Lines; or an open binary stream of them."""

NOT_EVALUATED = frozenset({"SP001", "SP002"})
"""Codes that say that something could not be looked at: such a validation has no result."""

_RUNS_AT_A_TIME = 16
"""Folders of runs that a process is given at once: enough that handing them over costs nothing."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is looked at, and how closely."""

    run: str | None = None
    """Only this run of each store."""
    artifacts: bool = False
    """Whether the bytes of artifacts are read and compared with their digests."""
    selection: Selection | None = None
    payload_schemas: PayloadSchemas | None = None
    excerpts: Excerpts = "none"
    engine: Engine = "auto"
    jobs: int = 1
    """Processes that share the runs of a store on a local disk."""
    storage_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scrutiny(self) -> Scrutiny:
        """The same for the reader."""
        more = self.payload_schemas.check if self.payload_schemas else None
        glance = not self.artifacts and more is None and self.engine == "auto"
        return Scrutiny(engine=self.engine, more=more, glance=glance)


class _Count(NamedTuple):
    """What one scan adds to the totals."""

    objects: int
    """Files and objects that hold one text each."""
    lines: frozenset[str]
    """JSON Lines files; several runs may lie in one, so they are told apart by name."""
    records: int
    documents: int
    faulty: int
    runs: int

    def plus(self, other: _Count) -> _Count:
        """Both together."""
        lines = self.lines | other.lines
        numbers = (a + b for a, b in zip(self[2:], other[2:], strict=True))
        return _Count(self.objects + other.objects, lines, *numbers)


class Validation(Iterator[Finding]):
    """One pass over inputs: iterate it for the findings; the counts are whole when it is exhausted.

    Findings come as the runs of a store are read; within a run they are sorted by file, line, column and code, and so
    are those of all loose files of one input together.
    """

    def __init__(self, inputs: Iterable[Source], options: Options) -> None:
        self.files = 0
        """Files and objects that were opened, or could not be."""
        self.records = 0
        """Readable records."""
        self.documents = 0
        """Readable documents: policy, facts and the like."""
        self.faulty = 0
        """JSON texts that are no sound record or document."""
        self.runs = 0
        self.codes: Counter[str] = Counter()
        """Findings so far by code."""
        self.severities: Counter[str] = Counter()
        """Findings so far by severity."""
        self.suppressed: Counter[str] = Counter()
        """Findings that the selection left out, by its reason; they are in no other count."""
        self.skipped: Counter[Skipped] = Counter()
        """Rules that could not be checked, and in how many runs."""
        self._options = options
        self._lines_files: set[str] = set()
        self._checked = self._check(inputs)
        self._findings = (finding for checked in self._checked for finding in checked.findings)

    def __next__(self) -> Finding:
        return next(self._findings)

    def checked(self) -> Iterator[Checked]:
        """The same pass, run by run and file by file; what was read so is not read again as findings."""
        return self._checked

    @property
    def evaluated(self) -> bool:
        """Whether everything that was named could be looked at, and there was something to look at."""
        return not NOT_EVALUATED & self.codes.keys()

    def summary(self) -> dict[str, Any]:
        """The counts as plain values."""
        skipped = sorted(self.skipped.items(), key=lambda item: (item[0].code, item[0].reason))
        return {
            "files": self.files,
            "runs": self.runs,
            "records": self.records,
            "documents": self.documents,
            "faulty": self.faulty,
            "findings": {severity: self.severities[severity] for severity in ("error", "warning", "info")},
            "codes": dict(sorted(self.codes.items())),
            "suppressed": dict(sorted(self.suppressed.items())),
            "skipped": [{"code": rule.code, "reason": rule.reason, "runs": runs} for rule, runs in skipped],
        }

    def _check(self, inputs: Iterable[Source]) -> Iterator[Checked]:
        errors = 0
        with _workers(self._options.jobs) as pool:
            for checked, count in _everything(inputs, self._options, pool):
                counted = self._count(checked, count)
                errors += any(finding.severity == "error" for finding in checked.findings)
                yield counted
        if not self.records and not self.documents and not errors:
            # Zero records is never a pass: a wrong path in a CI job would stay green for years.
            nothing = Fault("SP001", "nothing to check: no Safepoint record was found")
            yield self._count(_refused(nothing, ""), _NOTHING)

    def _count(self, checked: Checked, count: _Count) -> Checked:
        self.files += count.objects + len(count.lines - self._lines_files)
        self._lines_files |= count.lines
        self.records += count.records
        self.documents += count.documents
        self.faulty += count.faulty
        self.runs += count.runs
        self.skipped.update(checked.skipped)
        findings = checked.findings
        if self._options.selection is not None and findings:
            findings = tuple(finding for finding in findings if self._admit(finding, self._options.selection))
            checked = replace(checked, findings=findings)
        for finding in findings:
            self.codes[finding.code] += 1
            self.severities[finding.severity] += 1
        return checked

    def _admit(self, finding: Finding, selection: Selection) -> bool:
        reason = None if finding.code in NOT_EVALUATED else selection.admit(finding)
        if reason is not None:
            self.suppressed[reason] += 1
        return reason is None


_NOTHING = _Count(0, frozenset(), 0, 0, 0, 0)

_NO_RECORD = frozenset({"SP004", "SP111", "SP116"})
"""Codes of texts that are nobody's record, whether or not that is an error."""

_Result = tuple[Checked, _Count]


def _everything(
    inputs: Iterable[Source], options: Options, pool: ProcessPoolExecutor | None
) -> Iterator[_Result]:
    files: list[Input] = []
    for given in inputs:
        if not isinstance(given, str | os.PathLike):
            yield from _loose(scan_bytes(given, "-", options.scrutiny), "-", options)
            continue
        for source in expand([os.fspath(given)], **options.storage_options):
            if isinstance(source, Fault):
                yield _refused(source, source.place.url if source.place else ""), _NOTHING
            elif source.keys is not None:
                files.append(source)
            elif options.run is not None:
                yield _one_run(source.store, options.run, options)
            else:
                yield from _store(source, options, pool)
    if files:
        yield from _loose(scan_files(files, options.scrutiny), files[0].store.url, options)


def _refused(fault: Fault, name: str) -> Checked:
    return Checked("input", name, name, 0, (rules.to_finding(fault, None),))


def _one_run(store: Store, run_id: str, options: Options) -> _Result:
    from difflib import get_close_matches

    try:
        return _result(load_run(store, run_id, options.scrutiny), store, options)
    except AbsentError:
        near = get_close_matches(run_id, run_ids(store), n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        fault = Fault("SP001", f"the store holds no record of run {run_id!r}{hint}", place=Place(store.url))
    except StoreError as error:
        fault = Fault("SP002", str(error), place=Place(store.url))
    return _refused(fault, store.url), _NOTHING


def _store(source: Input, options: Options, pool: ProcessPoolExecutor | None) -> Iterator[_Result]:
    """A store's runs as they come, and then what lies loose in it."""
    store = source.store
    loose: list[Scan] = []
    failure: Fault | None = None
    try:
        if pool is not None and isinstance(store, LocalStore):
            yield from _side_by_side(store, options, pool)
            found = scan_loose(store, store.files(), options.scrutiny)
        else:
            found = scan(source, options.scrutiny)
        for one in found:
            if one.in_store:
                yield _result(one, store, options)
            else:
                loose.append(one)
    except StoreError as error:
        failure = Fault("SP002", str(error), place=Place(error.url))
    yield from _loose(loose, store.url, options)
    if failure:
        yield _refused(failure, store.url), _NOTHING


def _loose(found: Iterable[Scan], url: str, options: Options) -> Iterator[_Result]:
    """Loose texts, file by file; a run's records may lie in any of them, so all are read before anything is out."""
    findings: defaultdict[str, list[Finding]] = defaultdict(list)
    records: Counter[str] = Counter()
    skipped: defaultdict[str, list[Skipped]] = defaultdict(list)
    total = _NOTHING
    for one in found:
        if options.run is not None and one.run_id != options.run:
            continue
        checked, count = _result(one, None, options)
        total = total.plus(count)
        for place in one.texts:
            findings[place.url] += ()
        for finding in checked.findings:
            findings[finding.url].append(finding)
        skipped[next((place.url for place in one.texts), url)] += checked.skipped
        records.update(place.url for place in _sound(one))
    for name in sorted(findings):
        those = tuple(sorted(findings[name], key=_by_file))
        # the totals are not told apart by file: they come with the first of them
        yield Checked("file", name, name, records[name], those, tuple(skipped[name])), total
        total = _NOTHING


def _sound(found: Scan) -> Iterator[Place]:
    """Where the texts lie that are records or documents."""
    other = {fault.place for fault in found.faults if fault.code in _NO_RECORD or _grave(fault)}
    return (place for place in found.texts if place not in other)


def _result(found: Scan, store: Store | None, options: Options) -> _Result:
    """The findings of one scan, and what it adds to the totals."""
    skipped: tuple[Skipped, ...] = ()
    faults = list(found.faults)
    if found.run is not None:
        faults += rules.check(found.run)
        if options.artifacts and store is not None:
            from safepoint.reader.artifacts import verify_artifacts

            faults += verify_artifacts(store, found.run)
        skipped = tuple(rules.skipped(found.run, artifacts=options.artifacts and store is not None))
    findings = tuple(findings_of(found, faults, options.excerpts)) if faults else ()
    url = store.url if store is not None else ""
    name = found.run_id or url
    checked = Checked("run" if found.run_id else "file", name, url, found.records, findings, skipped)
    return checked, _count(found)


def _count(found: Scan) -> _Count:
    lines = frozenset(place.url for place in found.texts if place.key.endswith(".jsonl"))
    return _Count(
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
    return sorted(findings, key=_by_file)


def _by_file(finding: Finding) -> tuple[str, int, int, str, str, str]:
    f = finding
    return (f.url, f.line, f.column, f.code, f.pointer, f.message)


# Several processes


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    """Processes that were forked from this one, so that they begin with its compiled schemas; None for one job.

    Threads would be slower than none: orjson and the schema engine hold the interpreter's lock.
    """
    if jobs < 2 or not hasattr(os, "fork"):
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _side_by_side(store: LocalStore, options: Options, pool: ProcessPoolExecutor) -> Iterator[_Result]:
    """The runs of a store, in the order of their folders, some of them checked by each process."""
    segments = iter(store.folders("runs"))
    waiting: deque[Future[list[_Result]]] = deque()
    share = replace(options, selection=None)
    while True:
        while len(waiting) < 4 * options.jobs and (some := list(islice(segments, _RUNS_AT_A_TIME))):
            waiting.append(pool.submit(_check_folders, store, some, share))
        if not waiting:
            return
        yield from waiting.popleft().result()


def _check_folders(store: LocalStore, segments: Sequence[str], options: Options) -> list[_Result]:
    return [_result(scan_folder(store, segment, options.scrutiny), store, options) for segment in segments]
