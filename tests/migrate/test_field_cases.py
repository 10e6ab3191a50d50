"""Failures of other tools that people reported in public, each as its whole kind: what no change of version may do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from journals import Journal
from questions import judge, started

from safepoint.cli.main import safepoint
from safepoint.core.version import V1, V2, V3, Version
from safepoint.migrate import migrate_lines, migrate_record

FIXTURES = Path(__file__).parents[2] / "fixtures"
VOUCHED = FIXTURES / "guard" / "v2-vouched-for"
V2_TEXT = (FIXTURES / "good" / "v2-checkpoint-article" / "input.json").read_bytes()
V2_RECORD: dict[str, Any] = json.loads(V2_TEXT)
V3_RECORD: dict[str, Any] = json.loads((FIXTURES / "good" / "v3-checkpoint" / "input.json").read_bytes())

# Odd spellings and orders, so that whoever writes a record anew is found out by its bytes.
NEWER_MINOR = (
    b'{ "shiny" : {"b":1.0, "a":[true,  null]},"x-own":"\\u00e9", '
    + json.dumps(V3_RECORD | {"schemaVersion": "v3.9", "runId": "run_123"}).encode()[1:]
)
NEWER_MAJOR = b'{"brave":"new","schemaVersion": "v4",  ' + json.dumps(V2_RECORD).encode()[1:].replace(
    b'"schemaVersion": "v2", ', b""
)

Tree = dict[str, bytes]


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(safepoint, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def content(folder: Path) -> Tree:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def written(folder: Path, tree: Tree) -> Path:
    for name, data in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def line(data: bytes) -> bytes:
    return data.replace(b"\n", b" ").strip() + b"\n"


OLD_STORE = {
    "safepoint.json": b'{"recordType":"store","schemaVersion":"v3","layout":1,"features":[]}',
    "runs/run_123/checkpoints.jsonl": line(V2_TEXT),
    "runs/run_123/notes.txt": b"not a record",
}


# 22: every upgrade of the library voided all checkpoints


@pytest.mark.parametrize(
    "journal",
    [
        lambda: started(**{"x-writer": "0.0.1"}),
        lambda: started(**{"x-writer": "99.0", "x-library": {"name": "another", "version": "1"}}),
        lambda: Journal().begin(**{"x-writer": "0.0.1"}).checkpoint(2, **{"x-writer": "0.0.2"}),
        lambda: started(schemaVersion="v3.0"),
    ],
)
def test_case_22_another_version_of_the_writer_is_no_reason_against_a_resume(
    journal: Callable[[], Journal],
) -> None:
    mine, other = judge(started()), judge(journal())
    assert (mine.verdict, other.verdict) == ("resume", "resume")
    assert [reason.code for reason in other.reasons] == [reason.code for reason in mine.reasons]


def test_case_22_neither_is_another_version_of_the_migrator(tmp_path: Path) -> None:
    answers = []
    for tool in (b"safepoint 0.0.1", b"safepoint 99.0", b"somebody else"):
        store = tmp_path / tool.decode().replace(" ", "-")
        for name, data in content(VOUCHED / "store").items():
            raised = migrate_lines(data, V3)
            assert raised.data is not None
            assert raised.changed
            text = b"".join(retold(each, tool) for each in raised.data.splitlines())
            written(store, {name: text})
        options = ("--facts", VOUCHED / "facts.json", "--now", "2026-05-07T10:03:20Z", "--format", "json")
        result = run("guard", store, "--run", "run-1", *options)
        decision = json.loads(result.stdout)
        codes = [reason["code"] for reason in decision["reasons"]]
        answers.append((result.exit_code, decision["verdict"], codes))
    assert answers == [answers[0]] * 3
    assert answers[0][:2] == (0, "resume")


def retold(text: bytes, tool: bytes) -> bytes:
    value = json.loads(text)
    value["migratedFrom"]["tool"] = tool.decode()
    return json.dumps(value).encode() + b"\n"


# 23: a newer file was loaded, its unknown members dropped, its version lowered


@pytest.mark.parametrize("to", ["v1", "v2", "v3"])
@pytest.mark.parametrize("version", [b"v4", b"v4.1", b"v10", b"v999999"])
def test_case_23_a_newer_major_is_refused_and_its_bytes_stay(tmp_path: Path, version: bytes, to: str) -> None:
    data = NEWER_MAJOR.replace(b"v4", version)
    path = written(tmp_path, {"record.json": data}) / "record.json"
    for arguments in (("migrate", path, "--to", to), ("migrate", path, "--to", to, "--allow-loss")):
        result = run(*arguments)
        assert result.exit_code == 1
        assert result.stdout_bytes == b""
        assert "SP216" in result.stderr
    result = run("migrate", path, "--to", to, "--output", tmp_path / "new.json")
    assert (result.exit_code, (tmp_path / "new.json").exists()) == (1, False)
    assert run("validate", path).exit_code == 1
    assert content(tmp_path) == {"record.json": data}
    assert migrate_lines(line(V2_TEXT) + line(data), V3).data is None


def test_case_23_one_newer_record_stops_a_whole_store(tmp_path: Path) -> None:
    store = written(tmp_path / "store", OLD_STORE | {"runs/run_123/new.json": NEWER_MAJOR})
    before = content(store)
    result = run("migrate", store, "--to", "v3", "--output", tmp_path / "target")
    assert result.exit_code == 1
    assert "SP216" in result.stdout + result.stderr
    assert content(store) == before
    assert content(tmp_path) == {f"store/{name}": data for name, data in before.items()}


# 24: a newer minor of the same major lost the members that the reader did not know


def test_case_24_a_newer_minor_keeps_every_byte_wherever_it_passes(tmp_path: Path) -> None:
    tree = OLD_STORE | {
        "runs/run_123/newer.json": NEWER_MINOR,
        "runs/run_123/mixed.jsonl": line(NEWER_MINOR) + line(V2_TEXT),
    }
    store = written(tmp_path / "store", tree)
    before = content(store)
    path = store / "runs/run_123/newer.json"

    validated = run("validate", path)
    assert validated.exit_code == 0
    assert "SP205" in validated.stdout
    assert run("validate", store).exit_code == 0
    assert run("migrate", path, "--to", "v3").stdout_bytes.removesuffix(b"\n") == NEWER_MINOR
    assert run("migrate", path, "--to", "v3", "--output", tmp_path / "copy.json").exit_code == 0
    assert (tmp_path / "copy.json").read_bytes() == NEWER_MINOR
    assert run("migrate", path, "--to", "v3", "--check").exit_code == 0
    assert migrate_lines(tree["runs/run_123/mixed.jsonl"], V3).data is not None

    assert run("migrate", store, "--to", "v3", "--output", tmp_path / "target").exit_code == 0
    target = content(tmp_path / "target")
    assert target["runs/run_123/newer.json"] == NEWER_MINOR
    first, second = target["runs/run_123/mixed.jsonl"].splitlines(keepends=True)
    assert first == line(NEWER_MINOR)
    assert json.loads(second)["schemaVersion"] == "v3"
    assert content(store) == before


@pytest.mark.parametrize("to", [V1, V2])
def test_case_24_a_newer_minor_is_never_lowered(to: Version) -> None:
    for allow_loss in (False, True):
        migrated = migrate_record(NEWER_MINOR, to, allow_loss=allow_loss)
        assert migrated.data is None
        assert "SP602" in {fault.code for fault in migrated.faults}


# 25: a counter that the old version did not have became zero, or no number at all

COUNTERS = (
    *("stepAttempt", "usage", "costMicros", "tokensIn", "tokensOut", "toolCalls", "loopTurns", "spent"),
    *("lastLedgerSequence", "leaseEpoch", "sequence", "attempt"),
)


def test_case_25_counters_that_nobody_kept_are_unknown_and_never_zero() -> None:
    naive = {name: V2_RECORD[name] for name in ("checkpointId", "runId", "state", "stepName", "createdAt")}
    action = {"actionId": "a", "runId": "r", "stepName": "s", "status": "attempting"}
    for old in (naive | {"schemaVersion": "v1"}, action | {"schemaVersion": "v1"}, V2_RECORD):
        migrated = migrate_record(json.dumps(old).encode(), V3)
        assert migrated.data is not None
        result = json.loads(migrated.data)
        assert {result.get(name) for name in COUNTERS} == {None}
        assert not numbers_in(result)


def numbers_in(value: Any) -> list[Any]:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, int | float) and not isinstance(value, bool) else []
    return own + [number for part in parts for number in numbers_in(part)]


# 26: validate repaired, and the repair destroyed


def test_case_26_validate_writes_nothing_whatever_is_wrong(tmp_path: Path) -> None:
    for group in ("bad", "hostile", "warn"):
        for case in sorted((FIXTURES / group).iterdir()):
            shutil.copytree(case, tmp_path / group / case.name, symlinks=True)
    before, times = content(tmp_path), stamps(tmp_path)
    assert run("validate", tmp_path).exit_code == 1
    for path in sorted(tmp_path.rglob("store")):
        run("validate", path, "--format", "json")
    assert content(tmp_path) == before
    assert stamps(tmp_path) == times


def stamps(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


# 27: a migration overwrote a target that it could not read, and deleted the last copy


@pytest.mark.parametrize(
    "found",
    [
        {"runs/run_123/checkpoints.jsonl": b'{"checkpointId":"cp_03","runId":"run_1'},
        {"runs/run_123/checkpoints.jsonl": b""},
        {"runs/run_123/checkpoints.jsonl": b"\xff\xfe\x00"},
        {"runs/run_123/checkpoints.jsonl": line(V2_TEXT)},
        {"safepoint.json": b"{"},
        {"runs/run_123/deleted.json": b"{}"},
        {"somebody-elses.txt": b"keep me"},
        {"runs/migration-1/journal/0000000001.json": b'{"torn'},
    ],
)
def test_case_27_a_target_with_anything_else_in_it_stops_the_migration(tmp_path: Path, found: Tree) -> None:
    store = written(tmp_path / "store", OLD_STORE)
    target = written(tmp_path / "target", found)
    before = content(store), content(target)
    for _ in range(2):
        result = run("migrate", store, "--to", "v3", "--output", target)
        assert result.exit_code in {1, 3}, result.output
        assert (content(store), content(target)) == before


def test_case_27_a_target_that_is_no_folder_stops_it_too(tmp_path: Path) -> None:
    store = written(tmp_path / "store", OLD_STORE)
    (tmp_path / "target").write_bytes(b"precious")
    before = content(tmp_path)
    result = run("migrate", store, "--to", "v3", "--output", tmp_path / "target")
    assert result.exit_code in {1, 2, 3}, result.output
    assert content(tmp_path) == before


def test_case_27_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    source = written(tmp_path, {"old.json": V2_TEXT, "new.json": b"\xff not JSON"}) / "old.json"
    result = run("migrate", source, "--to", "v3", "--output", tmp_path / "new.json")
    assert result.exit_code in {1, 3}
    assert content(tmp_path) == {"old.json": V2_TEXT, "new.json": b"\xff not JSON"}


# 28: declared as one version, with members of a later one


@pytest.mark.parametrize(
    ("member", "value", "declared", "came_with"),
    [
        ("leaseEpoch", 3, "v2", "v3"),
        ("guardHash", "sha256:" + "0" * 64, "v2.9", "v3"),
        ("resumePreconditions", [], "v2", "v3"),
        ("artifactRefs", [], "v1", "v2"),
        ("sideEffectStatus", {"writePerformed": False, "externalMessageSent": False}, "v1", "v2"),
        ("stateSnapshot", {"a": 1}, "v1", "v3"),
    ],
)
def test_case_28_the_report_says_which_member_belongs_to_which_version(
    tmp_path: Path, member: str, value: Any, declared: str, came_with: str
) -> None:
    plain = {name: V2_RECORD[name] for name in ("checkpointId", "runId", "state", "stepName", "createdAt")}
    record = (V2_RECORD if declared.startswith("v2") else plain) | {"schemaVersion": declared, member: value}
    path = written(tmp_path, {"record.json": json.dumps(record).encode()}) / "record.json"
    result = run("validate", path, "--format", "json")
    assert result.exit_code == 1
    (finding,) = [each for each in json.loads(result.stdout)["findings"] if each["code"] == "SP219"]
    assert finding["pointer"] == f"/{member}"
    assert member in finding["message"]
    assert came_with in finding["message"]
    for to in (V1, V2, V3):
        migrated = migrate_record(path.read_bytes(), to)
        assert migrated.data is None
        assert {"SP219", "SP606"} <= {fault.code for fault in migrated.faults}
