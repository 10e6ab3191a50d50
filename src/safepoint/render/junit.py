"""``--format junit``: JUnit XML, as Jenkins, GitLab and other CI servers read it.

Decided here: a test suite for each store, and a last one for all loose files; in it a test case for each run or file
that was checked, clean ones too. What fails by ``--fail-on`` is one ``<failure>`` with all of its
lines, for most readers show only a case's first; where something could not be looked at, it is an ``<error>``: nobody
knows whether it would have failed. Milder findings and rules that were skipped are the case's ``<system-out>``. A
case is never ``<skipped>``, for something of it was checked.

Counts and failures are of all findings, also of those that a limit hides: a limit must not make a case pass.

The attributes of a suite come before its cases and count them, so that a suite waits in a temporary file until it is
whole: a store's until the next store, that of the files until the end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from safepoint.core.finding import Checked, Finding
from safepoint.render.findings import finding_text
from safepoint.render.lines import excerpt_lines
from safepoint.render.report import RANKS, Context, Limit
from safepoint.render.terminal import Screen, plain

NOT_EVALUATED = frozenset({"SP001", "SP002"})
"""Codes that say that something could not be looked at."""

_IN_MEMORY = 2**20
"""Bytes of a suite before it goes to disk."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_SCREEN = Screen()

_SPACE = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
"""White space that an attribute would lose."""


FILES = "files"
"""The suite of what lies in no run of a store."""


def junit_report(checked: Iterable[Checked], context: Context) -> Iterator[str]:
    """A document of test suites."""
    limit = Limit(context)
    seconds = context.seconds or (lambda: 0.0)
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="safepoint {context.command}">\n'
    with _Suite(FILES) as files, ExitStack() as stores:
        store, before = None, seconds()
        for found in checked:
            if found.kind == "run" and (store is None or store.name != found.url):
                if store is not None:
                    yield from store.whole(context)
                stores.close()
                store = stores.enter_context(_Suite(found.url))
            suite = store if store is not None and found.kind == "run" else files
            suite.add(found, context, limit)
            suite.seconds += (now := seconds()) - before
            before = now
        if store is not None:
            yield from store.whole(context)
        if files.tests:
            yield from files.whole(context)
    yield "</testsuites>\n"


class _Suite:
    """A suite while its cases are written: to a file, for its counts come before them."""

    def __init__(self, name: str) -> None:
        import tempfile

        self.name = name
        self.tests = self.failures = self.errors = 0
        self.seconds = 0.0
        self._cases = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - it closes with the suite
            _IN_MEMORY, "w+", encoding="utf-8", newline=""
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cases.close()

    def add(self, found: Checked, context: Context, limit: Limit) -> None:
        """Writes the case of `found`."""
        self._cases.write(_xml(self._case(found, context, limit)))

    def whole(self, context: Context) -> Iterator[str]:
        """The suite, in pieces."""
        time = {"time": f"{self.seconds:.3f}"} if context.seconds else {}
        counts = {"tests": self.tests, "failures": self.failures, "errors": self.errors, "skipped": 0}
        yield _xml(f"  <testsuite {_attributes({'name': plain(self.name), **counts, **time})}>\n")
        self._cases.seek(0)
        while piece := self._cases.read(_IN_MEMORY):
            yield piece
        yield "  </testsuite>\n"

    def _case(self, found: Checked, context: Context, limit: Limit) -> str:
        unseen = [f for f in found.findings if f.code in NOT_EVALUATED]
        failing = [f for f in found.findings if f.code not in NOT_EVALUATED and context.fails(f)]
        milder = [f for f in found.findings if f.code not in NOT_EVALUATED and not context.fails(f)]
        self.tests += 1
        self.errors += bool(unseen)
        # a case counts once: readers take the first that they find in it
        self.failures += bool(failing) and not unseen
        inside = [
            *_outcome("error", unseen, context, limit),
            *_outcome("failure", failing, context, limit),
            *_output([*_shown(milder, context, limit), *_skipped(found)]),
        ]
        head = f"    <testcase {_attributes({'classname': plain(self.name), 'name': plain(found.name) or 'inputs'})}"
        return "\n".join([f"{head}>", *inside, "    </testcase>\n"]) if inside else f"{head}/>\n"


def _outcome(tag: str, findings: Sequence[Finding], context: Context, limit: Limit) -> Iterator[str]:
    if not findings:
        return
    worst = max(findings, key=lambda finding: RANKS[finding.severity])
    more = f" (and {len(findings) - 1:,} more)" if len(findings) > 1 else ""
    message = f"{worst.code} {context.name(worst.code)}: {plain(worst.message)}{more}"
    head = _attributes({"message": message, "type": worst.code})
    yield f"      <{tag} {head}>{_text(_shown(findings, context, limit))}</{tag}>"


def _shown(findings: Sequence[Finding], context: Context, limit: Limit) -> list[str]:
    before = limit.hidden
    lines = []
    for finding in limit(findings):
        lines.append(finding_text(finding, context.name(finding.code), _SCREEN))
        if finding.excerpt is not None:
            lines += excerpt_lines(finding.excerpt, finding.line, "", _SCREEN, "    ")
    hidden = limit.hidden - before
    return [*lines, *([f"{hidden:,} more not shown"] if hidden else [])]


def _skipped(found: Checked) -> list[str]:
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for skipped in found.skipped:
        reasons[skipped.reason].append(skipped.code)
    return [f"not checked, as {plain(why)}: {', '.join(codes)}" for why, codes in reasons.items()]


def _output(lines: list[str]) -> list[str]:
    return [f"      <system-out>{_text(lines)}</system-out>"] if lines else []


def _attributes(values: Mapping[str, str | int]) -> str:
    return " ".join(
        f'{name}="{str(value).translate(_MARKUP).translate(_SPACE)}"' for name, value in values.items()
    )


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines).translate(_MARKUP)


def _xml(text: str) -> str:
    """`text` without what no XML may hold, not even escaped; and without halves of surrogate pairs."""
    return _NOT_XML.sub(lambda found: ascii(found[0])[1:-1], text)
