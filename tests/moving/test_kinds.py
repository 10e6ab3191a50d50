"""Each kind of run, layout and place: it is copied whole, validates as before, and is answered as before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from closed import LATER, finished, objects
from journals import Journal
from moved import OWN, Places, codes, contents, copied, encode, fates, write
from places import Place, place_at
from questions import started

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.version import V2, V3
from safepoint.migrate import Migrator
from safepoint.payloads import PayloadSchemas
from safepoint.payloads.migrations import PayloadMigrations, PayloadStep
from safepoint.store import Store, open_store
from safepoint.upkeep.pack import pack
from safepoint.upkeep.prune import prune
from safepoint.upkeep.repair import repair_store
from safepoint.upkeep.retract import retract

RUN = "runs/run-1/"
LINES = f"{RUN}journal.jsonl"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path)
    places.now = LATER
    return places


def paid(run_id: str = "run-1") -> Journal:
    """Closed, with artifacts, an effect, a recovery log and payloads."""
    journal = finished(run_id)
    previous = None
    for value in journal.values:
        if value["recordType"] == "checkpoint":
            value |= {"payloadSchema": "a/s@1", "stateSnapshot": {"n": value["sequence"]}}
        value["previousDigest"] = previous
        previous = digest_stored(encode_record(value))
    return journal


def in_lines(journal: Journal) -> bytes:
    return b"".join(encode_record(value) + b"\n" for value in journal.values)


# a store of each kind


def plain(_: Path) -> Mapping[str, bytes]:
    return objects(paid())


def upkept(
    folder: Path, keep: Callable[[Store], object], content: Mapping[str, bytes]
) -> Mapping[str, bytes]:
    """What a store holds after something was done to it."""
    write(folder, content)
    keep(open_store(str(folder)))
    return contents(folder)


def packed(folder: Path) -> Mapping[str, bytes]:
    found = upkept(folder, lambda store: [*pack(store, now=LATER)], objects(paid()))
    assert LINES in found
    return found


def pruned(folder: Path) -> Mapping[str, bytes]:
    found = upkept(
        folder, lambda store: [*prune(store, closed_before=LATER, now=LATER, by="ann")], objects(paid())
    )
    assert found.keys() == {f"{RUN}deleted.json"}
    return found


def retracted(folder: Path) -> Mapping[str, bytes]:
    def hide(store: Store) -> None:
        retract(store, "run-1", by="ann", reason="erasure", checkpoints=["cp-1"], clock=lambda: LATER)

    found = upkept(folder, hide, objects(paid()))
    assert b'"retract"' in found[f"{RUN}journal/0000000008.json"]
    return found


def mirrored(_: Path) -> Mapping[str, bytes]:
    return {**objects(paid()), LINES: in_lines(paid())}


def half_mirrored(_: Path) -> Mapping[str, bytes]:
    part = paid()
    del part.values[4:]
    return {**objects(paid()), LINES: in_lines(part)}


def repaired(folder: Path) -> Mapping[str, bytes]:
    damaged = {**objects(paid()), f"{RUN}journal/0000000006.json": b'{"torn'}
    write(folder / "damaged", damaged)
    target = folder / "mended"
    assert repair_store(open_store(str(folder / "damaged")), open_store(str(target))).set_aside
    found = contents(target)
    assert f"{RUN}quarantine.json" in found
    return found


def many(_: Path) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for name in ("run-1", "b c", "=", "ü", ".hidden"):
        found |= objects(paid(name))
    return found


KINDS = [plain, packed, pruned, retracted, mirrored, half_mirrored, repaired, many]
"""Makers of what a store holds, each with a folder to work in."""


@pytest.fixture
def change(tmp_path: Path) -> Migrator:
    """Brings payloads to the next version."""
    folder = tmp_path / "steps"
    folder.mkdir()
    (folder / "schema.json").write_text("{}")
    (folder / "step.json").write_text('[{"op": "move", "from": "/n", "path": "/count"}]')
    schemas = PayloadSchemas.load({name: str(folder / "schema.json") for name in ("a/s@1", "a/s@2")})
    step = PayloadStep("a/s@1", "a/s@2", patch=str(folder / "step.json"))
    return Migrator(payloads=PayloadMigrations.load([step], schemas).toward(["a/s@2"]))


def found(store: Path) -> Counter[tuple[str, str]]:
    """What is wrong with a store; a mirror may be there."""
    return Counter((finding.code, finding.key) for finding in safepoint.validate(store, artifacts=True))


def judged(store: Path) -> tuple[str, object, list[str]]:
    document = safepoint.guard(store, "run-1", now=LATER).document()
    return document["verdict"], document["plan"], [reason["code"] for reason in document["reasons"]]


def as_before(copy: tuple[str, object, list[str]], original: tuple[str, object, list[str]]) -> bool:
    """Whether a copy is answered as its original, but for its missing authority."""
    *said, codes_of_copy = copy
    return said == [*original[:2]] and [code for code in codes_of_copy if code != "SP726"] == original[2]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_is_copied_whole(
    kind: Callable[[Path], Mapping[str, bytes]], places: Places, tmp_path: Path
) -> None:
    content = dict(kind(tmp_path / "made"))
    write(places.source, content)
    before, answer = found(places.source), judged(places.source)
    assert places.migrate(V3).outcome == "done"
    own = {f"runs/{p}/origin.json" for p in ("run-1", "b=20c", "=3D", "=C3=BC", "=2Ehidden")}
    new = {k: data for k, data in copied(places.target, "run-1").items() if k not in own}
    new.pop("safepoint.json")
    assert new == {k: data for k, data in content.items() if "/heartbeat/" not in k}
    assert found(places.target) == before
    assert as_before(judged(places.target), answer)
    assert places.migrate(V3).outcome == "nothingToDo"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_run_is_a_chain_again_with_other_payloads(
    kind: Callable[[Path], Mapping[str, bytes]], places: Places, tmp_path: Path, change: Migrator
) -> None:
    content = dict(kind(tmp_path / "made"))
    write(places.source, content)
    before, answer = found(places.source), judged(places.source)
    report = places.migrate(None, migrator=change)
    assert report.outcome == "done"
    assert found(places.target) == before
    assert as_before(judged(places.target), answer)
    if kind is not pruned:
        new = [data for data in copied(places.target).values() if b'"a/s@1"' in data]
        assert all(b'"payloadMigratedFrom":{"payloadSchema":"a/s@1"' in data for data in new)
        assert report.tally.fates["migrated"] > 0
    assert places.migrate(None, migrator=change).outcome == "nothingToDo"


def test_what_mirrors_a_journal_is_still_its_mirror(places: Places, change: Migrator) -> None:
    write(places.source, mirrored(places.source))
    places.migrate(None, migrator=change)
    new = contents(places.target)
    records = [new[f"{RUN}journal/{number:010d}.json"] for number in range(1, 8)]
    assert new[LINES] == b"".join(record + b"\n" for record in records)


def test_a_run_whose_lines_are_the_journal_has_the_head_of_its_lines(
    places: Places, tmp_path: Path, change: Migrator
) -> None:
    write(places.source, packed(tmp_path / "made"))
    places.migrate(None, migrator=change)
    new = contents(places.target)
    heads = json.loads(new[f"{RUN}origin.json"])["heads"]
    last = new[LINES].splitlines()[-1]
    assert heads["journal"] == {"sequence": 7, "digest": digest_stored(last)}
    assert heads["recovery"]["sequence"] == 3


def test_artifacts_are_neither_read_as_records_nor_changed(places: Places) -> None:
    content = objects(paid())
    artifact = next(key for key in content if "/artifacts/" in key)
    write(places.source, {**content, artifact: b'{"recordType":"checkpoint","schemaVersion":"v1"}'})
    assert places.migrate(V2, allow_loss=True).outcome == "done"
    assert contents(places.target)[artifact] == contents(places.source)[artifact]


def test_the_bytes_of_artifacts_are_counted(places: Places) -> None:
    content = {k: data for k, data in objects(paid()).items() if "/heartbeat/" not in k}
    write(places.source, content)
    tally = places.migrate(V3).tally
    assert tally.read == tally.written == sum(map(len, content.values()))


# what the store says of itself


@pytest.mark.parametrize(
    ("members", "code"),
    [({"schemaVersion": "v4"}, "SP216"), ({"features": ["tiers"]}, "SP217"), ({"layout": 2}, "SP209")],
)
def test_nothing_is_written_for_a_store_that_relies_on_more_than_is_known(
    places: Places, members: Mapping[str, object], code: str
) -> None:
    store = {"recordType": "store", "schemaVersion": "v3", "layout": 1, **members}
    write(places.source, {**objects(paid()), "safepoint.json": encode(store)})
    for report in (places.plan(V3), places.migrate(V3), places.migrate(V3, keep_going=True)):
        assert report.outcome == "refused"
        assert code in codes(report)
    assert not places.target.exists()


# a run that is a part of a copy itself


def test_a_copy_of_a_part_of_a_copy_is_refused_as_it_would_look_whole(places: Places, tmp_path: Path) -> None:
    places.run(started())
    places.migrate(V3)
    second = Places(tmp_path)
    second.source, second.target = places.target, tmp_path / "third"
    (second.source / RUN / "journal/0000000003.json").unlink()
    for report in (second.plan(V3), second.migrate(V3), second.migrate(V3, keep_going=True)):
        assert report.outcome == "refused"
        assert "SP330" in codes(report)
    assert not second.target.exists()


# elsewhere than on disk


@pytest.fixture(params=["seaweedfs-fsspec", "seaweedfs-obstore"])
def place(request: pytest.FixtureRequest) -> Place:
    return place_at(request.param)


def test_from_a_disk_to_a_bucket_and_back_are_the_same_bytes(places: Places, place: Place) -> None:
    content = {**many(places.source), "README.md": b"notes"}
    write(places.source, content)
    report = places.migrate(V3, target=place.open())
    assert (report.outcome, fates(report)) == ("done", {"copied": len(content) - 5, "left": 5})
    back = places.target
    second = places.migrate(V3, source=place.open(), target=open_store(str(back)))
    assert (second.outcome, second.run_id) == ("done", "migration-2")
    there, here = place.foreign.everything(), contents(back)
    same = {key for key in there if not key.endswith("/origin.json") and not key.startswith(OWN)}
    assert {key: here[key] for key in same} == {key: there[key] for key in same}
    assert {key for key in content if "/heartbeat/" not in key} < same
    assert json.loads(here[f"{RUN}origin.json"])["source"] == place.url
    assert places.migrate(V3, target=place.open()).outcome == "nothingToDo"


def test_an_original_on_disk_is_sealed_for_its_copy_in_a_bucket(places: Places, place: Place) -> None:
    places.run(started())
    report = places.migrate(V3, target=place.open(), sealed_by="ops")
    assert [seal.outcome for seal in report.seals] == ["sealed"]
    assert safepoint.guard(places.source, "run-1", now=places.now).verdict == "no_op"
    assert safepoint.guard(place.open(), "run-1", now=places.now).verdict == "resume"


def test_an_original_in_a_bucket_is_sealed_for_its_copy_on_disk(places: Places, place: Place) -> None:
    for key, data in objects(started()).items():
        place.foreign.put(key, data)
    for _ in range(2):
        places.migrate(V3, source=place.open(), sealed_by="ops")
    assert safepoint.guard(place.open(), "run-1", now=places.now).verdict == "no_op"
    assert safepoint.guard(places.target, "run-1", now=places.now).verdict == "resume"
