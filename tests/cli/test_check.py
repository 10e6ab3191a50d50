"""``safepoint guard --check``: does a stored decision still stand, as a status for programs and in words for humans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import safepoint

Run = Callable[..., Result]

NOW = "2026-05-07T10:10:00Z"
CASES = Path(__file__).parents[2] / "fixtures/guard"


@pytest.fixture
def decided(run: Run, committed: Path, tmp_path: Path) -> Path:
    path = tmp_path / "decision.json"
    path.write_text(run("guard", committed, "--run", "run_123", "--now", NOW, "--format", "json").stdout)
    return path


def test_it_stands_and_names_the_place_of_the_claim(run: Run, committed: Path, decided: Path) -> None:
    result = run("guard", committed, "--check", decided, "--now", "2026-05-07T10:11:00Z")
    assert result.exit_code == 0
    assert result.stdout.startswith("stands: the decision still says resume")
    assert "as journal record 6" in result.stdout


def test_it_is_void_once_the_run_went_on(run: Run, committed: Path, decided: Path) -> None:
    newest = committed / "runs/run_123/journal/0000000005.json"
    newest.unlink()
    result = run("guard", committed, "--check", decided, "--now", NOW)
    assert result.exit_code == 1
    assert result.stdout.startswith("void: the journal's newest record is another one")
    assert f"    safepoint guard {committed} --run run_123" in result.stdout
    assert "--check" not in result.stdout


def test_what_is_no_leave_says_so(run: Run, tmp_path: Path, crashed: Path) -> None:
    path = tmp_path / "decision.json"
    path.write_text(run("guard", crashed, "--run", "run_123", "--now", NOW, "--format", "json").stdout)
    result = run("guard", crashed, "--check", path, "--now", NOW)
    assert result.exit_code == 0
    assert "stands: the decision still says hand_over" in result.stdout
    assert "That is no leave to go on." in result.stdout


def test_json_lists_every_comparison(run: Run, committed: Path, decided: Path) -> None:
    result = run("guard", committed, "--check", decided, "--now", NOW, "--format", "json")
    document = json.loads(result.stdout)
    assert (document["standing"], document["wouldSay"]) == ("stands", "resume")
    assert {c["what"] for c in document["compared"]} >= {"journal", "policy", "facts", "anchor", "judgement"}


def test_another_run_is_void_and_an_unknown_one_cannot_be_looked_at(
    run: Run, committed: Path, decided: Path
) -> None:
    document = json.loads(decided.read_text()) | {"runId": "run_9"}
    decided.write_text(json.dumps(document))
    assert run("guard", committed, "--check", decided, "--now", NOW).exit_code == 3
    result = run("guard", committed, "--run", "run_123", "--check", decided, "--now", NOW)
    assert result.exit_code == 1
    assert "it is about another run" in result.stdout


@pytest.mark.parametrize(("text", "said"), [("{", "SP103"), ('{"recordType": "decision"}', "SP214")])
def test_what_is_no_sound_decision_is_not_compared(
    run: Run, committed: Path, decided: Path, text: str, said: str
) -> None:
    decided.write_text(text)
    result = run("guard", committed, "--check", decided)
    assert (result.exit_code, result.stdout) == (3, "")
    assert said in result.stderr


@pytest.mark.parametrize(
    "case",
    [path for path in sorted(CASES.iterdir()) if (path / "decision.json").exists()],
    ids=lambda p: p.name,
)
def test_every_decision_stands_where_and_when_it_was_made(case: Path) -> None:
    expect = json.loads((case / "expect.json").read_text())
    if not {"anchor", "claims", "storage", "assume"}.isdisjoint(expect) or "store-" in case.name:
        return  # opened otherwise than by its path alone
    files = {name: case / expect[name] for name in ("facts", "policy", "request") if name in expect}
    found = safepoint.check_decision(
        case / expect["store"], case / "decision.json", now=expect["now"], **files
    )
    assert found.stands, found.differences
