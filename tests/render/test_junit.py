"""``--format junit``: a test case for everything that was checked, in the form that CI servers read."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from xml.etree import ElementTree as ET

import pytest
from checks import CLEAN, HOSTILE, LOOSE, NOWHERE, RUN, TIME, context, reported
from hypothesis import given
from hypothesis import strategies as st

from safepoint.core.finding import Checked, Skipped
from safepoint.render.junit import junit_report

WHOLE = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="safepoint validate">
  <testsuite name="store" tests="2" failures="1" errors="0" skipped="0" time="2.000">
    <testcase classname="store" name="run-1">
      <failure message="SP207 bad-time: expected a time, found a string (and 1 more)" type="SP207">\
store/runs/run-1/journal.jsonl:3:14: SP207 bad-time: expected a time, found a string (at /createdAt)
    3 | {&quot;status&quot;:&quot;planned&quot;,&quot;createdAt&quot;:&quot;…&quot;,&quot;note&quot;:&quot;…&quot;}
      |                                 ^^^
store/runs/run-1/journal.jsonl:5:458: SP503 counter-went-back: tokens went back from 900 to 0 (at /usage/tokens)\
</failure>
      <system-out>not checked, as a record before it is missing: SP303
not checked, as the ledger is not sound: SP502</system-out>
    </testcase>
    <testcase classname="store" name="run-2"/>
  </testsuite>
  <testsuite name="files" tests="2" failures="0" errors="1" skipped="0" time="2.000">
    <testcase classname="files" name="loose.json">
      <system-out>loose.json:1:1: warning SP504 approval-without-expiry: the approval never expires</system-out>
    </testcase>
    <testcase classname="files" name="inputs">
      <error message="SP001 nothing-to-check: nothing to check: no Safepoint record was found" type="SP001">\
SP001 nothing-to-check: nothing to check: no Safepoint record was found</error>
    </testcase>
  </testsuite>
</testsuites>
"""


def parsed(text: str) -> ET.Element:
    """The document, which has the form that Jenkins' schema (junit-10.xsd) and its peers ask for."""
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.attrib.keys() <= {"name", "tests", "failures", "errors", "skipped", "time"}
        cases = list(suite)
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["errors"]) == sum(case.find("error") is not None for case in cases)
        assert int(suite.attrib["failures"]) == sum(
            case.find("failure") is not None and case.find("error") is None for case in cases
        )
        for case in cases:
            assert case.tag == "testcase"
            assert case.attrib.keys() == {"classname", "name"}
            tags = [part.tag for part in case]
            assert tags == [tag for tag in ("error", "failure", "system-out") if tag in tags]
            assert all(part.attrib.keys() == {"message", "type"} for part in case if part.tag != "system-out")
    return root


def test_each_store_is_a_suite_and_each_run_and_file_a_case() -> None:
    said = reported("junit", RUN, CLEAN, LOOSE, NOWHERE, seconds=count().__next__)
    assert said == WHOLE
    parsed(said)


def test_all_loose_files_are_one_suite_wherever_they_come() -> None:
    other = replace(CLEAN, url="other")
    root = parsed(reported("junit", LOOSE, RUN, LOOSE, CLEAN, NOWHERE, other, LOOSE))
    suites = [(suite.attrib["name"], len(suite)) for suite in root]
    assert suites == [("store", 2), ("other", 1), ("files", 4)]


def test_rules_that_were_not_checked_for_one_reason_are_one_line() -> None:
    skipped = tuple(Skipped(f"SP30{n}", "why" if n < 4 else "because") for n in range(1, 6))
    root = parsed(reported("junit", replace(CLEAN, skipped=skipped)))
    assert (
        root[0][0][0].text
        == "not checked, as why: SP301, SP302, SP303\nnot checked, as because: SP304, SP305"
    )


@pytest.mark.parametrize(("fail_on", "failures"), [("error", 1), ("warning", 2), ("info", 2), (None, 0)])
def test_what_fails_follows_fail_on(fail_on: str | None, failures: int) -> None:
    root = parsed(reported("junit", RUN, CLEAN, LOOSE, fail_on=fail_on))
    assert sum(int(suite.attrib["failures"]) for suite in root) == failures


def test_a_limit_never_makes_a_case_pass() -> None:
    case = replace(RUN, findings=(replace(TIME, excerpt=None),) * 3)
    root = parsed(reported("junit", case, case, most=1))
    assert root[0].attrib["failures"] == "2"
    texts = [failure.text or "" for failure in root.iter("failure")]
    assert [text.splitlines()[-1] for text in texts] == ["2 more not shown", "3 more not shown"]


def test_what_could_not_be_read_is_an_error_even_among_failures() -> None:
    unread = replace(TIME, code="SP002", message="permission denied")
    root = parsed(reported("junit", replace(RUN, findings=(*RUN.findings, unread))))
    assert (root[0].attrib["errors"], root[0].attrib["failures"]) == ("1", "0")
    assert [part.tag for part in root[0][0]] == ["error", "failure", "system-out"]


def test_the_gravest_finding_gives_the_failure_its_name() -> None:
    mild = replace(TIME, code="SP504", severity="warning")
    root = parsed(reported("junit", replace(RUN, findings=(mild, TIME)), fail_on="warning"))
    assert [failure.attrib["type"] for failure in root.iter("failure")] == ["SP207"]


def test_nothing_that_others_wrote_breaks_the_document() -> None:
    root = parsed(reported("junit", HOSTILE))
    name = root[0][0].attrib["name"]
    assert name == "a\\x1b[2J\\r\\n::error::\\u202e&<\"'>\\x00\\ud800]]>b.json"


@given(st.text(st.characters()))
def test_any_text_can_be_a_name_and_a_message(text: str) -> None:
    finding = replace(TIME, url=text, message=text, pointer=text)
    found = Checked("run", text, text, 1, (finding,), (Skipped("SP303", text),))
    parsed(reported("junit", found))


def test_a_suite_of_many_cases_waits_on_disk() -> None:
    def checked() -> Iterator[Checked]:
        for number in range(40_000):
            yield replace(CLEAN, name=f"run-{number}" + "x" * 100)

    tracemalloc.start()
    length = sum(len(piece) for piece in junit_report(checked(), context()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length > 6_000_000
    assert peak < 5_000_000
