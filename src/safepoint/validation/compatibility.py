"""Does a new payload schema still take what is stored? The two schemas are compared, and stored payloads are tried.

Decided here: which stored payloads are tried, that what could not be read is never passed over, and what both answers
together come to. Not decided here: how schemas are compared (``payloads.compatibility``).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.core.finding import Checked, Finding
from safepoint.model.record import Record
from safepoint.payloads import SNAPSHOTS, PayloadSchemas
from safepoint.payloads.compatibility import Difference, compare_schemas
from safepoint.reader import Scan, scan, scan_files
from safepoint.store import StoreError
from safepoint.store.inputs import Input, expand
from safepoint.validation.results import by_file, findings_of, refused

if TYPE_CHECKING:
    from safepoint.model.run import Run

NOT_EVALUATED = frozenset({"SP001", "SP002"})

Verdict = Literal["compatible", "incompatible", "cannotTell"]

_NAMED = 5
"""Names of payload schemas that are listed where none of them was the wanted one."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Which stored payloads are tried."""

    stores: tuple[str, ...] = ()
    payloads: Mapping[str, Collection[str]] | None = None
    """Name and version of a payload schema to the snapshots that are tried; None: no stored payload is."""
    only: bool = False
    """Whether the stored payloads alone decide: then what the rules find is worth knowing, and no more."""
    storage_options: Mapping[str, Any] | None = None


def compat(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *stores: str | os.PathLike[str],
    payloads: Collection[str] | Mapping[str, Collection[str]] | None = None,
    stored_only: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> Compatibility:
    """Whether a new payload schema still accepts what an old one accepts, and what is stored. Reads only.

    Args:
        old: path of the JSON Schema by which payloads were written.
        new: path of the one by which they will be read.
        stores: paths, globs or fsspec URLs; what is stored there is tried against `new`.
        payloads: which stored payloads: the names and versions that their ``payloadSchema`` gives, as
            ``support-agent/state@4``; of a mapping only these snapshots of each.
        stored_only: what is stored alone decides; what the rules find is info.
        storage_options: handed to fsspec.

    Returns:
        An iterator of findings that also counts, and knows the verdict when it is exhausted: see `Compatibility`.

    Raises:
        PayloadSchemaError: one of the schemas cannot be used.
        TypeError: `payloads` is one text.
        ValueError: there are stores and no `payloads`, or these without stores.
    """
    if isinstance(payloads, str):
        raise TypeError(f"payloads: got a str, expected names, as [{payloads!r}]")
    if bool(stores) != bool(payloads) or (stored_only and not stores):
        raise ValueError(
            "stores and payloads belong together: the one says where to look, the other for what"
        )
    chosen = (
        payloads if payloads is None or isinstance(payloads, Mapping) else dict.fromkeys(payloads, SNAPSHOTS)
    )
    trial = Trial(tuple(os.fspath(store) for store in stores), chosen, stored_only, storage_options)
    return Compatibility(os.fspath(old), os.fspath(new), trial)


class Compatibility(Iterator[Finding]):
    """One comparison: iterate it for the findings; counts and verdict are whole when it is exhausted.

    The schemas are compared at once; stored payloads are read as it is iterated, one run in memory at a time.
    """

    def __init__(self, old: str, new: str, trial: Trial) -> None:
        self.old, self.new = old, new
        self.tried = self.accepted = self.refused = 0
        """Stored payloads."""
        self.runs = self.checkpoints = 0
        """That were looked at."""
        self.unread = 0
        """Texts that could not be read: what they hold was not tried."""
        self.codes: Counter[str] = Counter()
        self.severities: Counter[str] = Counter()
        self._trial = trial
        self._schemas = PayloadSchemas.load({Path(new).name: new})
        self._others: Counter[str] = Counter()
        """Names of payload schemas that were met and not asked for."""
        compared = compare_schemas(old, new).differences
        self.differences = [(self._finding(each), each) for each in compared]
        self.differences.sort(key=lambda pair: by_file(pair[0]))
        """What the rules found, each as a finding and in detail."""
        self._checked = self._check()
        self._findings = (finding for checked in self._checked for finding in checked.findings)

    def __next__(self) -> Finding:
        return next(self._findings)

    def checked(self) -> Iterator[Checked]:
        """The same pass: first the schemas, then run by run; what was read so is not read again as findings."""
        return self._checked

    @property
    def evaluated(self) -> bool:
        """Whether everything that was named could be read."""
        return not self.unread and not NOT_EVALUATED & self.codes.keys()

    @property
    def verdict(self) -> Verdict:
        """``compatible`` only where that is proven; with `Trial.only`, where every tried payload was accepted."""
        if self.severities["error"] and (self.refused or not self._trial.only):
            return "incompatible"
        return "compatible" if self.evaluated and not self.severities["warning"] else "cannotTell"

    def summary(self) -> dict[str, Any]:
        """The counts as plain values."""
        stored = {name: getattr(self, name) for name in ("tried", "accepted", "refused", "unread")}
        return {
            "verdict": self.verdict,
            "old": self.old,
            "new": self.new,
            "storedOnly": self._trial.only,
            "stored": {**stored, "checkpoints": self.checkpoints, "runs": self.runs}
            if self._trial.payloads is not None
            else None,
            "findings": {severity: self.severities[severity] for severity in ("error", "warning", "info")},
            "codes": dict(sorted(self.codes.items())),
        }

    def _finding(self, difference: Difference) -> Finding:
        path = difference.new.path
        place = Place(path, Path(path).name)
        fault = Fault(difference.code, difference.message, difference.new.pointer, place=place)
        finding = rules.to_finding(fault, Path(path).read_bytes())
        return replace(finding, severity="info") if self._trial.only else finding

    def _check(self) -> Iterator[Checked]:
        found = tuple(finding for finding, _ in self.differences)
        yield self._count(Checked("file", self.new, self.new, 0, found))
        if self._trial.payloads is None:
            return
        for checked in self._stores():
            yield self._count(checked)
        if not self.tried:
            yield self._count(refused(Fault("SP634", self._nothing()), ""))

    def _count(self, checked: Checked) -> Checked:
        for finding in checked.findings:
            self.codes[finding.code] += 1
            self.severities[finding.severity] += 1
        return checked

    def _nothing(self) -> str:
        wanted = " or ".join(self._trial.payloads or ())
        visible = f"{self.checkpoints:,} visible checkpoint{'' if self.checkpoints == 1 else 's'}"
        looked = (
            f"of {visible} in {self.runs:,} run{'' if self.runs == 1 else 's'} none has a payload of {wanted}"
        )
        if not self._others:
            return f"nothing was tried: {looked}"
        named = ", ".join(name for name, _ in self._others.most_common(_NAMED))
        more = len(self._others) - _NAMED
        return f"nothing was tried: {looked}; they name {named}{f' and {more} more' if more > 0 else ''}"

    def _stores(self) -> Iterator[Checked]:
        files: list[Input] = []
        for source in expand(self._trial.stores, **(self._trial.storage_options or {})):
            if isinstance(source, Fault):
                yield refused(source, source.place.url if source.place else "")
            elif source.keys is not None:
                files.append(source)
            else:
                try:
                    yield from self._scans(scan(source), source.store.url)
                except StoreError as error:
                    yield refused(Fault("SP002", str(error), place=Place(error.url)), source.store.url)
        if files:
            yield from self._scans(scan_files(files), files[0].store.url)

    def _scans(self, scans: Iterable[Scan], url: str) -> Iterator[Checked]:
        for found in scans:
            faults = [fault for fault in found.faults if rules.severity(fault.code) == "error"]
            self.unread += len({fault.place for fault in faults})
            if found.run is not None:
                self.runs += 1
                faults += self._run(found.run)
            if found.run is not None or faults:
                kind: Literal["run", "file"] = "run" if found.run_id else "file"
                findings = tuple(findings_of(found, faults)) if faults else ()
                yield Checked(kind, found.run_id or url, url, found.records, findings)

    def _run(self, run: Run) -> Iterator[Fault]:
        hidden = {record.value["checkpointId"] for record in run.retracted}
        for record in run.records:
            if record.kind != "checkpoint" or record.value["checkpointId"] in hidden:
                continue  # nobody goes on from what was retracted
            self.checkpoints += 1
            yield from self._payloads(record, run.run_id)

    def _payloads(self, record: Record, run_id: str) -> Iterator[Fault]:
        name = record.value.get("payloadSchema")
        members = (self._trial.payloads or {}).get(name, ()) if isinstance(name, str) else ()
        if not members:
            self._others.update([name] if isinstance(name, str) else [])
            return
        label = Path(self.new).name
        for member in (member for member in SNAPSHOTS if member in members and member in record.value):
            self.tried += 1
            alone = {"payloadSchema": label, member: record.value[member]}
            wrong = list(self._schemas.check(alone))
            if not wrong:
                self.accepted += 1
                continue
            self.refused += 1
            first, more = wrong[0], len(wrong) - 1
            rest = f", and {more} more fault{'s' if more > 1 else ''}" if more else ""
            message = f"run {run_id}: {first.message}{rest}"
            yield Fault("SP633", message, first.pointer, place=record.place)
