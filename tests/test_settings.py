"""A project's settings: where they are found, what they may say, and what is said of a mistake."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from safepoint.payloads import SNAPSHOTS
from safepoint.render.reports import REPORTS
from safepoint.settings import FORMATS, Settings, SettingsError, find_settings, load_settings

FULL = """
[validate]
select = ["SP2", "missing-version"]
ignore = ["SP204"]
fail-on = "warning"
format = "sarif"
limit = 0
max-findings = 50
baseline = "known.json"
artifacts = true
allow-artifact-schemes = ["s3", "https"]
show-values = false
jobs = 4
schema-engine = "jsonschema"

[[validate.per-path]]
path = "stores/legacy/**"
ignore = ["SP504", "SP3"]
reason = "written before approvals could expire"

[payload-schemas]
"support-agent/state@4" = "schemas/state-4.json"
"support-agent/state@5" = { stateSnapshot = "schemas/state-5.json", inputSnapshot = "schemas/input-5.json" }

[[payload-migrations]]
from = "support-agent/state@4"
to = "support-agent/state@5"
patch = { stateSnapshot = "migrations/state-4-to-5.json" }

[[payload-migrations]]
from = "support-agent/state@5"
to = "support-agent/state@4"
function = "my_agent.migrations:five_to_four"
"""


STEP = "[payload-schemas]\n'a@2' = 's.json'\n[[payload-migrations]]\n"
AB = f"{STEP}from = 'a@1'\nto = 'a@2'\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, with the working folder two levels below its top."""
    (tmp_path / "project/a/b").mkdir(parents=True)
    (tmp_path / "project/.git").mkdir()
    monkeypatch.chdir(tmp_path / "project/a/b")
    return tmp_path / "project"


def settings(folder: Path, text: str, name: str = "safepoint.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_everything_may_be_set(here: Path) -> None:
    path = settings(here, FULL)
    found = load_settings(path)
    assert found.path == path
    assert found.folder == str(here)
    assert found.select is not None
    assert {"SP201", "SP214"} <= found.select
    assert found.ignore == {"SP204"}
    assert (found.fail_on, found.output_format, found.schema_engine) == ("warning", "sarif", "jsonschema")
    assert (found.limit, found.max_findings, found.jobs) == (0, 50, 4)
    assert (found.artifacts, found.show_values) == (True, False)
    assert found.allow_artifact_schemes == {"s3", "https"}
    assert found.baseline == str(here / "known.json")
    [entry] = found.per_path
    assert entry.reason == "written before approvals could expire"
    assert {"SP504", "SP301"} <= entry.codes
    assert entry.covers("stores/legacy/runs/r/x.json")
    assert found.payload_schemas == {
        "support-agent/state@4": str(here / "schemas/state-4.json"),
        "support-agent/state@5": {
            "stateSnapshot": str(here / "schemas/state-5.json"),
            "inputSnapshot": str(here / "schemas/input-5.json"),
        },
    }


def test_the_same_may_stand_in_pyproject(here: Path) -> None:
    text = FULL.replace("[validate", "[tool.safepoint.validate").replace(
        "[payload", "[tool.safepoint.payload"
    )
    shared = load_settings(settings(here, text, "pyproject.toml"))
    own = load_settings(settings(here, FULL))
    assert (shared.select, shared.baseline, shared.per_path) == (own.select, own.baseline, own.per_path)
    assert shared.payload_schemas == own.payload_schemas


def test_an_empty_file_sets_nothing(here: Path) -> None:
    path = settings(here, "")
    assert load_settings(path) == Settings(path=path)


def test_paths_are_relative_to_the_file_and_shown_from_the_working_folder(here: Path) -> None:
    settings(here, FULL)
    found = load_settings(str(find_settings()))
    assert (found.path, found.baseline) == ("../../safepoint.toml", "../../known.json")


def test_the_nearest_file_counts(here: Path) -> None:
    settings(here, "")
    assert find_settings() == "../../safepoint.toml"
    settings(here / "a", "[tool.safepoint]", "pyproject.toml")
    assert find_settings() == "../pyproject.toml"
    settings(here / "a", "")
    assert find_settings() == "../safepoint.toml"
    settings(here / "a/b", "")
    assert find_settings() == "safepoint.toml"
    assert find_settings(str(here)) == "../../safepoint.toml"


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("[project]\nname = 'safepoint'\n", False),
        ("[tool.other]\nx = 'tool.safepoint'\n", False),
        ("[tool.safepoint.validate]\n", True),
        ("[tool]\nsafepoint.validate.jobs = 2\n", True),
        ("tool.safepoint = {}\n", True),
        ('["tool"."safepoint"]\n', True),
    ],
)
def test_a_shared_file_counts_only_if_it_speaks_of_us(here: Path, text: str, *, ours: bool) -> None:
    settings(here / "a/b", text, "pyproject.toml")
    assert (find_settings() == "pyproject.toml") is ours


def test_the_search_ends_at_the_top_of_the_repository(here: Path) -> None:
    settings(here.parent, "")
    assert find_settings() is None
    (here / ".git").rmdir()
    assert find_settings() == "../../../safepoint.toml"


def test_a_working_folder_that_was_removed_has_no_settings(here: Path) -> None:
    (here / "a/b").rmdir()
    assert find_settings() is None


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("[validte]", "validte", "no such key; did you mean validate?"),
        ("x = 1", "x", "no such key; there are validate, payload-schemas, payload-migrations"),
        ("validate = 3", "validate", "expected a table, found 3"),
        ("[validate]\nfail_on = 'error'", "validate.fail_on", "did you mean fail-on?"),
        ("[validate]\nfail-on = 'eror'", "validate.fail-on", "found 'eror'; did you mean error?"),
        (
            "[validate]\nfail-on = ['error']",
            "validate.fail-on",
            "expected one of error, warning, info, never; found a list",
        ),
        ("[validate]\nformat = 'xml'", "validate.format", "expected one of text, json"),
        ("[validate]\njobs = 'all'", "validate.jobs", "expected a whole number of at least 0, found 'all'"),
        ("[validate]\njobs = -1", "validate.jobs", "found -1"),
        ("[validate]\njobs = true", "validate.jobs", "found true"),
        ("[validate]\nlimit = 1.5", "validate.limit", "found 1.5"),
        ("[validate]\nartifacts = 'yes'", "validate.artifacts", "expected true or false, found 'yes'"),
        ("[validate]\nartifacts = 2026-05-07", "validate.artifacts", "found a date or time"),
        ("[validate]\nbaseline = ''", "validate.baseline", "expected text, found an empty text"),
        ("[validate]\nselect = 'SP3'", "validate.select", "expected a list of texts, found 'SP3'"),
        ("[validate]\nselect = [3]", "validate.select[0]", "expected text, found 3"),
        ("[validate]\nselect = []", "validate.select", "an empty list selects nothing"),
        ("[validate]\nignore = ['SP999']", "validate.ignore", "'SP999' is no code"),
        ("[validate]\nignore = ['SP001']", "validate.ignore", "SP001 is never ignored"),
        (
            "[validate]\nper-path = {}",
            "validate.per-path",
            "expected [[validate.per-path]] tables, found a table",
        ),
        (
            "[[validate.per-path]]\npath='a'\nignore=['SP3']",
            "validate.per-path[0]",
            "reason is missing: say why",
        ),
        (
            "[[validate.per-path]]\npath='a'\nignore=['SP3']\nreason=' '",
            "validate.per-path[0].reason",
            "say why",
        ),
        ("[[validate.per-path]]\nignore=['SP3']\nreason='x'", "validate.per-path[0]", "path is missing"),
        ("[[validate.per-path]]\npath='a'\nreason='x'", "validate.per-path[0]", "ignore is missing"),
        ("[[validate.per-path]]\npaths='a'", "validate.per-path[0].paths", "did you mean path?"),
        (
            "[[validate.per-path]]\npath=''\nignore=['SP3']\nreason='x'",
            "validate.per-path[0].path",
            "empty text",
        ),
        ("[payload-schemas]\nstate = 's.json'", "payload-schemas.state", "with a version"),
        (
            "[payload-schemas]\n'a@1' = 3",
            'payload-schemas."a@1"',
            "expected the path of a schema, or a table with paths for inputSnapshot and stateSnapshot; found 3",
        ),
        ("[payload-schemas]\n'a@1' = {}", 'payload-schemas."a@1"', "expected the path of a schema"),
        (
            "[payload-schemas]\n'a@1' = {state = 'x'}",
            'payload-schemas."a@1".state',
            "no such key; there are inputSnapshot, stateSnapshot",
        ),
        (
            "payload-migrations = {}",
            "payload-migrations",
            "expected [[payload-migrations]] tables, found a table",
        ),
        (
            f"{AB}patch = 'p'\nx = 1",
            "payload-migrations[0].x",
            "no such key; there are from, to, patch, function",
        ),
        (f"{AB}", "payload-migrations[0]", "expected either patch or function, neither is there"),
        (f"{AB}patch = 'p'\nfunction = 'a:b'", "payload-migrations[0]", "both are there"),
        (f"{AB}patch = 3", "payload-migrations[0].patch", "expected text, found 3"),
        (
            f"{AB}patch = {{x = 'p'}}",
            "payload-migrations[0].patch.x",
            "there are inputSnapshot, stateSnapshot",
        ),
        (f"{AB}patch = {{}}", "payload-migrations[0].patch", "found a table"),
        (
            f"{AB}function = 'a.b'",
            "payload-migrations[0].function",
            "such as my_package.migrations:four_to_five",
        ),
        (f"{STEP}from = 'a@1'\npatch = 'p'", "payload-migrations[0]", "to is missing"),
        (f"{STEP}from = 'a'\nto = 'a@2'\npatch = 'p'", "payload-migrations[0].from", "found 'a'"),
        (f"{STEP}from = 3\nto = 'a@2'\npatch = 'p'", "payload-migrations[0].from", "found 3"),
        (f"{STEP}from = 'a@2'\nto = 'a@2'\npatch = 'p'", "payload-migrations[0].to", "the same as from"),
        (
            f"{STEP}from = 'a@1'\nto = 'a@3'\npatch = 'p'",
            "payload-migrations[0].to",
            "add it to [payload-schemas]",
        ),
        (
            f"{AB}patch = 'p'\n[[payload-migrations]]\nfrom = 'a@1'\nto = 'a@2'\nfunction = 'a:b'",
            "payload-migrations[1]",
            "payload-migrations[0] leads from a@1 to a@2 already; keep one of them",
        ),
    ],
)
def test_a_mistake_is_named_with_its_file_key_and_remedy(here: Path, text: str, key: str, said: str) -> None:
    path = settings(here, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(path)
    assert str(caught.value).startswith(f"{path}: {key}: ")
    assert said in str(caught.value)


def test_in_a_shared_file_the_key_is_named_in_full(here: Path) -> None:
    path = settings(here, "[tool.safepoint.validate]\njobs = -1", "pyproject.toml")
    with pytest.raises(SettingsError, match=r"tool\.safepoint\.validate\.jobs"):
        load_settings(path)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("safepoint.toml", b"[validate\n", "no TOML: .*line 1"),
        ("safepoint.toml", b"x = '\xff'", "no TOML: "),
        ("pyproject.toml", b"[project]\n", "no table"),
        ("pyproject.toml", b"[tool]\nsafepoint = 3\n", "expected a table, found 3"),
    ],
)
def test_a_file_that_holds_no_settings_is_refused(here: Path, name: str, data: bytes, said: str) -> None:
    (here / name).write_bytes(data)
    with pytest.raises(SettingsError, match=said):
        load_settings(str(here / name))


@pytest.mark.parametrize("name", ["absent.toml", "a"])
def test_a_file_that_cannot_be_read_is_refused(here: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load_settings(str(here / name))


def test_a_broken_shared_file_that_speaks_of_us_is_no_silence(here: Path) -> None:
    settings(here, "[tool.safepoint]\n[", "pyproject.toml")
    with pytest.raises(SettingsError, match="no TOML"):
        find_settings()


PAGE = (Path(__file__).parents[1] / "docs/settings.md").read_text(encoding="utf-8")
ROWS = {
    heading: re.findall(r"(?m)^\| `([^`]+)` \|.*\| `([^`]+)` \|$", section)
    for heading, section in re.findall(r"(?ms)^## `([^`]+)`$(.*?)(?=^## |\Z)", PAGE)
}
"""The tables of the page by their heading: keys, and their examples in TOML."""


def test_every_key_is_documented() -> None:
    others = {"path", "payload_schemas", "payload_migrations", "output_format"}
    members = set(Settings.__slots__) - others | {"format"}
    assert {key.replace("-", "_") for key, _ in ROWS["[validate]"]} == members
    assert {key for key, _ in ROWS["[[validate.per-path]]"]} == {"path", "ignore", "reason"}
    assert {key for key, _ in ROWS["[[payload-migrations]]"]} == {"from", "to", "patch", "function"}
    assert all(member in PAGE for member in SNAPSHOTS)


@pytest.mark.parametrize("key", [key for key, _ in ROWS["[validate]"]])
def test_the_example_of_a_key_can_be_used(here: Path, key: str) -> None:
    text = f"[validate]\n{key} = {dict(ROWS['[validate]'])[key]}\n"
    assert load_settings(settings(here, text)) != Settings(path=str(here / "safepoint.toml"))


def test_the_other_examples_of_the_page_can_be_used(here: Path) -> None:
    entry = "".join(f"{key} = {value}\n" for key, value in ROWS["[[validate.per-path]]"])
    schemas = (f'"x@{n}" = {value}\n' for n, (_, value) in enumerate(ROWS["[payload-schemas]"], 1))
    step = dict(ROWS["[[payload-migrations]]"])
    ends, names = f"from = {step['from']}\nto = {step['to']}\n", f'{step["to"]} = "5.json"\n'
    for way in ("patch", "function"):
        one = f"[payload-schemas]\n{names}[[payload-migrations]]\n{ends}{way} = {step[way]}\n"
        assert len(load_settings(settings(here, one)).payload_migrations) == 1
    tables = f"[[validate.per-path]]\n{entry}[payload-schemas]\n{''.join(schemas)}"
    blocks = "".join(re.findall(r"(?ms)^```toml\n(.*?)^```", PAGE))
    for text in (tables, blocks):
        found = load_settings(settings(here, text))
        assert len(found.payload_schemas) == 2
        assert len(found.per_path) == 1


def test_every_format_that_may_be_set_can_be_printed() -> None:
    assert set(FORMATS) == REPORTS.keys()


def test_every_setting_has_a_member_and_a_reader(here: Path) -> None:
    """All members of `Settings` are set by the file above, so that none is forgotten by the reader or this test."""
    found = load_settings(settings(here, FULL))
    unset: list[Any] = [name for name in Settings.__slots__ if getattr(found, name) in (None, {}, ())]
    assert unset == []
