"""Runs as the recorder writes them, with a clock that only moves when it is looked at; and anchors of their store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from safepoint.core.timestamp import SECOND, parse_time
from safepoint.recorder import Declares, Receipt, RecordedRun, start_run
from safepoint.store import open_store
from safepoint.upkeep.anchor import Acceptance, Report, anchor_store

START = parse_time("2026-05-07T10:00:00Z")
PAYMENT = Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400)


def ticking() -> Callable[[], int]:
    """A clock: a hundredth of a second passes with every look."""
    now = START

    def look() -> int:
        nonlocal now
        now += SECOND // 100
        return now

    return look


def record_run(
    store: str | Path, run_id: str, steps: int = 2, *, ends: bool = True, nonce: str = "a" * 32
) -> RecordedRun:
    """A run of `steps` payments, each with a checkpoint behind it; it may still be at work."""
    run = start_run(
        str(store), run_id, workflow="pay", holder="worker-1", clock=ticking(), nonce=lambda: nonce
    )
    for number in range(steps):
        work(run, number)
    if ends:
        run.complete()
    return run


def work(run: RecordedRun, number: int) -> None:
    """One payment more, and the checkpoint behind it."""
    name = f"pay-{number}"
    effect = run.effect(
        name,
        step_name=f"step-{number}",
        request={"amount": number},
        key=f"{run.run_id}-{name}",
        declares=PAYMENT,
    )
    with effect:
        effect.call(lambda: Receipt(ref=f"receipt-{number}"))
    run.checkpoint(
        f"cp-{number}", state="running", step_name=f"step-{number}", next_steps=[f"step-{number + 1}"]
    )


def anchor(store: str | Path, place: str | Path, **given: Any) -> Report:
    """An anchoring, as the command does it."""
    accept = given.pop("accept", None)
    word = Acceptance(accept, "m.moreau") if accept else None
    opened, written = open_store(str(store)), open_store(str(place))
    return anchor_store(opened, written, **{"now": START, "nonce": "0" * 32, **given}, accepted=word)
