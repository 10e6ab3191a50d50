"""The runs of a store to which something is to be done: which they are, and what became of each.

Decided here: into which store nothing is ever written, and that a run is read again where somebody else is moving its
objects. Not decided here: what may be done to a run (``ended``), and what is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from safepoint.core.kind import recognise
from safepoint.core.strictjson import parse
from safepoint.reader import Scan, load_run
from safepoint.store import AbsentError, Store, UnsupportedError
from safepoint.store.layout import STORE_KEY, run_ids, run_prefix

_TRIES = 5
"""How often a run is read that changes under the reader's hands."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one run."""

    run_id: str
    outcome: Literal["done", "would", "already", "passed", "left"]
    """``would``: it was only tried. ``already``: there was nothing to do. ``passed``: it was not asked for: it is too
    young, has not ended, or its lease is live. ``left``: refused, for the reason that the message gives."""
    message: str
    counts: Mapping[str, int] = field(default_factory=dict)
    """How much was written and removed, by name."""
    brief: str = ""
    """Where it was passed over: the reason in few words, by which such runs are counted."""


def require_writable(store: Store) -> None:
    """Refuse a store in which no name can be claimed, or whose layout this library does not know.

    Raises:
        UnsupportedError: nothing may be written to it.
        StoreError: it cannot be read.
    """
    if not store.capabilities.can_claim:
        problem = "nothing keeps two writers apart in storage of this kind, so that nothing of it is changed"
        raise UnsupportedError(store.url, problem)
    try:
        value, faults = parse(store.get(STORE_KEY))
    except AbsentError:
        return
    identity, more = recognise(value)
    known = identity is not None and identity.kind == "store" and value.get("layout") == 1
    if faults or not known or value.get("features"):
        said = "; ".join(fault.message for fault in (*faults, *more))
        problem = said or "its layout or its features are unknown to this version"
        raise UnsupportedError(
            store.url_of(STORE_KEY), problem, STORE_KEY, "use a newer version of Safepoint"
        )


def runs_of(store: Store, named: Iterable[str]) -> Iterator[str]:
    """The `named` runs, each once; all runs of the store where none is named.

    Raises:
        AbsentError: the store has no folder of such a run; raised before the first run is given.
        StoreError: the store cannot be read.
    """
    chosen = tuple(dict.fromkeys(named))
    for run_id in chosen:
        try:
            there = next(store.list(run_prefix(run_id)), None)
        except ValueError:
            there = None
        if there is None:
            problem = f"no folder of a run {run_id!a} is there"
            raise AbsentError(store.url, problem, remedy=f"list the runs: safepoint runs {store.url}")
    yield from chosen or tuple(run_ids(store))


def load(store: Store, run_id: str) -> Scan:
    """The run as it lies; read again where an object went away between listing and reading.

    Somebody else may be packing or deleting the same run at this moment, which is no damage.

    Raises:
        StoreError: the store cannot be read, or nothing of the run is there any more.
    """
    for _ in range(_TRIES):
        found = load_run(store, run_id)
        if all(fault.code != "SP002" for fault in found.faults):
            break
    return found
