"""``--format github``: workflow commands, which GitHub Actions shows at the accused line of a change.

Decided here: one command a finding, in the order of the check, then the counts as an ordinary line. GitHub shows ten
errors, ten warnings and ten notices of a step, and counts each level by itself, so that warnings never crowd out
errors and nothing need wait to be sorted. Use ``--format sarif`` for more.

Only files of the repository can be annotated, by their path in it; for any other the place goes into the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from safepoint.core.finding import Checked, Finding, Severity
from safepoint.render.places import path_below
from safepoint.render.report import Context, Limit
from safepoint.render.terminal import Screen, plain
from safepoint.render.text import closing_lines

COMMANDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}

_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_MESSAGE = str.maketrans(_IN_MESSAGE)
_PROPERTY = str.maketrans({**_IN_MESSAGE, ":": "%3A", ",": "%2C"})


def github_report(checked: Iterable[Checked], context: Context) -> Iterator[str]:
    """A command for each finding, and the counts."""
    limit = Limit(context)
    for found in checked:
        for finding in limit(found.findings):
            yield f"{_command(finding, context)}\n"
    if not context.quiet:
        yield from (f"{line}\n" for line in closing_lines(limit.summary(), context, Screen()))


def _command(finding: Finding, context: Context) -> str:
    properties: dict[str, str | int] = {}
    message = plain(finding.message)
    if finding.pointer:
        message += f" (at {plain(finding.pointer)})"
    path = path_below(finding.url, context.base, context.here)
    if path is not None:
        properties = {"file": plain(path), "line": finding.line, "col": finding.column}
        if finding.excerpt is not None and finding.excerpt.columns:
            properties |= {
                "endLine": finding.line,
                "endColumn": finding.column + finding.excerpt.columns,
            }
    elif finding.url:
        message = f"{plain(finding.url)}:{finding.line}:{finding.column}: {message}"
    properties["title"] = f"{finding.code} {context.name(finding.code)}"
    said = ",".join(f"{name}={str(value).translate(_PROPERTY)}" for name, value in properties.items())
    return f"::{COMMANDS[finding.severity]} {said}::{message.translate(_MESSAGE)}"
