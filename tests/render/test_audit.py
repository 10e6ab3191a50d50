"""The checklist as people read it: the whole text, on a terminal and elsewhere."""

from __future__ import annotations

from typing import Any

from safepoint.render.audit import audit_text, headline
from safepoint.render.terminal import Screen

PASSED = {"passed": 2, "failed": 0, "cannotTell": 0}


def point(number: int, result: str, **members: Any) -> dict[str, Any]:
    blank = {"runs": PASSED, "because": ["all is well"], "evidence": [], "evidenceCount": 0, "remedies": []}
    said = {"code": f"SP80{number}", "name": f"name-{number}", "title": f"title {number}"}
    return {"point": number, **said, "result": result, **blank, **members}


def place(number: int) -> dict[str, Any]:
    at = {"key": "k", "line": number, "column": 1, "pointer": "/status", "url": "store/a.json"}
    return {"runId": "run-1", "message": f"wrong {number}\x1b[2J", **at}


def document(**members: Any) -> dict[str, Any]:
    failed = point(
        2,
        "failed",
        runs={"passed": 1, "failed": 1, "cannotTell": 0},
        because=["wrong 1"],
        evidence=[place(number) for number in range(1, 6)],
        evidenceCount=12,
        remedies=["mend it"],
    )
    unknown = point(
        3,
        "cannotTell",
        runs={"passed": 1, "failed": 0, "cannotTell": 1},
        because=["no policy was given"],
        evidence=[{**place(1), "url": "", "pointer": "", "message": "no policy was given"}],
        evidenceCount=1,
        remedies=["name it"],
    )
    first = point(1, "passed", because=["all is well", "nothing to do"])
    results = {"passed": 0, "failed": 1, "cannotTell": 1}
    whole = {
        "store": "store",
        "run": None,
        "policy": None,
        "result": "failed",
        "points": [first, failed, unknown],
    }
    return {**whole, "summary": {"runs": 2, "deleted": 1, "records": 9, "results": results}, **members}


WHOLE = """\
failed: of 3 points 1 failed, 1 cannot be told, 1 passed
store, 2 runs (1 more deleted), no policy given

                  point    why
1  ✓ passed       title 1  2 of 2 runs: all is well; or: nothing to do
2  ✗ failed       title 2  1 of 2 runs: wrong 1
3  ? cannot tell  title 3  1 of 2 runs: no policy was given

✗ 2. title 2: failed in 1 of 2 runs (SP802 name-2)
  - run run-1: wrong 1\\x1b[2J
    store/a.json:1:1 at /status
  - run run-1: wrong 2\\x1b[2J
    store/a.json:2:1 at /status
  - run run-1: wrong 3\\x1b[2J
    store/a.json:3:1 at /status
  - and 9 more
  do: mend it

? 3. title 3: cannot tell in 1 of 2 runs (SP803 name-3)
  - run run-1: no policy was given
  do: name it

what a point asks for, and why: safepoint explain SP802
"""


def test_elsewhere_it_is_one_line_for_each_thing_and_nothing_raw() -> None:
    assert audit_text(document(), Screen()) == WHOLE


def test_on_a_narrow_terminal_no_line_is_wider_but_the_places_and_the_words_stay() -> None:
    told = audit_text(document(), Screen(colour=False, width=60))
    wide = [line for line in told.splitlines() if len(line) > 60 and "store/a.json" not in line]
    assert wide == []
    assert told.count("cannot tell") == 2


def test_colour_is_never_the_only_sign() -> None:
    painted = audit_text(document(), Screen(colour=True, width=100))
    assert "\x1b[" in painted
    assert "✗ failed" in painted
    assert "? cannot tell" in painted


def test_all_passed_says_so_and_points_nowhere() -> None:
    good = document(result="passed", points=[point(1, "passed")], run="run-1", policy="policy.toml")
    assert headline(good) == "passed: all 1 points"
    assert "run run-1" in audit_text(good, Screen())
    assert "explain" not in audit_text(good, Screen())
