"""What a migration did, or would do: the findings, and a summary in a few lines.

Decided here: the words, and which way on is pointed out. Not decided here: what is counted (``moving``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from safepoint.core.finding import Finding
from safepoint.render.findings import finding_text
from safepoint.render.report import RANKS
from safepoint.render.terminal import Screen, count

SHOWN = 20
"""Findings of one code that text shows; all are counted."""

_LOSSES = frozenset({"SP601", "SP605"})
_IN_ANY_CASE = frozenset({"SP002", "SP006", "SP604", "SP614"})
"""What stops a migration also where it is to keep going."""

_SEALED = {
    "sealed": "sealed",
    "alreadySealed": "sealed before",
    "ended": "ended and in need of no seal",
    "unnumbered": "without a numbered journal, which cannot be sealed",
    "sealedElsewhere": "sealed for another copy",
    "live": "that may be at work",
    "stale": "that went on after they were copied",
    "refused": "that must not be sealed",
    "unmigrated": "of which not all was migrated",
    "notWhole": "without a whole copy",
}
"""What became of originals, in the order in which it is told."""


def findings_lines(
    findings: Iterable[Finding], name_of: Callable[[str], str], screen: Screen
) -> Iterator[str]:
    """The lines of the findings, what one record has no place for in one of them."""
    seen: Counter[str] = Counter()
    # the gravest last, beside the summary
    for finding in sorted(_together(findings), key=lambda found: RANKS[found.severity]):
        seen[finding.code] += 1
        if seen[finding.code] <= SHOWN:
            yield finding_text(finding, name_of(finding.code), screen)


def news(findings: Iterable[Finding], outcome: str) -> list[Finding]:
    """The findings that are worth to be told: of a copy that is whole already, not how it came to be what it is."""
    return [f for f in findings if outcome != "nothingToDo" or f.severity != "info"]


def _together(findings: Iterable[Finding]) -> Iterator[Finding]:
    for (code, _, _, _), group in groupby(findings, key=lambda f: (f.code, f.url, f.line, f.message)):
        same = list(group)
        if code == "SP603" and len(same) > 1:
            names = ", ".join(finding.pointer for finding in same)
            yield replace(same[0], message=f"{same[0].message}: {names}", pointer="")
        else:
            yield from same


def record_summary(findings: Iterable[Finding], *, done: bool, changed: bool, dry: bool) -> str:
    """One line for a single file."""
    found = list(findings)
    lines = sum(1 for _ in _together(found))
    seen = Counter(finding.code for finding in _together(found))
    hidden = sum(max(0, number - SHOWN) for number in seen.values())
    more = f" ({hidden:,} more of the same codes not shown)" if hidden else ""
    places = f" in {count(len(found), 'place')}" if len(found) > lines else ""
    if not done:
        outcome = "refused, nothing was written"
    elif dry:
        outcome = "would be migrated" if changed else "would keep its bytes"
    elif seen["SP613"]:
        outcome = "done, but not all of it is migrated"
    else:
        outcome = "done: migrated" if changed else "done: kept as it is"
    return f"{outcome}; {count(lines, 'finding')}{places}{more}"


def store_summary(
    summary: Mapping[str, Any], findings: Sequence[Finding], screen: Screen, *, looking: bool
) -> str:
    """A few lines for a store.

    Args:
        summary: as in the JSON report.
        findings: those that are told.
        screen: what standard error may look like.
        looking: whether nothing was to be written.
    """
    outcome = summary["outcome"]
    lines = _head(summary, screen, looking=looking)
    changes = summary["migrated"] + summary["dropped"] + summary["asIs"]
    if outcome in {"planned", "done"} and summary["objects"] and (changes or outcome == "done"):
        end = "to write" if outcome == "planned" else "in the copy"
        lines.append(f"{summary['bytesRead']:,} bytes read, {summary['bytesWritten']:,} {end}")
    if summary["sealed"]:
        told = [
            f"{summary['sealed'][name]:,} {w}" for name, w in _SEALED.items() if name in summary["sealed"]
        ]
        lines += screen.prose(f"originals: {', '.join(told)}", rest="  ")
    if findings:
        counted = ", ".join(f"{number:,} {code}" for code, number in summary["codes"].items())
        hidden = sum(summary["codes"].values()) - len(findings)
        more = f", {hidden:,} of them not shown" if hidden > 0 else ""
        lines += screen.prose(f"findings: {counted}{more}", rest="  ")
        worst = max(findings, key=lambda finding: RANKS[finding.severity]).code
        lines.append(f"what a code means and how to fix it: safepoint explain {worst}")
    if summary["digest"] is not None:
        lines.append(f"digest of the copy: {summary['digest']}")
    return "\n".join(lines)


def _head(summary: Mapping[str, Any], screen: Screen, *, looking: bool) -> list[str]:
    """What came of it, and of how many objects."""
    outcome, refused = summary["outcome"], summary["refused"]
    of = count(summary["objects"], "object")
    if summary["runs"]:
        of += f" in {count(summary['runs'], 'run')}"
    unsealed = sum(1 for seal in summary["seals"] if seal["message"] is not None)
    unmigrated = bool(summary["asIs"])
    but = [
        *(["not all is migrated"] if unmigrated else []),
        *([f"{count(unsealed, 'original')} not sealed"] if unsealed else []),
    ]
    colour = "yellow" if but else "green"
    if outcome == "refused":
        head, colour = "nothing would be written" if looking else "refused, nothing was written", "red"
        rest = f"{refused:,} of {of} cannot be migrated" if refused else ""
    elif outcome == "nothingToDo":
        newly = bool(summary["sealed"].get("sealed"))
        if newly and not unsealed:
            head = "the originals are sealed"
        elif summary["objects"]:
            head = "the copy is whole already"
        else:  # nobody compared it: it was only to be sealed for
            head = "nothing was migrated" if unsealed else "nothing is left to be sealed"
        head = f"{head}, but {' and '.join(but)}" if but else head
        rest = of if summary["objects"] else ""
    elif outcome == "done":
        done = "done, after an interruption" if summary["resumed"] else "done"
        head, rest = f"{done}, but {' and '.join(but)}" if but else done, _fates(summary, of)
    elif not summary["migrated"] + summary["dropped"] + summary["asIs"]:
        head, rest = "nothing would change", _fates(summary, of)
    else:
        head, rest = "nothing was written", _fates(summary, of, "would be ")
    lines = screen.prose(f"{head}: {rest}" if rest else head, rest="  ")
    return [lines[0].replace(head, screen.paint(head, colour), 1), *lines[1:]]


def _fates(summary: Mapping[str, Any], of: str, verb: str = "") -> str:
    """What became, or would become, of the objects."""
    if not summary["objects"]:
        return "there is nothing in it"
    words = {
        "migrated": f"{verb}migrated",
        "copied": "copied as they are",
        "asIs": "not migrated and copied as they were",
        "dropped": "dropped (the version has no such records)",
        "left": "left behind (they speak of the original alone)",
    }
    told = [f"{summary[fate]:,} {said}" for fate, said in words.items() if summary[fate]]
    return f"of {of}, {', '.join(told)}"


def next_steps(
    summary: Mapping[str, Any], *, allow_loss: bool, keep_going: bool, seal: bool, looking: bool
) -> Iterator[str]:
    """What may be given with the same command to get further; a line each.

    Args:
        summary: as in the JSON report.
        allow_loss: whether that was allowed.
        keep_going: the same.
        seal: whether the originals were to be sealed.
        looking: whether nothing was to be written.
    """
    codes = summary["codes"].keys()
    if summary["outcome"] == "refused":
        if summary["refused"] and not keep_going and not codes & _IN_ANY_CASE:
            yield "to copy what cannot be migrated as it is, and migrate the rest: the same with --keep-going"
        if codes & _LOSSES and not allow_loss:
            yield "to leave out what the version cannot hold: the same with --allow-loss"
    elif (
        # what lost records on its way down goes on nowhere, and its original should stay as it is
        summary["outcome"] == "done" and summary["openRuns"] and not (seal or looking or summary["dropped"])
    ):
        one = summary["openRuns"] == 1
        runs = f"{count(summary['openRuns'], 'copied run')} {'has' if one else 'have'} no end"
        way = "it go on, seal its original" if one else "them go on, seal their originals"
        yield f"{runs}; to let {way}: the same with --seal --by WHO"
