"""The stored conformance cases are those that ``cases.py`` makes, byte for byte."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_the_stored_cases_are_the_ones_that_are_made(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("guard_cases", HERE / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["guard_cases"] = module
    spec.loader.exec_module(module)
    for case in module.cases():
        module.write(case, tmp_path / case.name)
    assert contents(tmp_path) == contents(module.ROOT)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
