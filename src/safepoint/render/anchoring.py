"""What ``safepoint anchor`` says: the anchors that were written, or why none was.

Decided here: the words, and the members of the JSON report, which are stable::

    {"written": [{"sequence", "digest", "url"}, ...], "findings": [FINDING, ...], "summary": SUMMARY}

SUMMARY
    ``refused`` (nothing was written, because of the findings), ``anchor`` (``sequence`` and ``digest`` of the newest
    anchor; both null: there is none), ``runs`` and ``records`` of the store, ``changed`` (runs of which something was
    new), ``damaged`` (runs that could not be read whole, anchored as far as they could).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from safepoint.core.finding import Finding
from safepoint.render.findings import finding_document, finding_text
from safepoint.render.overview import quote
from safepoint.render.terminal import Screen, count, plain, to_json

SHOWN = 100
"""Findings of one code that text shows; all are counted."""


def anchored_json(
    written: Iterable[dict[str, Any]],
    findings: Iterable[Finding],
    summary: dict[str, Any],
    name_of: Callable[[str], str],
) -> bytes:
    """The whole report."""
    documents = [finding_document(finding, name_of(finding.code)) for finding in findings]
    return to_json({"written": list(written), "findings": documents, "summary": summary})


def anchored_text(
    written: Iterable[dict[str, Any]],
    findings: Iterable[Finding],
    name_of: Callable[[str], str],
    screen: Screen,
) -> Iterator[str]:
    """A line for each finding, and for each anchor its digest and where it lies."""
    shown: dict[str, int] = {}
    for finding in findings:
        shown[finding.code] = shown.get(finding.code, 0) + 1
        if shown[finding.code] <= SHOWN:
            yield f"{finding_text(finding, name_of(finding.code), screen)}\n"
    for code, number in shown.items():
        if number > SHOWN:
            yield f"{number - SHOWN:,} more of {code} {name_of(code)}\n"
    for anchor in written:
        yield f"{anchor['digest']}  {screen.paint(plain(anchor['url']), 'bold')}\n"


def summary_line(
    summary: dict[str, Any],
    written: int,
    wrong: int,
    place: str,
    screen: Screen,
    *,
    check: Sequence[str] = (),
) -> str:
    """What came of it, in one line, and where nothing is new in a second one what that does not say.

    Args:
        summary: SUMMARY.
        written: how many anchors.
        wrong: how many findings.
        place: where the anchors are.
        screen: where it goes.
        check: words of the command that reads everything.
    """
    newest = summary["anchor"]["sequence"]
    held = f"{count(summary['runs'], 'run')}, {count(summary['records'], 'record')}"
    if summary["damaged"]:
        held += f" ({count(summary['damaged'], 'run')} not readable whole, anchored as far as it is)"
    if summary["refused"]:
        what = screen.paint("refused, nothing was written", "red")
        against = f"{count(wrong, 'finding')} against anchor {newest}" if newest else count(wrong, "finding")
        return f"{plain(place)}: {what}: {against}"
    if not written:
        command = f"; to have every record checked: {' '.join(map(quote, check))}" if check else ""
        return (
            f"{plain(place)}: nothing is new since anchor {newest}: {held}\n"
            f"only the heads of the logs were compared with it{command}"
        )
    which = f"anchor {newest}" if written == 1 else f"anchors {newest - written + 1} to {newest}"
    accepted = f", {count(wrong, 'contradiction')} accepted" if wrong else ""
    news = count(summary["changed"], "run")
    return f"{plain(place)}: {which} of {held}: something new of {news}{accepted}"
