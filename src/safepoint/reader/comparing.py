"""A store against its anchors: is every record that was once anchored still what it was?

Decided here: what contradicts an anchor (SP325 to SP329), and that more than was anchored never does. Not decided here:
what the anchors say (``anchors``), and what is wrong with the store by itself (``scan``, ``rules``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safepoint.core.digest import digest_stored
from safepoint.core.fault import Fault, Place
from safepoint.guard.case import Anchored
from safepoint.model.journal import Unread
from safepoint.model.record import Record
from safepoint.reader.anchors import LOGS, Anchors, Held, Mark, load_anchors
from safepoint.reader.documents import InputRefusedError
from safepoint.reader.grouping import Scan
from safepoint.reader.scan import load_run
from safepoint.store import AbsentError, Store, StoreError
from safepoint.store.layout import STORE_KEY, journal_key, recovery_key, run_prefix

_KEYS = {"journal": journal_key, "recovery": recovery_key}


@dataclass(frozen=True, slots=True)
class Logs:
    """The digests of a run's readable records."""

    journal: Mapping[int, str]
    recovery: Mapping[int, str]
    records: frozenset[str]
    """Of those without a sequence."""

    def head(self, log: str) -> Mark | None:
        """The newest record of a log."""
        digests: Mapping[int, str] = getattr(self, log)
        return Mark(number := max(digests), digests[number]) if digests else None


def logs_of(found: Scan) -> Logs:
    """The digests of what was read of a run."""
    if found.run is None:
        journal = dict(enumerate(found.journal, 1))
        recovery = {number: digest for number, digest in found.recovery if number is not None}
        loose = (digest for number, digest in found.recovery if number is None)
        return Logs(journal, recovery, frozenset(loose))
    everything = (*found.run.records, *found.run.recovery)
    return Logs(
        _numbered(found.run.records),
        _numbered(found.run.recovery),
        frozenset(record.digest for record in everything if record.sequence is None),
    )


def _numbered(records: Iterable[Record]) -> dict[int, str]:
    return {record.sequence: record.digest for record in records if record.sequence is not None}


def damaged(found: Scan) -> int:
    """Texts of a run that are there and are no readable records; a heartbeat is none of them."""
    return len(_unread(found))


def unseen(found: Scan) -> Fault | None:
    """Why a text of this run could not be read, which is no reason to believe that it is not there (SP002).

    That is said already and cannot be suppressed: where it is so, nothing is concluded from what is missing.
    """
    return next((fault for text in _unread(found) for fault in text.faults if fault.code == "SP002"), None)


def _unread(found: Scan) -> list[Unread]:
    unread = found.run.unread if found.run is not None else ()
    return [text for text in unread if text.of_a_log]


def compare(anchors: Anchors, found: Scan, store: Store) -> Iterator[Fault]:
    """What contradicts the anchors in one run; nothing where they do not speak of it."""
    held = anchors.runs.get(found.run_id) if found.run_id is not None else None
    if held is None or found.run_id is None:
        return
    faults = list(_compare(held, found, store))
    if faults and found.run is None and found.in_store:
        # at a glance nobody knows where a record lies
        faults = list(_compare(held, load_run(store, found.run_id), store))
    yield from faults


def compare_loose(anchors: Anchors, found: Sequence[Scan], store: Store) -> Mapping[int, list[Fault]]:
    """The same for runs that have no folder of their own, by their index in `found`.

    What several loose files hold of one run may have come together in several scans, since copies are read by
    themselves. The first is the one that a run is loaded from and judged by (`load_run`): that one must have all that
    was anchored, whatever lies elsewhere.
    """
    first: dict[str, int] = {}
    for index, one in enumerate(found):
        if one.run_id is not None and one.run is not None:
            first.setdefault(one.run_id, index)
    return {index: list(compare(anchors, found[index], store)) for index in first.values()}


def missing(anchors: Anchors, seen: Iterable[str], store: Store) -> Iterator[tuple[str, Fault]]:
    """Every run that was anchored and of which nothing is there, not even that it was deleted."""
    left = anchors.runs.keys() - set(seen)
    for run_id in sorted(left):
        yield run_id, _gone(anchors.runs[run_id], run_id, store)


def _gone(held: Held, run_id: str, store: Store) -> Fault:
    place = Place(store.url_of(run_prefix(run_id)), run_prefix(run_id))
    left = (
        "it was deleted then, and its deleted.json is not here" if held.deleted else "nothing of it is here"
    )
    message = f"anchor {held.anchor} has seen run {run_id!r}; {left}"
    return Fault("SP327", message, place=place)


def compare_document(anchors: Anchors, store: Store) -> Fault | None:
    """Whether the store's own description is another than the anchored one.

    Raises:
        StoreError: it cannot be read.
    """
    if anchors.document is None:
        return None  # it may be added, since its absence means what the plainest one says
    place = Place(store.url_of(STORE_KEY), STORE_KEY)
    try:
        data = store.get(STORE_KEY)
    except AbsentError:
        return Fault("SP329", "the store's safepoint.json was anchored, and is not here", place=place)
    if digest_stored(data) == anchors.document:
        return None
    return Fault("SP329", "the store's safepoint.json is another one than was anchored", place=place)


def _compare(held: Held, found: Scan, store: Store) -> Iterator[Fault]:
    marker = found.run.deleted if found.run is not None else None
    if held.deleted is not None:
        yield from _still_deleted(held, found, store, marker)
        return
    if marker is not None:
        if not _accounts(held, marker):
            message = f"what deleted.json says was there does not agree with anchor {held.anchor}"
            yield Fault("SP327", message, "/heads", place=marker.place)
        return
    logs = logs_of(found)
    for log in LOGS:
        mark = getattr(held, log)
        if mark is not None:
            yield from _compare_log(held, log, mark, found, logs, store)
    yield from _compare_records(held, found, logs, store)
    yield from _compare_unread(held, found, logs, store)


def _still_deleted(held: Held, found: Scan, store: Store, marker: Record | None) -> Iterator[Fault]:
    if marker is None:
        message = f"the run was deleted when anchor {held.anchor} was made, and is here again"
        yield Fault("SP326", message, place=_first(found, store))
    elif marker.digest != held.deleted:
        message = f"this deleted.json is another one than anchor {held.anchor} has seen"
        yield Fault("SP326", message, place=marker.place)


def _accounts(held: Held, marker: Record) -> bool:
    """Whether what a deletion wrote down of a run is what was anchored, or came after it."""
    heads = marker.value["heads"]
    if held.records:
        return False  # no head stands for them, and a run without numbers is never deleted
    if _seen(held).vanished(heads["journal"]["sequence"], heads["recovery"]["sequence"], set(), 0):
        return False
    for log in LOGS:
        mark = getattr(held, log)
        if mark is not None:
            said = Mark(heads[log]["sequence"], heads[log]["digest"])
            if said.sequence < mark.sequence or (said.sequence == mark.sequence and said != mark):
                return False
    return True


def _compare_log(held: Held, log: str, mark: Mark, found: Scan, logs: Logs, store: Store) -> Iterator[Fault]:
    digests: Mapping[int, str] = getattr(logs, log)
    there = digests.get(mark.sequence)
    if there == mark.digest:
        return
    place = _place_of(found, log, mark.sequence)
    if there is None:
        if unseen(found) is not None:
            return
        try:
            there, place = _asked(found, log, mark, store)
        except StoreError as error:
            yield Fault("SP002", str(error), place=Place(error.url, error.key))
            return
    if there is None:
        last = max(digests, default=0)
        ends = f"ends at {last}" if last else "is empty"
        message = f"the {log} {ends}; anchor {held.anchor} has seen record {mark.sequence}"
        yield Fault("SP325", message, place=_place_of(found, log, last) or _first(found, store))
    elif there != mark.digest:
        message = f"record {mark.sequence} of the {log} is not the one that anchor {held.anchor} has seen"
        yield Fault("SP326", message, place=place or _first(found, store))


def _asked(found: Scan, log: str, mark: Mark, store: Store) -> tuple[str | None, Place | None]:
    """A record that was not read: its digest where its bytes are there, and where they lie.

    A text that this version cannot read as a record may well be the anchored one, and a listing may be stale or
    incomplete: before something is called missing, the name itself is asked for.

    Raises:
        StoreError: there is no answer.
    """
    for text in _unread(found):
        place = next((fault.place for fault in text.faults if fault.place in found.texts), None)
        if place is None or mark.sequence not in {text.sequence, text.said} or text.log not in {log, "lines"}:
            continue
        return digest_stored(found.texts[place]), place
    if not found.in_store or found.run_id is None:
        return None, None
    key = _KEYS[log](found.run_id, mark.sequence)
    try:
        return digest_stored(store.get(key)), Place(store.url_of(key), key)
    except AbsentError:
        return None, None


def _compare_records(held: Held, found: Scan, logs: Logs, store: Store) -> Iterator[Fault]:
    lost = held.records - logs.records
    if lost and found.run is not None:
        # beside numbered records they have no place in the fold, and another version may not read them
        lost -= {digest_stored(text) for text in found.texts.values()}
    if not lost or unseen(found) is not None:
        return
    some = f"{len(lost)} of the {len(held.records)} records without sequence"
    if len(logs.records) < len(held.records):
        message = f"{some} that anchor {held.anchor} has seen are not here"
        yield Fault("SP325", message, place=_first(found, store))
    else:
        message = f"{some} that anchor {held.anchor} has seen are not here, and others are"
        yield Fault("SP326", message, place=_first(found, store))


def _compare_unread(held: Held, found: Scan, logs: Logs, store: Store) -> Iterator[Fault]:
    if not held.unread or unseen(found) is not None:
        return
    journal, recovery = (max(digests, default=0) for digests in (logs.journal, logs.recovery))
    vanished = _seen(held).vanished(journal, recovery, logs.records, damaged(found))
    if vanished:
        what = "a text" if vanished == 1 else f"{vanished} texts"
        message = (
            f"anchor {held.anchor} has seen {what} that could not be read; gone, and no record came instead"
        )
        yield Fault("SP325", message, place=_first(found, store))


def _seen(held: Held) -> Anchored:
    return Anchored("", held.member())


def _place_of(found: Scan, log: str, number: int) -> Place | None:
    if found.run is None:
        return None
    records = found.run.records if log == "journal" else found.run.recovery
    return next((record.place for record in records if record.sequence == number), None)


def _first(found: Scan, store: Store) -> Place:
    """What stands for the run where no record of it can be blamed."""
    if found.in_store and found.run_id is not None:
        return Place(store.url_of(run_prefix(found.run_id)), run_prefix(found.run_id))
    return next(iter(found.texts), Place(store.url))


def load_anchored(
    place: str | os.PathLike[str], storage_options: Mapping[str, Any], run_id: str, store: Store
) -> Anchored:
    """What anchors say of one run, and what contradicts them in the description of its store, for a guard.

    Args:
        place: as in `load_anchors`.
        storage_options: of that place.
        run_id: which run.
        store: where it lies.

    Raises:
        InputRefusedError: there is none, or something is wrong with them, so that nothing can be judged by them.
        StoreError: the store's description cannot be read.
    """
    found = load_anchors(place, storage_options, run_id=run_id)
    if not found.sound or found.digest is None:
        wrong = [finding for finding in found.findings() if finding.severity == "error"]
        raise InputRefusedError(
            f"{found.url}: the anchors are not sound, so nothing was judged by them", wrong
        )
    changed = compare_document(found, store)
    return Anchored(
        found.digest,
        found.runs.get(run_id, Held()).member(),
        (changed,) if changed else (),
        f"anchor {found.sequence} of {found.created or 'no known time'}",
    )
