"""``--allow-artifact-scheme``: artifacts outside of the store, from the command line and from a project's settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from journals import Journal

from safepoint.core.digest import digest_bytes
from safepoint.store import open_store

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(here: Path) -> Iterator[str]:
    """A store with one artifact that lies elsewhere, and whose bytes are not what its record says."""
    from fsspec.implementations.memory import MemoryFileSystem

    MemoryFileSystem.store.clear()
    open_store("memory://bucket").put_if_absent("plan", b"plot")
    reference: dict[str, Any] = {
        "artifactId": "plan",
        "uri": "memory://bucket/plan",
        "digest": digest_bytes(b"plan"),
        "size": 4,
        "mediaType": None,
    }
    Journal().begin().checkpoint(2, artifactRefs=[reference]).write(here / "store")
    yield "store"
    MemoryFileSystem.store.clear()


def codes(result: Result) -> set[str]:
    return {finding["code"] for finding in json.loads(result.stdout)["findings"]}


def test_an_artifact_elsewhere_is_checked_where_its_scheme_is_allowed(run: Run, store: str) -> None:
    asked = ("validate", store, "--artifacts", "--format", "json")
    assert "SP517" not in codes(run(*asked))
    assert "SP517" not in codes(run(*asked, "--allow-artifact-scheme", "s3"))
    assert "SP517" in codes(run(*asked, "--allow-artifact-scheme", "s3", "--allow-artifact-scheme", "memory"))


def test_what_was_not_looked_at_is_said(run: Run, store: str) -> None:
    result = run("validate", store, "--artifacts")
    assert (
        "an artifact lies outside of the store, or nobody knows where: SP515, SP516, SP517" in result.output
    )
    result = run("validate", store, "--artifacts", "--allow-artifact-scheme", "memory")
    assert "outside of the store" not in result.output


def test_the_settings_allow_it_as_well(run: Run, store: str, here: Path) -> None:
    (here / "safepoint.toml").write_text(
        '[validate]\nartifacts = true\nallow-artifact-schemes = ["memory"]\n'
    )
    assert "SP517" in codes(run("validate", store, "--format", "json"))
    assert "SP517" not in codes(run("validate", store, "--format", "json", "--no-artifacts"))


def test_to_allow_what_nobody_looks_at_is_a_mistake(run: Run, store: str) -> None:
    result = run("validate", store, "--allow-artifact-scheme", "memory")
    assert result.exit_code == 2
    assert "give --artifacts too" in result.output


@pytest.mark.parametrize(
    ("scheme", "said"),
    [("file", "SP006"), ("htps", "no storage of this kind"), ("s3://bucket", "the scheme of a URL")],
)
@pytest.mark.parametrize("command", [("validate", "--artifacts"), ("guard", "--run", "run-1")])
def test_a_scheme_that_is_never_read_from_is_wrong_usage(
    run: Run, store: str, command: tuple[str, ...], scheme: str, said: str
) -> None:
    name, *options = command
    result = run(name, store, *options, "--allow-artifact-scheme", scheme)
    assert result.exit_code == 2
    assert said in result.output


def test_the_settings_say_which_scheme_is_wrong(run: Run, store: str, here: Path) -> None:
    (here / "safepoint.toml").write_text('[validate]\nallow-artifact-schemes = ["file"]\n')
    result = run("validate", store)
    assert result.exit_code == 2
    assert "safepoint.toml: validate.allow-artifact-schemes: file:" in result.output


def test_the_guard_looks_where_it_may(run: Run, store: str) -> None:
    def reasons(*options: str) -> set[str]:
        result = run("guard", store, "--run", "run-1", "--format", "json", *options)
        return {reason["code"] for reason in json.loads(result.stdout)["reasons"]}

    assert "SP793" in reasons()
    assert "SP787" in reasons("--allow-artifact-scheme", "memory")
    assert "SP793" not in reasons("--allow-artifact-scheme", "memory")


def test_what_the_guard_says_to_do_next_keeps_the_option(run: Run, store: str) -> None:
    result = run("guard", store, "--run", "run-1", "--allow-artifact-scheme", "memory")
    again = [line for line in result.stdout.splitlines() if "safepoint guard" in line]
    assert again
    assert all("--allow-artifact-scheme memory" in line for line in again)
