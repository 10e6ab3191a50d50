"""The stored conformance cases are those that ``cases.py`` makes, byte for byte."""

from __future__ import annotations

from pathlib import Path

from cases import ROOT, cases, write


def test_the_stored_cases_are_the_ones_that_are_made(tmp_path: Path) -> None:
    for case in cases():
        write(case, tmp_path / case.name)
    assert contents(tmp_path) == contents(ROOT)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
