"""A run gets one answer from a disk, from memory and as handed over, whatever the order and times of its files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import fsspec
import pytest
from generated_runs import Question, answer, questions
from hypothesis import HealthCheck, given, settings
from journals import START

import safepoint
from safepoint.core.digest import encode_record
from safepoint.core.timestamp import SECOND
from safepoint.reader import gather_artifacts
from safepoint.store import open_store

JOURNAL, LINES = "runs/run-1/journal", "runs/run-1/journal.jsonl"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stored")


def lay_down(question: Question, store: Path) -> None:
    """Files of the run, the last one first, with times that run backwards."""
    shutil.rmtree(store, ignore_errors=True)
    question.journal.write(store)
    for number, file in enumerate(sorted(store.rglob("*.json"))):
        os.utime(file, (10**9 - number, 10**9 - number))


def decide(store: str, question: Question) -> safepoint.Decision:
    return safepoint.guard(
        store,
        "run-1",
        facts=question.facts,
        policy={"recordType": "policy", "schemaVersion": "v3", **question.policy},
        request=question.request,
        now=START + int(question.now * SECOND),
    )


def as_lines(store: Path) -> None:
    """The journal as one file of lines."""
    files = sorted((store / JOURNAL).iterdir())
    (store / LINES).write_bytes(b"".join(file.read_bytes() + b"\n" for file in files))
    shutil.rmtree(store / JOURNAL)


def in_memory(store: Path) -> str:
    """The URL of a copy in memory."""
    memory = fsspec.filesystem("memory")
    for name in memory.ls("/", detail=False):
        memory.rm(name, recursive=True)
    for file in store.rglob("*"):
        if file.is_file():
            memory.pipe(f"/stored/{file.relative_to(store)}", file.read_bytes())
    return "memory://stored"


SOME = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
STORED = questions().filter(lambda question: question.ordered)


@given(STORED)
@SOME
def test_files_get_the_answer_that_their_records_get(place: Path, question: Question) -> None:
    store = place / "objects"
    lay_down(question, store)
    found = decide(str(store), question)
    looked = question.but(artifacts=gather_artifacts(open_store(str(store)), question.run()), beats=())
    assert encode_record(found.document()) == answer(looked)


@given(STORED)
@SOME
def test_memory_and_disk_get_one_answer(place: Path, question: Question) -> None:
    store = place / "both"
    lay_down(question, store)
    disk, memory = decide(str(store), question), decide(in_memory(store), question)
    assert encode_record(memory.document()) == encode_record(disk.document())


@given(STORED)
@SOME
def test_lines_get_one_answer_wherever_they_lie_and_never_more_leave(place: Path, question: Question) -> None:
    store = place / "lines"
    lay_down(question, store)
    objects = decide(str(store), question)
    as_lines(store)
    disk, memory = decide(str(store), question), decide(in_memory(store), question)
    assert encode_record(disk.document()) == encode_record(memory.document())
    assert disk.verdict in {objects.verdict, "reconcile", "hand_over"}
    assert disk.verdict != "resume" or objects.verdict == "resume"
