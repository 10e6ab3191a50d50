"""``--format json`` and ``jsonl``: what programs read."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from checks import CLEAN, HOSTILE, LOOSE, NOWHERE, RUN, context, reported, summary_of

from safepoint.core.finding import Checked
from safepoint.render.findings import finding_document, json_report, jsonl_report
from safepoint.render.terminal import to_json

ONE = """\
{
  "findings": [
    {
      "code": "SP504",
      "name": "approval-without-expiry",
      "severity": "warning",
      "url": "loose.json",
      "key": "loose.json",
      "pointer": "",
      "line": 1,
      "column": 1,
      "message": "the approval never expires",
      "fingerprint": "1ef461669d9d96adcc70b7e7f5cc6d80"
    }
  ],
  "summary": {
    "files": 2,
    "runs": 0,
    "records": 1,
    "documents": 0,
    "faulty": 0,
    "findings": {
      "error": 0,
      "warning": 1,
      "info": 0
    },
    "codes": {
      "SP504": 1
    },
    "suppressed": {},
    "skipped": [],
    "hidden": 0,
    "settings": null
  }
}
"""

LINES = (
    '{"type":"finding","code":"SP504","name":"approval-without-expiry","severity":"warning","url":"loose.json",'
    '"key":"loose.json","pointer":"","line":1,"column":1,"message":"the approval never expires",'
    '"fingerprint":"1ef461669d9d96adcc70b7e7f5cc6d80"}\n'
    '{"type":"summary","files":2,"runs":0,"records":1,"documents":0,"faulty":0,'
    '"findings":{"error":0,"warning":1,"info":0},"codes":{"SP504":1},"suppressed":{},"skipped":[],"hidden":0,"settings":null}\n'
)


def test_json_is_one_document() -> None:
    assert reported("json", LOOSE) == ONE


def test_jsonl_is_a_line_for_each_finding_and_one_for_the_counts() -> None:
    assert reported("jsonl", LOOSE) == LINES


@pytest.mark.parametrize(
    "checked",
    [(), (CLEAN,), (RUN, CLEAN), (RUN, LOOSE, NOWHERE, HOSTILE)],
    ids=["nothing", "clean", "one", "several"],
)
def test_what_is_written_piece_by_piece_is_the_document(checked: tuple[Checked, ...]) -> None:
    findings = [finding for found in checked for finding in found.findings]
    documents = [finding_document(f, context().name(f.code)) for f in findings]
    whole = {"findings": documents, "summary": {**summary_of(checked), "hidden": 0, "settings": None}}
    assert reported("json", *checked) == to_json(whole).decode()
    lines = [json.loads(line) for line in reported("jsonl", *checked).splitlines()]
    assert [line.pop("type") for line in lines] == ["finding"] * len(findings) + ["summary"]
    assert lines == [*json.loads(to_json(documents)), json.loads(to_json(whole["summary"]))]


@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_limits_leave_findings_out_and_say_how_many(name: str) -> None:
    said = reported(name, RUN, LOOSE, most=1)
    assert said.count('"code"') == 1 + 2  # two of them in the list of skipped rules
    assert '"hidden":2' in said.replace(" ", "")


@pytest.mark.parametrize("report", [json_report, jsonl_report])
def test_findings_come_while_it_is_still_being_checked(report) -> None:  # noqa: ANN001 - either of two functions
    def checked() -> Iterator[Checked]:
        yield RUN
        raise AssertionError("asked too early")

    said = ""
    pieces = report(checked(), context())
    while "SP503" not in said:
        said += next(pieces)
