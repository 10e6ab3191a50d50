"""Patterns of paths: they match what Python's glob matches, but go through no link that leads out."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

import pytest

from safepoint.core.fault import Fault
from safepoint.store.inputs import expand
from safepoint.store.patterns import Matching


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    for name in ("a.json", "b.json", "one/a.json", "one/two/a.json", "one/two/[x].json", ".hidden/a.json"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("{}")
    (work / "one/.b.json").write_text("{}")
    (work / "inside").symlink_to("one")
    monkeypatch.chdir(work)
    return work


PATTERNS = [
    "*",
    "*.json",
    "?.json",
    "[ab].json",
    "*/",
    "*/*.json",
    "o*/t*/*",
    "one/*",
    "./*",
    "no/*",
    "a.json/*",
]
PATTERNS += [
    "*/two/a.json",
    "*/two/no",
    ".*",
    ".*/a.json",
    "one/.*",
    "*[.]json",
    "one/two/[[]x].json",
    "*/two/*/",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("absolute", [False, True])
def test_a_pattern_matches_what_glob_matches(here: Path, pattern: str, *, absolute: bool) -> None:
    pattern = str(here / pattern) + "/" * pattern.endswith("/") if absolute else pattern
    assert sorted(Matching(pattern).paths()) == sorted(glob.glob(pattern))  # noqa: PTH207 - what it is compared with


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/a.json", ["a.json", "one/a.json", "one/two/a.json"]),
        ("**/two/*", ["one/two/[x].json", "one/two/a.json"]),
        ("one/**/a.json", ["one/a.json", "one/two/a.json"]),
        ("o*/**/**/[[]x].json", ["one/two/[x].json"]),
        ("no/**", []),
    ],
)
def test_two_stars_go_over_folders_and_through_no_link(here: Path, pattern: str, expected: list[str]) -> None:
    assert sorted(set(Matching(pattern).paths())) == expected
    assert sorted(set(Matching(str(here / pattern)).paths())) == [str(here / path) for path in expected]


def test_of_what_lies_behind_a_link_that_leads_out_only_the_link_is_met(here: Path, tmp_path: Path) -> None:
    (tmp_path / "outside/two").mkdir(parents=True)
    (tmp_path / "outside/two/a.json").write_text("{}")
    (here / "out").symlink_to(tmp_path / "outside")
    for pattern in ("out*/two/a.json", "ou?/**/a.json", "*/two/a.json"):
        matching = Matching(pattern)
        met = [path for path in matching.paths() if matching.leads_out(path)]
        assert met == ["out"]
    assert list(Matching("out/*/a.json").paths()) == ["out/two/a.json"]


@pytest.mark.parametrize("pattern", ["*/*.json", "**/*.json"])
def test_a_folder_that_may_not_be_looked_into_is_no_empty_one(
    here: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    for name in ("listdir", "scandir"):
        real = getattr(os, name)

        def refuse(path: Any, real: Any = real) -> Any:
            if not isinstance(path, int) and Path(path).name == "one":
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, name, refuse)
    found = [item for item in expand([pattern]) if isinstance(item, Fault)]
    assert [(fault.code, fault.message) for fault in found] == [
        ("SP002", "Permission denied; check the permissions")
    ]
    assert found[0].place is not None
    assert found[0].place.url.rstrip("/").endswith("one")
