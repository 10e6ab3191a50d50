"""Processes that race for names in one store, started once and asked again and again.

Decided here: how a race is run fairly: everybody has opened the store, and for each number all are let go at once; else
the first winner would stay ahead, because losing takes longer than winning, and nobody would race. Each racer is a
process of its own with its own connections, which is handed a URL and options, as a user's worker is.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from places import Place

from safepoint.store.layout import journal_key

RUN = "race"

RACER = """
import json, os, sys
from safepoint.store import Outcome, open_store
from safepoint.store.layout import journal_key

store = None
for line in sys.stdin:
    asked = json.loads(line)
    if isinstance(asked, list):
        url, options = asked
        store = open_store(url, **options)
        store.exists(journal_key("race", 1))
        print(json.dumps("ready"), flush=True)
        continue
    data = json.dumps({"n": asked, "pid": os.getpid(), "nonce": os.urandom(8).hex()}).encode()
    tries = 1
    # where nobody can tell yet: the same bytes, the same name, and nothing else before
    while (outcome := store.put_if_absent(journal_key("race", asked), data)) is Outcome.UNKNOWN:
        tries += 1
    print(json.dumps([os.getpid(), outcome.value, data.decode(), tries]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Race:
    """What came of a race."""

    numbers: int
    winners: dict[int, list[str]]
    """For each number what those wrote who were told that they had won it."""
    shares: Counter[int]
    """How many each process won."""
    unknown: int
    """How often somebody was told that nobody could tell yet."""
    seconds: float
    held: dict[str, bytes]
    """What really lies in the store afterwards."""

    @property
    def doubled(self) -> list[int]:
        """Numbers that more than one process was told to have won."""
        return [number for number, texts in self.winners.items() if len(texts) > 1]

    @property
    def lost(self) -> list[int]:
        """Numbers that the store does not hold as their winner wrote them."""
        kept = {number: self.held.get(journal_key(RUN, number)) for number in range(1, self.numbers + 1)}
        return [
            n for n, data in kept.items() if [data] != [text.encode() for text in self.winners.get(n, [])]
        ]


class _Racer:
    def __init__(self) -> None:
        # measured they would race no less, but for longer
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", RACER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=kept
        )

    def say(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "a racer died"
        return json.loads(line)

    def end(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(20)


@functools.cache
def _racers(count: int) -> tuple[_Racer, ...]:
    racers = tuple(_Racer() for _ in range(count))
    for racer in racers:
        atexit.register(racer.end)
    return racers


def race(place: Place, racers: int, numbers: int) -> Race:
    """Lets `racers` processes try to write the numbers of one chain, all of them each number at the same time."""
    pool = _racers(8)[:racers]
    for racer in pool:
        racer.say(json.dumps([place.url, dict(place.options)]))
    for racer in pool:
        assert racer.hear() == "ready"
    winners: dict[int, list[str]] = {}
    shares: Counter[int] = Counter()
    unknown = 0
    begun = time.monotonic()
    for number in range(1, numbers + 1):
        for racer in pool:
            racer.say(str(number))
        for process, outcome, text, tries in [racer.hear() for racer in pool]:
            unknown += tries - 1
            if outcome == "won":
                winners.setdefault(number, []).append(text)
                shares[process] += 1
    seconds = time.monotonic() - begun
    return Race(numbers, winners, shares, unknown, seconds, place.foreign.everything())
