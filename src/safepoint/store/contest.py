"""A race for the numbers of a chain, and what its rounds prove.

Decided here: what is written down of a round, and when a round shows that storage broke its promise. Nothing is decided
by a writer's word alone: what it was told has to be what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from safepoint.store.base import Outcome
from safepoint.store.errors import StoreError
from safepoint.store.rivals import Answer, Order, Rivals

Seen = bytes | StoreError | None
"""What a look at a name finds: the object, why that cannot be told, or nothing."""

AGAIN = 3
"""How often whoever got no clear answer tries again, as a writer must: the same bytes, the same name."""


class Round(NamedTuple):
    """One name that all raced for."""

    bodies: Sequence[bytes]
    """What each writer wrote."""
    answers: Sequence[Answer]
    """What each was told in the end."""
    met: bool
    """Whether two of them were at it at the same moment."""
    looks: Sequence[Seen]
    """What was seen while they wrote."""
    after: Seen
    """What was seen once all had their answers."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What all rounds came to; each number counts names, `looks` and `torn` count looks."""

    names: int = 0
    met: int = 0
    several: int = 0
    """More than one writer was told that it had won."""
    replaced: int = 0
    """The name does not hold, or no longer holds, what its winner wrote."""
    nobody: int = 0
    """Everybody was told that it had lost, as if the name had been taken before."""
    unclear: int = 0
    looks: int = 0
    """How often something was seen, while they wrote or right after."""
    torn: int = 0
    """Something was seen that nobody wrote."""

    @property
    def broken(self) -> int:
        """Names that show a broken promise."""
        return self.several + self.replaced + self.nobody


def race(
    rivals: Rivals,
    keys: Iterable[str],
    body: Callable[[str, int], bytes],
    look: Callable[[str], Seen],
) -> Iterator[Round]:
    """Has all writers try each name at the same moment.

    Args:
        rivals: the writers.
        keys: the names.
        body: what a writer, by its number, writes under a name.
        look: what is there now.
    """
    for key in keys:
        orders = [Order("put", key, body(key, writer)) for writer in range(rivals.count)]
        rivals.begin(orders)
        looks, pause = [], 0.0002
        while rivals.busy:
            looks.append(look(key))
            time.sleep(pause)
            pause = min(
                pause * 1.5, 0.05
            )  # often at first, and not so often that it would hold the writers up
        answers = rivals.answers()
        met = _met(answers)
        for writer, order in enumerate(orders):
            for _ in range(AGAIN):
                if _is_clear(answers[writer]):
                    break
                answers[writer] = rivals.ask(writer, order)
        yield Round([order.data for order in orders], answers, met, looks, look(key))


def tally(rounds: Mapping[str, Round], finally_there: Mapping[str, Seen]) -> Tally:
    """What the rounds prove.

    Args:
        rounds: by the name that was raced for.
        finally_there: what each name held after the last round.
    """
    several = replaced = nobody = unclear = 0
    for key, (bodies, answers, _, _, after) in rounds.items():
        winners = [body for body, answer in zip(bodies, answers, strict=True) if answer.got is Outcome.WON]
        at_last = finally_there[key]
        if len(winners) > 1:
            several += 1
        elif isinstance(after, StoreError) or isinstance(at_last, StoreError):
            unclear += 1
        elif winners and {after, at_last} != {winners[0]}:
            replaced += 1
        elif not all(map(_is_clear, answers)):
            unclear += 1
        elif not winners:
            nobody += 1
    looks = [
        (found, one.bodies)
        for one in rounds.values()
        for found in (*one.looks, one.after)
        if isinstance(found, bytes)
    ]
    return Tally(
        names=len(rounds),
        met=sum(round_.met for round_ in rounds.values()),
        several=several,
        replaced=replaced,
        nobody=nobody,
        unclear=unclear,
        looks=len(looks),
        torn=sum(found not in bodies for found, bodies in looks),
    )


def _is_clear(answer: Answer) -> bool:
    return answer.got in {Outcome.WON, Outcome.LOST}


def _met(answers: Iterable[Answer]) -> bool:
    """Whether one of them began before one that had begun earlier was done."""
    ordered = sorted(answers, key=lambda answer: answer.began)
    done = accumulate((answer.ended for answer in ordered), max)
    return any(later.began < earlier for earlier, later in zip(done, ordered[1:], strict=False))
