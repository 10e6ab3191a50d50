"""While a copy is written: in which order, what is noticed on the way, and what the migration tells of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from moved import OLD, OWN, V2_CHECKPOINT, OneByOne, Places, contents, copied, encode, write
from questions import started

import safepoint
from safepoint.core.version import V2, V3
from safepoint.migrate import Migrator
from safepoint.moving.migration import migrate_store
from safepoint.reader import load_run
from safepoint.store import ConflictError, Outcome, UnreachableError, open_store
from safepoint.store.local import LocalStore


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


class Flaky(OneByOne):
    """Answers a put only every second time with the truth."""

    asked = 0

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        self.asked += 1
        return Outcome.UNKNOWN if self.asked % 2 else super().put_if_absent(key, data)


def test_an_unclear_answer_is_asked_for_again(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("safepoint.store.copying._PAUSE", 0)
    monkeypatch.setattr("safepoint.recorder.log.PAUSE", 0)
    write(places.source, OLD)
    assert places.migrate(V3, target=Flaky(str(places.target))).outcome == "done"
    assert copied(places.target).keys() >= OLD.keys() - {"runs/r/heartbeat/0000000001.json"}


def test_an_answer_that_stays_unclear_is_an_error(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    class Mute(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            return Outcome.UNKNOWN if key.startswith("runs/r/") else super().put_if_absent(key, data)

    monkeypatch.setattr("safepoint.store.copying._PAUSE", 0)
    write(places.source, OLD)
    with pytest.raises(UnreachableError, match="nobody can tell"):
        places.migrate(V3, target=Mute(str(places.target)))


class Order(OneByOne):
    """Remembers what was written, and what lay there meanwhile."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.keys: list[str] = []
        self.marked: dict[str, bool] = {}

    def put_if_absent(self, key: str, data: bytes) -> Outcome:
        self.keys.append(key)
        self.marked[key] = self.exists("unfinished.json")
        return super().put_if_absent(key, data)


def test_of_a_run_the_origin_comes_first_and_the_first_record_last(places: Places) -> None:
    places.run(started())
    write(places.source, {"runs/run-1/artifacts/sha256/" + "0" * 64: b"bytes"})
    target = Order(str(places.target))
    places.migrate(V3, target=target)
    mine = [key for key in target.keys if key.startswith("runs/run-1/")]
    assert (mine[0], mine[-1]) == ("runs/run-1/origin.json", "runs/run-1/journal/0000000001.json")
    assert target.keys[0] == "safepoint.json"


def test_loose_files_are_marked_as_unfinished_until_all_are_there(places: Places) -> None:
    write(places.source, {"a.json": encode(V2_CHECKPOINT), "b.json": encode(V2_CHECKPOINT), "c.md": b"x"})
    target = Order(str(places.target))
    assert places.migrate(V3, target=target).outcome == "done"
    assert [target.marked[key] for key in ("a.json", "b.json")] == [True, True]
    assert "unfinished.json" not in contents(places.target)


def test_a_copy_with_the_mark_of_unfinished_files_lets_no_run_of_them_go_on(places: Places) -> None:
    class Dying(Order):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if key == "b.json":
                raise UnreachableError(self.url, "gone", key)
            return super().put_if_absent(key, data)

    write(places.source, {name: encode(V2_CHECKPOINT) for name in ("a.json", "b.json")})
    with pytest.raises(UnreachableError):
        places.migrate(V3, target=Dying(str(places.target)))
    assert "SP011" in {finding.code for finding in safepoint.validate(places.target)}
    assert safepoint.guard(places.target, "r", now=places.now).verdict == "hand_over"
    assert places.migrate(V3).resumed
    assert "unfinished.json" not in contents(places.target)


def test_a_source_that_changes_while_it_is_written_stops_with_what_was_found(places: Places) -> None:
    class Vandal(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            (places.source / "runs/r/ledger.jsonl").write_bytes(b"{")
            return super().put_if_absent(key, data)

    write(places.source, OLD)
    with pytest.raises(ConflictError, match=r"the source has changed since it was looked at: SP113"):
        places.migrate(V3, target=Vandal(str(places.target)))


def test_a_run_that_comes_while_it_is_written_stops_it(places: Places) -> None:
    class Late(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if key == "runs/r/cp.json":
                write(places.source, {"runs/a/cp.json": encode(V2_CHECKPOINT)})
            return super().put_if_absent(key, data)

    write(places.source, OLD)
    with pytest.raises(ConflictError, match="runs came or went"):
        places.migrate(V3, target=Late(str(places.target)))


def test_a_record_that_comes_while_it_is_written_is_not_dropped_unasked(places: Places) -> None:
    lease = encode(started().values[1])

    class Late(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            write(places.source, {"runs/r/journal/0000000002.json": lease})
            return super().put_if_absent(key, data)

    write(places.source, {"runs/r/cp.json": encode(V2_CHECKPOINT)})
    with pytest.raises(ConflictError, match="the source has changed since it was looked at: SP605"):
        places.migrate(V2, target=Late(str(places.target)))


def test_another_writer_with_other_bytes_stops_it(places: Places) -> None:
    class Raced(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if key == "runs/r/cp.json":
                write(places.target, {key: b"another"})
            return super().put_if_absent(key, data)

    write(places.source, OLD)
    with pytest.raises(ConflictError, match="nothing was overwritten"):
        places.migrate(V3, target=Raced(str(places.target)))
    assert contents(places.target)["runs/r/cp.json"] == b"another"


def test_what_is_read_back_must_be_what_was_written(places: Places) -> None:
    class Rotten(OneByOne):
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            return super().put_if_absent(key, data.replace(b"cp_1", b"cp_2"))

    write(places.source, OLD)
    with pytest.raises(UnreachableError, match="holds something else when it is read back"):
        places.migrate(V3, target=Rotten(str(places.target)))


def test_what_was_written_must_be_listed(places: Places) -> None:
    class Forgetful(LocalStore):
        def list(self, prefix: str = "") -> Any:
            return (entry for entry in super().list(prefix) if entry.key != "runs/r/cp.json")

    write(places.source, OLD)
    with pytest.raises(UnreachableError, match="not there when the copy is listed"):
        places.migrate(V3, target=Forgetful(str(places.target)))


def test_how_far_it_is_is_told(places: Places) -> None:
    write(places.source, OLD)
    places.run(started())
    told: list[tuple[str, int, int]] = []
    stores = open_store(str(places.source)), open_store(str(places.target))
    migrate_store(*stores, Migrator(V3), watch=lambda *step: told.append(step))
    assert told == [(what, done, 2) for what in ("looked at", "written") for done in (1, 2)]


def test_the_migration_is_a_run_of_its_own_in_the_copy(places: Places) -> None:
    write(places.source, OLD)
    report = places.migrate(V3)
    run = load_run(open_store(str(places.target)), "migration-1").run
    assert run is not None
    assert (report.run_id, run.workflow, run.status) == ("migration-1", "safepoint-migrate", "completed")
    checkpoint = run.newest_checkpoint
    assert checkpoint is not None
    state = checkpoint.value["stateSnapshot"]
    assert (state["last"], state["folders"], state["digest"]) == ("r", 1, report.digest)
    assert state["counts"] == report.tally.counts()
    task = run.records[0].value["input"]
    assert (task["source"], task["to"], task["allowLoss"]) == (str(places.source), "v3", False)
    assert not [f for f in safepoint.validate(places.target) if f.severity == "error" and OWN in f.key]
