"""``safepoint facts``: all that a decision lacks at once, as a document that is refused until it is filled in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from safepoint import api
from safepoint.api import InputRefusedError
from safepoint.render.template import FILL_IN

Run = Callable[..., Result]

CASES = Path(__file__).parents[2] / "fixtures/guard"


def expected(case: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((case / "expect.json").read_text())
    return found


def asked_of(case: Path) -> list[str]:
    """The command's arguments that ask what the case asks."""
    expect = expected(case)
    words = [str(case / expect["store"]), "--run", expect["run"], "--now", expect["now"]]
    files = (name for name in ("facts", "policy", "request", "anchor") if name in expect)
    return [*words, *(word for name in files for word in (f"--{name}", str(case / expect[name])))]


def reconcile() -> list[Path]:
    decisions = (
        (path.parent, json.loads(path.read_text())) for path in sorted(CASES.glob("*/decision.json"))
    )
    return [case for case, decision in decisions if decision["verdict"] == "reconcile"]


def answered(value: Any, now: str, name: str = "") -> Any:
    """A template with an answer in each gap that lets the run go on."""
    if isinstance(value, dict):
        return {member: answered(item, now, member) for member, item in value.items()}
    if isinstance(value, list):
        return [answered(item, now, name) for item in value]
    if not isinstance(value, str) or not value.startswith(FILL_IN):
        return value
    answers: dict[str, Any] = {
        "observedAt": now,
        "result": "applied",
        "consistency": "strong",
        "state": "granted" if "granted" in value else "present",
        "ledgerComplete": True,
        "sequence": 1,
        "knownSteps": ["notify", "update_status", "draft"],
        "holder": "worker-1",
        "proof": "exit status -9",
        "version": "1",
        "value": 1,
    }
    return answers.get(name, "delivered" if "delivered" in value else f"sha256:{'a' * 64}")


COUNTED = "fleet-counted-too-long-ago"
"""A fleet is counted by a command, and not by hand."""


@pytest.mark.parametrize("case", [c for c in reconcile() if c.name != COUNTED], ids=lambda case: case.name)
def test_a_template_that_is_filled_in_changes_what_is_missing(run: Run, case: Path, tmp_path: Path) -> None:
    expect = expected(case)
    before = json.loads(run("guard", *asked_of(case), "--format", "json").stdout)
    result = run("facts", "template", *asked_of(case))
    assert result.exit_code == 0
    template = json.loads(result.stdout)
    with pytest.raises(InputRefusedError):
        api.guard(case / expect["store"], expect["run"], facts=template)
    known = json.loads((case / expect["facts"]).read_text()) if "facts" in expect else {}
    if "takes their place" in result.stderr:
        known = {}
    filled = answered(template, expect["now"])
    for name, value in known.items():
        filled[name] = (
            {**value, **filled.get(name, {})} if isinstance(value, dict) else filled.get(name, value)
        )
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(filled))
    words = asked_of(case)
    if "facts" in expect:
        words[words.index("--facts") + 1] = str(path)
    else:
        words += ["--facts", str(path)]
    after = json.loads(run("guard", *words, "--format", "json").stdout)
    assert (after["verdict"], after["missingEvidence"]) != ("reconcile", before["missingEvidence"])
    subjects = {need["subject"] for need in after["missingEvidence"] if need["kind"] in {"fact", "probe"}}
    asked = {need["subject"] for need in before["missingEvidence"]}
    assert subjects <= asked, "a second wave, which the template should have asked for"


def test_a_live_lease_does_not_hide_the_effect_behind_it(run: Run) -> None:
    case = CASES / "lost-answer-probe"
    words = [str(case / "store"), "--run", "run-1", "--now", "2026-05-07T10:00:30Z"]
    assert run("guard", *words).exit_code == 10
    template = json.loads(run("facts", "template", *words).stdout)
    assert list(template["probes"]) == ["send"]
    assert [owner["leaseEpoch"] for owner in template["owners"]] == [1]


def test_what_is_known_is_not_asked_again_until_nothing_is_left(
    run: Run, committed: Path, tmp_path: Path
) -> None:
    words = ["facts", "template", committed, "--run", "run_123", "--now", "2026-05-07T10:10:00Z"]
    template = json.loads(run(*words).stdout)
    assert set(template) == {"recordType", "schemaVersion", "runId", "observedAt", "knownSteps"}
    template |= {"observedAt": "2026-05-07T10:09:00Z", "knownSteps": ["draft", "notify"]}
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(template))
    result = run(*words, "--facts", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing is missing; the guard's answer is resume" in result.stderr


def test_stale_facts_are_replaced_by_a_template_that_keeps_what_does_not_change(
    run: Run, crashed: Path, tmp_path: Path
) -> None:
    dead = {"leaseEpoch": 1, "state": "dead", "proof": "exit 9"}
    old = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run_123",
        "observedAt": "2026-05-07T10:05:00Z",
    }
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({**old, "owners": [dead], "knownSteps": ["draft"]}))
    result = run(
        "facts", "template", crashed, "--run", "run_123", "--now", "2026-05-07T11:00:00Z", "--facts", path
    )
    template = json.loads(result.stdout)
    assert template["owners"] == [{"observedAt": "2026-05-07T10:05:00Z", **dead}]
    assert template["observedAt"].startswith(FILL_IN)
    assert "knownSteps" in template
    assert "this takes their place" in result.stderr


@pytest.mark.parametrize("name", ["completed", "attempt-unreadable", "deleted"])
def test_where_no_fact_would_change_the_answer_none_is_asked_for(run: Run, name: str) -> None:
    result = run("facts", "template", *asked_of(CASES / name))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("no facts are needed")


def test_a_template_never_overwrites_a_file(run: Run, crashed: Path, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    words = ["facts", "template", crashed, "--run", "run_123", "--output", path]
    result = run(*words)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"--facts {path}" in result.stderr
    before = path.read_bytes()
    again = run(*words)
    assert (again.exit_code, path.read_bytes()) == (2, before)
    assert "exists" in again.stderr


def test_without_a_run_the_command_is_named_whole(run: Run, crashed: Path) -> None:
    result = run("facts", "template", crashed)
    assert result.exit_code == 2
    assert f"  safepoint facts template {crashed} --run run_123\n" in result.stderr


def test_facts_of_several_files_are_taken_together_and_asked_with_again(
    run: Run, committed: Path, tmp_path: Path
) -> None:
    head = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run_123",
        "observedAt": "2026-05-07T10:09:00Z",
    }
    (tmp_path / "a.json").write_text(json.dumps({**head, "knownSteps": ["notify"]}))
    (tmp_path / "b.json").write_text(json.dumps({**head, "observedAt": "2026-05-07T10:08:00Z"}))
    files = ["--facts", tmp_path / "a.json", "--facts", tmp_path / "b.json"]
    words = ["guard", committed, "--run", "run_123", "--now", "2026-05-07T10:10:00Z"]
    document = json.loads(run(*words, *files, "--format", "json").stdout)
    assert document["validUntil"] == "2026-05-07T10:23:00Z"
    turned = json.loads(run(*words, *files[2:], *files[:2], "--format", "json").stdout)
    assert turned == document
    shown = run("guard", committed, "--run", "run_123", "--now", "2027-05-07T10:10:00Z", *files).stdout
    assert f"--facts {tmp_path}/a.json --facts {tmp_path}/b.json" in shown
    merged = json.loads(run("facts", "merge", tmp_path / "a.json", tmp_path / "b.json").stdout)
    assert (merged["observedAt"], merged["knownSteps"]) == ("2026-05-07T10:08:00Z", ["notify"])


def test_contradicting_facts_judge_nothing(run: Run, committed: Path, tmp_path: Path) -> None:
    head = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run_123",
        "observedAt": "2026-05-07T10:09:00Z",
    }
    for name, said in (("a.json", True), ("b.json", False)):
        (tmp_path / name).write_text(json.dumps({**head, "ledgerComplete": said}))
    files = ["--facts", tmp_path / "a.json", "--facts", tmp_path / "b.json"]
    result = run("guard", committed, "--run", "run_123", *files)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "/ledgerComplete is true, and is false" in result.stderr
