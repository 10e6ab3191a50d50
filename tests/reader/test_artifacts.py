"""The bytes of artifacts, looked at where that was asked for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journals import Journal

from safepoint.core.digest import digest_bytes
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.ahead import AT_ONCE
from safepoint.reader.artifacts import verify_artifacts
from safepoint.store import open_store
from safepoint.store.local import LocalStore

PLAN = {"artifactId": "plan", "uri": None, "digest": digest_bytes(b"plan"), "size": 4, "mediaType": None}
KEY = "runs/run-1/artifacts/sha256/" + digest_bytes(b"plan").removeprefix("sha256:")


def lay(folder: Path, *references: dict[str, Any], more: Journal | None = None) -> None:
    journal = Journal().begin()
    for number, reference in enumerate(references):
        journal.checkpoint(2 + number, f"cp-{number}", artifactRefs=[reference])
    (more or journal).write(folder)


def put(folder: Path, key: str, data: bytes) -> None:
    path = folder / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def faults(folder: Path) -> list[tuple[str, str, str]]:
    store = open_store(str(folder))
    run = load_run(store, "run-1").run
    assert run is not None
    found = list(verify_artifacts(store, run))
    assert all(fault.place is not None for fault in found)
    return [(fault.code, fault.pointer, fault.place.key if fault.place else "") for fault in found]


def first_of(pointer: str, code: str) -> list[tuple[str, str, str]]:
    return [(code, pointer, "runs/run-1/journal/0000000003.json")]


def test_whole_artifacts_are_no_fault_and_one_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    lay(tmp_path, PLAN, {**PLAN, "uri": "artifacts/plan.json"}, PLAN)
    put(tmp_path, KEY, b"plan")
    put(tmp_path, "runs/run-1/artifacts/plan.json", b"plan")
    assert faults(tmp_path) == []


def test_an_absent_artifact_is_reported_once_where_it_is_first_named(tmp_path: Path) -> None:
    lay(tmp_path, PLAN, PLAN)
    assert faults(tmp_path) == first_of("/artifactRefs/0", "SP515")


def test_a_wrong_size_says_all_that_the_digest_could(tmp_path: Path) -> None:
    lay(tmp_path, PLAN)
    put(tmp_path, KEY, b"pla")
    assert faults(tmp_path) == first_of("/artifactRefs/0/size", "SP516")


@pytest.mark.parametrize("size", [4, None])
def test_changed_bytes_are_found_by_their_digest(tmp_path: Path, size: int | None) -> None:
    lay(tmp_path, {**PLAN, "size": size})
    put(tmp_path, KEY, b"plam")
    assert faults(tmp_path) == first_of("/artifactRefs/0/digest", "SP517")


class Counting(LocalStore):
    """Remembers what is read, and holds each reader until as many as `together` read at once."""

    def __init__(self, path: str, together: int = 1) -> None:
        super().__init__(path)
        self.read: Counter[str] = Counter()
        self.gate = threading.Barrier(together)

    def pieces(self, key: str) -> Iterator[bytes]:
        self.read[key] += 1
        self.gate.wait(20)
        return super().pieces(key)


def numbered(folder: Path, number: int) -> list[dict[str, Any]]:
    """References to as many artifacts, which lie in the store."""
    made = []
    for data in (f"plan {index}".encode() for index in range(number)):
        digest = digest_bytes(data)
        put(folder, f"runs/run-1/artifacts/sha256/{digest.removeprefix('sha256:')}", data)
        made.append({**PLAN, "artifactId": data.decode(), "digest": digest, "size": len(data)})
    return made


def test_an_artifact_is_read_once_whatever_it_is_called(tmp_path: Path) -> None:
    by_uri = {**PLAN, "artifactId": "other", "uri": "./" + KEY.removeprefix("runs/run-1/"), "size": None}
    lay(tmp_path, PLAN, by_uri, PLAN)
    put(tmp_path, KEY, b"plan")
    store = Counting(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is not None
    store.read.clear()
    assert list(verify_artifacts(store, run)) == []
    assert gather_artifacts(store, run) == {"plan": "present", "other": "present"}
    assert store.read == {KEY: 2}


def test_several_are_read_at_once_and_reported_in_their_order(tmp_path: Path) -> None:
    references = numbered(tmp_path, AT_ONCE * 3)
    lay(tmp_path, *references)
    store = Counting(str(tmp_path), together=AT_ONCE)
    run = load_run(store, "run-1").run
    assert run is not None
    wrong = [
        {**ref, "digest": digest_bytes(b"x"), "uri": f"artifacts/sha256/{ref['digest'][7:]}"}
        for ref in references
    ]
    lay(tmp_path / "wrong", *wrong)
    for number in range(AT_ONCE * 3):
        put(tmp_path / "wrong", f"runs/run-1/{wrong[number]['uri']}", f"plan {number}".encode())
    assert set(gather_artifacts(store, run).values()) == {"present"}
    # each reader waited for others: had they come one after the other, nobody had come through
    assert sum(store.read.values()) == AT_ONCE * 3
    found = faults(tmp_path / "wrong")
    assert found == sorted(found, key=lambda fault: fault[2])
    assert [code for code, _, _ in found] == ["SP517"] * AT_ONCE * 3


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    lay(tmp_path, *numbered(tmp_path, 3))
    store = Counting(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is not None
    assert gather_artifacts(store, run, ids={"plan 1"}) == {"plan 1": "present"}
    assert sum(store.read.values()) == 1


def test_nobody_reads_on_once_the_rest_is_not_wanted(tmp_path: Path) -> None:
    lay(tmp_path, *({**ref, "size": 1} for ref in numbered(tmp_path, 200)))
    store = Counting(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is not None
    assert next(verify_artifacts(store, run)).code == "SP516"
    assert sum(store.read.values()) < 200


def test_more_bytes_than_are_promised_are_not_read(tmp_path: Path) -> None:
    lay(tmp_path, PLAN)
    put(tmp_path, KEY, b"plan" + b"x" * (5 << 20))
    taken = []

    class Slow(LocalStore):
        def pieces(self, key: str) -> Iterator[bytes]:
            for piece in super().pieces(key):
                taken.append(len(piece))
                yield piece

    store = Slow(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is not None
    assert [fault.code for fault in verify_artifacts(store, run)] == ["SP516"]
    assert len(taken) == 1


def test_a_retracted_artifact_is_missing_to_the_guard_while_its_bytes_are_there(tmp_path: Path) -> None:
    members: dict[str, Any] = {"reason": "erasure request", "by": "privacy-office"}
    both = [PLAN, {**PLAN, "artifactId": "other", "uri": "artifacts/other"}]
    journal = Journal().begin().checkpoint(2, artifactRefs=both)
    lay(tmp_path, more=journal.add("retract", 3, targets=["plan"], **members))
    put(tmp_path, KEY, b"plan")
    put(tmp_path, "runs/run-1/artifacts/other", b"plan")
    store = open_store(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is not None
    assert gather_artifacts(store, run) == {"plan": "missing", "other": "present"}


@pytest.mark.parametrize(
    ("uri", "key"),
    [("artifacts/my%20plan", "artifacts/my plan"), ("./a/plan", "a/plan"), ("a%2525b", "a%25b")],
)
def test_a_uri_is_decoded_once(tmp_path: Path, uri: str, key: str) -> None:
    lay(tmp_path, {**PLAN, "uri": uri})
    put(tmp_path, f"runs/run-1/{key}", b"plan")
    assert faults(tmp_path) == []


@pytest.mark.parametrize("uri", ["https://example.org/x", "urn:example:x", "file:///etc/hostname", "../../x"])
def test_nothing_outside_of_the_store_is_opened(tmp_path: Path, uri: str) -> None:
    lay(tmp_path, {**PLAN, "uri": uri})
    store = open_store(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is None or list(verify_artifacts(store, run)) == []


def test_an_artifact_that_cannot_be_read_is_no_missing_one(tmp_path: Path) -> None:
    lay(tmp_path, PLAN)
    (tmp_path / KEY).mkdir(parents=True)
    assert faults(tmp_path) == [("SP002", "", KEY)]


def test_a_retracted_artifact_may_be_gone(tmp_path: Path) -> None:
    members: dict[str, Any] = {"reason": "erasure request", "by": "privacy-office"}
    journal = (
        Journal().begin().checkpoint(2, artifactRefs=[PLAN]).add("retract", 3, targets=["plan"], **members)
    )
    lay(tmp_path, more=journal)
    assert faults(tmp_path) == []


def test_the_artifact_of_a_result_is_looked_at_as_well(tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2).ledger(3, "attempting").ledger(4, "committed", resultRef=PLAN)
    lay(tmp_path, more=journal)
    assert faults(tmp_path) == [("SP515", "/resultRef", "runs/run-1/journal/0000000005.json")]
