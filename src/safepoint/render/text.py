"""``--format text``: the findings as people read them, on a terminal and in a log.

Decided here: on a terminal, findings are grouped under their file, each with the accused line and with a place that a
terminal opens at a click. Anywhere else each is first of all the one line that compilers print, so that ``grep``,
editors and problem matchers understand it. What was not checked, and the counts, come last.
Not decided here: which values may be seen (``core.excerpt``), and what is suppressed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from safepoint.core.finding import Checked, Finding
from safepoint.render.findings import NOUNS, STYLES, finding_text, summary_text
from safepoint.render.lines import excerpt_lines
from safepoint.render.report import RANKS, Context, Limit
from safepoint.render.terminal import Screen, count, plain


def text_report(checked: Iterable[Checked], context: Context) -> Iterator[str]:
    """A paragraph for each finding, or a line, and the counts."""
    limit, before = Limit(context), None
    for found in checked:
        for finding in limit(found.findings):
            if context.screen.width is None:
                line = finding_text(finding, context.name(finding.code), context.screen)
                yield _lines([line, *_excerpt(finding, context)])
            else:
                if finding.url and finding.url != before:
                    yield _heading(finding.url, found.findings, context.screen)
                before = finding.url
                yield _lines([*_paragraph(finding, context, context.screen.width), ""])
    if not context.quiet:
        yield _lines(closing_lines(limit.summary(), context, context.screen))


def closing_lines(summary: Mapping[str, Any], context: Context, screen: Screen) -> Iterator[str]:
    """What was not checked, where to read on, and the counts."""
    yield from _skipped(summary.get("skipped", ()), screen)
    if summary["codes"]:
        worst = max(summary["codes"], key=lambda code: RANKS[context.describe(code).severity])
        yield f"what a code means and how to fix it: safepoint explain {worst}"
    yield summary_text(summary, screen, context.seconds() if context.seconds else None)


def _heading(url: str, findings: Iterable[Finding], screen: Screen) -> str:
    """The file, and how much is wrong with it."""
    found = Counter[str](finding.severity for finding in findings if finding.url == url)
    counts = ", ".join(count(found[severity], noun) for severity, noun in NOUNS.items() if found[severity])
    return f"{screen.paint(plain(url), 'bold')}{screen.paint(f': {counts}', 'dim')}\n"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _excerpt(finding: Finding, context: Context) -> list[str]:
    if finding.excerpt is None:
        return []
    return excerpt_lines(finding.excerpt, finding.line, STYLES[finding.severity], context.screen, "    ")


def _paragraph(finding: Finding, context: Context, width: int) -> Iterator[str]:
    """A finding on a terminal: what, where, and the line."""
    import textwrap  # every start would pay for it, and only a terminal needs it

    screen = context.screen
    head = f"{NOUNS[finding.severity]} {finding.code} {context.name(finding.code)}"
    # Colours come last, for they have no width; the head is long only on a terminal too narrow to be read anyway.
    said = textwrap.wrap(
        f"{head}: {plain(finding.message)}",
        max(width, 40),
        initial_indent="  ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )
    yield said[0].replace(head, screen.paint(head, STYLES[finding.severity]), 1)
    yield from said[1:]
    if finding.url:
        place = f"{plain(finding.url)}:{finding.line}:{finding.column}"
        pointer = f" at {plain(finding.pointer)}" if finding.pointer else ""
        # never wrapped: a place that is cut in two cannot be clicked
        yield f"    {screen.paint(f'--> {place}{pointer}', 'dim')}"
    yield from _excerpt(finding, context)


def _skipped(skipped: Iterable[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """The rules that were not checked: neither passed nor failed."""
    rules: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in skipped:
        rules[each["reason"]][each["code"]] += each["runs"]
    for reason, codes in sorted(rules.items(), key=lambda rule: (-max(rule[1].values()), rule[0])):
        most = max(codes.values())
        up_to = "" if most == min(codes.values()) else "up to "
        said = screen.paint(f"not checked in {up_to}{count(most, 'run')}", "bold")
        yield f"{said}, as {plain(reason)}: {', '.join(sorted(codes))}"
