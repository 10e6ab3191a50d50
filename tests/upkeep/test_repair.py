"""What a repair does of each damage: what is kept, what is set aside and why, and which runs are marked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from journals import START, Journal
from repairing import MARK, RUN, Places, flaws, key, lines, sound, stored

import safepoint
from safepoint.cli.examples import example
from safepoint.core.digest import encode_record
from safepoint.core.strictjson import LIMITS
from safepoint.core.timestamp import SECOND
from safepoint.core.version import V3


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_a_sound_store_is_copied_byte_for_byte(places: Places) -> None:
    files = {
        **stored(sound()),
        "safepoint.json": encode_record({"recordType": "store", "schemaVersion": "v3", "layout": 1}),
        f"{RUN}/photo.png": b"\x89PNG",
        "notes/README.md": b"notes",
        "package.json": b'{"name": "somebody else\'s"}',
    }
    places.hold(files)
    report = places.repair()
    assert report.set_aside == report.runs == ()
    found = {
        p.relative_to(places.copy).as_posix(): p.read_bytes() for p in places.copy.rglob("*") if p.is_file()
    }
    told = json.loads(found.pop("repair.jsonl"))
    assert found == files
    assert told["totals"] == {
        "objects": len(files), "copied": len(files), "rebuilt": 0, "setAside": 0, "unreadable": 0,
        "bytes": sum(map(len, files.values())),
    }  # fmt: skip
    assert places.verdict == "resume"


def torn(files: dict[str, bytes]) -> None:
    files[key(5)] = files[key(5)][:90]


def edited(files: dict[str, bytes]) -> None:
    files[key(4)] = files[key(4)].replace(b"send", b"sent")


def gone(files: dict[str, bytes]) -> None:
    del files[key(5)]


def forked(files: dict[str, bytes]) -> None:
    files[f"{RUN}/one.json"] = files.pop(key(5))
    files[f"{RUN}/other.json"] = files[f"{RUN}/one.json"].replace(b"msg-1", b"msg-2")


def moved(files: dict[str, bytes]) -> None:
    files[f"{RUN}/journal/5.json"] = files.pop(key(5))


def misnamed(files: dict[str, bytes]) -> None:
    files[key(5)], files[key(6)] = files[key(6)], files[key(5)]


def huge(files: dict[str, bytes]) -> None:
    files[key(5)] += b" " * LIMITS.size


def newer(files: dict[str, bytes]) -> None:
    files[key(5)] = files[key(5)].replace(b'"v3"', b'"v4"')


def strange(files: dict[str, bytes]) -> None:
    files[key(5)] = files[key(5)].replace(b'"run-1"', b'"run-2"')


DAMAGES: list[tuple[Callable[[dict[str, bytes]], None], dict[str, list[tuple[str, int | None, int | None]]]]] = [
    (torn, {"journal/0000000005.json": [("SP103", None, None)], "journal/0000000006.json": [("SP301", None, None)]}),
    (edited, {"journal/0000000005.json": [("SP303", None, None)], "journal/0000000006.json": [("SP303", None, 5)]}),
    (gone, {"journal/0000000006.json": [("SP301", None, None)]}),
    (forked, {"one.json": [("SP302", None, None)], "other.json": [("SP302", None, None)],
              "journal/0000000006.json": [("SP302", None, 5)]}),
    (moved, {"journal/5.json": [("SP005", None, None)], "journal/0000000006.json": [("SP301", None, None)]}),
    (misnamed, {f"journal/{number:010}.json": [("SP008", None, None)] for number in (5, 6)}),
    (huge, {"journal/0000000005.json": [("SP110", None, None)], "journal/0000000006.json": [("SP301", None, None)]}),
    (newer, {"journal/0000000005.json": [("SP216", None, None)], "journal/0000000006.json": [("SP301", None, None)]}),
    (strange, {"journal/0000000005.json": [("SP007", None, None)], "journal/0000000006.json": [("SP301", None, None)]}),
]  # fmt: skip
"""Damages of the fifth of seven records, and what is set aside of the fifth and sixth."""


@pytest.mark.parametrize(("damage", "aside"), DAMAGES, ids=lambda one: getattr(one, "__name__", ""))
def test_a_journal_is_kept_up_to_its_first_damage(
    places: Places,
    damage: Callable[[dict[str, bytes]], None],
    aside: dict[str, list[tuple[str, int | None, int | None]]],
) -> None:
    files = stored(sound())
    damage(files)
    places.hold(files)
    report = places.repair()
    found = flaws(report)
    assert {name: found[name] for name in aside} == aside
    assert "journal/0000000007.json" in found
    assert places.kept == [f"journal/{number:010}.json" for number in (1, 2, 3, 4)]
    for fate in report.set_aside:
        assert fate.quarantine == f"quarantine/{fate.key}.aside"
        assert places.of(fate.quarantine) == files[fate.key]
    assert (places.verdict, places.codes) == ("hand_over", {"SP011"})


def test_of_a_number_as_object_and_as_line_the_object_counts(places: Places) -> None:
    files = stored(sound())
    records = list(files.values())
    other = records[2].replace(b"approved", b"rejected")
    places.hold({**files, f"{RUN}/journal.jsonl": lines(*records[:2], other, records[3])})
    assert flaws(places.repair()) == {"journal.jsonl": [("SP302", 3, None)]}
    assert places.of(f"{RUN}/journal.jsonl") == lines(*records[:2], records[3])
    assert len(places.kept) == len(files) + 1
    assert places.verdict == "hand_over"


def test_good_lines_stay_as_they_are_also_around_a_bad_one(places: Places) -> None:
    *records, last = stored(sound()).values()
    data = lines(records[0], b"", records[1], b'{"cut' + records[2], *records[2:]) + last
    places.hold({f"{RUN}/journal.jsonl": data})
    assert flaws(places.repair()) == {"journal.jsonl": [("SP114", 4, None)]}
    assert places.of(f"{RUN}/journal.jsonl") == lines(records[0], b"", records[1], *records[2:]) + last
    assert places.of(f"quarantine/{RUN}/journal.jsonl.aside") == data


def test_a_byte_order_mark_costs_no_record_and_still_asks_for_a_human(places: Places) -> None:
    records = list(stored(sound()).values())
    places.hold({f"{RUN}/journal.jsonl": MARK + lines(*records)})
    assert flaws(places.repair()) == {"journal.jsonl": [("SP101", 1, None)]}
    assert places.of(f"{RUN}/journal.jsonl") == lines(*records)
    assert places.verdict == "hand_over"


def test_carriage_returns_go_where_the_chain_holds_without_them(places: Places) -> None:
    records = list(stored(sound()).values())
    data = MARK + b"".join(record + b"\r\n" for record in records)
    places.hold({f"{RUN}/journal.jsonl": data})
    report = places.repair()
    assert flaws(report) == {"journal.jsonl": [("SP101", 1, None), ("SP115", 2, None)]}
    assert report.set_aside[0].ranges[1].last == len(records)
    assert places.of(f"{RUN}/journal.jsonl") == lines(*records)
    assert places.of(f"quarantine/{RUN}/journal.jsonl.aside") == data
    assert (places.verdict, places.codes) == ("hand_over", {"SP011"})


def test_behind_a_mark_everything_may_be_wrong_all_the_same(places: Places) -> None:
    files = stored(sound())
    places.hold(files | {key(6): MARK + files[key(6)], key(7): MARK + files[key(7)][:50]})
    found = flaws(places.repair())
    assert found == {
        "journal/0000000006.json": [("SP101", None, None)],
        "journal/0000000007.json": [("SP103", None, None)],
    }
    assert places.of(key(6)) == files[key(6)]
    assert not (places.copy / key(7)).exists()


def test_an_error_across_records_breaks_a_log_too(places: Places) -> None:
    journal = Journal().begin().checkpoint(2).ledger(3, "committed").checkpoint(4, "cp-2")
    places.hold(stored(journal))
    assert flaws(places.repair()) == {
        "journal/0000000004.json": [("SP401", None, None)],
        "journal/0000000005.json": [("SP401", None, 4)],
    }


def test_records_without_numbers_stand_alone(places: Places) -> None:
    old = {"checkpointId": "cp", "runId": "r", "schemaVersion": "v2", "state": "s", "stepName": "s",
           "createdAt": "2026-05-07T10:00:00Z", "artifactRefs": [],
           "sideEffectStatus": {"writePerformed": None, "externalMessageSent": None}}  # fmt: skip
    good, bad = encode_record(old), encode_record({**old, "createdAt": "soon"})
    places.hold({"a.jsonl": lines(good, bad), "b.json": bad, "notes.txt": b"notes"})
    report = places.repair()
    assert flaws(report) == {"a.jsonl": [("SP207", 2, None)], "b.json": [("SP207", None, None)]}
    assert report.runs == ("",)
    assert places.of("a.jsonl") == good + b"\n"
    assert safepoint.guard(str(places.copy), "r", now=START).verdict == "hand_over"


def test_a_damaged_artifact_is_missing_and_marks_no_run(places: Places) -> None:
    name = f"{RUN}/artifacts/sha256/{sha256(b'whole').hexdigest()}"
    places.hold({**stored(sound()), name: b"damaged", f"{name[:-64]}{sha256(b'x').hexdigest()}": b"x"})
    report = places.repair()
    assert [fate.key for fate in report.set_aside] == [name]
    assert places.of(f"quarantine/{name}.aside") == b"damaged"
    assert report.runs == ()


def test_a_torn_heartbeat_is_set_aside_and_marks_no_run(places: Places) -> None:
    places.hold({**stored(sound()), f"{RUN}/heartbeat/0000000001.json": b"{"})
    report = places.repair()
    assert flaws(report) == {"heartbeat/0000000001.json": [("SP103", None, None)]}
    assert (report.runs, places.codes) == ((), set())


def test_a_damaged_description_of_the_store_marks_every_run(places: Places) -> None:
    places.hold({**stored(sound()), "safepoint.json": b'{"recordType":"store"'})
    report = places.repair()
    assert report.runs == ("", "run-1")
    assert len(places.kept) == len(sound().values)
    assert places.verdict == "hand_over"


def test_a_run_that_was_deleted_is_copied_with_whatever_is_left_of_it(places: Places) -> None:
    files = {**stored(sound()), key(3): b"{"}
    places.hold({**files, f"{RUN}/deleted.json": encode_record({**example("deleted", V3), "runId": "run-1"})})
    assert places.repair().set_aside == ()


def test_what_is_in_the_folder_of_no_run_is_left_as_it_is(places: Places) -> None:
    places.hold({**stored(sound()), "runs/=41/journal/0000000001.json": b"{", "runs/=41/quarantine.txt": b""})
    report = places.repair()
    assert report.set_aside == ()
    assert places.codes == {"SP005"}


@pytest.mark.parametrize("seed", range(40))
def test_whatever_bytes_are_hit_nothing_is_lost_and_nobody_goes_on_unseen(places: Places, seed: int) -> None:
    chance = random.Random(seed)
    files = stored(sound().recover(7, "detected"))
    if seed % 2:
        files = {f"{RUN}/journal.jsonl": lines(*files.values())}
    for _ in range(chance.choice([1, 2, 3])):
        name = chance.choice(sorted(files))
        at, length = chance.randrange(len(files[name]) + 1), chance.choice([0, 1, 5, 200])
        noise = chance.choice([b"", b"\0", b"\n", b'{"', b"\xff", MARK])
        files[name] = files[name][:at] + noise + files[name][at + length :]
    places.hold(files)
    report = places.repair()
    for fate in report.fates:
        assert places.of(fate.quarantine or fate.key) == files[fate.key]
    assert not [f for f in safepoint.validate(str(places.copy)) if f.severity == "error"]
    before = safepoint.guard(str(places.source), "run-1", now=START + 1000 * SECOND).verdict
    assert places.verdict in {before, "hand_over"}
