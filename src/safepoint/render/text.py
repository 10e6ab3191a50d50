"""``--format text``: the findings as people read them, on a terminal and in a log.

Decided here: on a terminal, findings are grouped under their file, each with the accused line and with a place that a
terminal opens at a click. Anywhere else each is first of all the one line that compilers print, so that ``grep``,
editors and problem matchers understand it. What was not checked, and the counts, come last.
Not decided here: which values may be seen (``core.excerpt``), and what is suppressed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from safepoint.core.finding import Checked, Finding
from safepoint.render.findings import NOUNS, STYLES, finding_text, summary_text
from safepoint.render.lines import excerpt_lines
from safepoint.render.report import RANKS, Context, Limit, unchecked
from safepoint.render.terminal import Screen, count, plain

LISTED = 8
"""Codes of rules that were not checked for one reason that are listed; programs get all."""


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
                yield _lines([*_paragraph(finding, context), ""])
    if not context.quiet:
        yield _lines(closing_lines(limit.summary(), context, context.screen))


def closing_lines(summary: Mapping[str, Any], context: Context, screen: Screen) -> Iterator[str]:
    """What was not checked, where to read on, what was gone by, and the counts."""
    for rules in unchecked(summary.get("skipped", ())):
        listed = ", ".join(rules.codes[:LISTED])
        more = f" and {len(rules.codes) - LISTED} more" if len(rules.codes) > LISTED else ""
        head = f"not checked in {rules.runs}"
        yield from _wrapped(head, f", as {plain(rules.reason)}: {listed}{more}", screen)
    if summary["codes"]:
        worst = max(summary["codes"], key=lambda code: RANKS[context.describe(code).severity])
        yield f"what a code means and how to fix it: safepoint explain {worst}"
    if context.settings:
        yield f"settings: {plain(context.settings)}"
    yield summary_text(summary, screen, context.seconds() if context.seconds else None)


def _wrapped(head: str, text: str, screen: Screen, style: str = "bold", indent: str = "") -> Iterator[str]:
    """`head` in its `style` and then `text`, in lines as wide as a terminal; elsewhere in one."""
    lines = [f"{indent}{head}{text}"]
    if screen.width is not None:
        import textwrap  # every start would pay for it, and only a terminal needs it

        lines = textwrap.wrap(
            f"{head}{text}",
            max(screen.width, 40),
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_on_hyphens=False,
        )
    # Colours come last, for they have no width; the head is long only on a terminal too narrow to be read anyway.
    yield lines[0].replace(head, screen.paint(head, style), 1)
    yield from lines[1:]


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


def _paragraph(finding: Finding, context: Context) -> Iterator[str]:
    """A finding on a terminal: what, where, and the line."""
    screen = context.screen
    head = f"{NOUNS[finding.severity]} {finding.code} {context.name(finding.code)}"
    yield from _wrapped(head, f": {plain(finding.message)}", screen, STYLES[finding.severity], "  ")
    if finding.url:
        place = f"{plain(finding.url)}:{finding.line}:{finding.column}"
        pointer = f" at {plain(finding.pointer)}" if finding.pointer else ""
        # never wrapped: a place that is cut in two cannot be clicked
        yield f"    {screen.paint(f'--> {place}{pointer}', 'dim')}"
    yield from _excerpt(finding, context)
