"""Every single damage of a good case is found: by a warning, by an error, or it is listed as harmless with its reason.

That the good cases are good is asked the same way, so that the short way which sound runs take has to agree.

What is damaged, how and where is in ``damage``. Here a share of it is tried, always the same; all of it with
``cd tests/mutation && python -m damage``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from damage import harmless, trial

import safepoint

SHARE = 5
"""Of the damages of one member every so-manieth is tried."""


@cache
def cases() -> tuple[trial.Good, ...]:
    return tuple(trial.good_cases())


@cache
def trials() -> tuple[trial.Trial, ...]:
    members, records = trial.Share(SHARE), trial.Share(1)
    return tuple(one for good in cases() for one in trial.tried(good, members, records, trial.some_bytes))


def places(found: Iterator[trial.Trial]) -> str:
    """One line for each kind and member, with one of the cases."""
    return "\n".join(sorted({f"{one.kind}: {one.what}": str(one) for one in found}.values()))


@pytest.mark.timeout(300)
def test_no_damage_makes_the_validator_crash_or_answer_twice() -> None:
    crashed = "\n".join(f"{one}: {one.crash}" for one in trials() if one.crash)
    assert not crashed, crashed


@pytest.mark.timeout(300)
def test_every_damage_is_found_or_harmless() -> None:
    silent = (one for one in trials() if not one.new and not one.crash)
    missed = places(one for one in silent if harmless.reason(one.kind, one.what) is None)
    assert not missed, missed


@pytest.mark.timeout(300)
def test_damages_are_of_many_kinds_and_most_of_them_are_found() -> None:
    kinds = Counter(one.kind for one in trials())
    found = Counter(one.kind for one in trials() if one.new)
    assert len(kinds) > 300
    assert len(found) > 250
    assert found.total() > 0.8 * kinds.total()
    # what the suite's good cases do not hold cannot be damaged
    assert {one.what.partition(" ")[0].partition(".")[0] for one in trials()} >= {
        "run", "checkpoint", "ledger", "approval", "lease", "evidence", "retract", "recovery", "heartbeat", "store",
        "v1-checkpoint", "v1-ledger", "v2-checkpoint", "v2-ledger", "policy", "facts", "request", "decision", "report",
        "deleted",
    }  # fmt: skip


def test_findings_come_in_one_order(tmp_path: Path) -> None:
    few = trial.Share(30)
    for good in cases():
        for number, damage in enumerate(trial.damages(good, few, few)):
            root = tmp_path / f"{good.name.replace('/', '-')}-{number}"
            root.mkdir()
            trial.lay(root, {}, damage[3])
            inputs = [str(root / name) for name in good.inputs]
            assert list(safepoint.validate(*inputs)) == list(safepoint.validate(*inputs))
