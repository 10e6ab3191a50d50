"""What the storage behind a URL really does, tried in a scratch folder in the store.

Decided here: what is tried, in which order, and what counts as broken. No object of the store is touched (``scratch``).
Not decided here: what backends promise (``capabilities``), and what to make of an answer (``render``).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from safepoint.store.base import Outcome
from safepoint.store.contest import Round, race, tally
from safepoint.store.errors import (
    AbsentError,
    DeniedError,
    NoBucketError,
    StoreError,
    UnreachableError,
    UnsupportedError,
)
from safepoint.store.layout import heartbeat_key, journal_key
from safepoint.store.libraries import Library, libraries_of
from safepoint.store.local import LocalStore
from safepoint.store.opening import open_store
from safepoint.store.rivals import Order, Rivals
from safepoint.store.scratch import Scratch

Proven = Literal["yes", "no", "untried"]

_RUN = "doctor"
"""The run whose numbers are raced for."""

_FRESH = 5
"""Objects that are written, looked for by another process, and deleted."""

_LARGEST = 1 << 20
"""Bytes of an object of the store's that are read, only to see whether it can be."""

_SIZE = 2000
"""Bytes of what is written, about: as many as a record has."""

PROMISES: Mapping[str, str] = {
    "libraries": "its libraries are new enough",
    "answers": "it answers",
    "lists": "objects can be listed",
    "reads": "an object can be read",
    "writes": "an object can be written",
    "oneWinner": "a name goes to one writer",
    "empty": "also for an empty object",
    "lostAnswer": "a lost answer is no lost race",
    "race": "of many at once, one wins",
    "whole": "nobody sees half an object",
    "freshReads": "others see it at once",
    "freshListings": "listings show it at once",
    "deletes": "an object can be deleted",
    "rewrites": "a heartbeat can be rewritten",
    "durable": "it survives a crash",
}
"""Everything that is tried, in few words, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One thing that storage must do, and what came of trying it."""

    name: str
    """A key of `PROMISES`."""
    promised: bool | None
    """Whether the backend promises it; None: it is no matter of promise, or nobody knows."""
    proven: Proven
    how: str
    """What was seen, or why it was not tried; empty: the trial did not come so far."""


class _NothingMoreError(Exception):
    """Whatever is left cannot be tried."""


class Trial:
    """Storage under trial: call `run` once, and `tidy` whatever became of it."""

    def __init__(self, url: str, options: Mapping[str, Any], *, writers: int = 4, rounds: int = 25) -> None:
        """Opens the storage; nothing is read or written yet.

        Args:
            url: a store, or where one shall be.
            options: as `open_store` takes them.
            writers: how many race.
            rounds: how many names they race for.

        Raises:
            StoreError: it cannot be opened.
        """
        self.store = open_store(url, **options)
        self.capabilities = self.store.capabilities
        self.driver: str = getattr(self.store, "driver", "")
        self._scratch = Scratch(self.store, url, options)
        self._options = options
        self._writers, self._rounds = writers, rounds
        self._found: dict[str, tuple[Proven, str]] = {}

    @property
    def scratch(self) -> str:
        """The URL of the scratch folder."""
        return self._scratch.url

    @property
    def libraries(self) -> tuple[Library, ...]:
        """What speaks to the backend."""
        return libraries_of(self.capabilities.backend, self.driver)

    def run(self, tell: Callable[[str], object] = lambda _: None) -> tuple[Proof, ...]:
        """Tries everything that can be tried.

        Args:
            tell: told what is done, again and again.
        """
        with suppress(_NothingMoreError):
            tell("asking")
            self._reach()
            tell("writing")
            self._write()
            tell("claiming")
            self._claim()
            self._compete(tell)
        self._found.setdefault("durable", ("untried", "cannot be tried from outside"))
        if libraries := self.libraries:
            old = [f"{x.name} {x.version} is older than {x.at_least}" for x in libraries if x.too_old]
            self._say("libraries", _yes(not old), "; ".join(old) or "none is too old")
        known = self.capabilities
        create = True if known.create else None
        claims = dict.fromkeys(("oneWinner", "empty", "lostAnswer", "race", "whole"), create)
        fresh = {"freshReads": known.fresh_reads, "freshListings": known.fresh_listings}
        promised: dict[str, bool | None] = {**claims, **fresh, "durable": known.durable}
        names = [name for name in PROMISES if name != "libraries" or name in self._found]
        return tuple(
            Proof(name, promised.get(name), *self._found.get(name, ("untried", ""))) for name in names
        )

    def tidy(self) -> tuple[str, ...]:
        """Removes what the trial made; the URLs of what may still be there."""
        return self._scratch.remove()

    # Steps

    def _reach(self) -> None:
        first = None
        try:
            entries = self.store.list()
            first = next((e for e in entries if not e.problem and (e.size or 0) <= _LARGEST), None)
        except AbsentError as error:
            self._say("answers", "yes", f"it says: {error.problem}")
            if isinstance(self.store, LocalStore):
                self._say("lists", "untried", "there is no such folder")
                raise _NothingMoreError from None
            if isinstance(error, NoBucketError):
                # some would make it for the first write, and it would stay behind
                self._say("lists", "untried", error.problem)
                raise _NothingMoreError from None
        except UnreachableError as error:
            self._say("answers", "untried", error.problem)
            raise _NothingMoreError from None
        except StoreError as error:
            self._say("answers", "yes", f"it says: {error.problem}")
            self._say("lists", "untried", error.problem)
        else:
            self._say("answers", "yes", "it was asked for a listing")
            self._say("lists", "yes", "there is something" if first else "nothing is there yet")
        if first is not None:
            with self._unless("reads"):
                size = len(self.store.get(first.key, _LARGEST))
                self._say("reads", "yes", f"{first.key}: {size:,} bytes")
        if not self.capabilities.can_claim:
            kind = self.capabilities.backend
            self._say("oneWinner", "no", f"no way is known to claim a name in this kind of storage ({kind})")
            raise _NothingMoreError

    def _write(self) -> None:
        data = _object("first.json", 0)
        try:
            outcome = self._scratch.put("first.json", data)
        except DeniedError as error:
            self._say("writes", "untried", f"writing is refused by these credentials ({error.problem})")
            raise _NothingMoreError from None
        except UnsupportedError as error:
            self._say("oneWinner", "no", error.problem)
            raise _NothingMoreError from None
        except StoreError as error:
            self._say("writes", "untried", error.problem)
            raise _NothingMoreError from None
        if outcome is not Outcome.WON:
            unclear = outcome is Outcome.UNKNOWN
            self._say("writes", "untried" if unclear else "no", f"the first write of a name: {outcome.value}")
            raise _NothingMoreError
        self._say("writes", "yes", f"{len(data):,} bytes")
        with self._unless("lists"):
            listed = [entry.key for entry in self._scratch.store.list()] == ["first.json"]
            # a folder of its own may be listed where the store may not
            if not listed or self._found.get("lists", ("yes", ""))[0] == "yes":
                self._say(
                    "lists", _yes(listed), "what was written is listed" if listed else "not what was written"
                )
        with self._unless("reads"):
            there = self._scratch.store.get("first.json") == data
            self._say(
                "reads",
                _yes(there),
                "the bytes that were written" if there else "not the bytes that were written",
            )

    def _claim(self) -> None:
        if self.capabilities.assumed:
            self._say("oneWinner", "no", "no way is known; you promise that there is one writer")
        else:
            self._twice("oneWinner", _object("second.json", 0))
            self._twice("empty", b"")
        with self._unless("lostAnswer"):
            mine = _object("answer.json", 0)
            outcomes = [
                self._scratch.put("answer.json", data) for data in (mine, mine, _object("answer.json", 1))
            ]
            kept = self._scratch.store.get("answer.json") == mine
            good = kept and outcomes[1:] == [Outcome.WON, Outcome.LOST]
            told = f"the same bytes again: {outcomes[1].value}; other bytes: {outcomes[2].value}"
            self._say("lostAnswer", _yes(good), told if kept else f"{told}, and they are there now")
        with self._unless("rewrites"):
            beats = [_object("beat", number) for number in range(2)]
            self._scratch.announce([heartbeat_key(_RUN, 1)])
            for beat in beats:
                self._scratch.store.replace(heartbeat_key(_RUN, 1), beat)
            new = self._scratch.store.get(heartbeat_key(_RUN, 1)) == beats[1]
            self._say(
                "rewrites", _yes(new), "the second replaced the first" if new else "the first is still there"
            )

    def _twice(self, name: str, first: bytes) -> None:
        """Two creates of one name with different bytes."""
        with self._unless(name):
            key, second = f"{name}.json", _object(name, 2)
            outcomes = [self._scratch.put(key, data).value for data in (first, second)]
            there = self._scratch.store.get(key)
            if outcomes[1] == "won" or there == second:
                now = "overwrote the first" if there == second else "was said to have won"
                self._say(name, "no", f"the second create of a name {now}")
            elif outcomes == ["won", "lost"] and there == first:
                self._say(name, "yes", "the second create of a name was refused")
            else:
                self._say(name, "untried", f"no clear answer: {', then '.join(outcomes)}")

    def _compete(self, tell: Callable[[str], object]) -> None:
        alone = self.capabilities.assumed
        threads = self.capabilities.backend == "memory"
        if alone:
            for name in ("empty", "race", "whole"):
                self._say(name, "untried", "there is one writer, you promise")
        with (
            self._unless("race", "whole", "freshReads", "freshListings", "deletes"),
            Rivals(
                self._scratch.place, self._options, 1 if alone else self._writers, threads=threads
            ) as rivals,
        ):
            if not alone:
                who = f"{self._writers} {'threads of one process' if threads else 'processes'}"
                self._race(rivals, who, tell)
            tell("looking from elsewhere")
            self._look(rivals, "another thread" if threads else "another process")

    def _race(self, rivals: Rivals, who: str, tell: Callable[[str], object]) -> None:
        keys = [journal_key(_RUN, number) for number in range(1, self._rounds + 1)]
        self._scratch.announce(keys)
        rounds: dict[str, Round] = {}
        for key, one in zip(keys, race(rivals, keys, _object, self._scratch.look), strict=True):
            rounds[key] = one
            tell(f"racing for name {len(rounds)} of {self._rounds}")
        seen = tally(rounds, {key: self._scratch.look(key) for key in keys})
        of = f"of {seen.names} names"
        wrong = {"had several winners": seen.several, "do not hold what their winner wrote": seen.replaced}
        wrong["had no winner"] = seen.nobody
        if seen.broken:
            self._say("race", "no", f"{who}: " + "; ".join(f"{n} {of} {w}" for w, n in wrong.items() if n))
        elif seen.unclear or not seen.met:
            why = f"no clear answer for {seen.unclear} {of}" if seen.unclear else "their writes never met"
            self._say("race", "untried", f"{who}: {why}")
        else:
            self._say(
                "race", "yes", f"{who}, {seen.names} names, met at {seen.met}: no gap, nothing overwritten"
            )
        looks = f"{seen.looks:,} looks while they wrote and after"
        torn = f"{seen.torn} of {looks} met what nobody wrote"
        if seen.looks:
            self._say("whole", _yes(not seen.torn), torn if seen.torn else f"{looks}, all at whole objects")

    def _look(self, rivals: Rivals, who: str) -> None:
        """Somebody else looks for an object before it is there, once it is, and once it is deleted."""

        def ask(do: Literal["get", "list"], key: str = "") -> Any:
            got = rivals.ask(0, Order(do, key)).got
            if isinstance(got, StoreError):
                raise got
            return got

        stale = unlisted = ghosts = 0
        with self._unless("freshReads", "freshListings", "deletes"):
            for number in range(_FRESH):
                key = f"fresh-{number}.json"
                ask("get", key)  # before, so that an answer which is kept somewhere would be met again
                ask("list")
                self._scratch.put(key, data := _object(key, 0))
                stale += ask("get", key) != data
                unlisted += key not in ask("list")
                with self._unless("deletes"):
                    self._scratch.delete(key)
                if "deletes" not in self._found:
                    ghosts += ask("get", key) is not None
                    unlisted += key in ask("list")
            of = f"of {_FRESH}"
            self._say(
                "freshReads",
                _yes(not stale),
                f"{stale} {of} not found by {who}" if stale else f"by {who}, {_FRESH} objects",
            )
            told = (
                f"{unlisted} times not as it was"
                if unlisted
                else f"to {who}, {_FRESH} objects, also once deleted"
            )
            self._say("freshListings", _yes(not unlisted), told)
            if "deletes" not in self._found:
                self._say(
                    "deletes",
                    _yes(not ghosts),
                    f"{ghosts} {of} still read by {who}" if ghosts else f"{_FRESH} objects",
                )

    # What the steps share

    def _say(self, name: str, proven: Proven, how: str) -> None:
        self._found[name] = (proven, how)

    @contextmanager
    def _unless(self, *names: str) -> Iterator[None]:
        """Where a step fails, what is not known of `names` by then was not tried."""
        try:
            yield
        except StoreError as error:
            for name in names:
                self._found.setdefault(name, ("untried", error.problem))


def _yes(good: bool) -> Proven:
    return "yes" if good else "no"


def _object(key: str, writer: int) -> bytes:
    """What a writer writes: nobody else's bytes, and of a length of its own, so that a mixture would show."""
    filler = secrets.token_hex(_SIZE // 2 + 100 * writer)
    return json.dumps({"key": key, "writer": writer, "filler": filler}).encode()
