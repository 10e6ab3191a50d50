"""The same migration given again: nothing to do, going on, sealing later; and what it notices then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from journals import Journal
from moved import OLD, OWN, V2_CHECKPOINT, OneByOne, Places, another, codes, contents, copied, encode, write
from questions import started

import safepoint
from safepoint.core.timestamp import SECOND
from safepoint.core.version import V1, V3
from safepoint.moving.migration import NeverGoesOnError, Report, seal_store
from safepoint.moving.progress import AnotherMigrationError
from safepoint.store import Outcome, UnreachableError, open_store


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def ended() -> Journal:
    return started().ledger(3, "attempting").ledger(4, "committed").add("run", 5, status="completed")


def outcomes(report: Report) -> dict[str, str]:
    return {seal.run_id: seal.outcome for seal in report.seals}


class Dying(OneByOne):
    """Gives up at one name."""

    def __init__(self, path: str, key: str) -> None:
        super().__init__(path)
        self.key = key

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        if key == self.key:
            raise UnreachableError(self.url, "gone", key)
        return super().put_if_absent(key, data)


# the same again


def test_a_whole_copy_is_compared_and_left_as_it_is(places: Places) -> None:
    write(places.source, OLD)
    first = places.migrate(V3)
    before = contents(places.target)
    again = places.migrate(V3)
    assert (again.outcome, again.run_id, again.digest, again.resumed) == (
        "nothingToDo", "migration-1", None, False
    )  # fmt: skip
    assert again.tally == first.tally
    assert contents(places.target) == before


@pytest.mark.parametrize("key", ["runs/r/cp.json", "runs/r/ledger.jsonl", "policy.json"])
def test_one_that_was_cut_short_goes_on_to_the_same_copy(places: Places, tmp_path: Path, key: str) -> None:
    write(places.source, OLD)
    whole = Places(tmp_path)
    whole.target = tmp_path / "whole"
    expected = whole.migrate(V3)
    with pytest.raises(UnreachableError):
        places.migrate(V3, target=Dying(str(places.target), key))
    report = places.migrate(V3)
    assert (report.outcome, report.resumed, report.digest) == ("done", True, expected.digest)
    assert report.tally.counts() == expected.tally.counts()
    assert copied(places.target) == copied(whole.target)


def test_another_process_at_work_is_waited_for(places: Places) -> None:
    write(places.source, OLD)

    class Busy(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if key == "runs/r/cp.json":
                with pytest.raises(AnotherMigrationError, match="another process may be at work"):
                    places.migrate(V3)
            return super().put_if_absent(key, data)

    assert places.migrate(V3, target=Busy(str(places.target))).outcome == "done"


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ({}, {"keep_going": True}, "--keep-going (not given there)"),
        ({"keep_going": True}, {"allow_loss": True, "keep_going": True}, "--allow-loss (not given there)"),
    ],
)
def test_another_migration_does_not_go_on_with_it(
    places: Places, first: dict[str, bool], then: dict[str, bool], told: str
) -> None:
    write(places.source, OLD)
    places.migrate(V3, **first)
    before = contents(places.target)
    report = places.migrate(V3, **then)
    assert (report.outcome, codes(report)) == ("refused", {"SP604": 1})
    (fault,) = report.tally.faults
    assert told in fault.message
    assert contents(places.target) == before


def test_another_source_does_not_go_on_with_it(places: Places, tmp_path: Path) -> None:
    write(places.source, OLD)
    write(tmp_path / "other", OLD)
    places.migrate(V3)
    places.source = tmp_path / "other"
    report = places.migrate(V3)
    assert (report.outcome, codes(report)) == ("refused", {"SP604": 1})
    assert str(tmp_path / "old") in report.tally.faults[0].message


def test_a_source_that_went_on_is_told(places: Places) -> None:
    run = places.run(started())
    places.migrate(V3)
    run.ledger(300, "planned").write(places.source)
    report = places.migrate(V3)
    assert (report.outcome, set(codes(report))) == ("refused", {"SP615"})
    named = {fault.place.key for fault in report.tally.faults if fault.place}
    assert named == {"runs/run-1"}
    assert "went on behind record 3, up to 4" in report.tally.faults[0].message


@pytest.mark.parametrize("damage", [None, b"", b"{}"])
@pytest.mark.parametrize("key", ["runs/r/cp.json", "policy.json", "README.md"])
def test_a_copy_that_lost_something_is_told_and_not_mended(
    places: Places, key: str, damage: bytes | None
) -> None:
    write(places.source, OLD)
    places.migrate(V3)
    (places.target / key).unlink()
    if damage is not None:
        write(places.target, {key: damage})
    before = contents(places.target)
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, codes(report)["SP615"], report.seals) == ("refused", 1, ())
    assert [f.place.key for f in report.tally.faults if f.place and f.code == "SP615"] == [key]
    assert contents(places.target) == before


def test_a_copy_that_went_on_is_still_whole(places: Places) -> None:
    run = places.run(started())
    places.migrate(V3, sealed_by="ops")
    run.claim(500, purpose="recovery").checkpoint(501, "cp-2")
    write(places.target, {k: d for k, d in written(run).items() if k > "runs/run-1/journal/0000000003.json"})
    assert places.migrate(V3, sealed_by="ops").outcome == "nothingToDo"


def written(run: Journal) -> dict[str, bytes]:
    from safepoint.core.digest import encode_record
    from safepoint.store.layout import journal_key

    return {journal_key(run.run_id, v["sequence"]): encode_record(v) for v in run.values}


# sources that are copies


def test_a_copy_can_be_migrated_and_the_run_of_the_first_migration_stays_behind(
    places: Places, tmp_path: Path
) -> None:
    write(places.source, OLD)
    assert places.migrate(V1).outcome == "done"
    second = Places(tmp_path)
    second.source, second.target = places.target, tmp_path / "third"
    report = second.migrate(V3)
    assert (report.outcome, report.run_id) == ("done", "migration-2")
    new, old = contents(second.target), contents(second.source)
    assert report.tally.fates["left"] == sum(k.startswith(OWN) or k.endswith("/origin.json") for k in old)
    assert not any(key.startswith(OWN) for key in new)
    assert json.loads(new["runs/r/origin.json"])["source"] == str(second.source)
    assert second.migrate(V3).outcome == "nothingToDo"
    assert {f.key for f in safepoint.validate(second.target) if f.severity == "error"} == {
        "runs/r/notes.json"
    }


def test_a_source_that_is_half_a_copy_is_refused(places: Places, tmp_path: Path) -> None:
    write(places.source, OLD | {"runs/s/cp.json": encode(V2_CHECKPOINT | {"runId": "s"})})
    with pytest.raises(UnreachableError):
        places.migrate(V3, target=Dying(str(places.target), "runs/s/cp.json"))
    second = Places(tmp_path)
    second.source, second.target = places.target, tmp_path / "third"
    for keep_going in (False, True):
        report = second.migrate(V3, keep_going=keep_going)
        assert (report.outcome, codes(report)["SP614"]) == ("refused", 1)
        assert not second.target.exists()
    assert places.migrate(V3).outcome == "done"
    assert second.migrate(V3).outcome == "done"


def test_a_source_with_a_run_that_only_bears_such_a_name_is_no_copy(places: Places) -> None:
    places.run(another(started(), "migration-1"))
    report = places.migrate(V3)
    assert (report.outcome, report.run_id) == ("done", "migration-2")


# sealing


def test_the_original_is_sealed_and_the_copy_may_go_on(places: Places) -> None:
    places.run(started())
    before = contents(places.source)
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, outcomes(report), report.unsealed) == ("done", {"run-1": "sealed"}, ())
    assert contents(places.source).items() > before.items()
    seal = json.loads(contents(places.target)["runs/run-1/seal.json"])
    assert (seal["sequence"], seal["after"]["sequence"]) == (5, 3)
    (last,) = (json.loads(d) for k, d in contents(places.source).items() if k.endswith("0000000005.json"))
    assert (last["status"], last["by"], last["successor"]["uri"]) == (
        "sealed", "ops", places.target.as_uri()
    )  # fmt: skip
    assert safepoint.guard(places.source, "run-1", now=places.now).verdict == "no_op"
    assert safepoint.guard(places.target, "run-1", now=places.now).verdict == "resume"
    for place in (places.source, places.target):
        assert not [f for f in safepoint.validate(place) if f.severity == "error"]


def test_sealing_may_be_asked_for_later_and_twice(places: Places) -> None:
    places.run(started())
    places.migrate(V3)
    assert safepoint.guard(places.target, "run-1", now=places.now).verdict == "reconcile"
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, outcomes(report)) == ("nothingToDo", {"run-1": "sealed"})
    before = contents(places.source), contents(places.target)
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, outcomes(report)) == ("nothingToDo", {"run-1": "alreadySealed"})
    assert (contents(places.source), contents(places.target)) == before
    assert places.migrate(V3).outcome == "nothingToDo"


def test_a_seal_that_the_copy_did_not_get_is_put_later(places: Places) -> None:
    places.run(started())
    places.migrate(V3)
    with pytest.raises(UnreachableError):
        places.migrate(V3, sealed_by="ops", target=Dying(str(places.target), "runs/run-1/seal.json"))
    assert "runs/run-1/seal.json" not in contents(places.target)
    assert outcomes(places.migrate(V3, sealed_by="ops")) == {"run-1": "alreadySealed"}
    assert safepoint.guard(places.target, "run-1", now=places.now).verdict == "resume"


def test_an_original_that_went_on_is_not_sealed(places: Places) -> None:
    run = places.run(started())
    places.migrate(V3)
    run.ledger(300, "planned").write(places.source)
    before = contents(places.source)
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, report.seals) == ("refused", ())
    assert contents(places.source) == before


def test_an_original_that_goes_on_just_before_it_is_sealed_is_stale(places: Places) -> None:
    run = places.run(started())

    class Slow(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if key.startswith(OWN) and b'"completed"' in data:
                run.ledger(300, "planned").write(places.source)
            return super().put_if_absent(key, data)

    report = places.migrate(V3, sealed_by="ops", target=Slow(str(places.target)))
    assert (report.outcome, outcomes(report), codes(report)["SP616"]) == ("done", {"run-1": "stale"}, 1)
    assert safepoint.guard(places.target, "run-1", now=places.now).verdict == "reconcile"
    assert safepoint.guard(places.source, "run-1", now=places.now).verdict != "no_op"


def test_an_original_whose_lease_is_live_is_sealed_once_it_has_lapsed(places: Places) -> None:
    places.run(started())
    places.now -= 395 * SECOND
    report = places.migrate(V3, sealed_by="ops")
    assert (report.outcome, outcomes(report)) == ("done", {"run-1": "live"})
    (fault,) = report.tally.faults
    assert (fault.code, "try again at 2026-05-07T10:01:" in fault.message) == ("SP616", True)
    places.now += 395 * SECOND
    assert outcomes(places.migrate(V3, sealed_by="ops")) == {"run-1": "sealed"}


def test_runs_that_ended_or_have_no_journal_need_no_seal(places: Places) -> None:
    places.run(ended())
    write(places.source, {"runs/r/cp.json": encode(V2_CHECKPOINT)})
    before = contents(places.source)
    report = places.migrate(V3, sealed_by="ops")
    assert outcomes(report) == {"r": "unnumbered", "run-1": "ended"}
    assert (report.unsealed, contents(places.source)) == ((), before)
    assert safepoint.guard(places.target, "run-1", now=places.now).verdict == "no_op"


def test_one_that_cannot_be_sealed_hinders_no_other(places: Places) -> None:
    broken = another(started(), "broken")
    broken.values[1]["previousDigest"] = "sha256:" + "0" * 64
    broken.write(places.source)
    places.run(started())
    report = places.migrate(V3, sealed_by="ops")
    assert outcomes(report) == {"broken": "refused", "run-1": "sealed"}
    assert [seal.run_id for seal in report.unsealed] == ["broken"]
    (fault,) = (fault for fault in report.tally.faults if fault.code == "SP616")
    assert fault.place is not None
    assert fault.place.key == "runs/broken"


def test_the_original_of_a_copy_that_never_goes_on_keeps_its_authority(places: Places) -> None:
    places.run(started())
    with pytest.raises(NeverGoesOnError):
        places.migrate(V1, sealed_by="ops", allow_loss=True)
    assert not places.target.exists()
    places.migrate(V1, allow_loss=True)
    before = contents(places.source)
    with pytest.raises(NeverGoesOnError):
        seal_store(open_store(str(places.source)), open_store(str(places.target)), sealed_by="ops")
    assert contents(places.source) == before


def test_a_finished_copy_gets_its_authority_without_a_word_of_how_it_was_made(places: Places) -> None:
    places.run(started())
    stores = open_store(str(places.source)), open_store(str(places.target))
    early = seal_store(*stores, sealed_by="ops", clock=places.clock)
    assert (early.outcome, codes(early)["SP604"]) == ("refused", 1)
    places.migrate(V3)
    report = seal_store(*stores, sealed_by="ops", clock=places.clock)
    assert (report.outcome, outcomes(report)) == ("nothingToDo", {"run-1": "sealed"})
    elsewhere = open_store(str(places.source.parent / "elsewhere"))
    another = seal_store(elsewhere, stores[1], sealed_by="ops")
    assert (another.outcome, codes(another)["SP604"]) == ("refused", 1)
