"""A trial of storage says what it saw, breaks nothing, and leaves nothing behind."""

from __future__ import annotations

import errno
import os
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import READER, gcp_storage_emulator, seaweedfs

from safepoint.store import (
    AbsentError,
    DeniedError,
    Entry,
    Outcome,
    UnreachableError,
    UnsupportedError,
    open_store,
)
from safepoint.store.contest import Round, Tally, tally
from safepoint.store.libraries import Library, libraries_of
from safepoint.store.local import LocalStore
from safepoint.store.probing import PROMISES, Proof, Trial
from safepoint.store.rivals import Answer, Order, Rivals
from safepoint.store.scratch import Scratch

ROOT = Path(__file__).parents[2]


def tried(url: str | Path, **options: Any) -> dict[str, Proof]:
    trial = Trial(str(url), options, writers=3, rounds=8)
    try:
        proofs = trial.run()
    finally:
        assert trial.tidy() == ()
    return {proof.name: proof for proof in proofs}


def results(proofs: Mapping[str, Proof]) -> dict[str, str]:
    return {name: proof.proven for name, proof in proofs.items()}


def all_held(proofs: Mapping[str, Proof]) -> bool:
    return (
        set(results(proofs).values()) == {"yes", "untried"}
        and proofs["durable"].proven == "untried"
        and all(proof.proven == "yes" for name, proof in proofs.items() if name != "durable")
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with one object in it."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store/safepoint.json").write_bytes(b"{}")
    return tmp_path / "store"


def test_a_local_folder_keeps_its_promises(store: Path) -> None:
    proofs = tried(store)
    assert all_held(proofs)
    assert list(proofs) == [name for name in PROMISES if name != "libraries"]
    assert re.match(r"3 processes, 8 names, met at [1-8]: no gap, nothing overwritten", proofs["race"].how)
    assert proofs["durable"].promised is True


def test_memory_is_tried_with_threads_and_says_so() -> None:
    proofs = tried("memory://probed")
    assert proofs["race"].how.startswith("3 threads of one process")
    assert proofs["freshReads"].how == "by another thread, 5 objects"
    assert proofs["durable"].promised is False
    assert {proof.proven for name, proof in proofs.items() if name not in {"durable", "race"}} == {"yes"}


def test_nothing_in_the_store_is_touched(store: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*")}
    tried(store)
    assert {path: path.stat().st_mtime_ns for path in store.rglob("*")} == before


@pytest.mark.parametrize("url", ["path", "memory://passed-over"])
def test_readers_pass_over_the_scratch_folder(store: Path, url: str) -> None:
    place = str(store) if url == "path" else url
    outer = open_store(place)
    scratch = Scratch(outer, place, {})
    scratch.put("runs/r/journal/0000000001.json", b"{}")
    scratch.put("safepoint.json", b"{}")
    if url != "path":
        outer.put_if_absent("safepoint.json", b"{}")
    assert [entry.key for entry in outer.list()] == ["safepoint.json"]
    assert [entry.key for entry in outer.files()] == ["safepoint.json"]
    assert list(outer.folders()) == []
    assert scratch.remove() == ()
    assert scratch.look("safepoint.json") is None


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    proofs = tried(tmp_path / "nowhere")
    assert proofs["lists"] == Proof("lists", None, "untried", "there is no such folder")
    assert proofs["writes"].how == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_hard_links_is_no_place_for_records(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    proofs = tried(store)
    assert proofs["oneWinner"].proven == "no"
    assert "no hard links" in proofs["oneWinner"].how
    assert proofs["race"].proven == "untried"


def test_a_folder_that_may_not_be_written_is_not_proven(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "not here")

    monkeypatch.setattr(os, "mkdir", refuse)
    proofs = tried(store)
    assert proofs["writes"].proven == "untried"
    assert proofs["writes"].how.startswith("writing is refused by these credentials")
    assert proofs["reads"] == Proof("reads", None, "yes", "safepoint.json: 2 bytes")


def test_a_store_that_may_not_be_listed_is_not_proven_by_its_scratch_folder(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = LocalStore.list

    def refuse(self: LocalStore, prefix: str = "") -> Iterator[Entry]:
        if ".tmp-doctor" in self.url:
            return listed(self, prefix)
        raise DeniedError(self.url, "listing is not allowed")

    monkeypatch.setattr(LocalStore, "list", refuse)
    trial = Trial(str(store), {}, writers=2, rounds=2)
    proofs = {proof.name: proof for proof in trial.run()}
    monkeypatch.undo()
    assert trial.tidy() == ()
    assert proofs["lists"] == Proof("lists", None, "untried", "listing is not allowed")
    assert proofs["race"].proven == "yes"


def test_what_cannot_be_claimed_in_is_only_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.writestr("runs/r/journal/0000000001.json", "{}")
    before = (tmp_path / "s.zip").read_bytes()
    proofs = tried(f"zip://::{tmp_path / 's.zip'}")
    assert (proofs["reads"].proven, proofs["oneWinner"].proven) == ("yes", "no")
    assert {proofs[name].how for name in ("writes", "race", "deletes")} == {""}
    assert (tmp_path / "s.zip").read_bytes() == before


@pytest.mark.parametrize("words", ["writing", "claiming", "racing for name 2 of 4", "looking from elsewhere"])
def test_an_interrupted_trial_leaves_nothing_behind(store: Path, words: str) -> None:
    def interrupt(said: str) -> None:
        if said == words:
            raise KeyboardInterrupt

    trial = Trial(str(store), {}, writers=2, rounds=4)
    with pytest.raises(KeyboardInterrupt):
        trial.run(interrupt)
    assert trial.tidy() == ()
    assert [path.name for path in store.iterdir()] == ["safepoint.json"]


def test_what_a_killed_writer_left_is_removed_too(store: Path) -> None:
    scratch = Scratch(open_store(str(store)), str(store), {})
    scratch.put("a/b.json", b"{}")
    (store / Path(scratch.url).name / "a/.tmp-0123").write_bytes(b"half")
    assert scratch.remove() == ()
    assert [path.name for path in store.iterdir()] == ["safepoint.json"]


def test_what_cannot_be_removed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    outer = open_store("memory://stuck")
    scratch = Scratch(outer, "memory://stuck", {})
    scratch.put("a.json", b"{}")

    def refuse(key: str) -> None:
        raise UnreachableError(outer.url, "gone", key)

    with monkeypatch.context() as patched:
        patched.setattr(outer, "delete", refuse)
        assert scratch.remove() == (f"{scratch.url}/a.json",)
    assert scratch.remove() == ()


def test_what_was_refused_is_not_there_to_be_removed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = Scratch(open_store(str(store)), str(store), {})
    monkeypatch.setattr(
        scratch.store, "put_if_absent", lambda *_: (_ for _ in ()).throw(AbsentError("x", "y"))
    )
    with pytest.raises(AbsentError):
        scratch.put("a.json", b"{}")
    assert scratch._made == {}


# Against servers


def test_a_server_that_ignores_conditions_is_found_out() -> None:
    spot = gcp_storage_emulator().spot()
    proofs = tried(spot.url, **spot.options)
    broken = {name for name, result in results(proofs).items() if result == "no"}
    assert broken == {"oneWinner", "empty", "lostAnswer", "race"}
    assert proofs["oneWinner"].how == "the second create of a name overwrote the first"
    assert proofs["race"].how == "3 processes: 8 of 8 names had several winners"


@pytest.mark.parametrize("driver", ["fsspec", "obstore"])
def test_a_server_that_keeps_conditions_is_believed(driver: str) -> None:
    spot = seaweedfs().spot(driver)
    assert all_held(tried(spot.url, **spot.options))


@pytest.mark.parametrize("driver", ["fsspec", "obstore"])
def test_credentials_that_only_read_prove_nothing_more(driver: str) -> None:
    server = seaweedfs()
    spot = server.spot(driver)
    open_store(spot.url, **spot.options).put_if_absent("safepoint.json", b"{}")
    reading = {**spot.options, "key": READER[0], "secret": READER[1]}
    proofs = tried(spot.url, **reading)
    assert {name for name, result in results(proofs).items() if result == "yes"} == {
        "libraries", "answers", "lists", "reads"
    }  # fmt: skip
    assert "refused by these credentials" in proofs["writes"].how
    assert "no" not in results(proofs).values()


# What a race proves

A, B = b"a" * 10, b"b" * 12
KEY = "n"


def answer(got: Any) -> Answer:
    return Answer(got, 0.0, 1.0)


def round_of(*got: Any, after: Any = A, looks: tuple[Any, ...] = ()) -> Round:
    return Round((A, B), tuple(map(answer, got)), met=True, looks=looks, after=after)


WON, LOST, UNKNOWN = Outcome.WON, Outcome.LOST, Outcome.UNKNOWN
LATE = UnreachableError("s3://b", "no answer")


@pytest.mark.parametrize(
    ("one", "at_last", "what"),
    [
        (round_of(WON, LOST), A, {}),
        (round_of(WON, WON), A, {"several": 1}),
        (round_of(WON, LOST, after=B), B, {"replaced": 1}),
        (round_of(WON, LOST, after=A[:5]), A, {"replaced": 1}),
        (round_of(WON, LOST), B, {"replaced": 1}),
        (round_of(WON, LOST), None, {"replaced": 1}),
        (round_of(WON, UNKNOWN, after=B), B, {"replaced": 1}),
        (round_of(LOST, LOST), A, {"nobody": 1}),
        (round_of(LOST, LOST, after=None), None, {"nobody": 1}),
        (round_of(WON, UNKNOWN), A, {"unclear": 1}),
        (round_of(LATE, LOST), A, {"unclear": 1}),
        (round_of(WON, LOST, after=LATE), A, {"unclear": 1}),
        (round_of(WON, LOST), LATE, {"unclear": 1}),
    ],
)
def test_a_round_is_judged_by_what_is_there(one: Round, at_last: Any, what: dict[str, int]) -> None:
    seen = replace(tally({KEY: one}, {KEY: at_last}), looks=0, torn=0)
    assert seen == Tally(names=1, met=1, **what)
    assert bool(seen.broken) is bool(what.keys() - {"unclear"})


def test_only_what_nobody_wrote_is_torn() -> None:
    seen = tally({KEY: round_of(WON, LOST, looks=(None, A, B, A[:3], b"", LATE))}, {KEY: A})
    assert (seen.looks, seen.torn) == (5, 2)


def test_writers_are_processes_that_open_the_store_themselves(store: Path) -> None:
    with Rivals(str(store), {}, 2) as rivals:
        assert rivals.ask(0, Order("get", "x.json")).got is None
        assert rivals.ask(1, Order("put", "x.json", A)).got is WON
        assert rivals.ask(0, Order("put", "x.json", B)).got is LOST
        assert rivals.ask(0, Order("get", "x.json")).got == A
        assert sorted(rivals.ask(1, Order("list")).got) == ["safepoint.json", "x.json"]  # type: ignore[arg-type]  # keys


def test_a_writer_that_cannot_open_the_store_is_an_error_and_no_hang() -> None:
    with pytest.raises(UnsupportedError, match="needs another package"), Rivals("hdfs://h/x", {}, 1):
        pass


def test_a_writer_that_is_killed_is_an_error_and_no_hang(store: Path) -> None:
    with Rivals(str(store), {}, 1) as rivals:
        rivals._workers[0].kill()
        rivals._workers[0].join()
        with pytest.raises(UnreachableError, match="was killed"):
            rivals.ask(0, Order("get", "x"))


class Forgetful:
    """A writer that sees what it saw before."""

    def __init__(self, **lies: Any) -> None:
        self.lies = lies

    def ask(self, who: int, order: Order) -> Answer:
        return answer(self.lies[order.do])


@pytest.fixture
def looked(store: Path) -> Iterator[Any]:
    trial = Trial(str(store), {})
    trial._scratch.put("first.json", A)  # as always before: the folder would go with the last object in it

    def look(**lies: Any) -> dict[str, str]:
        trial._look(Forgetful(**lies), "another process")  # type: ignore[arg-type]  # a stand-in
        return {name: proven for name, (proven, _) in trial._found.items()}

    yield look
    assert trial.tidy() == ()


def test_a_cache_that_remembers_an_absence_is_found_out(looked: Any) -> None:
    assert looked(get=None, list=()) == {"freshReads": "no", "freshListings": "no", "deletes": "yes"}


def test_a_cache_that_remembers_an_object_is_found_out(looked: Any) -> None:
    keys = tuple(f"fresh-{number}.json" for number in range(5))
    assert looked(get=b"old", list=keys) == {"freshReads": "no", "freshListings": "no", "deletes": "no"}


def test_whoever_gives_no_answer_proves_nothing(looked: Any) -> None:
    assert set(looked(get=LATE, list=()).values()) == {"untried"}


# Libraries


def test_the_oldest_good_versions_are_those_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [
        *project["dependencies"],
        *(one for name in ("s3", "gcs", "azure", "fast") for one in extras[name]),
    ]
    floors = dict(re.match(r"([\w-]+)>=([0-9.]+)", one).groups() for one in asked)  # type: ignore[union-attr]  # all have one
    known = [
        library
        for backend in ("s3", "gs", "az")
        for driver in ("fsspec", "obstore")
        for library in libraries_of(backend, driver)
    ]
    assert {x.name: x.at_least for x in known if x.name in floors} == {
        name: floors[name] for name in ("s3fs", "gcsfs", "adlfs", "obstore", "fsspec")
    }
    assert not [x for x in known if x.too_old]


@pytest.mark.parametrize(
    ("version", "old"),
    [("2025.8.9", True), ("2025.9.0", False), ("2025.10.0", False), ("2025.9.0rc1", False), ("9", True)],
)
def test_versions_are_compared_as_numbers(version: str, old: bool) -> None:
    assert Library("s3fs", version, "2025.9").too_old is old


def test_a_disk_needs_no_library() -> None:
    assert libraries_of("local", "") == ()
