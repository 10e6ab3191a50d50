"""One finding, and the counts of all: as text, and as the JSON that programs read.

Decided here: the line that compilers and editors agree on, and the members of the JSON outputs, which are stable:
members may be added, none goes or changes its meaning.

``--format json`` is one document::

    {"findings": [FINDING, ...], "summary": SUMMARY}

``--format jsonl`` has a line for each finding as it is found, ``{"type": "finding", ...FINDING}``, and a last one
``{"type": "summary", ...SUMMARY}``; a reader that misses the last line knows that the check was cut off.

FINDING
    ``code``, ``name``, ``severity`` (error, warning, info), ``url`` (empty: no file is to blame), ``key`` (relative to
    the store), ``pointer`` (RFC 6901), ``line`` and ``column`` (from 1; columns are Unicode code points), ``message``,
    ``fingerprint`` (see `Finding.fingerprint`); and ``excerpt`` (before, accused, after) where it was asked for.

SUMMARY
    ``files``, ``runs``, ``records``, ``documents``, ``faulty`` (texts that are no sound record), ``artifacts`` (read,
    and what their references say; absent: nobody looked), ``findings`` (by severity), ``codes`` (by code),
    ``suppressed`` (by reason; these are not among the findings), ``skipped`` (a list of code, reason, runs: rules that
    were not checked), ``hidden`` (counted, but over a limit and so not listed), ``settings`` (path of the file with the
    settings that were gone by; null: there was none).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from safepoint.core.finding import Checked, Finding, Severity
from safepoint.render.jsontext import array_pieces, indented
from safepoint.render.report import Context, Limit
from safepoint.render.terminal import Screen, ago, count, plain, to_json

STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
"""How each severity is painted."""

NOUNS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
"""What a finding of each severity is called."""

BASELINE = "baseline"
"""Why a finding is suppressed that was known before (``selection.KNOWN``)."""


def finding_text(finding: Finding, name: str, screen: Screen) -> str:
    """``place:line:column: SP214 name: message``, without a final line feed; what is no error says so.

    Args:
        finding: what to say.
        name: the code's name in words.
        screen: where it goes.
    """
    place = f"{plain(finding.url)}:{finding.line}:{finding.column}: " if finding.url else ""
    pointer = f" (at {plain(finding.pointer)})" if finding.pointer else ""
    grade = "" if finding.severity == "error" else f"{NOUNS[finding.severity]} "
    code = screen.paint(f"{grade}{finding.code} {name}", STYLES[finding.severity])
    return f"{screen.paint(place, 'bold')}{code}: {plain(finding.message)}{screen.paint(pointer, 'dim')}"


def finding_document(finding: Finding, name: str) -> dict[str, Any]:
    """`finding` for JSON."""
    document: dict[str, Any] = {
        "code": finding.code,
        "name": name,
        "severity": finding.severity,
        "url": finding.url,
        "key": finding.key,
        "pointer": finding.pointer,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
        "fingerprint": finding.fingerprint,
    }
    if finding.excerpt is not None:
        cut = finding.excerpt
        document["excerpt"] = {"before": cut.before, "accused": cut.accused, "after": cut.after}
    return document


def json_report(checked: Iterable[Checked], context: Context) -> Iterator[str]:
    """One document; its findings are written as they come."""
    limit = Limit(context)
    yield '{\n  "findings": '
    yield from array_pieces(_documents(checked, context, limit), 1)
    yield f',\n  "summary": {indented(limit.summary(), 1)}\n}}\n'


def jsonl_report(checked: Iterable[Checked], context: Context) -> Iterator[str]:
    """A line for each finding, and the summary as the last one."""
    limit = Limit(context)
    for document in _documents(checked, context, limit):
        yield to_json({"type": "finding", **document}, indent=False).decode()
    yield to_json({"type": "summary", **limit.summary()}, indent=False).decode()


def _documents(checked: Iterable[Checked], context: Context, limit: Limit) -> Iterator[dict[str, Any]]:
    for found in checked:
        for finding in limit(found.findings):
            yield finding_document(finding, context.name(finding.code))


def summary_text(summary: Mapping[str, Any], screen: Screen, seconds: float | None = None) -> str:
    """The counts in one line: what was looked at, and what was found.

    Args:
        summary: see the top of this module; ``hidden``, ``suppressed`` and ``skipped`` may be absent.
        screen: where it goes.
        seconds: how long it took; None: not told.
    """
    looked = [count(summary["records"], "record")]
    if summary["documents"]:
        looked.append(count(summary["documents"], "document"))
    if summary["faulty"]:
        looked.append(count(summary["faulty"], "faulty text"))
    if "artifacts" in summary:
        looked.append(count(summary["artifacts"], "verified artifact"))
    *first, last = looked
    what = f"{', '.join(first)} and {last}" if first else last
    where = f"{count(summary['files'], 'file')}, {count(summary['runs'], 'run')}"
    took = f" in {duration(seconds)}" if seconds is not None else ""
    return f"{what} in {where}: {_verdict(summary, screen)}{_left_out(summary)}{took}"


def _verdict(summary: Mapping[str, Any], screen: Screen) -> str:
    found = summary["findings"]
    said = [
        screen.paint(count(found[severity], noun), STYLES[severity])
        for severity, noun in NOUNS.items()
        if found[severity]
    ]
    if said:
        return ", ".join(said)
    if summary["records"] or summary["documents"]:
        known = summary.get("suppressed", {}).get(BASELINE)
        return screen.paint("nothing new" if known else "nothing wrong", "green")
    return "nothing checked"


def _left_out(summary: Mapping[str, Any]) -> str:
    """What the counts before it leave out, or what was left out above."""
    said = []
    suppressed = {why: number for why, number in summary.get("suppressed", {}).items() if number}
    if suppressed:
        reasons = ", ".join(f"{number:,} {plain(why)}" for why, number in sorted(suppressed.items()))
        said.append(f"{sum(suppressed.values()):,} suppressed: {reasons}")
    if summary.get("hidden"):
        said.append(f"{summary['hidden']:,} of them not shown")
    return f" ({'; '.join(said)})" if said else ""


def duration(seconds: float) -> str:
    """``0.31 s``, ``12.4 s``, ``2 min 5 s``."""
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    return ago(round(seconds) * 1_000_000_000)
