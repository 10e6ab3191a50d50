"""Two writers that append to one chain through a network that fails, and what must be so afterwards.

Decided here: when an outcome is a lie. Each is held against what the server really holds, which is asked past the
network that fails.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import servers
from faultproxy import FaultProxy, Plan, between
from places import Place

from safepoint.store import Outcome, Store, StoreError, UnreachableError, open_store
from safepoint.store.errors import ConflictError
from safepoint.store.layout import journal_key

RUN = "chain"
WRITERS = 2
PATIENCE = 40
"""Tries of one writer at one number before the test gives up."""


@dataclass
class Chain:
    """What the writers were told, and what is there."""

    numbers: int
    told: Counter[str] = field(default_factory=Counter)
    """Outcomes, and the classes of errors, of all tries."""
    lies: list[str] = field(default_factory=list)
    """Outcomes that the server does not bear out."""
    held: dict[str, bytes] = field(default_factory=dict)
    faults: int = 0
    """How many were done to the requests of the writers."""

    @property
    def missing(self) -> list[int]:
        """Numbers whose record is lost."""
        return [n for n in range(1, self.numbers + 1) if journal_key(RUN, n) not in self.held]

    @property
    def torn(self) -> list[str]:
        """Names that hold something that nobody wrote whole."""
        return [key for key, data in self.held.items() if not _whole(data)]


@contextmanager
def through_faults(place: Place, plan: Plan, stores: int = 1) -> Iterator[tuple[FaultProxy, list[Store]]]:
    """So many stores in `place`, behind a proxy that follows `plan`."""
    assert place.server is not None
    with between(place.backend, place.server.port, plan) as proxy:
        options = {**place.options, **servers.OPTIONS[place.backend](f"http://{servers.HOST}:{proxy.port}")}
        yield proxy, [open_store(place.url, **options) for _ in range(stores)]


def append_all(place: Place, plan: Plan, numbers: int) -> Chain:
    """Has all writers try each number until they know who has it, as the recorder does."""
    chain = Chain(numbers)
    direct = place.open()
    with through_faults(place, plan, WRITERS) as (proxy, stores), ThreadPoolExecutor(WRITERS) as pool:
        for number in range(1, numbers + 1):
            bodies = [_record(number, writer) for writer in range(WRITERS)]
            ends = [
                pool.submit(_append, chain, direct, *one, number) for one in zip(stores, bodies, strict=True)
            ]
            winners = [body for body, end in zip(bodies, ends, strict=True) if end.result() is Outcome.WON]
            if len(winners) != 1:
                chain.lies.append(f"{len(winners)} won number {number}")
        chain.faults = proxy.done.total()
    chain.held = place.foreign.everything()
    return chain


def _append(chain: Chain, direct: Store, store: Store, body: bytes, number: int) -> Outcome:
    key = journal_key(RUN, number)
    for _ in range(PATIENCE):
        try:
            outcome = store.put_if_absent(key, body)
        except (UnreachableError, ConflictError) as error:
            chain.told[type(error).__name__] += 1
            if _there(direct, key) == body:
                chain.lies.append(f"an error said that nothing was written as number {number}")
            continue
        chain.told[outcome.value] += 1
        there = _there(direct, key)
        if outcome is Outcome.WON and there != body:
            chain.lies.append(f"number {number} was won, and is another's")
        if outcome is Outcome.LOST and there in {None, body}:
            chain.lies.append(f"number {number} was lost, and is {'free' if there is None else 'ours'}")
        if outcome is not Outcome.UNKNOWN:
            return outcome
    raise AssertionError(f"no outcome for number {number} after {PATIENCE} tries: {chain.told}")


def _there(store: Store, key: str) -> bytes | None:
    return store.get(key) if store.exists(key) else None


_nonces = count()


def _record(number: int, writer: int) -> bytes:
    filler = "x" * (number * 97 % 3000)
    return json.dumps(
        {"n": number, "by": writer, "nonce": next(_nonces), "filler": filler, "end": True}
    ).encode()


def _whole(data: bytes) -> bool:
    try:
        return bool(json.loads(data)["end"])
    except (ValueError, KeyError):
        return False


def misread(store: Store, truth: dict[str, bytes]) -> list[str]:
    """Answers of `store` to readers that are not so; an error that says that nothing is known is none of them."""
    wrong: list[str] = []

    def hold(what: str, found: object, *, expected: object) -> None:
        if found != expected and not isinstance(found, UnreachableError):
            wrong.append(f"{what}: {type(found).__name__} {str(found)[:60]}")

    def told(ask: object) -> object:
        try:
            return ask()  # type: ignore[operator]
        except StoreError as error:
            return error

    for key, data in truth.items():
        hold(f"get {key}", told(lambda key=key: store.get(key)), expected=data)
        hold(f"pieces {key}", told(lambda key=key: b"".join(store.pieces(key))), expected=data)
        hold(f"exists {key}", told(lambda key=key: store.exists(key)), expected=True)
        hold(f"exists {key}.x", told(lambda key=key: store.exists(key + ".x")), expected=False)
    found = told(lambda: sorted(entry.key for entry in store.list()))
    hold("list", found, expected=sorted(truth))
    if isinstance(found, list):
        entries = told(lambda: list(store.list()))
        if isinstance(entries, list):
            for entry, one in zip(entries, store.get_many(entries), strict=True):
                hold(f"get_many {entry.key}", one, expected=truth[entry.key])
    hold("folders", told(lambda: list(store.folders(f"runs/{RUN}"))), expected=["journal"])
    return wrong
