"""Findings as the lines that compilers and editors agree on, and as JSON (SPEC.md#findings)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safepoint.core.finding import Finding
from safepoint.render.terminal import Screen, count, plain

STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}
"""How each severity is painted."""


def finding_text(finding: Finding, name: str, screen: Screen) -> str:
    """``place:line:column: SP214 name: message``, without a final line feed.

    Args:
        finding: what to say.
        name: the code's name in words.
        screen: where it goes.
    """
    place = f"{plain(finding.url)}:{finding.line}:{finding.column}: " if finding.url else ""
    pointer = f" (at {plain(finding.pointer)})" if finding.pointer else ""
    code = screen.paint(f"{finding.code} {name}", STYLES[finding.severity])
    return f"{screen.paint(place, 'bold')}{code}: {plain(finding.message)}{screen.paint(pointer, 'dim')}"


def finding_document(finding: Finding, name: str) -> dict[str, Any]:
    """`finding` for JSON."""
    return {
        "code": finding.code,
        "name": name,
        "severity": finding.severity,
        "url": finding.url,
        "key": finding.key,
        "pointer": finding.pointer,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
    }


def summary_text(summary: Mapping[str, Any], screen: Screen) -> str:
    """The counts in one line: what was looked at, and what was found.

    Args:
        summary: ``files, runs, records, documents, faulty``, ``findings`` by severity, ``hidden`` (found, not shown).
        screen: where it goes.
    """
    found = summary["findings"]
    said = [
        screen.paint(count(found[severity], noun), STYLES[severity])
        for severity, noun in (("error", "error"), ("warning", "warning"), ("info", "note"))
        if found[severity]
    ]
    looked = [count(summary["records"], "record")]
    if summary["documents"]:
        looked.append(count(summary["documents"], "document"))
    if summary["faulty"]:
        looked.append(count(summary["faulty"], "faulty text"))
    where = f"{count(summary['files'], 'file')}, {count(summary['runs'], 'run')}"
    hidden = (
        f" ({summary['hidden']:,} more of the same codes not shown; --limit 0 shows all)"
        if summary["hidden"]
        else ""
    )
    if said:
        verdict = ", ".join(said)
    elif summary["records"] or summary["documents"]:
        verdict = screen.paint("nothing wrong", "green")
    else:
        verdict = "nothing checked"
    *first, last = looked
    what = f"{', '.join(first)} and {last}" if first else last
    return f"{what} in {where}: {verdict}{hidden}"
