"""The commands that are suggested: they open the store as it was opened, and print no secret."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from journals import Journal

from safepoint.cli.console import shown_options, storage_words

Run = Callable[..., Result]

HARMLESS = {
    "endpoint_url": "http://127.0.0.1:9000",
    "profile": "audit",
    "anon": True,
    "region": "eu-west-1",
    "driver": "obstore",
    "use_ssl": False,
    "account_name": "agents",
    "project": "p-1",
    "retries": 3,
}

SECRET = {
    "key": "AKIA",
    "secret": "s",
    "token": "t",
    "password": 1234,
    "credential": "c",
    "account_key": "k",
    "aws_secret_access_key": "k",
    "sas_token": "sv=1",
    "connection_string": "c",
    "headers": "h",
    "client_kwargs": {"verify": False},
    "more": ["a"],
    "proxy": "http://user:word@host",
    "blob_url": "https://host/c?sig=abc",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_is_given_again(name: str) -> None:
    assert shown_options({name: HARMLESS[name]}) == {name: HARMLESS[name]}


@pytest.mark.parametrize("name", SECRET)
def test_a_secret_is_asked_for_and_not_printed(name: str) -> None:
    assert shown_options({name: SECRET[name]}) == {name: ...}
    assert storage_words({name: SECRET[name]}) == ["--storage-option", f"{name}=…"]


def test_a_text_that_looks_like_json_stays_a_text() -> None:
    words = storage_words({"a": "true", "b": True, "project": "12", "c": "12", "d": None, "e": "x y"})
    assert words[1::2] == ['a="true"', "b=true", "project=12", 'c="12"', "d=null", "e=x y"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in the working folder, whose client takes any option."""
    monkeypatch.chdir(tmp_path)
    Journal("run-1").begin().checkpoint(2).write(tmp_path / "store")
    return tmp_path / "store"


GIVEN = ("--storage-option", "auto_mkdir=true", "--storage-option", "secret=hush")
AGAIN = "--storage-option auto_mkdir=true --storage-option secret=…"


@pytest.mark.parametrize("command", ["guard", "show", "runs"])
def test_the_next_command_opens_the_store_as_this_one_did(command: str, run: Run, store: Path) -> None:
    named = [] if command == "runs" else ["--run", "run-1"]
    said = run(command, "store", *named, "--now", "2026-05-07T10:02:00Z", *GIVEN)
    lines = [
        line for line in said.stdout.splitlines() if "safepoint show" in line or "safepoint guard" in line
    ]
    if command == "guard":
        assert "from safepoint import open_store" in said.stdout
        assert "resume_run(open_store('store', auto_mkdir=True, secret=…), 'run-1'," in said.stdout
    else:
        assert lines
    assert all(line.endswith(AGAIN) for line in lines)
    assert "hush" not in said.output


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("guard", ["--goal", "inspect", "--now", "2026-05-07T11:00:00Z"]),
        ("show", ["--show-values"]),
        ("retract", ["--checkpoint", "cp-1", "--by", "ann", "--reason", "wrong one"]),
    ],
)
def test_the_list_of_runs_repeats_every_option(command: str, more: list[str], run: Run, store: Path) -> None:
    said = run(command, "store", *more, *GIVEN)
    assert said.exit_code == 2
    words = " ".join(f"'{word}'" if " " in word else word for word in more)
    assert f"  safepoint {command} store --run run-1 {words} {AGAIN}\n" in said.stderr
    assert "hush" not in said.output


@pytest.mark.parametrize("command", ["guard", "show", "runs", "anchor", "repair"])
def test_the_list_of_stores_repeats_every_option(command: str, run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Journal().begin().write(tmp_path / "all" / name)
        (tmp_path / "all" / name / "safepoint.json").write_text(
            '{"recordType":"store","schemaVersion":"v3","layout":1}'
        )
    more = {
        "guard": ["--run", "run-1", "--epoch", "3"],
        "show": ["--run", "run-1"],
        "runs": [],
        "anchor": ["--output", str(tmp_path / "place"), "--output-storage-option", "token=hush"],
        "repair": ["--dry-run"],
    }[command]
    said = run(command, tmp_path / "all", *more, *GIVEN)
    assert said.exit_code == 3
    [line] = [line for line in said.stderr.splitlines() if f"{tmp_path}/all/one" in line]
    assert line.startswith(f"  safepoint {command} {tmp_path}/all/one ")
    assert all(word.replace("token=hush", "token=…") in line.split() for word in more)
    assert AGAIN in line
    assert "hush" not in said.output
