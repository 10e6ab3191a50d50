"""From a fault to what a user meets: severity, file, line and column."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from journals import Journal

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.rules import catalogue, table, to_finding

TEXT = '{\n  "state": "wärten",\n  "stepNam": 1\n}'.encode()
PLACE = Place("runs.jsonl", "runs.jsonl", line=10, offset=400)


def where(fault: Fault, text: bytes | None) -> tuple[int, int]:
    finding = to_finding(fault, text)
    return finding.line, finding.column


def test_a_finding_carries_over_what_the_fault_says_and_adds_the_severity() -> None:
    finding = to_finding(Fault("SP204", "unknown", "/stepNam", place=Place("file:///a/b", "b")), TEXT)
    assert (finding.code, finding.severity, finding.message) == ("SP204", "warning", "unknown")
    assert (finding.url, finding.key, finding.pointer) == ("file:///a/b", "b", "/stepNam")


def test_a_pointer_leads_to_the_line_and_column_of_its_value() -> None:
    assert where(Fault("SP201", "", "/state", place=Place("f")), TEXT) == (2, 12)


def test_a_fault_about_a_name_leads_to_the_name() -> None:
    assert where(Fault("SP203", "", "/stepNam", place=Place("f")), TEXT) == (3, 3)


def test_an_offset_wins_over_the_pointer_and_columns_count_characters() -> None:
    offset = TEXT.index(b"rten")
    assert where(Fault("SP102", "", "/state", offset=offset, place=Place("f")), TEXT) == (2, 15)


def test_lines_count_from_the_line_on_which_the_text_begins() -> None:
    assert where(Fault("SP201", "", "/state", place=PLACE), TEXT) == (11, 12)


def test_without_its_text_a_fault_leads_to_the_beginning() -> None:
    assert where(Fault("SP201", "", "/state", place=PLACE), None) == (10, 1)


def test_a_fault_without_a_place_blames_no_file() -> None:
    finding = to_finding(Fault("SP001", "nothing to check"), None)
    assert (finding.url, finding.key, finding.line, finding.column) == ("", "", 1, 1)


def test_what_the_fold_met_comes_before_what_the_rules_find(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Journal().begin().checkpoint(2).checkpoint(3, "cp-2", parentCheckpointId=None).fold()
    met, found = run.faults[0], Fault("SP503", "a counter went back")
    module = SimpleNamespace(check=lambda run: iter([found] if run.faults else []))
    monkeypatch.setattr(rules, "RUN_RULES", ("SP503",))
    monkeypatch.setattr(catalogue, "module", lambda code_id: module)
    assert list(rules.check(run)) == [met, found]


def test_looking_up_one_code_imports_no_other() -> None:
    program = (
        "import sys; from safepoint.rules import severity; severity('SP104'); "
        "print(*[name for name in sys.modules if name.startswith('safepoint.rules.sp')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["safepoint.rules.sp104_duplicate_name"]


def test_the_table_has_a_row_for_each_code_under_its_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = (
        catalogue.Code("SP101", "byte-order-mark", "error", "json", "A byte-order mark.\n\nWhy: x\n\nFix: y"),
        catalogue.Code("SP204", "unknown-member-old", "warning", "unknown-members", "A | in it."),
    )
    monkeypatch.setattr(table, "codes", lambda: codes)
    assert table.table() == (
        "### SP1xx: JSON text\n\n"
        "| code | name | severity | means | see |\n|---|---|---|---|---|\n"
        "| SP101 | byte-order-mark | error | A byte-order mark. | [json](#json) |\n\n"
        "### SP2xx: structure of one record\n\n"
        "| code | name | severity | means | see |\n|---|---|---|---|---|\n"
        "| SP204 | unknown-member-old | warning | A \\| in it. | [unknown-members](#unknown-members) |\n"
    )
