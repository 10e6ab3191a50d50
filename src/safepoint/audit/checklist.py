"""The ten points as a table, and one run's answers to them.

To add nothing here: the ten are the checklist (SPEC.md#checklist), and each has a code for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from safepoint.audit.answer import Answer, Evidence
from safepoint.audit.case import Case, Given, case_of
from safepoint.audit.points import (
    cap,
    checkpoints,
    effects,
    gates,
    guarded,
    human,
    limits,
    recovery,
    replay,
    saved,
)
from safepoint.core.fault import Fault
from safepoint.model.run import Run


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the checklist."""

    number: int
    code: str
    """Under which it is reported where it is not passed."""
    title: str
    judge: Callable[[Case], Answer]


POINTS: tuple[Point, ...] = (
    Point(1, "SP801", "checkpoints only where they pay", checkpoints.judge),
    Point(2, "SP802", "schema version and side-effect status saved", saved.judge),
    Point(3, "SP803", "recovery modelled separately", recovery.judge),
    Point(4, "SP804", "guard run before every resume", guarded.judge),
    Point(5, "SP805", "replayable told from not", replay.judge),
    Point(6, "SP806", "a ledger for external effects", effects.judge),
    Point(7, "SP807", "human gates resumable, never repeated", gates.judge),
    Point(8, "SP808", "budget, cooldown and breaker defined", limits.judge),
    Point(9, "SP809", "a cap for each run", cap.judge),
    Point(10, "SP810", "a way to a human", human.judge),
)

_UNREAD = "see why with: safepoint validate STORE --run RUN"


def examine(run: Run, texts: Iterable[Fault], given: Given) -> tuple[Answer, ...]:
    """One run's answers to the ten points, in their order.

    Args:
        run: the folded run.
        texts: what the reader found wrong with its texts and names.
        given: the policy, and whether the project gave one.
    """
    case = case_of(run, texts, given)
    if not run.records:
        nothing = "nothing of the run can be read"
        unknown = Answer("cannot tell", nothing, (Evidence(nothing, _UNREAD, case.place),))
        return (unknown,) * len(POINTS)
    return tuple(point.judge(case) for point in POINTS)
