"""The bytes of artifacts, looked at where that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from journals import Journal

from safepoint.core.digest import digest_bytes
from safepoint.reader import load_run
from safepoint.reader.artifacts import verify_artifacts
from safepoint.store import open_store

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
