"""An audit as plain values: what ``--format json`` prints, the text is made of, and the reports of findings take.

Decided here: the members, which are stable: members may be added, none goes or changes its meaning.

AUDIT
    ``store``, ``run`` (the only one that was asked for; null: all), ``policy`` (its path or URL; null: none was given),
    ``result``, ``points`` (a list of POINT) and ``summary``: ``runs`` (examined), ``deleted`` (runs of which nothing is
    left), ``records``, and ``results`` (runs by the worst of their answers).

POINT
    ``point`` (1 to 10), ``code``, ``name`` (of the code), ``title``, ``result`` (``passed``, ``failed`` or
    ``cannotTell``), ``runs`` (by result), ``because`` (the reasons, the most frequent first), ``evidence`` (the first
    places: ``runId``, ``url``, ``key``, ``pointer``, ``line``, ``column``, ``message``), ``evidenceCount`` (all of
    them), ``remedies``.

``--format jsonl`` has a line for each run and point, ``{"type": "answer", "runId", "point", "code", "name", "title",
"result", "because", "evidence", "remedies"}`` with all of the evidence, and a last one ``{"type": "audit", ...AUDIT}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from safepoint.audit.answer import Result
from safepoint.audit.checklist import POINTS, Point
from safepoint.audit.passing import Audit, RunAudit, Verdict
from safepoint.core.finding import Checked, Finding
from safepoint.render.overview import quote
from safepoint.rules import catalogue

RESULTS: Mapping[Result, str] = {"passed": "passed", "failed": "failed", "cannot tell": "cannotTell"}
"""Each result as the documents call it."""

_COMMAND = re.compile(r"safepoint [a-z]+ STORE(?: --run RUN)?")


def document(audit: Audit, store: str, run_id: str | None, words: Sequence[str] = ()) -> dict[str, Any]:
    """The whole of an `audit` that was taken to its end.

    Args:
        audit: the pass.
        store: as the user named it.
        run_id: the only run that was asked for; None: all were.
        words: further words of commands: how the store is opened.
    """
    summary = {
        "runs": audit.runs,
        "deleted": audit.deleted,
        "records": audit.records,
        "results": _counts(audit.results),
    }
    return {
        "store": store,
        "run": run_id,
        "policy": audit.policy.url if audit.policy else None,
        "result": RESULTS[audit.result],
        "points": [_verdict(verdict, store, words) for verdict in audit.verdicts],
        "summary": summary,
    }


def answers(examined: RunAudit, store: str, words: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The answers of one run, one document each; arguments are those of `document`."""
    for point, answer, findings in zip(POINTS, examined.answers, examined.findings, strict=True):
        yield {
            "runId": examined.run_id,
            **_point(point),
            "result": RESULTS[answer.result],
            "because": answer.message,
            "evidence": [_evidence(examined.run_id, finding) for finding in findings],
            "remedies": _copied(answer.remedies, store, words, examined.run_id),
        }


def checked(examined: RunAudit, url: str) -> Iterator[Checked]:
    """The answers of one run, each as something that was checked: what is not passed has findings.

    Args:
        examined: the run.
        url: of the store.
    """
    for point, findings in zip(POINTS, examined.findings, strict=True):
        name = f"{examined.run_id}: {point.number}. {point.title}"
        yield Checked("run", name, url, examined.records, findings)


def summary_of(audit: Audit, codes: Mapping[str, int], severities: Mapping[str, int]) -> dict[str, Any]:
    """The counts that the reports of findings end with.

    Args:
        audit: the pass.
        codes: how many findings there are of each code.
        severities: and of each severity.
    """
    return {
        "runs": audit.runs,
        "records": audit.records,
        "result": RESULTS[audit.result],
        "findings": {severity: severities.get(severity, 0) for severity in ("error", "warning", "info")},
        "codes": dict(sorted(codes.items())),
        "points": {str(v.point.number): RESULTS[v.result] for v in audit.verdicts},
    }


def _verdict(verdict: Verdict, store: str, words: Sequence[str]) -> dict[str, Any]:
    runs = [run_id for run_id, _ in verdict.evidence]
    return {
        **_point(verdict.point),
        "result": RESULTS[verdict.result],
        "runs": _counts(verdict.runs),
        "because": list(verdict.because),
        "evidence": [_evidence(run_id, finding) for run_id, finding in verdict.evidence],
        "evidenceCount": verdict.evidence_count,
        "remedies": _copied(verdict.remedies, store, words, runs[0] if runs else None),
    }


def _point(point: Point) -> dict[str, Any]:
    name = catalogue.name_of(point.code)
    return {"point": point.number, "code": point.code, "name": name, "title": point.title}


def _counts(results: Mapping[Result, int]) -> dict[str, int]:
    return {name: results.get(result, 0) for result, name in RESULTS.items()}


def _evidence(run_id: str, finding: Finding) -> dict[str, Any]:
    return {
        "runId": run_id,
        "url": finding.url,
        "key": finding.key,
        "pointer": finding.pointer,
        "line": finding.line,
        "column": finding.column,
        "message": finding.message,
    }


def _copied(remedies: Iterable[str], store: str, words: Sequence[str], run_id: str | None) -> list[str]:
    """Remedies whose commands can be copied: with the store, the run and how the store is opened."""

    def filled(command: re.Match[str]) -> str:
        given = [store, *words]
        text = command[0].replace("STORE", " ".join(map(quote, given)))
        return text.replace("RUN", quote(run_id)) if run_id is not None else text

    return [_COMMAND.sub(filled, remedy) for remedy in remedies]
