"""The corpus of the benchmarks is what it says: the same from the same seed, clean, or with just the damage planted."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.corpus import Layout, generate
from benchmarks.faults import DAMAGES
from benchmarks.scenes import CHECKPOINTS, LEDGER_RECORDS

import safepoint

LAYOUTS: tuple[Layout, ...] = ("objects", "lines")
RUNS = 12


def contents(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def findings(store: Path) -> set[tuple[str, str, int]]:
    """Code, run, and the line or the number in the name of what is accused."""
    found = set()
    for finding in safepoint.validate(str(store)):
        run, _, name = finding.key.removeprefix("runs/").partition("/")
        number = (
            finding.line if name.endswith(".jsonl") else int(name.rpartition("/")[2].removesuffix(".json"))
        )
        found.add((finding.code, run, number))
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_seed_makes_the_same_bytes_and_another_one_others(tmp_path: Path, layout: Layout) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        generate(tmp_path / name, layout, runs=3, seed=seed)
    assert contents(tmp_path / "one") == contents(tmp_path / "again")
    assert contents(tmp_path / "one") != contents(tmp_path / "other")


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    generate(tmp_path / "small", "objects", runs=2, seed=1)
    generate(tmp_path / "large", "objects", runs=4, seed=1)
    small, large = contents(tmp_path / "small"), contents(tmp_path / "large")
    assert small.items() < large.items()


def test_each_run_has_its_checkpoints_and_ledger_records_in_the_size_that_is_promised(tmp_path: Path) -> None:
    corpus = generate(tmp_path / "store", "lines", runs=RUNS, seed=1)
    assert corpus.records["checkpoint"] == RUNS * CHECKPOINTS
    assert corpus.records["ledger"] == RUNS * LEDGER_RECORDS
    assert 2600 < corpus.size["checkpoint"] / corpus.records["checkpoint"] < 2800
    assert corpus.size["ledger"] / corpus.records["ledger"] < 500


def test_both_layouts_hold_the_same_records(tmp_path: Path) -> None:
    for layout in LAYOUTS:
        generate(tmp_path / layout, layout, runs=3, seed=1)
    objects = contents(tmp_path / "objects")
    for name, data in contents(tmp_path / "lines").items():
        if name.endswith("journal.jsonl"):
            folder = name.removesuffix(".jsonl")
            apart = [objects[key] for key in sorted(objects) if key.startswith(f"{folder}/")]
            assert data.splitlines() == apart


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_clean_corpus_has_no_finding(tmp_path: Path, layout: Layout) -> None:
    corpus = generate(tmp_path / "store", layout, runs=60, seed=1)
    # all that may happen in a run is there
    assert set(corpus.records) == {
        *("run", "lease", "checkpoint", "ledger", "approval", "evidence", "recovery", "retract", "heartbeat")
    }
    assert findings(tmp_path / "store") == set()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_kind_of_damage_is_found_where_it_was_done_and_nothing_else_is(
    tmp_path: Path, layout: Layout
) -> None:
    corpus = generate(tmp_path / "store", layout, runs=100, seed=3, faulty=0.014)
    assert {p.name for p in corpus.planted} == {d.name for d in DAMAGES if layout in d.layouts}
    planted = {
        (p.code, p.run_id, p.line if layout == "lines" else p.sequence): p.name for p in corpus.planted
    }
    found = findings(tmp_path / "store")
    assert {planted[place] for place in planted.keys() - found} == set()
    # a line that cannot be read leaves its number missing in front of the next one
    consequences = {("SP301", p.run_id, p.line + 1) for p in corpus.planted} if layout == "lines" else set()
    assert found - planted.keys() <= consequences


def test_faults_are_as_many_as_asked_for_each_in_a_run_of_its_own(tmp_path: Path) -> None:
    corpus = generate(tmp_path / "store", "lines", runs=200, seed=1, faulty=0.005)
    assert len(corpus.planted) == round(corpus.records.total() * 0.005)
    assert len({p.run_id for p in corpus.planted}) == len(corpus.planted)
