"""Which texts of a store are sound, and why the others are not (SPEC.md#repair).

Decided here: that a log is sound up to its first error, since a chain cannot be mended without forging it; that of an
object and a line with one number the object counts; and that everything else which is accused stands alone.
Not decided here: what a text is (``reader``), what is wrong with a run (``rules``), and where bytes go (``triage``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.model.journal import Unread
from safepoint.model.record import Record
from safepoint.reader.grouping import Gathered, by_run
from safepoint.reader.texts import Reading
from safepoint.store.layout import KeyName


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why one text is set aside."""

    code: str
    pointer: str = ""
    behind: int | None = None
    """The text itself is sound, but lies behind this number, at which its log breaks."""


@dataclass(frozen=True, slots=True)
class Text:
    """One JSON text of an object, as the reader knows it."""

    reading: Reading
    name: KeyName | None
    """What the layout makes of its object's key."""

    @property
    def log(self) -> str | None:
        """The log that the record has a place in; None of a text without one."""
        record = self.reading.record
        if record is None or record.sequence is None or record.kind == "heartbeat":
            return None
        return "recovery" if record.kind == "recovery" else "journal"

    @property
    def number(self) -> int:
        """Its place in that log."""
        return (self.reading.record.sequence or 0) if self.reading.record else 0


NEWER = frozenset({"SP216", "SP217"})
"""Codes of what a newer version wrote: refused, not damaged."""

_ASIDE = Unread("loose", "", None, (Fault("SP011", "set aside"),))
"""Stands for the document that the copy will hold: what may follow from a record's absence must not be reported."""

Judged = Iterable[tuple[Iterable[Fault], Collection[Place]]]
"""What is wrong with each run, and where the texts lie that it was folded from."""


def flaws_of_run(texts: Sequence[Text], run_id: str) -> dict[Place, Flaw]:
    """The texts of the run in one folder that are not sound."""

    def judge(kept: Sequence[Text], *, aside: bool) -> Judged:
        gathered = Gathered()
        for text in kept:
            gathered.add(text.reading, text.name)
        if aside:
            gathered.unread.append(_ASIDE)
        run = gathered.finish(run_id).run
        if run is not None:
            yield rules.check(run), gathered.texts.keys()

    flaws = _by_themselves(texts)
    _differing_mirrors(texts, flaws)
    while _accused(texts, flaws, judge(_kept(texts, flaws), aside=_told(texts, flaws))):
        pass
    return flaws


def flaws_of_loose(texts: Sequence[Text], url: str) -> dict[Place, Flaw]:
    """The texts that are not sound among those which lie in no run's folder, whatever runs they are of."""

    def judge(kept: Sequence[Text], *, aside: bool) -> Judged:
        readings = [text.reading for text in kept]
        if aside:
            readings.append(Reading(Place(url), b"", unread=_ASIDE))
        for scan in by_run(readings):
            if scan.run is not None:
                yield rules.check(scan.run), scan.texts.keys()

    flaws = _by_themselves(texts)
    while _accused(texts, flaws, judge(_kept(texts, flaws), aside=_told(texts, flaws))):
        pass
    return flaws


def links(texts: Iterable[Text]) -> int:
    """How many of the records have the digest that their followers name: what of a chain holds, whatever else is so."""
    chained = [text.reading.record for text in texts if text.log is not None]
    named = {record.value.get("previousDigest") for record in chained if record}
    return len(named & {record.digest for record in chained if record})


def speaks(name: KeyName | None, flaw: Flaw) -> bool:
    """Whether a text that is set aside for `flaw` may have told of an effect.

    A heartbeat is a hint that only delays, and may be torn; unless a newer version wrote it.
    """
    return name is None or name.log != "heartbeat" or flaw.code in NEWER


def _told(texts: Iterable[Text], flaws: Mapping[Place, Flaw]) -> bool:
    """Whether the copy will say that something was set aside."""
    return any(speaks(t.name, flaws[t.reading.place]) for t in texts if t.reading.place in flaws)


def _kept(texts: Iterable[Text], flaws: Mapping[Place, Flaw]) -> list[Text]:
    return [text for text in texts if text.reading.place not in flaws]


def _by_themselves(texts: Iterable[Text]) -> dict[Place, Flaw]:
    """What is wrong with a text whatever lies beside it."""
    flaws: dict[Place, Flaw] = {}
    for text in texts:
        fault = next(_errors(text.reading.faults), None)
        if fault is not None:
            flaws[text.reading.place] = Flaw(fault.code, fault.pointer)
    return flaws


def _errors(faults: Iterable[Fault]) -> Iterator[Fault]:
    return (fault for fault in faults if rules.severity(fault.code) == "error")


def _differing_mirrors(texts: Sequence[Text], flaws: dict[Place, Flaw]) -> None:
    """Where a number lies as an object, another record with that number in a file beside it is the mirror's fault."""
    kept = _kept(texts, flaws)
    objects = {(text.log, text.number): _digest(text) for text in kept if _is_object(text)}
    for text in kept:
        decides = objects.get((text.log, text.number))
        if decides is not None and not _is_object(text) and decides != _digest(text):
            flaws[text.reading.place] = Flaw("SP302", "/sequence")


def _is_object(text: Text) -> bool:
    return text.log is not None and text.name is not None and text.name.log == text.log


def _digest(text: Text) -> str:
    record: Record | None = text.reading.record
    return record.digest if record else ""


def _accused(texts: Sequence[Text], flaws: dict[Place, Flaw], judged: Judged) -> bool:
    """Adds to `flaws` what is accused across records; False once that is nothing.

    Each round takes one text at least: of a log what is accused first and all that follows, else the text alone.
    """
    by_place = {text.reading.place: text for text in _kept(texts, flaws)}
    before = len(flaws)
    for faults, places in list(judged):
        breaks: defaultdict[str, dict[int, Fault]] = defaultdict(dict)
        for fault in _errors(faults):
            text = by_place.get(fault.place) if fault.place else None
            if text is None:  # it accuses no text: then none of the run is beyond doubt
                flaws.update((place, Flaw(fault.code)) for place in places if place in by_place)
            elif text.log is None:
                flaws.setdefault(text.reading.place, Flaw(fault.code, fault.pointer))
            else:
                breaks[text.log].setdefault(text.number, fault)
        for place in places:
            text = by_place.get(place)
            if text is None or text.log is None or not breaks[text.log]:
                continue
            first = min(breaks[text.log])
            fault = breaks[text.log][first]
            if text.number == first:
                flaws.setdefault(place, Flaw(fault.code, fault.pointer))
            elif text.number > first:
                flaws.setdefault(place, Flaw(fault.code, behind=first))
    return len(flaws) > before
