"""``safepoint explain``, ``safepoint schema``, and the group itself."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from safepoint import schemas
from safepoint.cli.main import COMMANDS, Safepoint, safepoint
from safepoint.core.kind import Identity, recognise
from safepoint.core.version import V1, V2, V3, Version
from safepoint.version import __version__

Run = Callable[..., Result]


@pytest.mark.parametrize("code", ["SP214", "sp214", "214", "missing-version"])
def test_a_code_is_explained_by_number_or_name(run: Run, code: str) -> None:
    result = run("explain", code)
    assert result.exit_code == 0
    assert result.stdout.startswith("SP214 missing-version (error)\n\n")
    assert "\n\nWhy:" in result.stdout
    assert "\n\nFix:" in result.stdout
    assert "\n\nSPEC.md#" in result.stdout


def test_an_explanation_as_json(run: Run) -> None:
    document = json.loads(run("explain", "SP214", "--format", "json").stdout)
    assert (document["code"], document["name"], document["severity"]) == ("SP214", "missing-version", "error")
    assert document["text"].startswith(document["summary"])


@pytest.mark.parametrize("beginning", ["SP3", "sp3", "3", "SP30"])
def test_the_beginning_of_codes_lists_them(run: Run, beginning: str) -> None:
    listed = [line.split()[0] for line in run("explain", beginning).stdout.splitlines()[1:]]
    assert {"SP301", "SP309"} <= set(listed)
    assert all(code.startswith("SP3") for code in listed)
    documents = json.loads(run("explain", beginning, "--format", "json").stdout)["codes"]
    assert [document["code"] for document in documents] == listed


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("SP999", "codes begin with SP0 to SP8; safepoint explain lists all"),
        ("SP9", "codes begin with SP0 to SP8"),
        ("999", "no code 'SP999'"),
        ("SP399", "safepoint explain SP3 lists those that begin so"),
        ("SP2O7", "did you mean SP207?"),
        ("missing-verson", "did you mean missing-version"),
    ],
)
def test_an_unknown_code_names_those_near_it(run: Run, code: str, near: str) -> None:
    result = run("explain", code)
    assert result.exit_code == 2
    assert near in result.stderr


def test_without_a_code_all_are_listed(run: Run) -> None:
    lines = run("explain").stdout.splitlines()
    documents = json.loads(run("explain", "--format", "json").stdout)["codes"]
    assert [line.split()[0] for line in lines[1:]] == [document["code"] for document in documents]


def test_a_schema_is_printed_in_one_piece(run: Run) -> None:
    document = json.loads(run("schema", "checkpoint").stdout)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(run("schema", "checkpoint", "--version", "v2").stdout) != document


def test_without_a_kind_the_kinds_are_listed(run: Run) -> None:
    assert run("schema", "--version", "v1").stdout.splitlines() == ["checkpoint", "ledger"]
    assert "lease" in run("schema").stdout.splitlines()


def test_a_kind_that_a_version_lacks_is_a_usage_error(run: Run) -> None:
    result = run("schema", "lease", "--version", "v2")
    assert result.exit_code == 2
    assert "checkpoint, ledger" in result.stderr


VERSIONED = [(kind, version) for version in (V1, V2, V3) for kind in schemas.kinds(version)]


@pytest.mark.parametrize(("kind", "version"), VERSIONED, ids=str)
def test_every_kind_has_an_example_that_is_sound(run: Run, kind: str, version: Version) -> None:
    value = json.loads(run("schema", kind, "--version", str(version), "--example").stdout)
    assert recognise(value) == (Identity(kind, version), ())
    assert list(schemas.check(Identity(kind, version), value)) == []


def test_an_example_needs_a_kind(run: Run) -> None:
    result = run("schema", "--example")
    assert result.exit_code == 2
    assert "checkpoint" in result.stderr


def test_a_kind_is_no_code_and_the_way_to_it_is_named(run: Run) -> None:
    result = run("explain", "facts")
    assert result.exit_code == 2
    assert "`safepoint schema facts`" in result.stderr


GROUPS = {"facts": ("facts template", "facts merge"), "policy": ("policy show",)}


@pytest.mark.parametrize("name", [n for command in COMMANDS for n in GROUPS.get(command, (command,))])
def test_every_help_has_an_example_and_readable_statuses(run: Run, name: str) -> None:
    shown = run(*name.split(), "--help").stdout
    assert f"\nExamples:\n  safepoint {name}" in shown
    assert "\\b" not in shown
    if name not in {"schema", "explain"}:
        assert "\nExit status:\n  0  " in shown


def test_the_help_lists_every_command_and_each_has_its_own(run: Run) -> None:
    listed = run("--help").stdout
    for name in COMMANDS:
        assert f"  {name} " in listed
        assert run(name, "--help").exit_code == 0


def test_the_version_is_one_line(run: Run) -> None:
    assert run("--version").stdout == f"safepoint {__version__}\n"


def test_a_mistyped_command_is_a_usage_error_with_a_hint(run: Run) -> None:
    result = run("valdate")
    assert result.exit_code == 2
    assert "Did you mean validate?" in result.stderr


def test_only_commands_are_commands() -> None:
    # console.py lies beside them and is none
    assert isinstance(safepoint, Safepoint)
    with safepoint.make_context("safepoint", [], resilient_parsing=True) as context:
        assert safepoint.get_command(context, "console") is None


@pytest.mark.parametrize("kind", schemas.kinds(V3))
def test_an_example_stands_alone(run: Run, kind: str) -> None:
    shown = run("schema", kind, "--example").stdout_bytes
    assert run("validate", "-", stdin=shown).exit_code == 0
