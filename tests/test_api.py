"""What ``import safepoint`` gives to a program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from samples import CHECKPOINT

import safepoint
from safepoint.api import SeveralStoresError, scan_store

STORE = Path(__file__).parents[1] / "fixtures/good/run-with-an-effect/store"
RECORD = {
    "actionId": "a",
    "runId": "r",
    "stepName": "s",
    "idempotencyKey": "k",
    "status": "committed",
    "externalRef": "m",
}


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_recorder_is_there_for_the_asking() -> None:
    script = "import safepoint; print(safepoint.recorder.resolve_action.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "resolve_action"


def test_importing_the_package_imports_nothing_but_itself() -> None:
    code = "import sys, safepoint; print(sorted(m for m in sys.modules if m.startswith('safepoint')))"
    assert run_python(code) == "['safepoint', 'safepoint.version']"


def test_functions_win_over_the_rooms_of_the_same_names() -> None:
    code = (
        "import safepoint, safepoint.guard, safepoint.migrate\n"
        "from safepoint.guard import evaluate\n"
        "from safepoint import guard, migrate\n"
        "print(callable(guard), callable(migrate), callable(safepoint.guard), callable(evaluate))"
    )
    assert run_python(code) == "True True True True"


@pytest.mark.parametrize("name", safepoint.__all__)
def test_every_public_name_is_there_documented_and_listed(name: str) -> None:
    assert name in dir(safepoint)
    assert getattr(safepoint, name).__doc__


def test_validate_yields_findings_and_counts() -> None:
    findings = safepoint.validate(json.dumps(RECORD).encode(), json.dumps({**RECORD, "status": 1}).encode())
    (finding,) = findings
    assert isinstance(finding, safepoint.Finding)
    assert (finding.code, finding.severity, finding.pointer) == ("SP201", "error", "/status")
    assert (findings.files, findings.records, findings.evaluated) == (2, 1, True)
    assert findings.summary()["codes"] == {"SP201": 1}


def test_validate_reads_paths_and_reports_what_it_cannot_read(tmp_path: Path) -> None:
    assert [f.code for f in safepoint.validate(STORE)] == []
    validation = safepoint.validate(tmp_path / "absent", str(STORE))
    assert [f.code for f in validation] == ["SP001"]
    assert not validation.evaluated
    assert validation.runs == 1


def test_a_selection_takes_codes_as_the_command_does() -> None:
    data = json.dumps({**RECORD, "status": 1}).encode()

    def codes(**members: Any) -> list[str]:
        return [f.code for f in safepoint.validate(data, selection=safepoint.Selection(**members))]

    assert codes(select=["SP2"]) == codes(select="wrong-type, SP2") == ["SP201"]
    assert codes(select=["SP3"]) == codes(ignore=["SP2"]) == ["SP001"]  # zero records are no pass
    with pytest.raises(ValueError, match="'SP999' is no code"):
        safepoint.Selection(select=["SP999"])


def test_payload_schemas_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"type": "array"}')
    schemas = safepoint.PayloadSchemas.load({"agent/state@1": str(tmp_path / "state.json")})
    with_payload = {**CHECKPOINT, "payloadSchema": "agent/state@1", "stateSnapshot": {}}
    data = json.dumps(with_payload).encode()
    assert [f.code for f in safepoint.validate(data, payload_schemas=schemas)] == ["SP231"]


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"selection": "SP3"}, r'selection: got a str, expected .*safepoint\.Selection\(select=\["SP3"\]\)'),
        ({"selection": ["SP3"]}, "selection: got a list"),
        ({"payload_schemas": "state.json"}, r"payload_schemas: got a str, expected .*PayloadSchemas\.load\("),
        ({"payload_schemas": {"a@1": "state.json"}}, "payload_schemas: got a dict"),
    ],
)
def test_what_is_no_selection_and_no_schemas_is_refused_at_once(members: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        safepoint.validate(STORE, **members)


def test_zero_records_are_a_finding() -> None:
    assert [f.code for f in safepoint.validate()] == ["SP001"]


def test_findings_of_a_run_come_in_the_order_of_its_files(tmp_path: Path) -> None:
    lines = [json.dumps({**RECORD, "status": 1}), "{", json.dumps({**RECORD, "runId": 2, "actionId": 3})]
    (tmp_path / "ledger.jsonl").write_text("\n".join(lines) + "\n")
    places = [(f.line, f.column, f.code) for f in safepoint.validate(tmp_path / "ledger.jsonl")]
    assert len(places) >= 4
    assert [place[0] for place in places if place[0] > 1] == sorted(p[0] for p in places if p[0] > 1)


def test_migrate_takes_bytes_or_a_value() -> None:
    up = safepoint.migrate(RECORD)
    assert isinstance(up, safepoint.Migrated)
    assert up.data is not None
    assert json.loads(up.data)["schemaVersion"] == "v3"
    down = safepoint.migrate(up.data, to="v2")
    assert down.data is not None
    assert json.loads(down.data) == RECORD


def test_migrate_refuses_with_faults_and_raises_only_for_a_version_that_is_none() -> None:
    refused = safepoint.migrate(b"{")
    assert refused.data is None
    assert [fault.code for fault in refused.faults] == ["SP103"]
    with pytest.raises(ValueError, match="expected a format version"):
        safepoint.migrate(RECORD, to="3")


def test_migrate_takes_no_text() -> None:
    with pytest.raises(TypeError, match="got a str, expected the stored bytes"):
        safepoint.migrate("{}")  # type: ignore[arg-type]  # wrong on purpose


def test_a_folder_of_stores_is_no_store(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(STORE, tmp_path / name)
        (tmp_path / name / "safepoint.json").write_text("{}")
    with pytest.raises(SeveralStoresError, match="it holds at least 2") as several:
        safepoint.guard(tmp_path, "run-1")
    assert several.value.stores == (f"{tmp_path}/one", f"{tmp_path}/two")
    with pytest.raises(SeveralStoresError):
        scan_store(safepoint.open_store(str(tmp_path)))


def test_guard_decides_at_the_moment_that_it_is_given() -> None:
    first = safepoint.guard(STORE, "run-1", now="2026-05-07T10:10:00Z")
    again = safepoint.guard(safepoint.open_store(str(STORE)), "run-1", now=first.evaluated_at)
    assert isinstance(first, safepoint.Decision)
    assert first == again
    assert first.verdict == "no_op"


def test_guard_uses_this_clock_when_it_is_given_none() -> None:
    assert safepoint.guard(STORE, "run-1").evaluated_at > 1_700_000_000_000_000_000


def test_guard_takes_documents_as_values() -> None:
    request = {"recordType": "request", "schemaVersion": "v3", "goal": "inspect"}
    decision = safepoint.guard(STORE, "run-1", request=request, policy={"leaseSeconds": 90})
    assert (decision.goal, decision.verdict) == ("inspect", "no_op")


@pytest.mark.parametrize(
    ("document", "value", "code"),
    [
        ("policy", {"leaseSecond": 90}, "SP203"),
        ("policy", {"leaseSeconds": "90"}, "SP201"),
        ("request", {"recordType": "request", "schemaVersion": "v3", "goal": "go"}, "SP209"),
        ("facts", {"recordType": "facts", "schemaVersion": "v3", "runId": "run-1"}, "SP202"),
        ("facts", {"runId": "run-1"}, "SP003"),
    ],
)
def test_guard_refuses_documents_that_are_not_sound(
    document: str, value: dict[str, object], code: str
) -> None:
    with pytest.raises(safepoint.InputRefusedError, match=code) as refused:
        safepoint.guard(STORE, "run-1", **{document: value})  # type: ignore[arg-type]  # wrong on purpose
    assert [finding.code for finding in refused.value.findings] == [code]
    assert refused.value.findings[0].url == document


def test_an_unknown_run_names_its_neighbours() -> None:
    with pytest.raises(safepoint.UnknownRunError, match="did you mean 'run-1'") as unknown:
        safepoint.guard(STORE, "run-2")
    assert unknown.value.near == ("run-1",)


def test_a_store_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises((safepoint.StoreError, safepoint.UnknownRunError)):
        safepoint.guard(tmp_path / "absent", "run-1")


@pytest.mark.parametrize("run_id", ["", "a\udcff"])
def test_what_can_be_no_run_id_is_an_unknown_run(run_id: str) -> None:
    with pytest.raises(safepoint.UnknownRunError):
        safepoint.guard(STORE, run_id)


@pytest.mark.parametrize(
    "text",
    [
        "leaseSeconds = 2026-05-07",
        "x-a = nan",
        "x-a = 9007199254740993",
        "x-a = " + "9" * 5000,
        "x-a = " + "[" * 5000 + "]" * 5000,
        "x-a = " + "[" * 110 + "]" * 110,
        "leaseSeconds",
    ],
    ids=["date", "nan", "large", "huge", "deepest", "deep", "malformed"],
)
def test_a_toml_policy_that_json_could_not_say_is_refused(tmp_path: Path, text: str) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(text)
    with pytest.raises(safepoint.InputRefusedError, match=r"policy\.toml"):
        safepoint.guard(STORE, "run-1", policy=policy)


def test_a_toml_policy_is_judged_by(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("leaseSeconds = 90")
    moment = "2026-05-07T10:10:00Z"
    decision = safepoint.guard(STORE, "run-1", policy=policy, now=moment)
    assert decision == safepoint.guard(STORE, "run-1", policy={"leaseSeconds": 90}, now=moment)


def test_findings_of_loose_files_are_sorted_by_file(tmp_path: Path) -> None:
    ledger = '{"actionId": "a", "runId": "%s", "stepName": 7, "status": "planned", "idempotencyKey": null}'
    for name, run_id in (("a", "z"), ("c", "b")):
        (tmp_path / f"{name}.json").write_text(ledger % run_id)
    (tmp_path / "b.json").write_text('{"recordType": "policy"}')
    names = [finding.key for finding in safepoint.validate(tmp_path)]
    assert names == sorted(names)
    assert len(set(names)) == 3
