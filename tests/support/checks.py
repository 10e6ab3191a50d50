"""Findings made up for the tests of output formats, and the context that they are reported in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from safepoint.core.finding import Checked, Excerpt, Finding, Skipped
from safepoint.render.report import Context
from safepoint.render.reports import REPORTS
from safepoint.rules import catalogue

FILE = "store/runs/run-1/journal.jsonl"
KEY = "runs/run-1/journal.jsonl"

TIME = Finding(
    "SP207",
    "error",
    FILE,
    KEY,
    "/createdAt",
    3,
    14,
    "expected a time, found a string",
    Excerpt('{"status":"planned","createdAt":', '"…"', ',"note":"…"}', columns=9),
)
BACK = Finding("SP503", "error", FILE, KEY, "/usage/tokens", 5, 458, "tokens went back from 900 to 0")
EXPIRY = Finding("SP504", "warning", "loose.json", "loose.json", "", 1, 1, "the approval never expires")
NOTHING = Finding("SP001", "error", "", "", "", 1, 1, "nothing to check: no Safepoint record was found")

RUN = Checked(
    "run",
    "run-1",
    "store",
    5,
    (TIME, BACK),
    (Skipped("SP303", "a record before it is missing"), Skipped("SP502", "the ledger is not sound")),
)
CLEAN = Checked("run", "run-2", "store", 3)
LOOSE = Checked("file", "loose.json", "loose.json", 1, (EXPIRY,))
NOWHERE = Checked("input", "", "", 0, (NOTHING,))

ESCAPE = "\x1b[2J\r\n::error::\u202e&<\"'>\x00\ud800]]>"
"""What must not reach a terminal, a log or an XML parser as it is."""

HOSTILE = Checked(
    "file",
    f"a{ESCAPE}b.json",
    f"a{ESCAPE}b.json",
    1,
    (
        Finding(
            "SP207",
            "error",
            f"a{ESCAPE}b.json",
            f"a{ESCAPE}b.json",
            f"/x{ESCAPE}",
            1,
            6,
            f"found {ESCAPE}, and [a link](https://example.org)",
            Excerpt('\t{"', ESCAPE, '": 1}'),
        ),
    ),
    (Skipped("SP303", f"for {ESCAPE}"),),
)


def summary(**members: Any) -> dict[str, Any]:
    """What ``Validation.summary`` gives, for one clean record."""
    found = {"error": 0, "warning": 0, "info": 0} | members.pop("findings", {})
    return {
        "files": 1,
        "runs": 1,
        "records": 1,
        "documents": 0,
        "faulty": 0,
        "findings": found,
        "codes": {},
        "suppressed": {},
        "skipped": [],
        **members,
    }


def summary_of(checked: Iterable[Checked]) -> dict[str, Any]:
    """The summary that belongs to what was checked."""
    checked = list(checked)
    findings = [finding for found in checked for finding in found.findings]
    return summary(
        files=2,
        runs=sum(found.kind == "run" for found in checked),
        records=sum(found.records for found in checked),
        findings={
            grade: sum(f.severity == grade for f in findings) for grade in ("error", "warning", "info")
        },
        codes={code: sum(f.code == code for f in findings) for code in sorted({f.code for f in findings})},
        skipped=[
            {"code": skipped.code, "reason": skipped.reason, "runs": 1}
            for found in checked
            for skipped in found.skipped
        ],
    )


def context(**members: Any) -> Context:
    """A context for `summary`, where `members` say nothing else."""
    return Context(**{"describe": catalogue.code, "summary": summary, "version": "1.2.3"} | members)


def reported(name: str, *checked: Checked, **members: Any) -> str:
    """The whole output of a format."""
    given = {"summary": lambda: summary_of(checked)} | members
    return "".join(REPORTS[name](iter(checked), context(**given)))
