"""What the guard hands over is never a dead end: in each fixture its text names a command, or a file to edit."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
GUARD = Path(__file__).parents[2] / "fixtures/guard"
CASES = {path.parent.name: json.loads(path.read_bytes()) for path in sorted(GUARD.glob("*/expect.json"))}
EXITS = {10: "wait", 11: "reconcile", 13: "hand_over"}

FILES = (
    "into facts.json",
    "into policy.json",
    "to facts.json",
    "in policy.json",
    "into a facts file",
    "what you found to",
)


def of(*verdicts: str) -> list[str]:
    return [name for name, expect in CASES.items() if EXITS.get(expect["exit"]) in verdicts]


def shown(run: Run, name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    expect: dict[str, Any] = CASES[name]
    case = place / name
    shutil.copytree(GUARD / name, case)
    monkeypatch.chdir(case)
    store, options = expect["store"], []
    if "claims" in expect:
        shutil.make_archive("archive", "zip", store)
        store = "zip://::archive.zip"
        options = ["--storage-option", "assume_one_writer=true"] if expect["claims"] == "assumed" else []
    for option in ("facts", "policy", "request", "anchor"):
        options += [f"--{option}", expect[option]] if option in expect else []
    result = run("guard", store, "--run", expect["run"], "--now", expect["now"], *options)
    assert result.exit_code == expect["exit"]
    return result.stdout


def answers(text: str) -> list[str]:
    """The lines that do more than look, or ask the same again."""
    lines = [line.strip() for line in text.partition("what to do next")[2].splitlines()]
    again = {line for line in lines if line.startswith("safepoint guard ") and "FILL IN" not in line}
    commands = [
        line for line in lines if line.startswith("safepoint ") and not line.startswith("safepoint show ")
    ]
    edits = [line for line in lines if any(file in line for file in FILES)]
    return [line for line in commands if line not in again] + edits


@pytest.mark.parametrize("name", of("hand_over"))
def test_what_is_handed_over_names_an_answer(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(run, name, tmp_path, monkeypatch)
    assert answers(text), text


@pytest.mark.parametrize("name", of("reconcile"))
def test_what_has_to_be_found_out_names_where_it_is_written(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(run, name, tmp_path, monkeypatch)
    assert any(file in text for file in (*FILES, "--fleet-output fleet.json")), text


@pytest.mark.parametrize("name", of("wait"))
def test_what_waits_for_a_human_names_the_answer(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(run, name, tmp_path, monkeypatch)
    if "SP780" in text or "SP784" in text:
        assert "safepoint approve store --run run-1 " in text, text
    else:
        assert "ask again " in text


@pytest.mark.parametrize("name", of("hand_over", "reconcile", "wait"))
def test_no_line_that_is_to_be_copied_is_taken_with_its_gaps(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = None
    for line in answers(shown(run, name, tmp_path, monkeypatch)):
        if line.startswith("safepoint ") and "FILL IN" in line:
            before = before or sorted(path.name for path in Path().rglob("*.json"))
            result = run(*shlex.split(line)[1:])
            assert result.exit_code != 0, line
            assert sorted(path.name for path in Path().rglob("*.json")) == before
