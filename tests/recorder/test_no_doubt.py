"""What a human has nothing to say of: an action whose own status leaves no doubt, whatever became of its attempts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import Declares, IllegalRecord, resolve_action, start_run
from safepoint.recorder.evidence import possible_outcomes
from safepoint.store import Store

RUN = "run-1"


def no_answer() -> None:
    raise ValueError("no answer")


def folded(store: Store) -> Run:
    run = load_run(store, RUN).run
    assert run is not None
    assert not run.faults
    return run


@pytest.mark.parametrize("outcome", ["committed", "failed", "abandoned", "cancelled"])
def test_an_open_attempt_beside_one_that_is_known_to_be_applied_is_no_doubt(
    store: Store, clock: Any, outcome: str
) -> None:
    declares = Declares(effect="message", idempotency="keyed", dedupe_window_seconds=86_400)
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    for function in (no_answer, lambda: "sent"):
        with suppress(ValueError):
            run.effect("mail", step_name="notify", request=1, key="k", declares=declares).call(function)
    run.release()
    before = folded(store)
    action = before.actions["mail"]
    assert (action.status, len(action.open_attempts), possible_outcomes(action)) == ("committed", 1, ())
    with pytest.raises(IllegalRecord, match=f"mail is committed: there is no doubt to resolve as {outcome}"):
        resolve_action(store, RUN, "mail", outcome=outcome, by="ann", evidence="ticket 7", clock=clock)
    assert len(folded(store).records) == len(before.records)


def test_what_is_being_undone_is_nothing_to_resolve(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    declares = Declares(
        effect="payment",
        idempotency="keyed",
        dedupe_window_seconds=86_400,
        compensation="refund",
        compensation_consumes_key=True,
    )
    pay = {"step_name": "pay", "request": 1, "key": "k", "declares": declares}
    with suppress(ValueError):
        run.effect("mail", **pay).call(no_answer)
    with suppress(ValueError):
        run.effect("back", **pay, compensates="mail").call(no_answer)
    run.release()
    action = folded(store).actions["mail"]
    assert (action.status, len(action.open_attempts), possible_outcomes(action)) == ("compensating", 1, ())
    epoch = folded(store).ownership.epoch  # type: ignore[union-attr]  # None fails as well
    with pytest.raises(IllegalRecord, match="mail is compensating"):
        resolve_action(store, RUN, "mail", outcome="abandoned", by="ann", evidence="ticket 7", clock=clock)
    assert folded(store).ownership.epoch == epoch  # type: ignore[union-attr]  # None fails as well
