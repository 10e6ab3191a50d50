"""From bytes in a store to runs: grouping, names, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from journals import Journal, at, digest

from safepoint.core.digest import digest_bytes, encode_record
from safepoint.migrate.steps import v2_to_v3
from safepoint.model.journal import Level
from safepoint.reader import Scan, gather_artifacts, load_run, scan, scan_bytes, scan_files
from safepoint.reader.texts import leads_outside
from safepoint.store import AbsentError, open_store
from safepoint.store.inputs import Input, expand


def scans(*paths: Path) -> list[Scan]:
    inputs = [found for found in expand([str(path) for path in paths]) if isinstance(found, Input)]
    stores = [found for source in inputs if source.keys is None for found in scan(source)]
    return stores + list(scan_files(source for source in inputs if source.keys is not None))


def codes(found: Scan) -> list[str]:
    return [fault.code for fault in found.faults]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name in ("run-1", "run-2"):
        Journal(name).begin().checkpoint(2).ledger(3, "attempting").recover(
            4, "detected", trigger="crash"
        ).write(tmp_path)
    return tmp_path


def test_every_run_of_a_store_is_read_by_itself(store: Path) -> None:
    found = scans(store)
    assert [(s.run_id, s.records, codes(s)) for s in found] == [("run-1", 5, []), ("run-2", 5, [])]
    run = found[0].run
    assert run is not None
    assert (run.level, run.claimable, run.head.sequence, len(run.recovery)) == (Level.FENCED, True, 4, 1)


def test_one_run_can_be_read_alone(store: Path) -> None:
    found = load_run(open_store(str(store)), "run-2")
    assert found.run_id == "run-2"
    assert found.run is not None
    assert found.run.actions["send"].status == "attempting"


def test_a_run_that_is_not_there_is_an_error(store: Path) -> None:
    with pytest.raises(AbsentError, match="no such run"):
        load_run(open_store(str(store)), "run-3")


def test_a_run_among_loose_files_is_found_by_what_its_records_say(tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2)
    (tmp_path / "anything.jsonl").write_bytes(b"\n".join(map(encode_record, journal.values)))
    found = load_run(open_store(str(tmp_path)), "run-1")
    assert found.run is not None
    assert (found.run.level, found.run.claimable) == (Level.FENCED, False)


def test_lines_and_objects_of_one_run_are_one_journal(store: Path) -> None:
    values = Journal("run-1").begin().checkpoint(2).values
    (store / "runs/run-1/journal.jsonl").write_bytes(b"".join(encode_record(v) + b"\n" for v in values))
    found = load_run(open_store(str(store)), "run-1")
    assert found.run is not None
    assert (found.run.faults, len(found.run.records)) == ((), 4)


def test_named_files_of_one_run_belong_together(tmp_path: Path) -> None:
    values = Journal().begin().checkpoint(2).values
    for number, value in enumerate(values):
        (tmp_path / f"{number}.json").write_bytes(encode_record(value))
    [found] = scans(*(tmp_path / f"{number}.json" for number in range(3)))
    assert (found.records, found.run_id) == (3, "run-1")
    assert found.run is not None
    assert found.run.faults == ()


def test_a_broken_loose_file_may_hide_a_record_of_any_run(tmp_path: Path) -> None:
    for name in ("run-1", "run-2"):
        lines = b"\n".join(map(encode_record, Journal(name).begin().values))
        (tmp_path / f"{name}.jsonl").write_bytes(lines)
    (tmp_path / "torn.jsonl").write_bytes(b'{"recordType":"ledger","act')
    found = {s.run_id: s for s in scans(tmp_path)}
    for name in ("run-1", "run-2"):
        run = found[name].run
        assert run is not None
        assert [unread.name for unread in run.unread] == ["torn.jsonl"]
    assert codes(found[None]) == ["SP113"]


def test_a_name_that_looks_like_a_journal_record_is_not_passed_over(store: Path) -> None:
    (store / "runs/run-1/journal/12.json").write_bytes(b"{}")
    (store / "runs/run-1/notes.txt").write_bytes(b"")
    found = load_run(open_store(str(store)), "run-1")
    assert codes(found) == ["SP005", "SP005"]
    assert found.run is not None
    assert [unread.name for unread in found.run.unread] == ["12.json"]


@pytest.mark.parametrize(
    ("change", "code"),
    [({"runId": "run-9"}, "SP007"), ({"sequence": 9}, "SP008"), ({"runId": "../../etc"}, "SP006")],
)
def test_a_record_in_the_wrong_place_is_not_a_record(
    store: Path, change: dict[str, object], code: str
) -> None:
    path = store / "runs/run-1/journal/0000000004.json"
    path.write_bytes(encode_record({**json.loads(path.read_bytes()), **change}))
    found = load_run(open_store(str(store)), "run-1")
    assert codes(found) == [code]
    assert found.run is not None
    assert len(found.run.unread) == 1


@pytest.mark.parametrize(
    ("description", "code"),
    [
        ({"layout": 1, "features": ["packs"]}, "SP217"),
        ({"layout": 2}, "SP209"),
        ({"schemaVersion": "v4", "layout": 1}, "SP216"),
    ],
)
def test_a_store_that_is_not_understood_is_not_judged(
    store: Path, description: dict[str, object], code: str
) -> None:
    value = {"recordType": "store", "schemaVersion": "v3", **description}
    (store / "safepoint.json").write_bytes(json.dumps(value).encode())
    run = load_run(open_store(str(store)), "run-1").run
    assert run is not None
    assert [fault.code for unread in run.unread for fault in unread.faults] == [code]


def test_what_a_lowered_record_demanded_is_still_demanded(tmp_path: Path) -> None:
    value = {
        "recordType": "ledger",
        "schemaVersion": "v3",
        "runId": "run-1",
        "createdAt": at(1),
        "actionId": "a",
    }
    value |= {"stepName": "s", "idempotencyKey": None, "status": "planned", "requires": {"read": ["saga"]}}
    (tmp_path / "ledger.jsonl").write_bytes(json.dumps(v2_to_v3.down("ledger", value).value).encode())
    [found] = scans(tmp_path / "ledger.jsonl")
    assert codes(found) == ["SP217"]


def test_a_file_for_checkpoints_that_holds_more_may_hide_more(tmp_path: Path) -> None:
    lines = [b'{"recordType":"checkpoint","checkpo']
    lines.append(
        json.dumps(
            {"actionId": "a", "runId": "run-1", "stepName": "s", "idempotencyKey": None, "status": "x"}
        ).encode()
    )
    folder = tmp_path / "runs/run-1"
    folder.mkdir(parents=True)
    (folder / "checkpoints.jsonl").write_bytes(b"\n".join(lines))
    run = load_run(open_store(str(tmp_path)), "run-1").run
    assert run is not None
    assert [unread.only_checkpoints for unread in run.unread] == [False]
    (folder / "checkpoints.jsonl").write_bytes(lines[0])
    run = load_run(open_store(str(tmp_path)), "run-1").run
    assert run is not None
    assert [unread.only_checkpoints for unread in run.unread] == [True]


def test_an_object_beside_lines_does_not_vouch_for_their_tail(store: Path) -> None:
    values = Journal("run-9").begin().checkpoint(2).ledger(3, "attempting").values
    folder = store / "runs/run-9/journal"
    folder.mkdir(parents=True)
    (folder / "0000000001.json").write_bytes(encode_record(values[0]))
    (folder.parent / "journal.jsonl").write_bytes(b"".join(encode_record(v) + b"\n" for v in values[:3]))
    run = load_run(open_store(str(store)), "run-9").run
    assert run is not None
    assert not run.claimable


def test_a_link_out_of_the_store_is_reported_and_not_followed(
    store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.json"
    secret.write_bytes(b'{"checkpointId":"x"}')
    (store / "runs/run-1/journal/0000000005.json").symlink_to(secret)
    found = load_run(open_store(str(store)), "run-1")
    assert codes(found) == ["SP006"]
    assert secret.read_bytes() not in found.texts.values()


def test_standard_input_is_one_text_or_lines() -> None:
    values = Journal().begin().values
    [lines] = scan_bytes(b"".join(encode_record(v) + b"\n" for v in values), "-")
    assert lines.records == 2
    [pretty] = scan_bytes(json.dumps(values[0], indent=2).encode(), "-")
    assert (pretty.records, codes(pretty)) == (1, [])
    [nothing] = scan_bytes(b"", "-")
    assert codes(nothing) == ["SP111"]


def test_standard_input_with_a_damaged_first_line_is_still_lines() -> None:
    lines = [encode_record(value) for value in Journal().begin().values]
    found = list(scan_bytes(lines[0][:40] + b"\n" + lines[1], "-"))
    assert sum(scan.records for scan in found) == 1
    assert {code for scan in found for code in codes(scan)} == {"SP114"}


def test_a_lowered_copy_of_a_journal_is_read_and_never_judged(tmp_path: Path) -> None:
    journal = Journal().begin().checkpoint(2).ledger(3, "planned")
    folder = tmp_path / "runs/run-1"
    folder.mkdir(parents=True)
    lowered = [v2_to_v3.down(value["recordType"], value).value for value in journal.values[2:]]
    (folder / "checkpoints.jsonl").write_bytes(json.dumps(lowered[0]).encode() + b"\n")
    (folder / "ledger.jsonl").write_bytes(json.dumps(lowered[1]).encode() + b"\n")
    found = load_run(open_store(str(tmp_path)), "run-1")
    assert (found.records, codes(found)) == (2, ["SP314", "SP314"])
    assert found.run is not None
    assert len(found.run.unread) == 2


def test_foreign_json_is_left_out_of_a_folder_and_refused_by_name(store: Path) -> None:
    (store / "package.json").write_bytes(b'{"name":"x"}')
    assert [codes(s) for s in scans(store) if s.run_id is None] == [["SP004"]]
    assert [codes(s) for s in scans(store / "package.json")] == [["SP003"]]


def test_a_damaged_record_in_a_folder_is_not_taken_for_somebody_elses_file(store: Path) -> None:
    (store / "b.json").write_bytes(b'{"chekpointId":"cp-1","runId":"run-1","schemaVersion":"v2"}')
    found = [s for s in scans(store) if "SP003" in codes(s)]
    assert ["checkpointId" in fault.message for s in found for fault in s.faults] == [True]


def test_documents_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_bytes(b'{"recordType":"policy","schemaVersion":"v3"}')
    [found] = scans(tmp_path)
    assert (found.run, found.documents, found.records) == (None, 1, 0)


def test_artifacts_inside_the_store_are_looked_at_and_others_are_not(tmp_path: Path) -> None:
    plan = b"# plan\n"
    references = [
        {
            "artifactId": "whole",
            "uri": None,
            "digest": digest_bytes(plan),
            "size": len(plan),
            "mediaType": None,
        },
        {
            "artifactId": "named",
            "uri": "artifacts/plan.md",
            "digest": digest_bytes(plan),
            "size": None,
            "mediaType": None,
        },
        {"artifactId": "gone", "uri": None, "digest": digest("a"), "size": 1, "mediaType": None},
        {
            "artifactId": "changed",
            "uri": "artifacts/plan.md",
            "digest": digest("b"),
            "size": None,
            "mediaType": None,
        },
        {
            "artifactId": "elsewhere",
            "uri": "s3://bucket/x",
            "digest": digest("c"),
            "size": None,
            "mediaType": None,
        },
        {"artifactId": "bare", "uri": None, "digest": None, "size": None, "mediaType": None},
    ]
    Journal().begin().checkpoint(2, artifactRefs=references).write(tmp_path)
    for name in (f"artifacts/sha256/{digest_bytes(plan)[7:]}", "artifacts/plan.md"):
        path = tmp_path / "runs/run-1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(plan)
    store = open_store(str(tmp_path))
    run = load_run(store, "run-1").run
    assert run is not None
    assert gather_artifacts(store, run) == {
        "whole": "present",
        "named": "present",
        "gone": "missing",
        "changed": "damaged",
        "elsewhere": "unknown",
        "bare": "unknown",
    }


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/hostname",
        "FILE:x",
        "/etc/hostname",
        "../x",
        "a/../../x",
        "..\\x",
        "C:\\x",
        "~/x",
        "\\\\host\\x",
    ],
)
def test_a_uri_that_leads_out_of_the_store_is_known_as_such(uri: str) -> None:
    assert leads_outside(uri)


@pytest.mark.parametrize("uri", ["artifacts/x", "s3://bucket/../x", "https://example.org/x", "a..b/c", "..."])
def test_other_uris_are_not(uri: str) -> None:
    assert not leads_outside(uri)


def test_one_indented_text_under_the_name_of_lines_is_one_fault(tmp_path: Path) -> None:
    value = Journal().begin().values[0]
    (tmp_path / "pretty.jsonl").write_text(json.dumps(value, indent=2))
    (tmp_path / "torn.jsonl").write_text(json.dumps(value, indent=2)[:-2])
    store = open_store(str(tmp_path))
    [pretty] = scan_files([Input(store, ("pretty.jsonl",), named=True)])
    assert [(fault.code, fault.offset) for fault in pretty.faults] == [("SP103", 0)]
    assert ".json" in pretty.faults[0].message
    [torn] = scan_files([Input(store, ("torn.jsonl",), named=True)])
    assert len(torn.faults) > 1
