"""A plan's words for a run that goes on, one that was asked to stop, and one that has ended."""

from __future__ import annotations

from typing import Any

import pytest
from decided import reason, text

from safepoint.render.asked import Asked

REPLAYED: dict[str, Any] = {"actionId": "send", "do": "replay", "key": "k", "reason": "SP763"}
HANDED: dict[str, Any] = {"actionId": "send", "do": "handOver", "key": None, "reason": "SP766"}


@pytest.mark.parametrize(
    ("verdict", "code"), [("hand_over", "SP712"), ("give_up", "SP714"), ("give_up", "SP753")]
)
def test_a_run_that_stops_is_never_told_to_do_it_again(verdict: str, code: str) -> None:
    shown = text(verdict, reasons=[reason(code, verdict)], plan=[REPLAYED])
    assert "\nwhat is known of its effects\n" in shown
    assert "not to be sent again: nothing new may start" in shown
    assert "do it again" not in shown


def test_what_a_human_left_open_is_said_of_a_run_that_is_over() -> None:
    assert "hand over  -    SP766   left open by a human's word" in text("give_up", plan=[HANDED])
    assert "hand over  -    SP766   a human decides" in text("hand_over", plan=[HANDED])


def test_who_was_asked_to_stop_is_not_asked_again() -> None:
    assert "Or stop the run for good" in text("hand_over")
    assert "Or stop the run for good" not in text("hand_over", Asked("s", stopping=True))
