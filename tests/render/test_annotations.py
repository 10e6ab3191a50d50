"""``--format github``: workflow commands."""

from __future__ import annotations

from dataclasses import replace

from checks import CLEAN, HOSTILE, LOOSE, NOWHERE, RUN, TIME, reported

from safepoint.core.finding import Checked
from safepoint.render.terminal import Screen

WHOLE = """\
::error file=store/runs/run-1/journal.jsonl,line=3,col=14,endLine=3,endColumn=23,\
title=SP207 bad-time::expected a time, found a string (at /createdAt)
::error file=store/runs/run-1/journal.jsonl,line=5,col=458,\
title=SP503 counter-went-back::tokens went back from 900 to 0 (at /usage/tokens)
::warning file=loose.json,line=1,col=1,title=SP504 approval-without-expiry::the approval never expires
::error title=SP001 nothing-to-check::nothing to check: no Safepoint record was found
not checked in 1 run, as a record before it is missing: SP303
not checked in 1 run, as the ledger is not sound: SP502
what a code means and how to fix it: safepoint explain SP001
9 records in 2 files, 2 runs: 3 errors, 1 warning in 0.30 s
"""


def test_each_finding_is_a_command_and_the_counts_are_not() -> None:
    assert reported("github", RUN, CLEAN, LOOSE, NOWHERE, seconds=lambda: 0.3) == WHOLE


def test_no_colour_gets_into_a_log_that_only_looks_like_a_terminal() -> None:
    assert "\x1b" not in reported("github", RUN, screen=Screen(colour=True, width=80))


def test_an_info_is_a_notice() -> None:
    mild = replace(TIME, severity="info")
    assert reported("github", replace(RUN, findings=(mild,))).startswith("::notice file=")


def test_quiet_leaves_out_the_counts() -> None:
    assert reported("github", CLEAN, quiet=True) == ""


def test_what_others_wrote_ends_no_property_no_line_and_no_command() -> None:
    first, *rest = reported("github", HOSTILE, quiet=True).splitlines()
    assert not rest
    head, _, message = first.removeprefix("::").partition("::")
    assert head.startswith('error file=a\\x1b[2J\\r\\n%3A%3Aerror%3A%3A\\u202e&<"')
    assert head.endswith("b.json,line=1,col=6,title=SP207 bad-time")
    assert message.startswith("found \\x1b[2J\\r\\n::error::")


def test_commas_and_percent_signs_are_escaped_where_they_mean_something() -> None:
    odd = replace(TIME, url="100%,a:b.json", message="100%, a:b", pointer="", excerpt=None)
    said = reported("github", Checked("file", "x", "x", 1, (odd,)), quiet=True)
    assert said == "::error file=100%25%2Ca%3Ab.json,line=3,col=14,title=SP207 bad-time::100%25, a:b\n"


def test_a_file_that_cannot_be_annotated_is_named_in_the_message() -> None:
    far = [replace(TIME, url=url) for url in ("s3://b/a.json", "/etc/a.json", "../a.json", "-")]
    said = reported("github", Checked("file", "x", "x", 1, tuple(far)), base="/home/me", quiet=True)
    places = [line.partition("bad-time::")[2].partition(": ")[0] for line in said.splitlines()]
    assert places == ["s3://b/a.json:3:14", "/etc/a.json:3:14", "../a.json:3:14", "-:3:14"]
    assert "file=" not in said


def test_an_absolute_path_below_the_folder_becomes_relative() -> None:
    near = replace(TIME, url="/home/me/store/a.json")
    said = reported("github", Checked("file", "x", "x", 1, (near,)), base="/home/me", quiet=True)
    assert said.startswith("::error file=store/a.json,line=3,")


def test_a_check_in_a_subfolder_names_files_from_the_top_of_the_repository() -> None:
    one = [replace(TIME, url=url) for url in ("a.json", "../b.json", "../../c.json")]
    said = reported(
        "github", Checked("file", "x", "x", 1, tuple(one)), base="/home/me", here="/home/me/sub", quiet=True
    )
    first, second, third = said.splitlines()
    assert first.startswith("::error file=sub/a.json,")
    assert second.startswith("::error file=b.json,")
    assert "::../../c.json:3:14: " in third
