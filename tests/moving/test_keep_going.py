"""Told to keep going, a migration drops nothing: what it cannot migrate is in the copy byte for byte, and is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from journals import Journal
from moved import (
    OLD,
    V2_CHECKPOINT,
    V2_LEDGER,
    Places,
    another,
    codes,
    contents,
    copied,
    encode,
    fates,
    write,
)
from questions import started

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.version import V2, V3
from safepoint.migrate import Migrator
from safepoint.payloads import PayloadSchemas
from safepoint.payloads.migrations import PayloadMigrations, PayloadStep

TORN = b'{"checkpointId":"cp_2","runI'
WRONG = encode(V2_CHECKPOINT | {"checkpointId": 3})


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


@pytest.mark.parametrize(("broken", "code"), [(TORN, "SP103"), (WRONG, "SP606"), (b"", "SP111")])
def test_one_broken_object_is_copied_and_the_others_are_migrated(
    places: Places, broken: bytes, code: str
) -> None:
    write(places.source, OLD | {"runs/r/bad.json": broken})
    report = places.migrate(V3, keep_going=True)
    assert (report.outcome, fates(report)) == ("done", {"migrated": 2, "copied": 4, "left": 1, "asIs": 1})
    assert {code, "SP613"} <= codes(report).keys()
    named = [f.place.key for f in report.tally.faults if f.place and f.code in {code, "SP613"}]
    assert named == ["runs/r/bad.json"] * 2
    assert copied(places.target)["runs/r/bad.json"] == broken
    assert json.loads(copied(places.target)["runs/r/cp.json"])["schemaVersion"] == "v3"


def test_one_broken_line_keeps_its_bytes_and_its_place(places: Places) -> None:
    lines = [encode(V2_LEDGER), TORN, encode(V2_LEDGER | {"status": "committed"}), b"", b'{"cut']
    write(places.source, {"runs/r/ledger.jsonl": b"\n".join(lines)})
    report = places.migrate(V3, keep_going=True)
    assert (report.outcome, fates(report)) == ("done", {"asIs": 1})
    assert codes(report)["SP613"] == 1
    (told,) = (fault.message for fault in report.tally.faults if fault.code == "SP613")
    assert told == "2 of its lines not migrated; they are in the copy as they were"
    new = copied(places.target)["runs/r/ledger.jsonl"].split(b"\n")
    assert (new[1], new[3], new[4]) == (lines[1], b"", lines[4])
    assert [json.loads(new[n])["schemaVersion"] for n in (0, 2)] == ["v3", "v3"]
    named = {(f.code, f.place.line) for f in report.tally.faults if f.place and f.code.startswith("SP1")}
    assert named == {("SP114", 2), ("SP116", 4), ("SP113", 5)}


def test_without_a_broken_record_it_is_the_same_copy(places: Places, tmp_path: Path) -> None:
    write(places.source, OLD)
    other = Places(tmp_path)
    other.target = tmp_path / "other"
    assert places.migrate(V3, keep_going=True).digest == other.migrate(V3).digest
    assert copied(places.target) == copied(other.target)


def test_the_plan_says_what_would_be_kept(places: Places) -> None:
    write(places.source, OLD | {"runs/r/bad.json": TORN})
    report = places.plan(V3, keep_going=True)
    assert (report.outcome, report.tally.fates["asIs"], codes(report)["SP613"]) == ("planned", 1, 1)


def test_a_record_that_lacks_its_way_down_is_no_broken_one(places: Places) -> None:
    places.run(started())
    write(places.source, {"runs/run-1/bad.json": TORN})
    report = places.migrate(V2, keep_going=True)
    assert report.outcome == "refused"
    assert not places.target.exists()
    report = places.migrate(V2, keep_going=True, allow_loss=True)
    assert (report.outcome, fates(report)) == ("done", {"migrated": 1, "dropped": 2, "asIs": 1})
    assert copied(places.target, "run-1")["runs/run-1/bad.json"] == TORN


# in the middle of a journal


def journal() -> Journal:
    found = Journal().begin()
    for number in range(3):
        payload = {"payloadSchema": "a/s@1", "stateSnapshot": {"n": number}}
        found.checkpoint(2 + number, f"cp-{number}", **payload)
    return found.ledger(9, "planned")


@pytest.fixture
def migrator(tmp_path: Path) -> Migrator:
    """Rewrites every checkpoint, and links the records behind anew."""
    (tmp_path / "schema.json").write_text("{}")
    (tmp_path / "step.json").write_text('[{"op": "move", "from": "/n", "path": "/count"}]')
    schemas = PayloadSchemas.load({name: str(tmp_path / "schema.json") for name in ("a/s@1", "a/s@2")})
    step = PayloadStep("a/s@1", "a/s@2", patch=str(tmp_path / "step.json"))
    change = PayloadMigrations.load([step], schemas).toward(["a/s@2"])
    return Migrator(payloads=change, keep_going=True)


def found(folder: Path) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.key) for finding in safepoint.validate(folder))


def test_a_journal_whose_payloads_change_stays_a_chain(places: Places, migrator: Migrator) -> None:
    places.run(journal())
    report = places.migrate(None, migrator=migrator)
    assert (report.outcome, fates(report)) == ("done", {"migrated": 4, "copied": 2})
    assert not [finding for finding in safepoint.validate(places.target) if finding.severity == "error"]
    records = [json.loads(data) for key, data in contents(places.target).items() if "/run-1/journal/" in key]
    assert [r["stateSnapshot"] for r in records[2:5]] == [{"count": number} for number in range(3)]
    origin = json.loads(contents(places.target)["runs/run-1/origin.json"])
    before, after = (origin[name]["journal"] for name in ("from", "heads"))
    assert before == {"sequence": 6, "digest": digest_stored(encode_record(journal().values[-1]))}
    assert (after["sequence"], after["digest"]) == (6, digest_stored(encode_record(records[-1])))


@pytest.mark.parametrize("number", [3, 4, 5])
@pytest.mark.parametrize("how", ["torn", "invalid", "noPayload"])
def test_a_run_of_which_one_record_cannot_be_migrated_stays_what_it_was_and_the_others_are_migrated(
    places: Places, migrator: Migrator, number: int, how: str
) -> None:
    places.run(journal())
    key = f"runs/run-1/journal/{number:010d}.json"
    whole = json.loads(contents(places.source)[key])
    broken: dict[str, Any] = {
        "torn": encode_record(whole)[:-9],
        "invalid": encode_record({**whole, "state": 7}),
        "noPayload": encode_record({**whole, "stateSnapshot": {"m": 1}}),
    }
    write(places.source, {key: broken[how]})
    another(journal(), "run-2").write(places.source)
    before = found(places.source)
    report = places.migrate(None, migrator=migrator, sealed_by="ops")
    assert (report.outcome, report.tally.kept) == ("done", ["run-1"])
    old, new = contents(places.source), contents(places.target)
    kept = [name for name in new if name.startswith("runs/run-1/journal/")]
    assert {name: new[name] for name in kept} == {name: old[name] for name in kept}
    assert json.loads(new["runs/run-2/journal/0000000004.json"])["payloadSchema"] == "a/s@2"
    # the copy has the damage that its source has, and no other
    assert found(places.target) == before
    assert {seal.run_id: seal.outcome for seal in report.seals} == {"run-1": "unmigrated", "run-2": "sealed"}
    asked = safepoint.guard(places.target, "run-1", now=places.now).verdict
    assert asked != "resume"
