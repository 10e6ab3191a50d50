"""The conformance suite in `fixtures/`, run through the public interface as fixtures/README.md says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

import safepoint
from safepoint import schemas
from safepoint.audit.document import RESULTS
from safepoint.cli.main import safepoint as command_line
from safepoint.core.digest import canonical, digest_value
from safepoint.core.kind import recognise
from safepoint.payloads import PayloadSchemas
from safepoint.rules import catalogue, severity, to_finding
from safepoint.settings import load_settings

FIXTURES = Path(__file__).parents[1] / "fixtures"
CASES = sorted(path.parent for path in FIXTURES.rglob("expect.json"))


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


SCHEMA = jsonschema.Draft202012Validator(load(FIXTURES / "expect.schema.json"))
EXPECTATIONS = [load(case / "expect.json") for case in CASES]

OWN_CODES = [known.id for known in catalogue.codes() if known.id < "SP7"]
"""Those that a case can show and another nearly show. The guard's are reasons of a decision and come in pairs of
stores, which ``tests/guard/conformance/`` keeps side by side."""

WITHOUT_A_CASE = {
    "SP604": "a case has no place to migrate to; tests/moving/test_migration.py shows both sides of it",
    "SP613": "a case has no record beside the one that is kept; tests/moving/test_keep_going.py shows both sides",
    "SP614": "a case has no copy that is half made; tests/moving/test_again.py shows both sides",
    "SP615": "a case has no copy that was finished; tests/moving/test_again.py shows both sides",
    "SP616": "a case has no original to seal; tests/moving/test_authority.py shows both sides",
    "SP617": "a case has one record, and none that is not asked for; tests/moving/test_authority.py shows both sides",
}
"""Codes that no case shows, each with the reason."""

COMPANIONS = {
    "SP601": (frozenset({"SP218"}), "a demand that would be lost is one that this version does not know"),
    "SP606": (frozenset({"SP207"}), "the findings that it speaks of stand beside it"),
}
"""Codes that never come alone: what stands beside them, and why."""


def inputs_of(expect: dict[str, Any]) -> list[str]:
    usual = [name for name in ("input.json", "input.jsonl", "store") if Path(name).exists()]
    inputs = expect.get("inputs") or usual[:1]
    for name in inputs:
        if name.endswith("/"):
            Path(name).mkdir(exist_ok=True)
    return inputs


def agree(found: Iterable[safepoint.Finding], expected: list[dict[str, Any]]) -> None:
    """In any order; where the expectation leaves the pointer out, any pointer will do."""
    free = {finding["code"] for finding in expected if "pointer" not in finding}
    plain = [
        {"code": f.code, "severity": f.severity, "file": f.key, "line": f.line}
        | ({} if f.code in free else {"pointer": f.pointer})
        for f in found
    ]
    assert in_any_order(plain) == in_any_order(expected)


def in_any_order(findings: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(finding, sort_keys=True) for finding in findings)


def without_messages(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_messages(inner) for name, inner in value.items() if name != "message"}
    return [without_messages(inner) for inner in value] if isinstance(value, list) else value


def without_tool(record: dict[str, Any]) -> dict[str, Any]:
    for form in (record, record.get("x-v3", {})):
        for provenance in ("migratedFrom", "payloadMigratedFrom"):
            (form.get(provenance) or {}).pop("tool", None)
    return record


def run(*arguments: str) -> int:
    return CliRunner().invoke(command_line, arguments).exit_code


def validate(expect: dict[str, Any]) -> None:
    inputs = inputs_of(expect)
    artifacts = expect.get("artifacts", False)
    schemas_of_payloads = PayloadSchemas.load(expect.get("payloadSchemas", {}))
    found = safepoint.validate(
        *inputs, artifacts=artifacts, payload_schemas=schemas_of_payloads, anchor=expect.get("anchor")
    )
    agree(found, expect["findings"])
    if "payloadSchemas" in expect:
        table = (f'"{name}" = "{path}"' for name, path in expect["payloadSchemas"].items())
        Path("safepoint.toml").write_text("\n".join(["[payload-schemas]", *table]))
    options = ["--artifacts"] if artifacts else []
    options += ["--anchor", expect["anchor"]] if "anchor" in expect else []
    assert run("validate", *inputs, *options) == expect["exit"]


def migrate(expect: dict[str, Any]) -> None:
    data, to, loss = Path("input.json").read_bytes(), expect["to"], expect.get("allowLoss", False)
    payloads = None
    if "payload" in expect:
        settings = load_settings("safepoint.toml")
        schemas_of_payloads = PayloadSchemas.load(settings.payload_schemas)
        migrations = safepoint.PayloadMigrations.load(settings.payload_migrations, schemas_of_payloads)
        payloads = migrations.toward(expect["payload"])
    result = safepoint.migrate(data, to, allow_loss=loss, payloads=payloads)
    agree((to_finding(fault, data) for fault in result.faults), expect["findings"])
    if expect["output"] is None:
        assert result.data is None
    else:
        assert result.data is not None
        assert without_tool(json.loads(result.data)) == without_tool(load(Path(expect["output"])))
        value = json.loads(result.data)
        identity, _ = recognise(value)
        assert identity is not None
        assert "error" not in {severity(fault.code) for fault in schemas.check(identity, value)}
    options = ["--allow-loss"] if loss else []
    options += [word for name in expect.get("payload", ()) for word in ("--payload", name)]
    assert run("migrate", "input.json", "--to", to, *options) == expect["exit"]


def compat(expect: dict[str, Any]) -> None:
    stores = [expect["store"]] if "store" in expect else []
    payloads = [expect["payload"]] if stores else None
    only = expect.get("storedOnly", False)
    found = safepoint.compat("old.json", "new.json", *stores, payloads=payloads, stored_only=only)
    agree(found, expect["findings"])
    assert found.verdict == expect["verdict"]
    assert (found.tried, found.refused) == (expect.get("tried", 0), expect.get("refused", 0))
    options = ["--payload", expect["payload"]] if stores else []
    options += ["--stored-only"] if only else []
    assert run("compat", "old.json", "new.json", *stores, *options) == expect["exit"]


def guard(expect: dict[str, Any]) -> None:
    documents = {name: expect[name] for name in ("facts", "policy", "request", "anchor") if name in expect}
    store, storage = store_of(expect)
    decision = safepoint.guard(store, expect["run"], now=expect["now"], storage_options=storage, **documents)
    if "verdict" in expect:
        assert decision.verdict == expect["verdict"]
    else:
        assert without_messages(decision.document()) == without_messages(load(Path(expect["decision"])))
    options = [part for name, path in documents.items() for part in (f"--{name}", path)]
    options += [part for name in storage for part in ("--storage-option", f"{name}=true")]
    assert run("guard", store, "--run", expect["run"], "--now", expect["now"], *options) == expect["exit"]


def store_of(expect: dict[str, Any]) -> tuple[str, dict[str, bool]]:
    """The URL and the storage options of the case's store; one that nobody can claim in is an archive."""
    if "claims" not in expect:
        return expect["store"], {}
    shutil.make_archive("archive", "zip", expect["store"])
    return "zip://::archive.zip", {"assume_one_writer": True} if expect["claims"] == "assumed" else {}


def audit(expect: dict[str, Any]) -> None:
    found = safepoint.audit(expect["store"], policy=expect.get("policy"))
    assert list(found), "no run was found"
    answers = [{"code": v.point.code, "result": RESULTS[v.result]} for v in found.verdicts]
    assert answers == expect["points"]
    options = ["--policy", expect["policy"]] if "policy" in expect else []
    assert run("audit", expect["store"], *options) == expect["exit"]


def canonicalise(expect: dict[str, Any]) -> None:
    value = load(Path("input.json"))
    assert canonical(value) == Path(expect["output"]).read_bytes()
    assert digest_value(value) == expect["digest"]


COMMANDS = {
    "validate": validate,
    "migrate": migrate,
    "compat": compat,
    "guard": guard,
    "audit": audit,
    "canonical": canonicalise,
}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.relative_to(FIXTURES).as_posix())
def test_a_case_comes_out_as_expected(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expect = load(case / "expect.json")
    SCHEMA.validate(expect)
    scratch = tmp_path / "case"
    shutil.copytree(case, scratch)
    monkeypatch.chdir(scratch)
    if "pad" in expect:
        with Path(expect["pad"]["file"]).open("ab") as file:
            file.write(b" " * (expect["pad"]["size"] - file.tell()))
    before = contents(scratch)
    COMMANDS[expect["command"]](expect)
    assert {path: data for path, data in contents(scratch).items() if path in before} == before


def codes_of(expect: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in expect.get("findings", ())]


@pytest.mark.parametrize("code", OWN_CODES)
def test_a_case_shows_exactly_that_code(code: str) -> None:
    beside = COMPANIONS.get(code, (frozenset[str](), ""))[0]
    exact = [e for e in EXPECTATIONS if codes_of(e).count(code) == 1 and set(codes_of(e)) - {code} <= beside]
    if code in WITHOUT_A_CASE:
        assert not exact, "shown by now: take it off the list"
    else:
        assert exact, f"no case has {code} as its only finding"


@pytest.mark.parametrize("code", OWN_CODES)
def test_a_case_comes_near_and_does_not_show_that_code(code: str) -> None:
    near = [e for e in EXPECTATIONS if code in e.get("nearMissOf", ())]
    if code in WITHOUT_A_CASE:
        assert not near, "shown by now: take it off the list"
    else:
        assert near, f"no case names {code} in nearMissOf"
    assert not [e["summary"] for e in near if code in codes_of(e)]


def test_near_misses_are_of_codes_that_exist() -> None:
    named = {code for expect in EXPECTATIONS for code in expect.get("nearMissOf", ())}
    assert named <= set(OWN_CODES)
    assert WITHOUT_A_CASE.keys() | COMPANIONS.keys() <= set(OWN_CODES)


def test_the_schema_of_expectations_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA.schema)


def test_every_folder_of_the_suite_has_cases() -> None:
    assert {case.relative_to(FIXTURES).parts[0] for case in CASES} == {
        "good", "near", "warn", "bad", "hostile", "migrate", "compat", "guard", "audit", "canonical"
    }  # fmt: skip


def test_every_file_of_the_suite_belongs_to_a_case() -> None:
    own = {FIXTURES / "README.md", FIXTURES / "expect.schema.json"}
    files = {path for path in FIXTURES.rglob("*") if path.is_file()} - own
    assert {path for path in files if not any(path.is_relative_to(case) for case in CASES)} == set()


def test_no_case_lies_in_another() -> None:
    assert [case for case in CASES if any(outer in CASES for outer in case.parents)] == []
