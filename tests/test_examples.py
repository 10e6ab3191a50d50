"""What lies in ``examples/`` runs, and writes what this library accepts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from safepoint import rules
from safepoint.reader import load_run
from safepoint.recorder import start_run
from safepoint.store import open_store

NODE = shutil.which("node")
APPEND = Path(__file__).parents[1] / "examples/node/append.mjs"

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def append(store: Path) -> None:
    assert NODE is not None
    subprocess.run([NODE, str(APPEND), str(store), "run-1"], check=True, timeout=60)


def test_a_journal_that_node_writes_without_a_library_is_sound(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)
    scan = load_run(open_store(str(tmp_path)), "run-1")
    assert scan.run is not None
    assert not [*scan.faults, *rules.check(scan.run)]
    assert [record.kind for record in scan.run.records] == ["run", "checkpoint", "checkpoint"]
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".tmp-")]


def test_node_appends_behind_what_this_library_wrote(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    start_run(store, "run-1", workflow="w", holder="w1")
    append(tmp_path)
    scan = load_run(store, "run-1")
    assert scan.run is not None
    # It holds no lease, and that is the one thing that is found wrong with its record.
    assert {fault.code for fault in (*scan.faults, *scan.run.faults)} == {"SP306"}
