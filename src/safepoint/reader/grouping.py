"""Readings to runs: which texts belong together, and what a run is folded from.

Decided here: that records of one run belong together whichever file holds them, and that equal run ids of two stores
are two runs. Not decided here: what a text is (``texts``) and what lies in a store (``scan``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from safepoint.core.fault import Fault, Place
from safepoint.core.timestamp import parse_time
from safepoint.model.journal import Unread
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.reader.texts import Known, Reading
from safepoint.store.layout import KeyName

_IN_A_RUN = re.compile(r"(.*?)(?:^|/)runs/[^/]+/(?:journal|recovery|heartbeat|[^/]+$)", re.DOTALL)

_OF_THE_REST = frozenset({"SP301", "SP330", "SP331"})
"""What is said of a run because something is not there, and means nothing where only some of its texts were named."""

_NOT_NAMED = Unread("loose", "", None, ())
"""Stands for what may lie beside records that were named one by one."""


@dataclass(frozen=True, slots=True)
class Scan:
    """One run, or what stands alone: a document, a foreign file, a text that names no run."""

    run: Run | None
    run_id: str | None
    faults: tuple[Fault, ...]
    """Of texts, structure and names; what the fold found across records is in ``run.faults``."""
    texts: Mapping[Place, bytes]
    """The bytes of each place, to find lines and columns in."""
    records: int
    documents: int
    files: int = 0
    """Files that were read and are not among `texts`."""
    in_store: bool = False
    """Whether it is a run in a folder of its own; only such runs are read one after the other."""
    journal: Sequence[str] = ()
    """The digests of the journal's records, in its order, where it was found sound at a glance and has no ``run``."""
    recovery: Sequence[tuple[int | None, str]] = ()
    """Sequence and digest of each record of the recovery log, then."""


@dataclass(slots=True)
class Gathered:
    """What was read of one run (or of no run), before the fold."""

    records: list[Record] = field(default_factory=list)
    recovery: list[Record] = field(default_factory=list)
    beats: list[tuple[int, str, int]] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    texts: dict[Place, bytes] = field(default_factory=dict)
    documents: int = 0
    copied: dict[str, Record] = field(default_factory=dict)
    """The documents that a copy has beside it: ``origin`` and ``seal``."""
    objects: set[Place] = field(default_factory=set)
    """Where journal records lie that are objects of their own."""
    picked: bool = False
    """Whether all that was read are objects which were named one by one: others of the run may lie beside them."""

    @property
    def claimable(self) -> bool:
        """Whether the journal lies as objects: lines beside them are a mirror, which may hold nothing of its own."""
        objects = {r.sequence for r in self.records if r.place in self.objects}
        return bool(objects) and all(r.sequence in objects for r in self.records if r.sequence is not None)

    def _judged(self, unread: Unread) -> Unread:
        """A file for checkpoints in which anything else was found is no file for checkpoints."""
        place = unread.faults[0].place
        others = (r for r in self.records if place and r.place.url == place.url and r.kind != "checkpoint")
        only = unread.name == "checkpoints.jsonl" and not any(others)
        return replace(unread, only_checkpoints=only)

    def add(self, reading: Reading, name: KeyName | None) -> None:
        """One more text; `name` is what the layout makes of its key."""
        self.texts[reading.place] = reading.data
        self.faults.extend(reading.faults)
        if reading.unread:
            self.unread.append(reading.unread)
        record = reading.record
        if record is None:
            aside = reading.unread is not None and reading.unread.faults[0].code == "SP011"
            self.documents += reading.identity is not None and (reading.unread is None or aside)
            if (document := reading.copied) is not None:
                self.copied[document.kind] = document
        elif record.kind == "heartbeat":
            beat = record.value
            self.beats.append((record.epoch, str(beat.get("nonce")), parse_time(beat["beatAt"])))
        elif record.kind == "recovery":
            self.recovery.append(record)
        else:
            self.records.append(record)
            if name is not None and name.log == "journal":
                self.objects.add(record.place)

    def add_object(self, place: Place, data: bytes, known: Known) -> None:
        """One more object of the journal, which was read before."""
        self.texts[place] = data
        self.records.append(known.record(place))
        self.objects.add(place)

    def finish(self, run_id: str | None) -> Scan:
        """All of them as the run `run_id`, or as texts of no run."""
        run = None
        self.unread = [self._judged(unread) for unread in self.unread]
        if run_id is not None and (self.records or self.recovery or self.unread or self.copied):
            run = fold(
                run_id,
                self.records,
                recovery=self.recovery,
                beats=self.beats,
                unread=self.unread,
                claimable=self.claimable,
                origin=self.copied.get("origin"),
                seal=self.copied.get("seal"),
            )
            if self.picked:
                faults = tuple(fault for fault in run.faults if fault.code not in _OF_THE_REST)
                run = replace(run, unread=(*run.unread, _NOT_NAMED), faults=faults)
        count = len(self.records) + len(self.recovery) + len(self.beats)
        return Scan(run, run_id, tuple(self.faults), self.texts, count, self.documents)


def _store_of(url: str) -> str:
    """The store whose layout a file's path shows: what two stores call by one name are two runs."""
    found = _IN_A_RUN.match(url)
    return found[1] if found else ""


def by_run(readings: Iterable[Reading], picked: Mapping[str, bool] = MappingProxyType({})) -> Iterator[Scan]:
    """Loose texts by the run that they name; a broken one that names none may hide records of any of them."""
    runs: dict[tuple[str, str], Gathered] = {}
    beside: list[tuple[tuple[str, str], Reading]] = []
    rest = Gathered()
    for reading in readings:
        run = _store_of(reading.place.url), reading.run_id or ""
        if reading.run_id is not None and (reading.record or reading.unread):
            runs.setdefault(run, Gathered()).add(reading, None)
        elif reading.copied is not None:
            beside.append((run, reading))
        else:
            rest.add(reading, None)
    for run, reading in beside:
        # without a record there is no run that it could speak of: it stands alone, as any document
        runs.get(run, rest).add(reading, None)
    for (_, run_id), gathered in runs.items():
        gathered.unread.extend(rest.unread)
        gathered.picked = all(picked.get(place.url, False) for place in gathered.texts)
        yield gathered.finish(run_id)
    if rest.texts:
        yield rest.finish(None)
