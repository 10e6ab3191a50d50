"""Where a copy of a run came from, and whether it holds what it held when it was whole (SPEC.md#copies).

Decided here: what an `origin` document asks of the records beside it, and which `seal` counts. Not decided here:
whether the copy may go on (``guard``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from safepoint.core.digest import digest_bytes
from safepoint.core.fault import Fault
from safepoint.model.journal import Unread
from safepoint.model.record import Record

_LOGS = ("journal", "recovery")
_NAMES = {"journal": "journal", "recovery": "recovery log"}


@dataclass(frozen=True, slots=True)
class Contents:
    """What is there of a run, as far as an origin asks for it."""

    journal: AbstractSet[tuple[int, str]]
    """Sequence and digest of each record."""
    recovery: AbstractSet[tuple[int, str]]
    records: AbstractSet[str]
    """Digests of records without a sequence."""
    unread: Sequence[Unread] = ()
    """What is there and cannot be read as a record."""


def contents_of(records: Iterable[Record], recovery: Iterable[Record], unread: Sequence[Unread]) -> Contents:
    """The same of records as they were read, in whatever order."""
    numbered: dict[str, set[tuple[int, str]]] = {"journal": set(), "recovery": set()}
    loose: set[str] = set()
    for log, found in (("journal", records), ("recovery", recovery)):
        for record in found:
            if record.sequence is None:
                loose.add(record.digest)
            else:
                numbered[log].add((record.sequence, record.digest))
    texts = tuple(text for text in unread if text.of_a_log)
    return Contents(numbered["journal"], numbered["recovery"], loose, texts)


def digest_together(digests: Collection[str]) -> str:
    """One digest that stands for many: of the digests in their order, each followed by a line feed."""
    return digest_bytes("".join(f"{digest}\n" for digest in sorted(digests)).encode())


def vanished(
    heads: Mapping[str, Any], journal: int, recovery: int, records: AbstractSet[str], unread: int
) -> int:
    """How many texts that could not be read are gone, and have not become records.

    Such a text may hold an attempt, and no head stands for it. Where it was mended, or what was being written then
    was finished, there is a record more.

    Args:
        heads: what was there once: members as an anchor has them for a run.
        journal: the newest sequence there is now; 0: none.
        recovery: that of the recovery log.
        records: digests of the records without a sequence.
        unread: the texts that cannot be read now.
    """
    logs = ((heads.get("journal"), journal), (heads.get("recovery"), recovery))
    more = sum(max(0, now - (known["sequence"] if known else 0)) for known, now in logs)
    more += len(records - set(heads.get("records") or ()))
    return max(0, int(heads.get("unread") or 0) - unread - more)


def shortfalls(origin: Record, there: Contents) -> Iterator[Fault]:
    """What a copy lacks of all that it held when it was whole (SP330); more than that is never wrong.

    Nothing is concluded where something cannot be read that may be what is missing: that is told already.
    """
    if any(fault.code == "SP002" for text in there.unread for fault in text.faults):
        return
    heads: Mapping[str, Any] = origin.value["heads"]
    found = list(_of_logs(heads, there)) + list(_of_records(heads, there))
    if not found and heads.get("unread"):
        journal, recovery = (max((number for number, _ in log), default=0) for log in _logs_of(there))
        gone = vanished(heads, journal, recovery, there.records, len(there.unread))
        if gone:
            what = "a text that cannot be read is" if gone == 1 else f"{gone} texts that cannot be read are"
            found = [("/heads/unread", f"{what} missing, and no record came instead")]
    for pointer, message in found:
        yield Fault("SP330", f"this copy is not whole: {message}", pointer, place=origin.place)


def _logs_of(there: Contents) -> tuple[AbstractSet[tuple[int, str]], AbstractSet[tuple[int, str]]]:
    return there.journal, there.recovery


def _of_logs(heads: Mapping[str, Any], there: Contents) -> Iterator[tuple[str, str]]:
    for log, numbered in zip(_LOGS, _logs_of(there), strict=True):
        if log not in heads:
            continue
        number, digest = heads[log]["sequence"], heads[log]["digest"]
        if (number, digest) in numbered:
            continue
        numbers = {known for known, _ in numbered}
        if number in numbers:
            yield f"/heads/{log}", f"record {number} of the {_NAMES[log]} is not the one that was copied"
        elif not any(_may_be(text, number) for text in there.unread):
            ends = f"ends at {max(numbers)}" if numbers else "is empty"
            yield f"/heads/{log}", f"the {_NAMES[log]} {ends}, and was copied up to record {number}"


def _may_be(text: Unread, number: int) -> bool:
    """Whether a text that cannot be read may be the record of that number."""
    return number in {text.sequence, text.said} or (text.sequence is None and text.said is None)


def _of_records(heads: Mapping[str, Any], there: Contents) -> Iterator[tuple[str, str]]:
    """Records without a number; each text that cannot be read may be one of them."""
    listed, counted = heads.get("records"), heads.get("counted")
    if listed:
        lost = len(set(listed) - there.records)
        if lost > len(there.unread):
            some = f"{lost:,} of the {len(listed):,} records without sequence that were copied"
            yield "/heads/records", f"{some} are missing, or are others now"
    if counted:
        missing = counted["count"] - len(there.records)
        if missing > len(there.unread):
            some = f"{missing:,} of the {counted['count']:,} records without sequence that were copied"
            yield "/heads/counted", f"{some} are missing"
        elif missing == 0 and counted["digest"] != digest_together(there.records):
            message = f"the {counted['count']:,} records without sequence are not all those that were copied"
            yield "/heads/counted", message


def seal_faults(seal: Record, origin: Record | None, *, hidden: bool) -> Iterator[Fault]:
    """Why a seal does not count (SP331): it must be of the very records that the copy was made from.

    Args:
        seal: what says that the original was sealed.
        origin: what the run was copied from; None: nothing says that.
        hidden: whether that is because it cannot be read, which is told already.
    """
    value = seal.value
    if origin is None:
        if not hidden:
            message = "no origin.json lies beside it, so that nobody knows which copy this seal is for"
            yield Fault("SP331", message, place=seal.place)
        return
    copied = origin.value["from"].get("journal")
    if copied is None:
        message = "origin.json names no journal that was copied, so that no seal can be for it"
        yield Fault("SP331", message, "/after", place=seal.place)
    elif {name: value["after"][name] for name in ("sequence", "digest")} != {
        name: copied[name] for name in ("sequence", "digest")
    }:
        message = (
            f"the original was sealed behind record {value['after']['sequence']}, and this is a copy up to"
        )
        which = "another record" if value["after"]["sequence"] == copied["sequence"] else "record"
        yield Fault("SP331", f"{message} {which} {copied['sequence']}", "/after", place=seal.place)
    elif value["sequence"] <= copied["sequence"]:
        message = f"record {value['sequence']} lies within what was copied, and cannot have sealed it"
        yield Fault("SP331", message, "/sequence", place=seal.place)
    elif value["source"] != origin.value["source"]:
        message = "it names another source than origin.json does"
        yield Fault("SP331", message, "/source", place=seal.place)


def is_sound_copy(
    origin: Record | None, seal: Record | None, journal: Sequence[str], recovery: Sequence[Record]
) -> bool:
    """Whether a run certainly is all that its origin says that was copied, and its seal, if it has one, counts.

    Args:
        origin: what it was copied from.
        seal: what says that the original was sealed.
        journal: the digests of its journal, which is whole from record 1 on.
        recovery: its recovery log.
    """
    if origin is None:
        return False
    of_the_log = contents_of((), recovery, ())
    there = Contents(set(enumerate(journal, 1)), of_the_log.recovery, of_the_log.records)
    return not any(shortfalls(origin, there)) and (
        seal is None or not any(seal_faults(seal, origin, hidden=False))
    )
