"""Findings as text: one line each, and the counts in words."""

from __future__ import annotations

from typing import Any

import pytest
from checks import TIME, summary

from safepoint.core.finding import Finding
from safepoint.render.findings import BASELINE, duration, finding_document, finding_text, summary_text
from safepoint.render.terminal import Screen
from safepoint.selection import KNOWN

PIPE = Screen()
FINDING = Finding("SP207", "error", "a/cp.json", "cp.json", "/createdAt", 3, 14, "expected a time")


def test_a_finding_is_the_line_that_editors_know() -> None:
    said = "a/cp.json:3:14: SP207 bad-time: expected a time (at /createdAt)"
    assert finding_text(FINDING, "bad-time", PIPE) == said


def test_what_is_no_error_says_so() -> None:
    mild = Finding("SP004", "info", "a.json", "a.json", "", 1, 1, "left out")
    assert finding_text(mild, "foreign-file", PIPE) == "a.json:1:1: note SP004 foreign-file: left out"


def test_a_finding_about_no_file_has_no_place() -> None:
    nowhere = Finding("SP001", "error", "", "", "", 1, 1, "nothing to check")
    assert finding_text(nowhere, "nothing-to-check", PIPE) == "SP001 nothing-to-check: nothing to check"


def test_the_reason_for_what_was_known_is_the_one_that_selections_give() -> None:
    assert BASELINE == KNOWN


def test_severity_is_a_colour_on_a_terminal() -> None:
    assert "\x1b[1;31mSP207 bad-time\x1b[0m" in finding_text(
        FINDING, "bad-time", Screen(colour=True, width=80)
    )


def test_a_document_holds_the_excerpt_only_where_there_is_one() -> None:
    assert "excerpt" not in finding_document(FINDING, "bad-time")
    assert finding_document(TIME, "bad-time")["excerpt"] == {
        "before": '{"status":"planned","createdAt":',
        "accused": '"…"',
        "after": ',"note":"…"}',
    }


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (summary(), "1 record in 1 file, 1 run: nothing wrong"),
        (summary(documents=2), "1 record and 2 documents in 1 file, 1 run: nothing wrong"),
        (
            summary(records=0, runs=0, documents=1, faulty=2, findings={"error": 2}),
            "0 records, 1 document and 2 faulty texts in 1 file, 0 runs: 2 errors",
        ),
        (summary(records=0, runs=0), "0 records in 1 file, 0 runs: nothing checked"),
        (
            summary(findings={"error": 2, "warning": 1, "info": 3}),
            "1 record in 1 file, 1 run: 2 errors, 1 warning, 3 notes",
        ),
        (
            summary(findings={"error": 1200}, hidden=1100),
            "1 record in 1 file, 1 run: 1,200 errors (1,100 of them not shown)",
        ),
        (
            summary(suppressed={"ignored": 3, "baseline": 1200, "other": 0}),
            "1 record in 1 file, 1 run: nothing new (1,203 suppressed: 1,200 baseline, 3 ignored)",
        ),
        (
            summary(suppressed={"ignored": 3}),
            "1 record in 1 file, 1 run: nothing wrong (3 suppressed: 3 ignored)",
        ),
    ],
)
def test_the_summary_says_what_was_looked_at_and_what_was_found(counts: dict[str, Any], said: str) -> None:
    assert summary_text(counts, PIPE) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.004, "0.00 s"),
        (0.314, "0.31 s"),
        (9.996, "10.0 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min"),
        (125, "2 min 5 s"),
    ],
)
def test_times_are_as_exact_as_they_are_long(seconds: float, said: str) -> None:
    assert duration(seconds) == said
    assert summary_text(summary(), PIPE, seconds) == f"1 record in 1 file, 1 run: nothing wrong in {said}"
