"""The corpus of v2 checkpoints is what it says, and what is measured with it does its job."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks.corpus import Layout
from benchmarks.older import generate
from benchmarks.processes import interleave

import safepoint
from benchmarks import migrating
from safepoint.core.version import V2, V3
from safepoint.migrate import migrate_record

LAYOUTS: tuple[Layout, ...] = ("objects", "lines")


def contents(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def test_both_layouts_hold_the_same_records_from_the_same_seed(tmp_path: Path) -> None:
    for layout in LAYOUTS:
        assert generate(tmp_path / layout, layout, runs=3, seed=1) == 30
    generate(tmp_path / "again", "objects", runs=3, seed=1)
    generate(tmp_path / "other", "objects", runs=3, seed=2)
    objects, lines = contents(tmp_path / "objects"), contents(tmp_path / "lines")
    assert sorted(objects.values()) == sorted(line for data in lines.values() for line in data.splitlines())
    assert contents(tmp_path / "again") == objects != contents(tmp_path / "other")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_of_it_is_valid_v2_in_the_size_that_is_promised(tmp_path: Path, layout: Layout) -> None:
    generate(tmp_path / "store", layout, runs=5, seed=1)
    found = [each for each in safepoint.validate(str(tmp_path / "store")) if each.severity != "info"]
    assert found == []
    texts = [line for data in contents(tmp_path / "store").values() for line in data.splitlines()]
    assert {json.loads(text)["schemaVersion"] for text in texts} == {"v2"}
    assert 2400 < sum(map(len, texts)) / len(texts) < 3000


def test_every_checkpoint_goes_up_and_back_without_a_residue(tmp_path: Path) -> None:
    generate(tmp_path / "store", "objects", runs=2, seed=1)
    for data in contents(tmp_path / "store").values():
        raised = migrate_record(data, V3)
        assert raised.data is not None
        assert "x-v2" not in json.loads(raised.data)
        back = migrate_record(raised.data, V2)
        assert back.data is not None
        assert json.loads(back.data) == json.loads(data)


def test_each_way_to_measure_does_all_of_it(tmp_path: Path) -> None:
    generate(tmp_path / "lines", "lines", runs=2, seed=1)
    generate(tmp_path / "store", "objects", runs=2, seed=1)
    assert migrating.memory(str(tmp_path / "lines")) == "20 migrated, 0 refused"
    for together in (False, True):
        target = tmp_path / f"target {together}"
        assert migrating.put(str(tmp_path / "store"), str(target), together=together) == "20 put"
        assert contents(target) == contents(tmp_path / "store")
        migrating.clear(target)
        migrating.clear(target)
        assert not target.exists()


def test_before_each_row_its_place_can_be_prepared() -> None:
    prepared: list[str] = []
    commands = {name: [sys.executable, "-c", "pass"] for name in ("a", "b")}
    interleave(commands, 1, prepare=prepared.append)
    assert prepared == ["a", "b"] * 2
