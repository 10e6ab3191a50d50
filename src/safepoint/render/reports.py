"""The output formats of ``safepoint validate`` by the names of ``--format``.

    pieces = REPORTS[output_format](validation.checked(), Context(...))   # see report.Context
    for piece in pieces:
        out.write(piece.encode())                                         # UTF-8, as it comes

Pieces of ``text``, ``jsonl`` and ``github`` are whole lines. The counts of the context are asked for only when all was
checked, so the pieces have to be taken to the end.

What the findings should come with: ``excerpts="masked"`` for ``text``, ``junit``, ``github`` and ``sarif`` (the last
two only learn from it where the accused value ends), ``"plain"`` where the user asks for values, and ``"none"`` for
``json`` and ``jsonl`` unless the user does.

| name | for | memory |
|---|---|---|
| ``text`` | people: grouped by file on a terminal, a line each elsewhere; with the accused line | flat |
| ``json`` | programs: one document with ``findings`` and ``summary`` | flat |
| ``jsonl`` | programs that read while it runs: a finding a line, the summary last | flat |
| ``sarif`` | SARIF 2.1.0, for code scanning | flat |
| ``junit`` | JUnit XML: a test case for each run and file, clean ones too | flat: suites wait on disk |
| ``github`` | workflow commands, which GitHub Actions shows at the line of a change | flat |
"""

from __future__ import annotations

from collections.abc import Mapping

from safepoint.render.annotations import github_report
from safepoint.render.findings import json_report, jsonl_report
from safepoint.render.junit import junit_report
from safepoint.render.report import Report
from safepoint.render.sarif import sarif_report
from safepoint.render.text import text_report

REPORTS: Mapping[str, Report] = {
    "text": text_report,
    "json": json_report,
    "jsonl": jsonl_report,
    "sarif": sarif_report,
    "junit": junit_report,
    "github": github_report,
}
