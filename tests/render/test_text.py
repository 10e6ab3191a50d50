"""``--format text``: what people read, on a terminal and in a log."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checks import CLEAN, HOSTILE, LOOSE, NOWHERE, RUN, TIME, context, reported, summary

from safepoint.core.finding import Checked, Finding
from safepoint.render.report import Context
from safepoint.render.terminal import Screen
from safepoint.render.text import text_report

TERMINAL = """\
store/runs/run-1/journal.jsonl: 2 errors
  error SP207 bad-time: expected a time, found a string
    --> store/runs/run-1/journal.jsonl:3:14 at /createdAt
    3 | {"status":"planned","createdAt":"…","note":"…"}
      |                                 ^^^

  error SP503 counter-went-back: tokens went back from 900
    to 0
    --> store/runs/run-1/journal.jsonl:5:458 at /usage/tokens

loose.json: 1 warning
  warning SP504 approval-without-expiry: the approval never
    expires
    --> loose.json:1:1

  error SP001 nothing-to-check: nothing to check: no
    Safepoint record was found

not checked in 1 run, as a record before it is missing:
  SP303
not checked in 1 run, as the ledger is not sound: SP502
what a code means and how to fix it: safepoint explain SP001
9 records in 2 files, 2 runs: 3 errors, 1 warning in 0.30 s
"""

LOG = """\
store/runs/run-1/journal.jsonl:3:14: SP207 bad-time: expected a time, found a string (at /createdAt)
    3 | {"status":"planned","createdAt":"…","note":"…"}
      |                                 ^^^
store/runs/run-1/journal.jsonl:5:458: SP503 counter-went-back: tokens went back from 900 to 0 (at /usage/tokens)
loose.json:1:1: warning SP504 approval-without-expiry: the approval never expires
SP001 nothing-to-check: nothing to check: no Safepoint record was found
not checked in 1 run, as a record before it is missing: SP303
not checked in 1 run, as the ledger is not sound: SP502
what a code means and how to fix it: safepoint explain SP001
9 records in 2 files, 2 runs: 3 errors, 1 warning
"""


def test_on_a_terminal_findings_are_grouped_by_file_and_wrapped() -> None:
    narrow = Screen(width=60)
    assert reported("text", RUN, CLEAN, LOOSE, NOWHERE, screen=narrow, seconds=lambda: 0.3) == TERMINAL


def test_in_a_log_each_finding_begins_with_the_line_that_compilers_print() -> None:
    assert reported("text", RUN, CLEAN, LOOSE, NOWHERE) == LOG


def test_colours_mark_the_file_the_code_and_the_accused_place() -> None:
    said = reported("text", RUN, screen=Screen(colour=True, width=100))
    assert said.startswith("\x1b[1mstore/runs/run-1/journal.jsonl\x1b[0m\x1b[2m: 2 errors\x1b[0m\n")
    assert "  \x1b[1;31merror SP207 bad-time\x1b[0m: expected a time" in said
    assert '\x1b[2m3 | \x1b[0m{"status":"planned","createdAt":\x1b[1;31m"…"\x1b[0m,"note"' in said
    assert said.endswith(": \x1b[1;31m2 errors\x1b[0m\n")


def test_a_clean_check_is_one_line() -> None:
    assert reported("text", CLEAN) == "3 records in 2 files, 1 run: nothing wrong\n"


def test_quiet_leaves_out_the_last_lines() -> None:
    assert reported("text", CLEAN, quiet=True) == ""
    assert reported("text", LOOSE, quiet=True) == LOG.splitlines(keepends=True)[4]


@pytest.mark.parametrize("screen", [Screen(), Screen(width=50)])
def test_nothing_that_others_wrote_moves_the_cursor_or_begins_a_line(screen: Screen) -> None:
    said = reported("text", HOSTILE, screen=screen)
    assert all(letter.isprintable() or letter == "\n" for letter in said)
    assert not [line for line in said.splitlines() if line.startswith("::")]
    said.encode()


def test_findings_come_while_it_is_still_being_checked() -> None:
    def checked():  # noqa: ANN202 - a generator that is watched
        yield RUN
        raise AssertionError("asked too early")

    pieces = text_report(checked(), context())
    assert [next(pieces).count("SP207"), next(pieces).count("SP503")] == [1, 1]


@pytest.mark.parametrize(
    ("limits", "codes", "hidden"),
    [
        ({}, ["SP207", "SP207", "SP207", "SP503"], 0),
        ({"most": 2}, ["SP207", "SP207"], 2),
        ({"most_of_a_code": 1}, ["SP207", "SP503"], 2),
        ({"most": 2, "most_of_a_code": 1}, ["SP207", "SP503"], 2),
    ],
)
def test_limits_hide_findings_but_count_them(limits: dict[str, int], codes: list[str], hidden: int) -> None:
    again = replace(RUN, findings=(replace(TIME, excerpt=None),) * 2)
    *lines, last = reported("text", again, RUN, **limits).replace("    ", "").splitlines()
    assert [line.split()[1] for line in lines if line.startswith("store")] == codes
    assert ("not shown" in last) == bool(hidden)
    assert not hidden or last.endswith(f": 4 errors ({hidden} of them not shown)")


def test_rules_that_were_not_checked_for_one_reason_are_one_line() -> None:
    skipped = [{"code": f"SP3{n:02}", "reason": "why", "runs": n} for n in (3, 1, 2)]
    skipped.append({"code": "SP401", "reason": "because", "runs": 9})
    said = "".join(text_report([], context(summary=lambda: summary(skipped=skipped))))
    assert said.splitlines()[:2] == [
        "not checked in 9 runs, as because: SP401",
        "not checked in up to 3 runs, as why: SP301, SP302, SP303",
    ]


def test_of_many_rules_that_were_not_checked_a_few_are_named() -> None:
    skipped = [{"code": f"SP3{n:02}", "reason": "why", "runs": 1} for n in range(1, 12)]
    said = "".join(text_report([], context(summary=lambda: summary(skipped=skipped))))
    listed = ", ".join(f"SP3{n:02}" for n in range(1, 9))
    assert said.splitlines()[0] == f"not checked in 1 run, as why: {listed} and 3 more"


def test_the_last_lines_are_wrapped_on_a_terminal_only() -> None:
    skipped = [{"code": f"SP3{n:02}", "reason": "a long reason " * 5, "runs": 1} for n in range(1, 12)]
    told = context(summary=lambda: summary(skipped=skipped), screen=Screen(colour=True, width=60))
    lines = "".join(text_report([], told)).splitlines()
    assert lines[0].startswith("\x1b[1mnot checked in 1 run\x1b[0m, as a long reason")
    assert all(line.startswith("  ") for line in lines[1:-1])
    assert max(len(line) for line in lines[1:]) <= 60


def test_the_settings_that_were_gone_by_are_named() -> None:
    assert (
        reported("text", CLEAN, settings="en/safepoint.toml").splitlines()[0] == "settings: en/safepoint.toml"
    )
    assert "settings" not in reported("text", CLEAN)
    assert "settings" not in reported("text", CLEAN, settings="safepoint.toml", quiet=True)


def test_a_very_long_word_is_wrapped_too() -> None:
    finding = Finding("SP207", "error", "a.json", "a.json", "", 1, 1, "x" * 100)
    said = reported("text", Checked("file", "a", "a", 1, (finding,)), screen=Screen(width=40))
    assert max(len(line) for line in said.splitlines()[:5]) <= 40


def test_the_defaults_of_a_context_say_nothing_more() -> None:
    plain = Context(context().describe, summary)
    assert "".join(text_report([CLEAN], plain)) == "1 record in 1 file, 1 run: nothing wrong\n"
