"""What nobody writes on purpose: each text is one clear answer, in bounded memory and time, and never a traceback.

Not decided here: that every damage of a record is found (``tests/mutation``, the fixtures); here it is that nothing at
all can bring the command down. What is no text at all is in ``test_hostile_places.py``.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from measuring import MIB, RECORD, Outcome, measure

README = Path(__file__).parents[2] / "README.md"
LINE = 200 * 10**6
"""Bytes of the line that is too long."""

Measured = Callable[..., Outcome]


@pytest.fixture
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Runs ``safepoint validate``, and holds every case to what they all have in common."""
    return partial(measure, tmp_path_factory.mktemp("measured"))


# What is no record


def test_its_own_readme_is_one_finding(measured: Measured) -> None:
    outcome = measured(README)
    assert (outcome.status, outcome.codes) == (1, ["SP103"])
    assert len(outcome.out) < 2000


def photo(path: Path) -> Path:
    head = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x48\x00\x48\x00\x00"
    path.write_bytes(head + random.Random(1).randbytes(300_000) + b"\xff\xd9")
    return path


@pytest.mark.parametrize("name", ["photo.jpg", "photo.json"])
def test_a_photo_is_one_finding(measured: Measured, tmp_path: Path, name: str) -> None:
    outcome = measured(photo(tmp_path / name))
    assert (outcome.status, outcome.codes) == (1, ["SP102"])
    assert outcome.out.isascii()


def test_a_photo_that_calls_itself_json_lines_is_a_short_answer(measured: Measured, tmp_path: Path) -> None:
    outcome = measured(photo(tmp_path / "photo.jsonl"))
    assert outcome.status == 1
    assert "SP102" in outcome.codes
    assert {code[:3] for code in outcome.codes} == {"SP1"}  # bytes, and nothing that was made of them
    assert max(map(outcome.codes.count, outcome.codes)) <= 100
    assert outcome.out.isascii()


def test_a_photo_in_a_folder_is_not_looked_at(measured: Measured, tmp_path: Path) -> None:
    photo(tmp_path / "photo.jpg")
    (tmp_path / "ledger.json").write_text(RECORD)
    assert measured(tmp_path).status == 0


# Many


def many(folder: Path, suffix: str, data: str = "") -> Path:
    for number in range(10_000):
        (folder / f"{number}{suffix}").write_text(data)
    return folder


def test_ten_thousand_empty_files_are_nothing_to_check(measured: Measured, tmp_path: Path) -> None:
    outcome = measured(many(tmp_path, ""))
    assert (outcome.status, outcome.codes) == (3, ["SP001"])


def test_ten_thousand_empty_records_are_all_counted_and_some_shown(
    measured: Measured, tmp_path: Path
) -> None:
    outcome = measured(many(tmp_path, ".json"))
    assert outcome.status == 1
    assert set(outcome.codes) == {"SP111"}
    assert len(outcome.codes) <= 100
    assert b"10,000 errors" in outcome.out + outcome.err


def test_a_million_blank_lines_are_counted_in_flat_memory(measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"\n" * 1_000_000)
    outcome = measured(path)
    assert outcome.status in {1, 3}  # zero records are never a pass
    assert len(outcome.codes) <= 200


def test_a_million_blank_lines_around_a_record_are_counted_in_flat_memory(
    measured: Measured, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"\n" * 999_999 + RECORD.encode() + b"\n")
    outcome = measured(path)
    assert (outcome.status, set(outcome.codes)) == (0, {"SP116"})
    assert b"1 record " in outcome.out + outcome.err


def test_a_hundred_thousand_faults_are_all_counted_and_some_shown(measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"torn\n' * 100_000)
    outcome = measured(path)
    assert outcome.status == 1
    assert set(outcome.codes) <= {"SP103", "SP114"}
    assert 1 <= len(outcome.codes) <= 100
    assert b"100,000 errors" in outcome.out + outcome.err


def test_thousands_of_unsound_records_are_all_counted_and_some_shown(
    measured: Measured, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"actionId": "a", "runId": "r", "stepName": 1}\n' * 5_000)
    outcome = measured(path)
    assert outcome.status == 1
    assert max(map(outcome.codes.count, outcome.codes)) <= 100
    assert b"15,000 errors" in outcome.out + outcome.err
    assert b"5,000 faulty texts" in outcome.out + outcome.err


def test_one_text_with_a_hundred_thousand_faults_is_answered(measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_text('{"checkpointId": "c", "runId": "r", "x": [' + "\x01, " * 100_000 + "1]}")
    outcome = measured(path)
    assert outcome.status == 1
    assert 1 <= len(outcome.codes) <= 200


# Large and deep


@pytest.fixture(scope="module")
def long_line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One JSON text of 200 MB, on one line, that is sound but for its length."""
    path = tmp_path_factory.mktemp("long") / "line"
    with path.open("wb") as file:
        file.write(RECORD[:-1].encode() + b', "x-blob": "')
        for _ in range(LINE // MIB):
            file.write(b"x" * MIB)
        file.write(b'"}\n')
    return path


@pytest.mark.parametrize("name", ["ledger.json", "ledger.jsonl"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "met"])
def test_a_line_of_200_mb_is_one_finding_in_little_memory(
    measured: Measured, tmp_path: Path, long_line: Path, name: str, *, named: bool
) -> None:
    (tmp_path / name).hardlink_to(long_line)
    outcome = measured(tmp_path / name if named else tmp_path)
    assert (outcome.status, outcome.codes) == (1, ["SP110"])


def test_lines_around_one_of_200_mb_still_count(measured: Measured, tmp_path: Path, long_line: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with path.open("wb") as file, long_line.open("rb") as source:
        file.write(RECORD.encode() + b"\n")
        while part := source.read(MIB):
            file.write(part)
        file.write(b'{"torn\n')
    outcome = measured(path)
    assert outcome.status == 1
    assert sorted(set(outcome.codes)) in (["SP110", "SP113"], ["SP110", "SP114"], ["SP103", "SP110"])
    assert b":2:" in outcome.out
    assert b":3:" in outcome.out
    assert b"1 record" in outcome.out + outcome.err


@pytest.mark.parametrize("piped", [True, False], ids=["pipe", "file"])
def test_a_line_of_200_mb_on_standard_input_is_one_finding(
    measured: Measured, long_line: Path, *, piped: bool
) -> None:
    if piped:
        with subprocess.Popen(["cat", long_line], stdout=subprocess.PIPE) as source:
            assert source.stdout is not None
            outcome = measured("-", stdin=source.stdout)
            source.stdout.close()
    else:
        with long_line.open("rb") as file:
            outcome = measured("-", stdin=file)
    assert (outcome.status, outcome.codes) == (1, ["SP110"])


def test_a_sparse_file_of_a_terabyte_is_one_finding(measured: Measured, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    with path.open("wb") as file:
        try:
            file.truncate(2**40)
        except OSError:  # a file system with small files: as large as all of them allow
            file.truncate(2**33)
    outcome = measured(path)
    assert (outcome.status, outcome.codes) == (1, ["SP110"])


def test_standard_input_without_an_end_is_one_finding(measured: Measured) -> None:
    with Path("/dev/zero").open("rb") as endless:
        outcome = measured("-", stdin=endless)
    assert (outcome.status, outcome.codes) == (1, ["SP110"])


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize(
    ("opening", "core", "closing"),
    [("[", "", "]"), ('{"a":', "1", "}"), ('[{"a":', "1", "}]"), ("[", "", "")],
)
@pytest.mark.parametrize("depth", [2_000, 1_000_000])
def test_a_deep_nesting_is_one_finding(
    measured: Measured, tmp_path: Path, suffix: str, opening: str, core: str, closing: str, depth: int
) -> None:
    path = tmp_path / f"deep{suffix}"
    nested = opening * depth + core + closing * depth
    path.write_text(RECORD[:-1] + ', "x-deep": ' + nested + ("}\n" if closing else ""))
    outcome = measured(path)
    assert outcome.status == 1
    assert len(outcome.codes) == 1
    assert closing == "" or outcome.codes == ["SP109"]
    assert len(outcome.out) < 5000  # not the whole path into it


def test_several_processes_give_the_same_answer(measured: Measured, tmp_path: Path, long_line: Path) -> None:
    (tmp_path / "long.jsonl").hardlink_to(long_line)
    (tmp_path / "deep.json").write_text('{"a":' * 100_000)
    (tmp_path / "empty.json").touch()
    photo(tmp_path / "photo.json")
    os.mkfifo(tmp_path / "pipe.json")
    for number in range(100):
        (tmp_path / f"{number}.json").write_text(RECORD)
    one, two = (measured("--jobs", jobs, "--quiet", tmp_path) for jobs in ("1", "2"))
    assert one.status == 3  # the pipe
    assert len(one.codes) == 5
    assert (two.status, two.out, two.err) == (one.status, one.out, one.err)


# Numbers, names and texts that parsers stumble over


@pytest.mark.parametrize(
    ("member", "code"),
    [
        ("9" * 5000, "SP107"),
        ("1e" + "9" * 5000, "SP106"),
        ("0." + "1" * 1_000_000, None),
        ('"' + "\\ud800" * 10_000 + '"', "SP108"),
        ('"' + "a\\u0000" * 10_000 + '"', None),
        ("[" + "1," * 500_000 + "1]", None),
        ("{" + ",".join(f'"k{n}":1' for n in range(100_000)) + "}", None),
        ("{" + '"k":1,' * 100_000 + '"k":1}', "SP104"),
    ],
    ids=["digits", "exponent", "fraction", "surrogates", "nuls", "items", "names", "duplicates"],
)
def test_an_odd_value_is_answered(measured: Measured, tmp_path: Path, member: str, code: str | None) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(RECORD[:-1] + f', "x-odd": {member}}}')
    outcome = measured(path)
    assert set(outcome.codes) == ({code} if code else set())
    assert outcome.status == (1 if code else 0)
    assert len(outcome.codes) <= 100
