"""A decision's plan as a table: what to do with each action and step (SPEC.md#decision).

Decided here: the words for each way to go on. Not decided here: whether a plan is worth showing (``decision``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.render.terminal import Cell, Screen

_DO: Mapping[str, tuple[str, str]] = {
    "skip": ("green", "do not do it again; take the recorded result"),
    "replay": ("yellow", "do it again, as the same request"),
    "run": ("green", "do it; nothing was sent"),
    "wait": ("cyan", "leave it alone until the time above"),
    "reconcile": ("yellow", "find out whether it happened"),
    "compensate": ("yellow", "undo it"),
    "handOver": ("red", "a human decides"),
    "confirm": ("green", "confirm the reservation"),
    "void": ("yellow", "void the reservation"),
}

_DO_BECAUSE: Mapping[tuple[str, str], str] = {
    ("skip", "SP741"): "its undoing is done; record that",
    ("skip", "SP745"): "do not begin it; the run is being undone",
    ("skip", "SP771"): "pass it without a result; nobody will know whether it happened",
    ("skip", "SP776"): "do not do it again; its result is not recorded (in Python, call returns None)",
    ("run", "SP762"): "do it again; it only reads",
    ("run", "SP770"): "reserve again; the old one has expired",
    ("replay", "SP762"): "do it again; it is harmless",
    ("replay", "SP768"): "do it again; it was not applied",
    ("replay", "SP777"): "do it again; it was not applied",
}
"""Where the reason makes the general words of `_DO` too general."""

_DO_NOT: Mapping[str, str] = {
    "run": "not to be done: nothing new may start",
    "replay": "not to be sent again: nothing new may start",
}
"""Where the run was asked to stop, or has ended."""

_STOPPED = frozenset({"SP710", "SP711", "SP712", "SP713", "SP714", "SP717"})
"""Codes of a run that was asked to stop, or has ended."""

_WORDS: Mapping[str, str] = {"handOver": "hand over"}


def do_word(do: str) -> str:
    """What to do, as text has it."""
    return _WORDS.get(do, do)


_OVER = frozenset({"no_op", "give_up"})

_UNSETTLED = frozenset({"wait", "reconcile", "hand_over"})
"""Verdicts under which nothing of the plan is to be done yet."""


def plan_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A row for each action and step, under a title; empty where there is nothing to plan.

    Args:
        document: the decision.
        screen: where it goes.
    """
    if not document["plan"]:
        return ""
    stopped = document["verdict"] == "give_up" or any(r["code"] in _STOPPED for r in document["reasons"])
    rows: list[list[Cell]] = []
    for item in document["plan"]:
        style, words = _DO[item["do"]]
        words = _DO_BECAUSE.get((item["do"], item["reason"]), words)
        if item.get("actionId") is None and item["do"] == "run":
            words = "run the step; its effects are judged one by one"
        if item["do"] == "handOver" and document["verdict"] in _OVER:
            words = "left open by a human's word"
        elif stopped:
            words = _DO_NOT.get(item["do"], words)
        what = (
            f"action {item['actionId']}" if item.get("actionId") is not None else f"step {item['stepName']}"
        )
        rows.append([what, (do_word(item["do"]), style), item["key"] or "-", item["reason"], words])
    table = screen.table(("what", "do", "key", "reason", "that is"), rows)
    return f"\n{screen.paint(_title(document, stopped=stopped), 'bold')}\n{table}"


def _title(document: Mapping[str, Any], *, stopped: bool) -> str:
    if stopped:
        return "what is known of its effects"
    return "plan, once the above is settled" if document["verdict"] in _UNSETTLED else "plan"
