"""The names of a store: which exist, how they are written, and what each one is (SPEC.md#layout).

Decided here: the mapping between ids or numbers and keys, both ways. A name says where to look, never what is
true: run, sequence and order are read from the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from safepoint.core.ident import decode_segment, encode_segment
from safepoint.store.base import Store

STORE_KEY = "safepoint.json"
"""The store's own description."""

DELETED = "deleted.json"
"""In the folder of a run: that it was deleted on purpose."""

ORIGIN = "origin.json"
"""In the folder of a run: that it is a copy, and of what."""

SEAL = "seal.json"
"""In the folder of a copy: that its original was sealed."""

Log = Literal[
    "journal", "recovery", "heartbeat", "lines", "artifact", "loose", "store", "deleted", "origin", "seal"
]

_LINES = frozenset({"journal.jsonl", "recovery.jsonl", "checkpoints.jsonl", "ledger.jsonl"})
# ten digits, more when needed: one name for each number up to 2^53-1, because the name is what is claimed
_NUMBERED = re.compile(r"(journal|recovery|heartbeat)/((?!0{10})[0-9]{10}|[1-9][0-9]{10,15})\.json")
_BESIDE: dict[str, Log] = {DELETED: "deleted", ORIGIN: "origin", SEAL: "seal"}
"""Documents in the folder of a run."""

_ARTIFACT = re.compile(r"artifacts/sha256/([0-9a-f]{64})")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_RECORDS = (".json", ".jsonl")


@dataclass(frozen=True, slots=True)
class KeyName:
    """What a key says about the object that bears it."""

    run_id: str | None
    """The run whose folder it lies in; None outside of all runs."""
    log: Log
    """``lines``: one of the JSON Lines files that the layout names. ``loose``: any other file of records."""
    number: int | None
    """The sequence that the name claims; for a heartbeat the epoch."""
    name: str
    """The last segment."""


def run_prefix(run_id: str) -> str:
    """The folder of a run, with its slash."""
    return f"runs/{encode_segment(run_id)}/"


def journal_key(run_id: str, sequence: int) -> str:
    """The name of a journal record, counted from 1."""
    return _numbered(run_id, "journal", sequence)


def recovery_key(run_id: str, sequence: int) -> str:
    """The name of a record of the recovery log, counted from 1."""
    return _numbered(run_id, "recovery", sequence)


def heartbeat_key(run_id: str, epoch: int) -> str:
    """The name of the heartbeat of a lease epoch."""
    return _numbered(run_id, "heartbeat", epoch)


def deleted_key(run_id: str) -> str:
    """The name of what is left of a run that was deleted."""
    return f"{run_prefix(run_id)}{DELETED}"


def origin_key(run_id: str) -> str:
    """The name of what says that the run is a copy; written before anything else of it."""
    return f"{run_prefix(run_id)}{ORIGIN}"


def seal_key(run_id: str) -> str:
    """The name of what says that the original of the run was sealed."""
    return f"{run_prefix(run_id)}{SEAL}"


def artifact_key(run_id: str, digest: str) -> str:
    """The name of an artifact's bytes.

    Raises:
        ValueError: `digest` is not ``sha256:`` and 64 lower-case hex digits.
    """
    found = _DIGEST.fullmatch(digest)
    if not found:
        raise ValueError("expected sha256: and 64 lower-case hex digits")
    return f"{run_prefix(run_id)}artifacts/sha256/{found[1]}"


def _numbered(run_id: str, log: str, number: int) -> str:
    if number < 1:
        raise ValueError(f"numbers of a {log} count from 1, got {number}")
    return f"{run_prefix(run_id)}{log}/{number:010d}.json"


def parse_key(key: str) -> KeyName | None:
    """What `key` names, or None where the layout knows no such name.

    A file of records outside of ``runs/`` is loose: any folder of JSON can be read. Inside a run's folder
    nothing is guessed: ``journal/12.json`` is nobody's record 12, for then a second name could hold another.
    """
    name = key.rpartition("/")[2]
    if key == STORE_KEY:
        return KeyName(None, "store", None, name)
    top, _, rest = key.partition("/")
    segment, within, rest = rest.partition("/")
    if top != "runs" or not within:
        return KeyName(None, "loose", None, name) if name.endswith(_RECORDS) else None
    try:
        run_id = decode_segment(segment)
    except ValueError:
        return None
    if found := _NUMBERED.fullmatch(rest):
        return KeyName(run_id, cast("Log", found[1]), int(found[2]), name)
    if _ARTIFACT.fullmatch(rest):
        return KeyName(run_id, "artifact", None, name)
    if rest in _LINES:
        return KeyName(run_id, "lines", None, name)
    if rest in _BESIDE:
        return KeyName(run_id, _BESIDE[rest], None, name)
    if "/" not in rest and rest.endswith(_RECORDS):
        return KeyName(run_id, "loose", None, name)
    return None


def order(key: str) -> tuple[str, int, str]:
    """Sorts keys with their numbers as numbers, where plain text puts 10000000000 before 9999999999.

    For reports and for reading ahead; the order of the records is in the records.
    """
    folder, slash, name = key.rpartition("/")
    found = parse_key(key)
    return folder + slash, (found.number or 0) if found else 0, name


def stores_below(store: Store) -> tuple[str, ...]:
    """The folders of `store` that are stores themselves, outermost only; none where `store` is one.

    A folder of several stores is no store: their runs may bear the same ids, and would melt into one.
    """
    if store.exists(STORE_KEY) or next(store.list("runs"), None) is not None:
        return ()
    ending = f"/{STORE_KEY}"
    found = (entry.key.removesuffix(ending) for entry in store.list() if entry.key.endswith(ending))
    outermost: list[str] = []
    for folder in sorted(found, key=lambda folder: folder.split("/")):
        if not (outermost and folder.startswith(f"{outermost[-1]}/")):
            outermost.append(folder)
    return tuple(outermost)


def run_ids(store: Store) -> Iterator[str]:
    """The runs of a store, without looking into them; sorted as their folders are.

    A folder whose name is no encoded id is no run: what lies in it matches no name, and is reported as that.
    """
    for segment in store.folders("runs"):
        try:
            yield decode_segment(segment)
        except ValueError:
            continue
