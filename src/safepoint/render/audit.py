"""The checklist for people: ten lines at a glance, then what is not passed, with its evidence and its remedy.

Decided here: order, signs and words; every sign stands beside a word, so that neither colour nor letters beyond ASCII
are needed to read it. The input is the document of ``--format json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from safepoint.render.terminal import Cell, Screen, count, plain

SIGNS: Mapping[str, tuple[str, str, str]] = {
    "passed": ("✓", "passed", "green"),
    "failed": ("✗", "failed", "bold red"),
    "cannotTell": ("?", "cannot tell", "yellow"),
}
"""Each result: its sign, its word, and how it is painted."""

SHOWN = 3
"""Places of evidence that are shown of each point; the JSON document has more."""


def audit_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The whole answer.

    Args:
        document: see ``audit.document``.
        screen: where it goes.
    """
    summary = document["summary"]
    lines = [*_head(document, summary, screen), ""]
    table = screen.table(
        ("", "", "point", "why"), [_row(point, summary["runs"]) for point in document["points"]], indent=""
    )
    text = "\n".join(lines) + "\n" + table
    for point in document["points"]:
        if point["result"] != "passed":
            text += "\n" + "\n".join(_open(point, summary["runs"], screen)) + "\n"
    worst = next(
        (p["code"] for p in document["points"] if p["result"] == document["result"] != "passed"), None
    )
    if worst:
        text += f"\nwhat a point asks for, and why: safepoint explain {worst}\n"
    return text


def headline(document: Mapping[str, Any]) -> str:
    """``failed: of 10 points 3 failed, 2 cannot be told, 5 passed``."""
    results = [point["result"] for point in document["points"]]
    failed, unknown = results.count("failed"), results.count("cannotTell")
    passed = len(results) - failed - unknown
    if passed == len(results):
        return f"passed: all {passed} points"
    said = [
        f"{number} {words}"
        for number, words in ((failed, "failed"), (unknown, "cannot be told"), (passed, "passed"))
        if number
    ]
    return f"{SIGNS[document['result']][1]}: of {len(results)} points {', '.join(said)}"


def _head(document: Mapping[str, Any], summary: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    yield screen.paint(headline(document), SIGNS[document["result"]][2])
    what = f"run {plain(document['run'])}" if document["run"] is not None else count(summary["runs"], "run")
    deleted = f" ({summary['deleted']:,} more deleted)" if summary["deleted"] else ""
    policy = f"policy {plain(document['policy'])}" if document["policy"] else "no policy given"
    yield screen.paint(f"{plain(document['store'])}, {what}{deleted}, {policy}", "dim")


def _row(point: Mapping[str, Any], runs: int) -> list[Cell]:
    sign, word, style = SIGNS[point["result"]]
    first, *others = point["because"]
    share = f"{point['runs'][point['result']]:,} of {runs:,} runs: " if runs > 1 else ""
    # a second reason matters where it passed for different reasons; else the evidence below says it all
    why = f"{share}{first}" + (f"; or: {others[0]}" if others and point["result"] == "passed" else "")
    return [str(point["point"]), (f"{sign} {word}", style), point["title"], why]


def _open(point: Mapping[str, Any], runs: int, screen: Screen) -> Iterator[str]:
    """A point that is not passed."""
    sign, word, style = SIGNS[point["result"]]
    share = f" in {point['runs'][point['result']]:,} of {runs:,} runs" if runs > 1 else ""
    head = f"{sign} {point['point']}. {point['title']}: {word}{share}"
    yield f"{screen.paint(head, style)} {screen.paint('(' + point['code'] + ' ' + point['name'] + ')', 'dim')}"
    for found in point["evidence"][:SHOWN]:
        about = f"run {plain(found['runId'])}: " if runs > 1 else ""
        yield from screen.prose(f"{about}{plain(found['message'])}", "  - ")
        if found["url"]:
            pointer = f" at {plain(found['pointer'])}" if found["pointer"] else ""
            # never wrapped: a place that is cut in two cannot be clicked
            place = f"{plain(found['url'])}:{found['line']}:{found['column']}{pointer}"
            yield screen.paint(f"    {place}", "dim")
    more = point["evidenceCount"] - min(len(point["evidence"]), SHOWN)
    if more:
        yield f"  - and {more:,} more"
    for remedy in point["remedies"]:
        yield from screen.prose(plain(remedy), "  do: ")
