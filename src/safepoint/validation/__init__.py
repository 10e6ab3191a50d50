"""A validation: one pass over everything that was named, run by run and file by file.

Decided here: in which order runs and files come, and that nothing is kept of a run once its findings are out. Not
decided here: what is wrong (``reader``, ``rules``), and which findings the caller does not want to see (``selection``).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Checked, Finding, Skipped
from safepoint.reader import Scan, load_run, scan, scan_bytes, scan_files, scan_loose
from safepoint.store import Store, StoreError
from safepoint.store.inputs import Input, expand
from safepoint.store.layout import run_ids, run_prefix
from safepoint.store.local import LocalStore
from safepoint.validation.results import (
    NOTHING,
    Count,
    Options,
    Result,
    by_file,
    findings_of,
    refused,
    result,
    sound,
)
from safepoint.validation.sharing import checkers, side_by_side

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from safepoint.reader.anchors import Anchors
    from safepoint.selection import Selection

__all__ = ["NOT_EVALUATED", "Options", "Source", "Validation", "findings_of"]

Source = str | os.PathLike[str] | bytes | BinaryIO
"""A path, pattern or URL; the bytes of one JSON text or of JSON Lines; or an open binary stream of them."""

NOT_EVALUATED = frozenset({"SP001", "SP002"})
"""Codes that say that something could not be looked at: such a validation has no result."""


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
        self.artifacts = 0
        """That were read, and are what their references say."""
        self.codes: Counter[str] = Counter()
        """Findings so far by code."""
        self.severities: Counter[str] = Counter()
        """Findings so far by severity."""
        self.suppressed: Counter[str] = Counter()
        """Findings that the selection left out, by its reason; they are in no other count."""
        self.skipped: Counter[Skipped] = Counter()
        """Rules that could not be checked, and in how many runs."""
        self.anchors: Anchors | None = None
        """What the anchors say that the store was compared with; None where there are none."""
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
            **({"artifacts": self.artifacts} if self._options.artifacts else {}),
            "findings": {severity: self.severities[severity] for severity in ("error", "warning", "info")},
            "codes": dict(sorted(self.codes.items())),
            "suppressed": dict(sorted(self.suppressed.items())),
            "skipped": [{"code": rule.code, "reason": rule.reason, "runs": runs} for rule, runs in skipped],
        }

    def _check(self, inputs: Iterable[Source]) -> Iterator[Checked]:
        options = self._options
        if options.anchor is not None:
            from safepoint.validation.anchoring import with_anchors

            options, wrong = with_anchors(options)
            self.anchors = options.anchored
            for checked in wrong:
                yield self._count(checked, NOTHING)
        with checkers(options) as pool:
            for checked, count in _everything(inputs, options, pool):
                yield self._count(checked, count)
        looked_at = self.records or self.documents or self.severities["error"] or self.suppressed["baseline"]
        if not looked_at:
            # Zero records is never a pass: a wrong path in a CI job would stay green for years.
            nothing = Fault("SP001", "no Safepoint record was found")
            yield self._count(refused(nothing, ""), NOTHING)

    def _count(self, checked: Checked, count: Count) -> Checked:
        self.files += count.objects + len(count.lines - self._lines_files)
        self._lines_files |= count.lines
        self.records += count.records
        self.documents += count.documents
        self.faulty += count.faulty
        self.runs += count.runs
        self.artifacts += count.artifacts
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


def _everything(
    inputs: Iterable[Source], options: Options, pool: ProcessPoolExecutor | None
) -> Iterator[Result]:
    files: list[Input] = []
    without: list[Checked] = []
    """Stores that do not hold the one run that is wanted."""
    found = False
    whole = 0
    """Stores that were checked."""
    for given in inputs:
        if not isinstance(given, str | os.PathLike):
            if options.anchored is not None:
                yield _not_one_store("-"), NOTHING
                continue
            try:
                yield from _loose(scan_bytes(given, "-", options.scrutiny), "-", options)
            except OSError as error:
                yield refused(Fault("SP002", str(error.strerror or error), place=Place("-")), "-"), NOTHING
            continue
        for source in expand([os.fspath(given)], **options.storage_options):
            whole += 1
            if isinstance(source, Fault):
                yield refused(source, source.place.url if source.place else ""), NOTHING
            elif options.anchored is not None and (source.keys is not None or whole > 1):
                yield _not_one_store(source.store.url), NOTHING
            elif source.keys is not None:
                files.append(source)
            elif options.run is not None:
                for checked, count in _one_of(source.store, options.run, options):
                    if any(finding.code == "SP001" for finding in checked.findings):
                        without.append(checked)
                    else:
                        found = found or count.runs > 0
                        yield checked, count
            else:
                yield from _store(source, options, pool)
    if files:
        yield from _loose(scan_files(files, options.scrutiny), files[0].store.url, options)
    if not found:
        yield from ((checked, NOTHING) for checked in without)


def _not_one_store(url: str) -> Checked:
    message = "anchors are of one whole store: name that store or folder, and nothing else"
    return refused(Fault("SP001", message, place=Place(url)), url)


def _one_of(store: Store, run_id: str, options: Options) -> Iterator[Result]:
    """One run, and what it depends on: what a changed description says of the store, it says of each run."""
    yield from _one_run(store, run_id, options)
    if options.anchored is not None:
        from safepoint.validation.anchoring import what_changed

        try:
            yield from what_changed(options.anchored, store)
        except StoreError as error:
            yield refused(Fault("SP002", str(error), place=Place(error.url)), store.url), NOTHING


def _one_run(store: Store, run_id: str, options: Options) -> Iterator[Result]:
    from difflib import get_close_matches

    try:
        if next(store.list(run_prefix(run_id)), None) is not None:
            yield result(load_run(store, run_id, options.scrutiny), store, options)
            return
        # it may lie in loose files, and so may texts that name no run
        found = [
            one for one in scan_loose(store, store.files(), options.scrutiny) if one.run_id in {None, run_id}
        ]
        yield from _loose(found, store, options)
        if any(one.run_id == run_id for one in found):
            return
        if options.anchored is not None:
            from safepoint.validation.anchoring import one_missing

            if (lost := one_missing(options.anchored, run_id, store)) is not None:
                yield lost, NOTHING
                return
        near = get_close_matches(run_id, run_ids(store), n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        fault = Fault("SP001", f"the store holds no record of run {run_id!r}{hint}", place=Place(store.url))
    except (StoreError, ValueError) as error:
        fault = Fault("SP002", str(error), place=Place(store.url))
    yield refused(fault, store.url), NOTHING


def _store(source: Input, options: Options, pool: ProcessPoolExecutor | None) -> Iterator[Result]:
    """A store's runs as they come, and then what lies loose in it."""
    store = source.store
    loose: list[Scan] = []
    stored: set[str] = set()
    """The runs that were met, where anchors may know of others."""
    failure: Fault | None = None
    try:
        if pool is not None and isinstance(store, LocalStore) and "runs" in store.folders():
            loose.extend(scan_loose(store, store.files(), options.scrutiny))
            for shared in side_by_side(store, options.jobs, pool):
                if options.anchored is not None and shared[0].kind == "run":
                    stored.add(shared[0].name)
                yield shared
            found: Iterable[Scan] = ()
        else:
            # also where the folder of runs is a link: that is not listed, and so it is not shared either
            found = scan(source, options.scrutiny)
        for one in found:
            if one.in_store:
                if options.anchored is not None and one.run_id is not None:
                    stored.add(one.run_id)
                yield result(one, store, options)
            else:
                loose.append(one)
    except StoreError as error:
        failure = Fault("SP002", str(error), place=Place(error.url))
    yield from _loose(loose, store, options, stored)
    if options.anchored is not None and failure is None:
        from safepoint.validation.anchoring import what_changed, what_is_missing

        seen = stored.union(one.run_id for one in loose if one.run_id is not None)
        try:
            yield from what_changed(options.anchored, store)
            yield from what_is_missing(options.anchored, seen, store)
        except StoreError as error:
            failure = Fault("SP002", str(error), place=Place(error.url))
    if failure:
        yield refused(failure, store.url), NOTHING


def _loose(
    found: Iterable[Scan], store: Store | str, options: Options, stored: Collection[str] = ()
) -> Iterator[Result]:
    """Loose texts, file by file; a run's records may lie in any of them, so all are read before anything is out.

    Args:
        found: what they hold.
        store: the folder that they lie in, or what else to call it.
        options: how closely they are looked at.
        stored: runs that have a folder of their own.
    """
    url, more = store if isinstance(store, str) else store.url, {}
    if options.anchored is not None and not isinstance(store, str):
        from safepoint.validation.anchoring import loose_contradictions

        found = list(found)
        more = dict(loose_contradictions(options.anchored, found, stored, store))
    findings: defaultdict[str, list[Finding]] = defaultdict(list)
    records: Counter[str] = Counter()
    skipped: defaultdict[str, list[Skipped]] = defaultdict(list)
    total = NOTHING
    for index, one in enumerate(found):
        if options.run is not None and one.run_id not in {None, options.run}:
            continue  # what names no run may be a record of the one that is wanted
        if options.run is not None and one.run_id is None:
            one = replace(one, faults=tuple(fault for fault in one.faults if fault.code != "SP004"))  # noqa: PLW2901 - what is nobody's record is of no interest here
        checked, count = result(one, None, options, more.get(index, ()))
        total = total.plus(count)
        for place in one.texts:
            findings[place.url] += ()
        for finding in checked.findings:
            findings[finding.url].append(finding)
        skipped[next((place.url for place in one.texts), url)] += checked.skipped
        records.update(place.url for place in sound(one))
    for name in sorted(findings):
        those = tuple(sorted(findings[name], key=by_file))
        # the totals are not told apart by file: they come with the first of them
        yield Checked("file", name, name, records[name], those, tuple(skipped[name])), total
        total = NOTHING
