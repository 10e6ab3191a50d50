"""``--format sarif``: SARIF 2.1.0 (OASIS), for GitHub's and other code scanning.

Decided here: one run with a result for each finding, written as it is found, so that ``results`` come before the
``tool`` whose rules they point to: only then it is known which rules there are.

- ``level``: ``info`` is a ``note``. ``message``: the finding's, as a sentence.
- ``artifactLocation``: relative to ``%SRCROOT%``, the top of the repository, for files below it; else an absolute URI.
  A finding that blames no file is placed at that folder: code scanning refuses a whole log for one result without
  a place.
- ``region``: where the accused value begins, and where it ends if the findings came with excerpts. Never a snippet:
  the log is uploaded, and a payload's values are nobody's business.
- ``logicalLocations``: the RFC 6901 pointer. ``partialFingerprints``: `Finding.fingerprint`; lines may move.
- ``invocations``: whether all could be looked at, the exit status, and a notification for each reason why rules were
  skipped, with their codes: one can be associated with one rule only, and twenty rules for one reason drown the rest.
- ``properties`` of the run: the summary of ``--format json``.

A rule has no ``helpUri``, for what there is to read is in its ``help`` and on no server. Microsoft's validator
(``sarif-multitool validate --rule-kind Sarif;Ghas``) has no error and no warning for these logs; its notes ask for
snippets, help URIs and message ids, and for the revision that was checked, which only its owner knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from safepoint.core.finding import Checked, Finding, Severity
from safepoint.render.jsontext import array_pieces, indented
from safepoint.render.places import STANDARD_INPUT, path_below, quoted_path, uri_of
from safepoint.render.report import CodeFacts, Context, Limit, unchecked
from safepoint.render.terminal import plain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

ROOT = "%SRCROOT%"
"""The name under which viewers look for the folder that relative paths start from."""

LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}

_GITHUB_SEVERITY: Mapping[Severity, str] = {
    "error": "error",
    "warning": "warning",
    "info": "recommendation",
}

_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")
"""What a viewer would take for the beginning of a link (SARIF §3.11.6)."""


def sarif_report(checked: Iterable[Checked], context: Context) -> Iterator[str]:
    """One SARIF log with one run."""
    limit, rules = Limit(context), _Rules(context)
    yield f'{{\n  "$schema": "{SCHEMA}",\n  "version": "2.1.0",\n  "runs": [\n    {{\n      "results": '
    yield from array_pieces(
        (_result(finding, rules, context) for found in checked for finding in limit(found.findings)), 3
    )
    summary = limit.summary()
    members = {
        "invocations": [_invocation(summary, context)],
        "tool": {"driver": _driver(rules, context)},
        "automationDetails": {"id": f"safepoint/{context.command}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: _root(context)},
        "properties": {"summary": summary},
    }
    for name, value in members.items():
        yield f',\n      "{name}": {indented(value, 3)}'
    yield "\n    }\n  ]\n}\n"


class _Rules:
    """The rules that the log mentions, in the order of their first appearance."""

    def __init__(self, context: Context) -> None:
        self._describe = context.describe
        self._indices: dict[str, int] = {}

    def index(self, code: str) -> int:
        """Where the rule stands in the driver's list."""
        return self._indices.setdefault(code, len(self._indices))

    def documents(self) -> list[dict[str, Any]]:
        """The list."""
        return [_rule(self._describe(code)) for code in self._indices]


def _result(finding: Finding, rules: _Rules, context: Context) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _physical(finding, context)}
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.pointer}]
    return {
        "ruleId": finding.code,
        "ruleIndex": rules.index(finding.code),
        "level": LEVELS[finding.severity],
        "message": {"text": _sentence(finding.message)},
        "locations": [location],
        "partialFingerprints": {"safepoint/v1": finding.fingerprint},
        "properties": {"key": finding.key},
    }


def _physical(finding: Finding, context: Context) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": finding.line, "startColumn": finding.column}
    if finding.excerpt is not None and finding.excerpt.columns:
        region["endLine"] = finding.line
        region["endColumn"] = finding.column + finding.excerpt.columns
    return {"artifactLocation": _artifact(finding.url, context), "region": region}


def _artifact(url: str, context: Context) -> dict[str, Any]:
    if not url:
        return {"uri": "./", "uriBaseId": ROOT}
    if url == STANDARD_INPUT:
        return {"uri": "stdin", "description": {"text": "Standard input."}}
    path = path_below(url, context.base, context.here)
    if path is not None:
        return {"uri": quoted_path(path), "uriBaseId": ROOT}
    return {"uri": uri_of(url, context.here or context.base)}


def _sentence(message: str) -> str:
    # Braces are not doubled as §3.11.5 has it for texts with arguments: no viewer undoes that where there are none.
    text = _LINK.sub(r"\\[", plain(message))
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _rule(code: CodeFacts) -> dict[str, Any]:
    summary, _, more = code.text.partition("\n\n")
    where = f"SPEC.md#{code.section}"
    emphasised = re.sub(r"^(\w+):", r"**\1:**", more, flags=re.MULTILINE)
    return {
        "id": code.id,
        "name": "".join(word.capitalize() for word in code.name.split("-")),
        "shortDescription": {"text": code.summary},
        "fullDescription": {"text": code.text},
        "help": {
            "text": f"{code.text}\n\n{where}",
            "markdown": f"{summary}\n\n{emphasised}\n\n`{where}`",
        },
        "defaultConfiguration": {"level": LEVELS[code.severity]},
        "properties": {
            "precision": "very-high",
            "problem.severity": _GITHUB_SEVERITY[code.severity],
            "tags": ["safepoint"],
        },
    }


def _driver(rules: _Rules, context: Context) -> dict[str, Any]:
    return {
        "name": "safepoint",
        "fullName": f"Safepoint {context.version}".rstrip(),
        "version": context.version or "0",
        "semanticVersion": context.version or "0",
        # no web page: the same name that the schemas have
        "informationUri": "urn:safepoint:tool",
        "rules": rules.documents(),
    }


def _invocation(summary: Mapping[str, Any], context: Context) -> dict[str, Any]:
    return {
        "executionSuccessful": context.evaluated(),
        "exitCode": context.status(),
        "toolExecutionNotifications": [
            {
                "level": "note",
                "message": {
                    "text": _sentence(
                        f"Not checked in {rules.runs}: {', '.join(rules.codes)}; {rules.reason}"
                    )
                },
            }
            for rules in unchecked(summary.get("skipped", ()))
        ],
    }


def _root(context: Context) -> dict[str, Any]:
    about = {
        "description": {"text": "The top of the repository, or the folder in which the check was started."}
    }
    return {"uri": f"{uri_of(context.base, '').rstrip('/')}/", **about} if context.base else about
