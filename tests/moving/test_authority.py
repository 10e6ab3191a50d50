"""Which copy of a run may go on: the very one that its original was sealed for, and only while it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from journals import Journal
from moved import OLD, Places, codes, contents, write
from questions import started

import safepoint
from safepoint.core.version import V3
from safepoint.migrate import Migrator
from safepoint.moving.migration import seal_store
from safepoint.payloads import PayloadSchemas
from safepoint.payloads.migrations import PayloadMigrations, PayloadStep
from safepoint.store import open_store


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def verdict(places: Places, store: Path) -> str:
    return safepoint.guard(store, "run-1", now=places.now).verdict


def sealed(places: Places) -> dict[str, str]:
    stores = open_store(str(places.source)), open_store(str(places.target))
    return {s.run_id: s.outcome for s in seal_store(*stores, sealed_by="ops", clock=places.clock).seals}


def test_another_copy_in_the_place_of_the_first_gets_no_authority(places: Places, tmp_path: Path) -> None:
    places.run(started())
    places.migrate(V3, sealed_by="ops")
    moved = tmp_path / "moved"
    places.target.rename(moved)
    assert verdict(places, moved) == "resume"
    again = places.migrate(V3, sealed_by="ops")
    assert {seal.run_id: seal.outcome for seal in again.seals} == {"run-1": "sealedElsewhere"}
    assert codes(again)["SP616"] == 1
    assert (verdict(places, places.target), verdict(places, places.source)) == ("no_op", "no_op")


def test_a_copy_that_is_moved_keeps_its_authority(places: Places, tmp_path: Path) -> None:
    places.run(started())
    places.migrate(V3, sealed_by="ops")
    places.target.rename(tmp_path / "moved")
    places.target = tmp_path / "moved"
    assert places.migrate(V3, sealed_by="ops").outcome == "nothingToDo"
    assert verdict(places, places.target) == "resume"


def cut(folder: Path) -> None:
    max((folder / "runs/run-1/journal").iterdir()).unlink()


def alter(folder: Path) -> None:
    path = min((folder / "runs/run-1/journal").iterdir())
    path.write_bytes(path.read_bytes().replace(b"started", b"Started"))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "tail cut": cut,
    "record altered": alter,
    "journal gone": lambda folder: shutil.rmtree(folder / "runs/run-1/journal"),
    "run gone": lambda folder: shutil.rmtree(folder / "runs/run-1"),
    "origin gone": lambda folder: (folder / "runs/run-1/origin.json").unlink(),
    "origin damaged": lambda folder: (folder / "runs/run-1/origin.json").write_bytes(b"{}"),
    "origin no object": lambda folder: (folder / "runs/run-1/origin.json").write_bytes(b"[]"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_for_a_copy_that_is_not_whole_no_original_is_sealed(
    places: Places, damage: Callable[[Path], object]
) -> None:
    places.run(started())
    places.migrate(V3)
    damage(places.target)
    before = contents(places.source)
    assert sealed(places) == {"run-1": "notWhole"}
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, report.seals) == ("refused", ())
    assert codes(report)["SP615"] >= 1
    assert contents(places.source) == before


def test_an_original_that_went_on_is_not_sealed_for_a_stale_copy(places: Places) -> None:
    run: Journal = places.run(started())
    places.migrate(V3)
    run.ledger(300, "planned").write(places.source)
    assert sealed(places) == {"run-1": "stale"}


def test_lines_of_somebody_else_are_copied_however_they_end(places: Places) -> None:
    foreign = {"notes.jsonl": b'{"a": 1}\n', "windows.jsonl": b'{"a": 1}\r\n{"b": 2}\r\n'}
    write(places.source, OLD | foreign)
    assert places.migrate(V3).outcome == "done"
    assert {name: contents(places.target)[name] for name in foreign} == foreign


@pytest.mark.parametrize(("named", "warned"), [("a/s@1", 0), ("b/s@1", 1), (None, 1)])
def test_a_payload_schema_that_nothing_is_brought_to_is_told(
    places: Places, tmp_path: Path, named: str | None, warned: int
) -> None:
    (tmp_path / "schema.json").write_text("{}")
    (tmp_path / "step.json").write_text("[]")
    schemas = PayloadSchemas.load({name: str(tmp_path / "schema.json") for name in ("a/s@1", "a/s@2")})
    step = PayloadStep("a/s@1", "a/s@2", patch=str(tmp_path / "step.json"))
    migrator = Migrator(payloads=PayloadMigrations.load([step], schemas).toward(["a/s@2"]))
    members = {} if named is None else {"payloadSchema": named}
    places.run(Journal().begin().checkpoint(2, "cp-1", stateSnapshot={}, **members))
    for _ in range(2):
        report = places.migrate(None, migrator=migrator)
        assert (report.outcome != "refused", codes(report)["SP617"]) == (True, warned)
