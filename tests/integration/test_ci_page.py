"""What docs/ci.md shows is true: its commands run in a repository as it describes one; its YAML names what there is.

Its hooks and its lines for shells are run by the tests of those.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/ci.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [text for tag, text in BLOCKS if tag == "sh" and "safepoint validate" in text]
ACTION = yaml.safe_load((ROOT / ".github/actions/validate/action.yml").read_text())
RECORD = '{"actionId": "a", "runId": "r", "stepName": "s", "idempotencyKey": "k", "status": "pending"}\n'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a store, and a record that a branch adds."""
    shutil.copytree(ROOT / "fixtures/good/store/store", tmp_path / "tests/data/store")
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/new one.json").write_text(RECORD)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "safe.directory=*"]
    for command in (
        ["init", "--quiet", "--initial-branch", "main"],
        ["commit", "--quiet", "--allow-empty", "-m", "m"],
        ["add", "."],
    ):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("script", COMMANDS, ids=lambda text: text.split("--")[1].split()[0])
def test_a_command_of_the_page_runs_and_passes(repository: Path, script: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(["sh", "-euc", script], cwd=repository, env=os.environ | {"PATH": path}, check=True)


def values(tree: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in `tree`."""
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from values(part)


def test_what_the_page_gives_the_action_exists() -> None:
    trees = [yaml.safe_load(text) for tag, text in BLOCKS if tag == "yaml"]
    ours = [step for tree in trees for step in values(tree) if step.get("uses", "").startswith("OWNER/")]
    assert len(ours) >= 3
    for step in ours:
        assert step["with"].keys() <= ACTION["inputs"].keys()
        assert (
            ROOT / step["uses"].partition("@")[0].removeprefix("OWNER/safepoint/") / "action.yml"
        ).is_file()
