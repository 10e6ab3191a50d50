"""What lies beside ``deleted.json``: whether it is what that document speaks of, or somebody's only copy.

Decided here: that what is removed leads by its digests to the heads in the document (SPEC.md#pruning). Not decided
here: in which order it goes (``prune``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from safepoint.core.strictjson import LIMITS
from safepoint.reader.texts import is_lines, read_object
from safepoint.store import AbsentError, Entry, Store, StoreError, UnreachableError
from safepoint.store.layout import journal_key, order, parse_key, recovery_key

_OF_RECORDS = frozenset({"journal", "recovery", "lines", "loose"})


@dataclass(frozen=True, slots=True)
class _Record:
    """What is looked at of a record that is still there."""

    log: str
    """``journal`` or ``recovery``, whatever its file is called."""
    key: str
    number: int
    digest: str
    before: str | None
    """The digest of the record before it."""


_Chain = dict[int, dict[str, _Record]]
"""Records by number and digest."""


def why_not_removed(store: Store, run_id: str, marker: Mapping[str, Any], entries: Sequence[Entry]) -> str:
    """What keeps `entries` from being removed; empty where all of them were there when the document was written.

    Args:
        store: where they are.
        run_id: the run.
        marker: what ``deleted.json`` says.
        entries: what is listed beside it.

    Raises:
        UnreachableError: the storage does not answer.
    """
    heads = {log: marker["heads"][log] for log in ("journal", "recovery")}
    highest = {log: int(head["sequence"]) for log, head in heads.items()}
    # a listing may be stale: the next name decides
    following = [journal_key(run_id, highest["journal"] + 1), recovery_key(run_id, highest["recovery"] + 1)]
    late = [entry.key for entry in entries if _is_behind(entry.key, highest)]
    if late := late or [key for key in following if store.exists(key)]:
        return f"{late[0]} was written after it was marked as deleted"
    try:
        chains = _chains(_records(store, entries))
    except _NotReadError as error:
        return str(error)
    for log, chain in chains.items():
        if why := _why_apart(chain, log, highest[log], heads[log]["digest"]):
            return why
    return ""


def _is_behind(key: str, highest: Mapping[str, int]) -> bool:
    name = parse_key(key)
    return name is not None and name.number is not None and name.number > highest.get(name.log, name.number)


class _NotReadError(Exception):
    """Something is there of which nobody can tell what it is."""


def _records(store: Store, entries: Iterable[Entry]) -> Iterator[_Record]:
    held = [entry for entry in entries if (name := parse_key(entry.key)) and name.log in _OF_RECORDS]
    single = [entry for entry in held if not is_lines(entry.key)]
    texts: Iterator[tuple[Entry, bytes | StoreError | Iterator[bytes]]] = zip(
        single, store.get_many(single, LIMITS.size + 1), strict=True
    )
    lines = ((entry, store.pieces(entry.key)) for entry in held if is_lines(entry.key))
    for found in (texts, lines):
        for entry, data in found:
            try:
                if isinstance(data, StoreError):
                    raise data
                yield from _in_one(store, entry.key, data)
            except AbsentError:
                continue  # another process removes it too
            except UnreachableError:
                raise
            except StoreError as error:
                raise _NotReadError(f"{entry.key} cannot be read: {error.problem}") from error


def _in_one(store: Store, key: str, data: bytes | Iterator[bytes]) -> Iterator[_Record]:
    for reading in read_object(data, store.url_of(key), key, parse_key(key)):
        record = reading.record
        if record is None:
            code = f" ({reading.faults[0].code})" if reading.faults else ""
            raise _NotReadError(f"{key} holds what cannot be read as a record{code}")
        if record.kind == "heartbeat":
            continue
        if record.sequence is None:
            raise _NotReadError(f"{key} holds a record without a number")
        log = "recovery" if record.kind == "recovery" else "journal"
        yield _Record(log, key, record.sequence, record.digest, record.value.get("previousDigest"))


def _chains(records: Iterable[_Record]) -> Mapping[str, _Chain]:
    chains: defaultdict[str, _Chain] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        chains[record.log][record.number].setdefault(record.digest, record)
    return chains


def _why_apart(chain: _Chain, log: str, highest: int, head: str | None) -> str:
    """Why the records are not the last ones of the log that ended with `head`; empty where they are.

    The first records go first. So what is left reaches from some number up to the head, without a gap.
    """
    if (newest := max(chain)) > highest:
        [late, *_] = chain[newest].values()
        return (
            f"{late.key} holds record {newest} of the {log}, which was written after it was marked as deleted"
        )
    expected = head
    for number in range(highest, min(chain) - 1, -1):
        there = chain.get(number, {})
        if other := next((record for digest, record in there.items() if digest != expected), None):
            return f"{other.key} holds another record {number} of the {log} than deleted.json speaks of"
        if expected is None or expected not in there:
            [first, *_] = chain[min(chain)].values()
            return (
                f"{first.key} may be of another run than deleted.json speaks of: record {number} of the {log}, which "
                "would go later, is not there"
            )
        expected = there[expected].before
    return ""


def in_order(keys: Iterable[str], logs: Sequence[str]) -> list[str]:
    """The keys that the layout knows as of `logs`, sorted by these and then by their numbers."""
    names = {key: parse_key(key) for key in keys}
    known = [
        (logs.index(name.log), order(key), key) for key, name in names.items() if name and name.log in logs
    ]
    return [key for *_, key in sorted(known)]
