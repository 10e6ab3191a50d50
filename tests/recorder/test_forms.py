"""What is not taken for a human's answer: the guard's template as it was printed, and a second opinion."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint.core.timestamp import format_time
from safepoint.recorder import IllegalRecord, resolve_action, start_run
from safepoint.store import Store

RUN = "run-1"


@pytest.fixture
def doubtful(store: Store, clock: Any) -> Store:
    """A mail is in doubt, and the lease of its worker has lapsed."""

    def lost() -> None:
        raise OSError("lost")

    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    with pytest.raises(OSError, match="lost"), run.effect("mail", step_name="notify", request=1) as mail:
        mail.call(lost)
    clock.sleep(30)
    return store


def answer(store: Store, clock: Any, outcome: Any, **texts: str) -> None:
    resolve_action(store, RUN, "mail", **{"outcome": outcome, "by": "ann", **texts}, clock=clock)


@pytest.mark.parametrize(
    ("outcome", "texts", "why"),
    [
        ("FILL IN", {}, "one of committed, failed, abandoned, cancelled, not 'FILL IN'"),
        ("done", {}, "one of committed, failed, abandoned, cancelled, not 'done'"),
        ("committed", {"by": "FILL IN: you"}, "by is still 'FILL IN: you'"),
        ("committed", {"evidence": "FILL IN: where to look it up"}, "evidence is still"),
        ("failed", {"reason": "FILL IN"}, "reason is still"),
    ],
)
def test_a_form_that_nobody_filled_in_is_no_answer(
    doubtful: Store, clock: Any, outcome: str, texts: dict[str, str], why: str
) -> None:
    before = list(doubtful.list())
    with pytest.raises(ValueError, match=why):
        answer(doubtful, clock, outcome, **texts)
    assert list(doubtful.list()) == before


@pytest.mark.parametrize(
    ("first", "second"), [("committed", "failed"), ("failed", "failed"), ("abandoned", "cancelled")]
)
def test_who_answers_after_another_human_is_told_of_the_first_answer(
    doubtful: Store, clock: Any, first: str, second: str
) -> None:
    said = format_time(clock())[:19]  # the clock goes on with every look
    answer(doubtful, clock, first)
    clock.sleep(1)
    with pytest.raises(IllegalRecord, match=f"mail is {first}, as ann said at {said}.*: there is no doubt"):
        answer(doubtful, clock, second, by="bob")
