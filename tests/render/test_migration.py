"""What is said of a migration: what came of it in one line, each count once, and the way on where there is one."""

from __future__ import annotations

from typing import Any

import pytest

from safepoint.core.finding import Finding
from safepoint.render.migration import findings_lines, news, next_steps, record_summary, store_summary
from safepoint.render.terminal import Screen

DIGEST = "sha256:" + "a" * 64
LEFT = "left behind (they speak of the original alone)"
FATES = ("migrated", "copied", "asIs", "dropped", "left", "refused")


def finding(code: str = "SP603", severity: Any = "info", pointer: str = "/status", line: int = 1) -> Finding:
    return Finding(code, severity, "old/a.jsonl", "a.jsonl", pointer, line, 9, "kept for the way back")


def summary(outcome: str, **members: Any) -> dict[str, Any]:
    fates = {fate: members.pop(fate, 0) for fate in FATES}
    return {
        "outcome": outcome,
        "done": outcome in {"done", "nothingToDo"},
        "resumed": False,
        "objects": sum(fates.values()),
        **fates,
        "runs": 2,
        "openRuns": 0,
        "bytesRead": 12_345,
        "bytesWritten": 23_456,
        "codes": {},
        "run": None,
        "digest": None,
        "sealed": {},
        "seals": [],
        **members,
    }


def seals(*outcomes: str) -> dict[str, Any]:
    told = {outcome: outcomes.count(outcome) for outcome in outcomes}
    whys = {"live": "its lease is live", "stale": "it went on"}
    return {
        "sealed": told,
        "seals": [{"runId": f"r{n}", "outcome": o, "message": whys.get(o)} for n, o in enumerate(outcomes)],
    }


def said(given: dict[str, Any], *findings: Finding, looking: bool = False, **screen: Any) -> list[str]:
    return store_summary(given, findings, Screen(**screen), looking=looking).splitlines()


def test_a_migration_that_was_done() -> None:
    given = summary("done", migrated=17, copied=44, left=2, codes={"SP603": 1}, digest=DIGEST)
    assert said(given, finding()) == [
        f"done: of 63 objects in 2 runs, 17 migrated, 44 copied as they are, 2 {LEFT}",
        "12,345 bytes read, 23,456 in the copy",
        "findings: 1 SP603",
        "what a code means and how to fix it: safepoint explain SP603",
        f"digest of the copy: {DIGEST}",
    ]


def test_one_that_would_be_done() -> None:
    assert said(summary("planned", migrated=1, copied=2), looking=True) == [
        "nothing was written: of 3 objects in 2 runs, 1 would be migrated, 2 copied as they are",
        "12,345 bytes read, 23,456 to write",
    ]


def test_one_that_would_change_nothing() -> None:
    assert said(summary("planned", copied=3), looking=True) == [
        "nothing would change: of 3 objects in 2 runs, 3 copied as they are",
    ]


def test_originals_that_were_to_be_sealed_alone() -> None:
    seals = {"runs": 2, "sealed": {"alreadySealed": 2}}
    assert said(summary("nothingToDo", **seals)) == [
        "nothing is left to be sealed",
        "originals: 2 sealed before",
    ]
    refused = [{"runId": "a", "outcome": "notWhole", "message": "the original is not sealed: …"}]
    assert said(summary("nothingToDo", runs=1, sealed={"notWhole": 1}, seals=refused)) == [
        "nothing was migrated, but 1 original not sealed",
        "originals: 1 without a whole copy",
    ]


def test_one_of_an_empty_store() -> None:
    assert said(summary("done", runs=0, digest=DIGEST)) == [
        "done: there is nothing in it",
        f"digest of the copy: {DIGEST}",
    ]


def test_one_that_dropped_what_the_version_lacks() -> None:
    assert said(summary("done", migrated=1, dropped=2))[0] == (
        "done: of 3 objects in 2 runs, 1 migrated, 2 dropped (the version has no such records)"
    )


def test_one_that_was_refused() -> None:
    given = summary("refused", copied=3, refused=2, codes={"SP103": 2})
    assert said(given, finding("SP103", "error"), finding("SP103", "error", line=2)) == [
        "refused, nothing was written: 2 of 5 objects in 2 runs cannot be migrated",
        "findings: 2 SP103",
        "what a code means and how to fix it: safepoint explain SP103",
    ]
    assert said(given, finding(), looking=True)[0].startswith("nothing would be written: 2 of 5 objects")


def test_one_of_files_that_lie_in_no_run() -> None:
    assert said(summary("refused", refused=1, runs=0))[0] == (
        "refused, nothing was written: 1 of 1 object cannot be migrated"
    )


def test_one_that_was_refused_for_what_is_in_the_way() -> None:
    assert said(summary("refused", migrated=3, codes={"SP604": 1}), finding("SP604", "error")) == [
        "refused, nothing was written",
        "findings: 1 SP604",
        "what a code means and how to fix it: safepoint explain SP604",
    ]


def test_one_that_kept_what_it_could_not_migrate() -> None:
    given = summary("done", migrated=3, asIs=1, codes={"SP103": 1, "SP603": 7, "SP613": 1})
    told = [finding(), finding("SP103", "error"), finding("SP613", "warning")]
    assert said(given, *told) == [
        "done, but not all is migrated: of 4 objects in 2 runs, 3 migrated, 1 not migrated and copied as they were",
        "12,345 bytes read, 23,456 in the copy",
        "findings: 1 SP103, 7 SP603, 1 SP613, 6 of them not shown",
        "what a code means and how to fix it: safepoint explain SP103",
    ]


def test_a_copy_that_is_whole_already() -> None:
    assert said(summary("nothingToDo", migrated=3, codes={"SP603": 3})) == [
        "the copy is whole already: 3 objects in 2 runs"
    ]


def test_originals_that_were_sealed_later() -> None:
    given = summary("nothingToDo", copied=3, **seals("sealed", "sealed", "ended", "unnumbered"))
    assert said(given) == [
        "the originals are sealed: 3 objects in 2 runs",
        "originals: 2 sealed, 1 ended and in need of no seal, 1 without a numbered journal, which cannot be sealed",
    ]
    assert said(summary("nothingToDo", copied=3, **seals("alreadySealed"))) == [
        "the copy is whole already: 3 objects in 2 runs",
        "originals: 1 sealed before",
    ]


def test_originals_that_could_not_be_sealed() -> None:
    given = summary("done", copied=3, codes={"SP616": 2}, **seals("sealed", "live", "stale"))
    assert said(given, finding("SP616", "error")) == [
        "done, but 2 originals not sealed: of 3 objects in 2 runs, 3 copied as they are",
        "12,345 bytes read, 23,456 in the copy",
        "originals: 1 sealed, 1 that may be at work, 1 that went on after they were copied",
        "findings: 2 SP616, 1 of them not shown",
        "what a code means and how to fix it: safepoint explain SP616",
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_on_a_terminal_lines_fit_and_only_what_is_copied_stays_whole(width: int) -> None:
    given = summary("done", migrated=17, copied=44, left=2, digest=DIGEST, **seals("sealed", "live"))
    lines = said(given, width=width)
    assert [line for line in lines if len(line) > width] == [f"digest of the copy: {DIGEST}"]
    assert lines[1].startswith("  ")


def test_the_outcome_is_coloured() -> None:
    assert said(summary("done", copied=1), colour=True)[0].startswith("\x1b[32mdone\x1b[0m: ")
    assert said(summary("refused", refused=1), colour=True)[0].startswith("\x1b[31mrefused, nothing was")
    assert said(summary("done", asIs=1), colour=True)[0].startswith("\x1b[33mdone, but not all is migrated")


def test_how_a_whole_copy_came_to_be_is_not_told_again() -> None:
    told = [finding(), finding("SP613", "warning")]
    assert news(told, "done") == told
    assert news(told, "nothingToDo") == told[1:]


# the way on


def steps(given: dict[str, Any], **asked: bool) -> list[str]:
    options = {"allow_loss": False, "keep_going": False, "seal": False, "looking": False, **asked}
    return list(next_steps(given, **options))


KEEP = "to copy what cannot be migrated as it is, and migrate the rest: the same with --keep-going"
LOSE = "to leave out what the version cannot hold: the same with --allow-loss"


@pytest.mark.parametrize(
    ("given", "asked", "expected"),
    [
        (summary("refused", refused=1, codes={"SP103": 1}), {}, [KEEP]),
        (summary("refused", refused=1, codes={"SP103": 1, "SP601": 1}), {}, [KEEP, LOSE]),
        (summary("refused", refused=1, codes={"SP103": 1}), {"keep_going": True}, []),
        (summary("refused", refused=1, codes={"SP006": 1}), {}, []),
        (summary("refused", dropped=1, codes={"SP605": 1}), {}, [LOSE]),
        (summary("refused", dropped=1, codes={"SP605": 1}), {"allow_loss": True}, []),
        (summary("refused", codes={"SP604": 1}), {}, []),
        (summary("planned", migrated=1, openRuns=1), {"looking": True}, []),
        (summary("done", openRuns=1), {"seal": True}, []),
        (summary("done", openRuns=1, dropped=1), {}, []),
        (summary("nothingToDo", openRuns=1), {}, []),
    ],
)
def test_the_way_on_is_told_where_there_is_one(
    given: dict[str, Any], asked: dict[str, bool], expected: list[str]
) -> None:
    assert steps(given, **asked) == expected


def test_runs_that_may_go_on_need_a_seal() -> None:
    assert steps(summary("done", openRuns=1)) == [
        "1 copied run has no end; to let it go on, seal its original: the same with --seal --by WHO"
    ]
    assert steps(summary("done", openRuns=2)) == [
        "2 copied runs have no end; to let them go on, seal their originals: the same with --seal --by WHO"
    ]


# one file, and the findings


def test_one_file() -> None:
    def told(*findings: Finding, done: bool = True, changed: bool = True, dry: bool = False) -> str:
        return record_summary(findings, done=done, changed=changed, dry=dry)

    assert told() == "done: migrated; 0 findings"
    assert told(changed=False) == "done: kept as it is; 0 findings"
    assert told(dry=True) == "would be migrated; 0 findings"
    assert told(dry=True, changed=False) == "would keep its bytes; 0 findings"
    assert told(finding("SP103", "error"), done=False) == "refused, nothing was written; 1 finding"
    assert told(finding(), finding(pointer="/x")) == "done: migrated; 1 finding in 2 places"
    kept = told(finding("SP103", "error"), finding("SP613", "warning"), changed=False)
    assert kept == "done, but not all of it is migrated; 2 findings"


def test_of_one_code_twenty_are_shown_and_all_are_counted() -> None:
    many = [finding("SP603", line=line) for line in range(1, 131)]
    assert len(list(findings_lines(many, lambda _: "residue-kept", Screen()))) == 20
    line = record_summary(many, done=True, changed=True, dry=False)
    assert line == "done: migrated; 130 findings (110 more of the same codes not shown)"


def test_what_a_record_has_no_place_for_is_one_line() -> None:
    lines = list(findings_lines([finding(), finding(pointer="/x")], lambda _: "residue-kept", Screen()))
    assert lines == ["old/a.jsonl:1:9: note SP603 residue-kept: kept for the way back: /status, /x"]
