"""A wish to stop, met by a running agent: what leaving its block ends, and what it leaves to be looked after."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint import rules
from safepoint.reader import load_run
from safepoint.recorder import CancelRequested, RecordedRun, request_cancel, resume_run, start_run
from safepoint.store import Store

RUN = "run-1"


def open_run(store: Store, clock: Any) -> RecordedRun:
    return start_run(store, RUN, workflow="w", holder="w1", clock=clock)


def meet_the_wish(run: RecordedRun, clock: Any) -> None:
    request_cancel(run._journal.store, run.run_id, by="boss", clock=clock)
    run.effect("mail", step_name="mail", request={}).call(lambda: pytest.fail("sent"))


@pytest.mark.parametrize("resumed", [False, True])
def test_a_wish_to_stop_that_leaves_the_block_ends_the_run(
    store: Store, clock: Any, *, resumed: bool
) -> None:
    run = open_run(store, clock)
    if resumed:
        run.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"])
        run.release()
        run = resume_run(store, RUN, holder="w2", clock=clock)
    with pytest.raises(CancelRequested, match="boss asked for it to stop"), run:
        meet_the_wish(run, clock)
    folded = load_run(store, RUN).run
    assert folded is not None
    assert (folded.status, folded.records[-1].value["by"]) == ("cancelled", "boss")
    assert not [fault for fault in (*folded.faults, *rules.check(folded)) if fault.code != "SP524"]
    assert [episode.state for episode in folded.episodes.values()] == ["failedAttempt"] * resumed


def test_a_wish_to_stop_with_an_open_effect_only_gives_the_lease_back(store: Store, clock: Any) -> None:
    def lose_the_answer() -> None:
        raise ValueError("no answer")

    run = open_run(store, clock)
    with pytest.raises(ValueError, match="no answer"):
        run.effect("pay", step_name="pay", request={}).call(lose_the_answer)
    with pytest.raises(CancelRequested), run:
        meet_the_wish(run, clock)
    folded = load_run(store, RUN).run
    assert folded is not None
    assert folded.status == "started"
    assert folded.records[-1].value.get("event") == "released"


def test_what_has_begun_to_be_undone_is_not_called_cancelled_by_leaving(store: Store, clock: Any) -> None:
    run = open_run(store, clock)
    for name in ("pay", "ship"):
        run.effect(name, step_name=name, request={}).call(lambda: "done")
    request_cancel(store, RUN, by="boss", clock=clock)
    undo = run.effect("undo-ship", step_name="ship", request={}, compensates="ship")
    assert undo.call(lambda: "undone") == "undone", "a wish to stop does not stop what undoes"
    with pytest.raises(CancelRequested), run:
        meet_the_wish(run, clock)
    folded = load_run(store, RUN).run
    assert folded is not None
    assert folded.status == "started"
    assert not folded.faults


def test_the_end_of_an_inner_run_does_not_end_the_run_around_it(store: Store, clock: Any) -> None:
    outer = open_run(store, clock)
    inner = start_run(store, "child", workflow="w", holder="w1", parent_run_id=RUN, clock=clock)
    with pytest.raises(CancelRequested), outer, inner:
        meet_the_wish(inner, clock)
    statuses = {name: load_run(store, name).run.status for name in (RUN, "child")}  # type: ignore[union-attr]  # None fails as well
    assert statuses == {RUN: "started", "child": "cancelled"}
