"""The worked example of ``examples/renamed-field`` is what its script writes, and docs/migration.md tells the truth."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from safepoint import api

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/renamed-field"
PAGE = (ROOT / "docs/migration.md").read_text(encoding="utf-8")
SCRIPT = Path(sys.executable).parent / "safepoint"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    monkeypatch.chdir(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_its_store_is_what_its_script_writes(here: Path) -> None:
    shutil.rmtree(here / "store")
    subprocess.run([sys.executable, "record.py"], check=True, timeout=60)
    assert contents(here / "store") == contents(EXAMPLE / "store")


def test_the_programs_of_the_page_run_in_it(here: Path) -> None:
    """The second one goes on with what the first one recorded."""
    programs = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE)
    said = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            check=True, timeout=60, capture_output=True, text=True, cwd=here,
        ).stdout
        for program in programs
    ]  # fmt: skip
    assert said == ["", "closing the ticket of c_456\n"]
    run = api.load(api.open_store("my-runs"), "ticket-18").run
    assert run is not None
    saved = [record.value for record in run.records if record.kind == "checkpoint"]
    assert [(each["payloadSchema"], each["stateSnapshot"]) for each in saved] == [
        ("support-agent/state@4", {"customer": "c_456", "ticket": 18}),
        ("support-agent/state@5", {"customerId": "c_456", "ticket": 18}),
    ]


def test_its_settings_are_those_of_the_page(here: Path) -> None:
    (shown,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", PAGE)
    (here / "safepoint.toml").write_text(shown, encoding="utf-8")
    command = [SCRIPT, "migrate", "store", "--payload", "support-agent/state@5", "--output", "page"]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    shutil.copy(EXAMPLE / "safepoint.toml", here)
    subprocess.run([*command[:-1], "own"], check=True, timeout=60, capture_output=True)
    run = "runs/ticket-17/journal/0000000006.json"
    saved = json.loads((here / "page" / run).read_bytes())
    assert saved["stateSnapshot"]["customerId"] == "c_456"
    assert (here / "own" / run).read_bytes() == (here / "page" / run).read_bytes()
