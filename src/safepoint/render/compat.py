"""What became of two payload schemas: as text, and as the JSON that programs read.

Decided here: that each difference says what changed, where in both schemas, where in a payload, and what to do; that
nobody is told to write a migration who has one; and the members of the JSON outputs, which are stable as those of
``findings``.

``--format json`` is one document::

    {"findings": [FINDING, ...], "summary": SUMMARY}

FINDING is that of ``render.findings``. What a rule found has besides ``payload`` (a pointer into payloads, ``*`` for
any item or other member), ``old`` (``url`` and ``pointer`` in the old schema; null: it says nothing of it) and, where
one was found, ``example``: a payload made up from the schemas that the old one accepts and the new one refuses.

SUMMARY
    ``verdict`` (compatible, incompatible, cannotTell), ``old``, ``new``, ``storedOnly``, ``stored`` (null: no store
    was given; else ``tried``, ``accepted``, ``refused`` payloads, ``unread`` texts, ``checkpoints``, ``runs``),
    ``findings`` (by severity), ``codes`` (by code), ``hidden`` and ``settings`` as in ``findings``, and ``way`` (null:
    the settings have no steps between the two; else ``from`` and ``to``, names of payload schemas, ``code``, whether a
    step is a function, and ``command``, which tries the steps on what is stored).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from safepoint.core.finding import Checked, Finding
from safepoint.render.findings import STYLES, finding_document, finding_text
from safepoint.render.jsontext import array_pieces, indented
from safepoint.render.report import Context, Limit
from safepoint.render.terminal import Screen, count, plain, to_json

_LONGEST = 200
"""Characters of an example that text shows."""

VERDICTS: Mapping[str, tuple[str, str]] = {
    "compatible": ("compatible", "bold green"),
    "incompatible": ("incompatible", "bold red"),
    "cannotTell": ("cannot tell", "bold yellow"),
}

WHAT_TO_DO: Mapping[str, str] = {
    "SP620": "keep the old type beside the new one, or migrate the payloads",
    "SP621": "keep the member, or remove or rename it by a payload migration",
    "SP622": "make it optional and use a default in the code, or add it by a payload migration",
    "SP623": "keep the old values as long as runs may hold them, or replace them by a payload migration",
    "SP624": "keep the old bound for what is read, or migrate the payloads",
    "SP625": "let the pattern take the old form too, or rewrite the texts by a payload migration",
    "SP626": "leave the object open, or declare what is stored; try the stored payloads: give a STORE",
    "SP627": "let the old arrays through, or rewrite them by a payload migration",
    "SP628": "drop the condition for what is read, or add what is missing by a payload migration",
    "SP629": "keep an alternative that takes the old shape, or migrate the payloads",
    "SP630": "try the stored payloads: give a STORE; where they are accepted, --fail-on error lets this pass",
    "SP631": "rename it in what is stored by a payload migration, or leave it declared",
    "SP632": "try the stored payloads: give a STORE; where they are accepted, --fail-on error lets this pass",
    "SP633": "write a payload migration, or let the new schema take the old shape",
    "SP634": "compare these names with --payload, and check the path of the store",
}
"""What to do about each code, in a line."""

_HAS_A_WAY = "migrate what is stored before you deploy: the settings have the steps"
"""Instead of those that speak of a migration."""


class Place(Protocol):
    """A place in a schema."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def pointer(self) -> str:
        """The place in it."""


class Detail(Protocol):
    """What a rule knows besides its finding; ``payloads.compatibility.Difference`` is one."""

    @property
    def payload(self) -> str:
        """Where in payloads."""

    @property
    def old(self) -> Place | None:
        """Where in the old schema."""

    @property
    def witness(self) -> tuple[Any, ...]:
        """A payload that shows it, or nothing."""


Details = Callable[[Finding], Detail | None]
"""What a rule knows of its finding; None for what no rule on schemas found."""


def compat_text(checked: Iterable[Checked], context: Context, details: Details) -> Iterator[str]:
    """A paragraph for each finding, and the verdict."""
    limit, screen = Limit(context), context.screen
    has_way = context.summary().get("way") is not None
    shown: Counter[str] = Counter()
    for found in checked:
        for finding in limit(found.findings):
            shown[finding.code] += 1
            lines = _paragraph(finding, details(finding), context, has_way=has_way)
            yield "".join(f"{line}\n" for line in lines)
    summary = limit.summary()
    for code, number in summary["codes"].items():
        if more := number - shown[code]:
            yield f"and {more:,} more {code} {context.name(code)}: --limit 0 shows all\n"
    if summary["codes"] and not context.quiet:
        worst = next(iter(summary["codes"]))
        yield f"what a code means and how to fix it: safepoint explain {worst}\n"
    yield f"{verdict_text(summary, screen)}\n"
    if not context.quiet:
        yield from (f"{line}\n" for line in way_text(summary, screen))


def way_text(summary: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """Which way on the settings have, where the schema alone gives none."""
    way = summary["way"]
    if way is None or summary["verdict"] == "compatible":
        return
    said = f"{plain(summary['settings'])} has a way from {way['from']} to {way['to']}"
    if screen.width is None:
        yield f"{said}; whether it takes all that is stored: {way['command']}"
    else:
        # a command is to be copied, so that it is never wrapped
        yield from screen.prose(f"{said}; whether it takes all that is stored:", rest="  ")
        yield f"  {way['command']}"


def _paragraph(finding: Finding, detail: Detail | None, context: Context, *, has_way: bool) -> Iterator[str]:
    screen = context.screen
    if screen.width is None:
        yield finding_text(finding, context.name(finding.code), screen)
    else:
        head = f"{_NOUNS[finding.severity]} {finding.code} {context.name(finding.code)}"
        first, *rest = screen.prose(f"{head}: {plain(finding.message)}", rest="  ")
        yield first.replace(head, screen.paint(head, STYLES[finding.severity]), 1)
        yield from rest
        if finding.url:
            place = f"{plain(finding.url)}:{finding.line}:{finding.column}"
            pointer = f" at {plain(finding.pointer)}" if finding.pointer else ""
            yield f"  {screen.paint(f'--> {place}{pointer}', 'dim')}"
    for label, text in _lines(finding, detail, has_way=has_way):
        # places and examples are to be copied, so that they are never wrapped
        lines = screen.prose(text, f"  {label:<9}") if label == "do:" else [f"  {label:<9}{text}"]
        yield from (
            line.replace(label, screen.paint(label, "dim"), 1) if label in line else line for line in lines
        )
    yield ""


_NOUNS = {"error": "error", "warning": "warning", "info": "note"}


def _lines(finding: Finding, detail: Detail | None, *, has_way: bool) -> Iterator[tuple[str, str]]:
    if detail is not None:
        yield "payload:", plain(detail.payload) or "the whole payload"
        if detail.old is not None:
            yield "old:", plain(f"{detail.old.path} at {detail.old.pointer or 'its top'}")
        for example in detail.witness:
            text = json.dumps(example)
            yield "example:", text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    if finding.code in WHAT_TO_DO:
        todo = WHAT_TO_DO[finding.code]
        yield "do:", _HAS_A_WAY if has_way and "migrat" in todo else todo


def verdict_text(summary: Mapping[str, Any], screen: Screen) -> str:
    """The verdict and the counts in one line."""
    word, style = VERDICTS[summary["verdict"]]
    found = [count(number, _NOUNS[severity]) for severity, number in summary["findings"].items() if number]
    said = [f"{plain(summary['old'])} → {plain(summary['new'])}", ", ".join(found) or "nothing in the way"]
    stored = summary["stored"]
    if stored is not None:
        tried = count(stored["tried"], "stored payload")
        refused = f"{stored['refused']:,} refused"
        said.append(
            f"{tried} tried in {count(stored['runs'], 'run')}: {stored['accepted']:,} accepted, {refused}"
        )
        if stored["unread"]:
            said.append(f"{count(stored['unread'], 'text')} could not be read")
    if summary.get("hidden"):
        said.append(f"{summary['hidden']:,} of the findings not shown")
    return f"{screen.paint(word, style)}: {'; '.join(said)}"


def compat_json(checked: Iterable[Checked], context: Context, details: Details) -> Iterator[str]:
    """One document; its findings are written as they come."""
    limit = Limit(context)
    yield '{\n  "findings": '
    yield from array_pieces(_documents(checked, context, limit, details), 1)
    yield f',\n  "summary": {indented(limit.summary(), 1)}\n}}\n'


def compat_jsonl(checked: Iterable[Checked], context: Context, details: Details) -> Iterator[str]:
    """A line for each finding, and the summary as the last one."""
    limit = Limit(context)
    for document in _documents(checked, context, limit, details):
        yield to_json({"type": "finding", **document}, indent=False).decode()
    yield to_json({"type": "summary", **limit.summary()}, indent=False).decode()


def _documents(
    checked: Iterable[Checked], context: Context, limit: Limit, details: Details
) -> Iterator[dict[str, Any]]:
    for found in checked:
        for finding in limit(found.findings):
            document = finding_document(finding, context.name(finding.code))
            detail = details(finding)
            if detail is not None:
                document["payload"] = detail.payload
                old = detail.old
                document["old"] = None if old is None else {"url": old.path, "pointer": old.pointer}
                if detail.witness:
                    document["example"] = detail.witness[0]
            yield document


FORMATS: Mapping[str, Callable[[Iterable[Checked], Context, Details], Iterator[str]]] = {
    "text": compat_text,
    "json": compat_json,
    "jsonl": compat_jsonl,
}
"""The formats that have more to say than that of ``safepoint validate`` by the same name."""
