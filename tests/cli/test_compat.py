"""``safepoint compat``: what it prints, and what its exit status says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from journals import Journal

import safepoint

Run = Callable[..., Result]

NAME = "support-agent/state@4"
OLD = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "ticket": {"type": "integer"}},
    "required": ["customer"],
    "additionalProperties": False,
}
RENAMED = {
    "type": "object",
    "properties": {"customerId": {"type": "string"}, "ticket": {"type": "integer"}},
    "required": ["customerId"],
    "additionalProperties": False,
}
TIGHTER = {**OLD, "properties": {**OLD["properties"], "ticket": {"type": "integer", "minimum": 1}}}  # type: ignore[dict-item]
WIDER = {**OLD, "properties": {**OLD["properties"], "note": {"type": "string"}}}  # type: ignore[dict-item]
UNTOLD = {
    **OLD,
    "properties": {**OLD["properties"], "customer": {"type": "string", "not": {"pattern": "(?=xy)xyz"}}},
}  # type: ignore[dict-item]

SETTINGS = f"""
[payload-schemas]
"{NAME}" = "schemas/old.json"
"support-agent/state@5" = {{ stateSnapshot = "schemas/wider.json" }}
"two/snapshots@1" = {{ inputSnapshot = "schemas/old.json", stateSnapshot = "schemas/tighter.json" }}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Schemas and settings in the working folder."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    for name, schema in {
        "old": OLD, "renamed": RENAMED, "tighter": TIGHTER, "wider": WIDER, "untold": UNTOLD
    }.items():  # fmt: skip
        (folder / f"{name}.json").write_text(json.dumps(schema, indent=2))
    (tmp_path / "safepoint.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(*states: Any, run_id: str = "ticket-1", name: str = NAME, where: str = "store") -> Journal:
    journal = Journal(run_id).begin()
    for number, state in enumerate(states, 1):
        journal.checkpoint(1 + number, f"cp-{number}", payloadSchema=name, stateSnapshot=state)
    journal.write(Path(where))
    return journal


def test_a_wider_schema_is_compatible(here: Path, run: Run) -> None:
    result = run("compat", "schemas/old.json", "schemas/wider.json")
    assert result.exit_code == 0
    assert result.stdout == "compatible: schemas/old.json → schemas/wider.json; nothing in the way\n"
    assert result.stderr == ""


def test_a_difference_is_told_with_its_place_an_example_and_what_to_do(here: Path, run: Run) -> None:
    result = run("compat", "schemas/old.json", "schemas/tighter.json")
    assert result.exit_code == 1
    what = "bound tightened: the least number was not bounded and is 1"
    assert result.stdout.splitlines() == [
        f"schemas/tighter.json:9:18: SP624 payload-bound-tightened: {what} (at /properties/ticket/minimum)",
        "  payload: /ticket",
        "  old:     schemas/old.json at /properties/ticket",
        '  example: {"customer": "", "ticket": 0}',
        "  do:      keep the old bound for what is read, or migrate the payloads",
        "",
        "what a code means and how to fix it: safepoint explain SP624",
        "incompatible: schemas/old.json → schemas/tighter.json; 1 error",
    ]


def test_a_renamed_member_of_a_closed_schema_is_guessed(here: Path, run: Run) -> None:
    result = run("compat", "schemas/old.json", "schemas/renamed.json")
    assert result.exit_code == 1
    assert (
        'member "customer" was declared and is forbidden now; was it renamed to "customerId"?'
        in result.stdout
    )


def test_schemas_are_named_as_the_settings_name_them(here: Path, run: Run) -> None:
    result = run("compat", NAME, "support-agent/state@5")
    assert (result.exit_code, result.stdout.split(";")[0]) == (
        0,
        "compatible: schemas/old.json → schemas/wider.json",
    )


def test_what_nobody_can_tell_fails_unless_only_errors_count(here: Path, run: Run) -> None:
    given = ("compat", "schemas/old.json", "schemas/untold.json")
    result = run(*given)
    assert result.exit_code == 1
    assert "warning SP630 payload-compatibility-unknown" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("cannot tell: ")
    assert run(*given, "--fail-on", "error").exit_code == 0
    assert run("compat", "schemas/old.json", "schemas/tighter.json", "--fail-on", "never").exit_code == 0


def test_a_refused_payload_is_named_and_not_shown(here: Path, run: Run) -> None:
    stored({"customer": "hunter2"}, {"customer": "hunter2", "ticket": 7})
    result = run("compat", "schemas/old.json", "schemas/renamed.json", "store")
    assert result.exit_code == 1
    assert "store/runs/ticket-1/journal/0000000004.json:1:" in result.stdout
    assert "SP633 stored-payload-refused: run ticket-1: " in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "incompatible: schemas/old.json → schemas/renamed.json; 4 errors; "
        "2 stored payloads tried in 1 run: 0 accepted, 2 refused"
    )
    assert "hunter2" not in result.output


WAY = f"""
"support-agent/state@6" = "schemas/renamed.json"

[[payload-migrations]]
from = "{NAME}"
to = "support-agent/state@6"
"""


@pytest.mark.parametrize(
    "given", [(NAME, "support-agent/state@6"), ("schemas/old.json", "schemas/renamed.json")]
)
@pytest.mark.parametrize(
    ("step", "code"), [('patch = "4-to-6.json"', ""), ('function = "a:b"', " --allow-code")]
)
def test_who_has_a_migration_is_told_to_try_it(
    here: Path, run: Run, given: tuple[str, str], step: str, code: str
) -> None:
    (here / "other.toml").write_text(f"{SETTINGS}{WAY}{step}\n")
    stored({"customer": "hunter2"})
    result = run("compat", *given, "store", "--config", "other.toml", "--storage-option", "auto_mkdir=true")
    assert result.exit_code == 1
    command = (
        f"safepoint migrate store --payload support-agent/state@6{code} --config other.toml"
        " --storage-option auto_mkdir=true --dry-run"
    )
    assert result.stdout.splitlines()[-1] == (
        f"other.toml has a way from {NAME} to support-agent/state@6; whether it takes all that is stored: {command}"
    )
    assert "migration" not in result.stdout.replace("migrate", "")
    assert "do:      migrate what is stored before you deploy: the settings have the steps" in result.stdout
    document = json.loads(
        run("compat", *given, "store/runs/*", "--config", "other.toml", "--format", "json").stdout
    )
    way = document["summary"]["way"]
    assert (way["from"], way["to"], way["code"]) == (NAME, "support-agent/state@6", bool(code))
    assert way["command"].startswith("safepoint migrate STORE --payload")
    beside = run("compat", *given, "--config", "other.toml", "--format", "github").stderr
    assert beside.splitlines()[-1].startswith("other.toml has a way from ")


def test_there_is_no_word_of_a_way_where_none_is_needed_or_none_leads_there(here: Path, run: Run) -> None:
    (here / "other.toml").write_text(f"{SETTINGS}{WAY}patch = 'p'\n".replace("renamed.json", "wider.json"))
    for given in (
        (NAME, "support-agent/state@6"),
        (NAME, "schemas/tighter.json"),
        ("schemas/wider.json", NAME),
    ):
        assert "has a way" not in run("compat", *given, "--config", "other.toml").output


def test_of_many_refused_payloads_a_few_are_shown_and_all_counted(here: Path, run: Run) -> None:
    stored(*({"customer": "c", "ticket": -number} for number in range(30)))
    given = ("compat", "schemas/old.json", "schemas/tighter.json", "store")
    result = run(*given)
    assert result.stdout.count("SP633 stored-payload-refused: run") == 20
    assert "\nand 10 more SP633 stored-payload-refused: --limit 0 shows all\n" in result.stdout
    assert "10 of the findings not shown" in result.stdout.splitlines()[-1]
    assert run(*given, "--limit", "0").stdout.count("SP633 stored-payload-refused: run") == 30
    assert len(json.loads(run(*given, "--format", "json").stdout)["findings"]) == 31
    document = json.loads(run(*given, "--format", "json", "--limit", "2").stdout)
    assert (len(document["findings"]), document["summary"]["hidden"]) == (3, 28)


def test_what_is_stored_may_decide_alone(here: Path, run: Run) -> None:
    stored({"customer": "c", "ticket": 5})
    given = ("compat", "schemas/old.json", "schemas/tighter.json", "store")
    assert run(*given).exit_code == 1
    result = run(*given, "--stored-only")
    assert result.exit_code == 0
    assert "note SP624" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("compatible: ")
    stored({"customer": "c", "ticket": 0}, run_id="ticket-2")
    assert run(*given, "--stored-only").exit_code == 1


def test_a_retracted_checkpoint_is_not_tried(here: Path, run: Run) -> None:
    journal = stored({"customer": "c", "ticket": 0}, {"customer": "c", "ticket": 1})
    journal.add("retract", 9, targets=["cp-1"], by="ann", reason="wrong")
    journal.write(Path("store"))
    result = run(
        "compat", "schemas/old.json", "schemas/tighter.json", "store", "--stored-only", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["summary"]["stored"] == {
        "tried": 1, "accepted": 1, "refused": 0, "unread": 0, "checkpoints": 1, "runs": 1
    }  # fmt: skip


def test_nothing_tried_is_no_silent_pass(here: Path, run: Run) -> None:
    stored({"customer": "c"}, name="other/state@1")
    result = run("compat", "schemas/old.json", "schemas/wider.json", "store")
    assert result.exit_code == 1
    assert "SP634 no-payload-tried: nothing was tried: of 1 visible checkpoint" in result.stdout
    assert "they name other/state@1" in result.stdout
    assert (
        run(
            "compat", "schemas/old.json", "schemas/wider.json", "store", "--payload", "other/state@1"
        ).exit_code
        == 0
    )


def test_what_cannot_be_read_was_not_tried(here: Path, run: Run) -> None:
    stored({"customer": "c"}, {"customer": "d"})
    torn = Path("store/runs/ticket-1/journal/0000000004.json")
    torn.write_bytes(torn.read_bytes()[:-9])
    result = run("compat", "schemas/old.json", "schemas/wider.json", "store")
    assert result.exit_code == 3
    assert "SP103" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("1 accepted, 0 refused; 1 text could not be read")


def test_a_store_that_is_not_there_is_status_3(here: Path, run: Run) -> None:
    result = run("compat", "schemas/old.json", "schemas/wider.json", "nowhere")
    assert result.exit_code == 3
    assert "SP001" in result.stdout


def test_files_and_patterns_are_stores_too(here: Path, run: Run) -> None:
    stored({"customer": "c"}, {"customer": "d"})
    result = run("compat", "schemas/old.json", "schemas/wider.json", "store/runs/*/journal/*.json")
    assert result.exit_code == 0
    assert "2 stored payloads tried in 1 run" in result.stdout


def test_only_the_snapshots_are_tried_that_have_the_old_schema(here: Path, run: Run) -> None:
    journal = Journal().begin()
    journal.checkpoint(
        2, payloadSchema="two/snapshots@1", stateSnapshot={"any": 1}, inputSnapshot={"customer": "c"}
    ).write(Path("store"))
    result = run("compat", "schemas/old.json", "schemas/wider.json", "store", "--format", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["summary"]["stored"]["tried"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["schemas/none.json", "schemas/old.json"], "no file"),
        (["support-agent/state@9", "schemas/old.json"], "did you mean support-agent/state@"),
        (["schemas", "schemas/old.json"], "it is no file"),
        (["two/snapshots@1", "schemas/old.json"], "--snapshot inputSnapshot or stateSnapshot"),
        (
            ["support-agent/state@5", "schemas/old.json", "--snapshot", "inputSnapshot"],
            "no schema for inputSnapshot",
        ),
        (["schemas/old.json", "schemas/old.json", "--payload", NAME], "name a STORE too"),
        (["schemas/old.json", "schemas/old.json", "--stored-only"], "name a STORE too"),
        (["schemas/old.json", "schemas/old.json", "--snapshot", "stateSnapshot"], "--snapshot says"),
        (["schemas/renamed.json", "schemas/old.json", "store"], "--payload NAME@VERSION"),
        (
            ["schemas/old.json", "schemas/old.json", "store", "--payload", "state"],
            "expected a name and a version",
        ),
        (["schemas/old.json", "safepoint.toml"], "it is no JSON"),
        (["schemas/old.json", "schemas/old.json", "-o", "schemas/old.json"], "one of the two schemas"),
        (["schemas/old.json", NAME, "--no-config"], "is no file"),
    ],
)
def test_wrong_usage_names_the_remedy(here: Path, run: Run, arguments: list[str], said: str) -> None:
    result = run("compat", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr.replace("\n", " ")


def test_the_json_has_both_places_and_the_example(here: Path, run: Run) -> None:
    document = json.loads(
        run("compat", "schemas/old.json", "schemas/tighter.json", "--format", "json").stdout
    )
    [finding] = document["findings"]
    assert finding["payload"] == "/ticket"
    assert finding["old"] == {"url": "schemas/old.json", "pointer": "/properties/ticket"}
    assert finding["example"] == {"customer": "", "ticket": 0}
    assert document["summary"] == {
        "verdict": "incompatible",
        "old": "schemas/old.json",
        "new": "schemas/tighter.json",
        "storedOnly": False,
        "stored": None,
        "findings": {"error": 1, "warning": 0, "info": 0},
        "codes": {"SP624": 1},
        "way": None,
        "hidden": 0,
        "settings": "safepoint.toml",
    }
    lines = run("compat", "schemas/old.json", "schemas/tighter.json", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["finding", "summary"]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("github", "::error file=schemas/tighter.json,"),
        ("sarif", '"ruleId": "SP624"'),
        ("junit", "<failure "),
    ],
)
def test_the_formats_of_ci_name_the_place(here: Path, run: Run, shape: str, said: str) -> None:
    result = run("compat", "schemas/old.json", "schemas/tighter.json", "--format", shape)
    assert result.exit_code == 1
    assert said in result.stdout
    assert result.stderr == "incompatible: schemas/old.json → schemas/tighter.json; 1 error\n"


def test_a_report_goes_to_a_file(here: Path, run: Run) -> None:
    result = run("compat", "schemas/old.json", "schemas/tighter.json", "-o", "report.txt")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("report.txt: incompatible: ")
    assert "SP624" in Path("report.txt").read_text(encoding="utf-8")


def test_a_program_asks_the_same(here: Path) -> None:
    stored({"customer": "c", "ticket": 0})
    found = safepoint.compat("schemas/old.json", "schemas/tighter.json", "store", payloads=[NAME])
    assert [finding.code for finding in found] == ["SP624", "SP633"]
    assert (found.verdict, found.tried, found.refused) == ("incompatible", 1, 1)
    with pytest.raises(ValueError, match="belong together"):
        safepoint.compat("schemas/old.json", "schemas/old.json", "store")
    with pytest.raises(TypeError, match="expected names"):
        safepoint.compat("schemas/old.json", "schemas/old.json", "store", payloads=NAME)
