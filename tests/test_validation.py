"""One pass over everything that was named: the same findings and counts, however many processes share it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from journals import Journal

import safepoint
from safepoint.core.digest import encode_record
from safepoint.payloads import PayloadSchemas


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """40 runs, some of them damaged, with loose files beside them and between them."""
    root = tmp_path / "store"
    for number in range(40):
        journal = Journal(f"run-{number:02}").begin()
        journal.checkpoint(2, "cp-1", payloadSchema="agent/state@1", stateSnapshot={"count": number})
        journal.ledger(3, "attempting").ledger(4, "committed")
        journal.checkpoint(5, "cp-2", reason="afterEffect")
        journal.write(root)
        if number % 7 == 3:
            (root / f"runs/run-{number:02}/journal/0000000004.json").unlink()
    (root / "runs/beside.json").write_bytes(encode_record(Journal("loose").begin().values[0]))
    (root / "notes").mkdir()
    (root / "notes/foreign.json").write_text('{"a": 1}')
    return root


@pytest.mark.parametrize("with_payloads", [False, True])
def test_several_processes_find_the_same_as_one(store: Path, tmp_path: Path, *, with_payloads: bool) -> None:
    payloads = None
    if with_payloads:
        schema = {"type": "object", "properties": {"count": {"type": "integer", "maximum": 30}}}
        (tmp_path / "state.json").write_text(json.dumps(schema))
        payloads = PayloadSchemas.load({"agent/state@1": str(tmp_path / "state.json")})
    alone = safepoint.validate(store, payload_schemas=payloads)
    shared = safepoint.validate(store, payload_schemas=payloads, jobs=2)
    assert sorted(map(str, alone)) == sorted(map(str, shared))
    assert alone.summary() == shared.summary()
    assert alone.summary()["runs"] == 41
    assert alone.codes["SP301"] == 6
    assert alone.codes["SP231"] == (9 if with_payloads else 0)


def test_a_folder_that_may_not_be_read_hides_none_of_the_others(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safepoint.store import DeniedError
    from safepoint.store.listing import Tree

    scan = Tree.scan

    def closed(self: Tree, folder: str, *rest: Any) -> object:
        if folder == "runs/run-05/journal/":
            raise DeniedError(f"store/{folder}", "Permission denied", folder)
        return scan(self, folder, *rest)

    monkeypatch.setattr(Tree, "scan", closed)
    for jobs in (1, 2):
        validation = safepoint.validate(store, jobs=jobs)
        denied = [finding for finding in validation if finding.code == "SP002"]
        assert [finding.url.endswith("runs/run-05/journal/") for finding in denied] == [True]
        assert validation.runs == 40
        assert not validation.evaluated


def test_one_run_is_found_in_whichever_store_holds_it(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    Journal("elsewhere").begin().write(other)
    validation = safepoint.validate(store, other, run="elsewhere")
    assert list(validation) == []
    assert (validation.runs, validation.records) == (1, 2)
    missing = safepoint.validate(store, other, run="run-4")
    assert [finding.code for finding in missing] == ["SP001", "SP001"]
    assert not missing.evaluated


def test_a_stream_that_cannot_be_read_is_a_finding() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    validation = safepoint.validate(Broken())  # type: ignore[arg-type]
    assert [(finding.code, finding.message) for finding in validation] == [("SP002", "Input/output error")]
    assert not validation.evaluated


def test_what_was_checked_and_the_findings_are_the_same_pass(store: Path) -> None:
    validation = safepoint.validate(store)
    checked = list(validation.checked())
    assert sum(found.kind == "run" for found in checked) == 40
    assert [found.name for found in checked if found.kind == "file"] == [
        f"{store}/notes/foreign.json",
        f"{store}/runs/beside.json",
    ]
    assert [f for found in checked for f in found.findings] == list(safepoint.validate(store))
    assert list(validation) == []


def test_records_named_one_by_one_are_no_whole_run(store: Path) -> None:
    journal = store / "runs/run-00/journal"
    picked = safepoint.validate(journal / "0000000003.json", journal / "0000000005.json")
    assert list(picked) == []
    assert {skipped.code for skipped in picked.skipped} >= {"SP308", "SP401"}
    whole = safepoint.validate(f"{journal}/000000000[35].json")
    assert [finding.code for finding in whole] == ["SP301", "SP301"]


def test_equal_run_ids_of_two_stores_are_two_runs_also_for_a_pattern(tmp_path: Path) -> None:
    for name, ttl in (("a", 60), ("b", 90)):
        journal = Journal("run-1").begin(ttl=ttl)
        journal.checkpoint(2, f"cp-{name}")
        journal.write(tmp_path / name)
        lines = b"".join(encode_record(value) + b"\n" for value in journal.values)
        (tmp_path / f"packed/{name}/runs/run-1").mkdir(parents=True)
        (tmp_path / f"packed/{name}/runs/run-1/journal.jsonl").write_bytes(lines)
    for pattern in ("[ab]/**/*.json", "packed/**/*.jsonl"):
        validation = safepoint.validate(f"{tmp_path}/{pattern}")
        assert list(validation) == []
        assert validation.runs == 2


def test_what_is_not_selected_does_not_make_a_check_of_nothing_pass(tmp_path: Path) -> None:
    from safepoint.selection import Selection

    (tmp_path / "broken.json").write_text("{")
    for selection in (Selection(select=frozenset({"SP3"})), Selection(ignore=frozenset({"SP103"}))):
        validation = safepoint.validate(tmp_path / "broken.json", selection=selection)
        assert [finding.code for finding in validation] == ["SP001"]
        assert not validation.evaluated


def test_one_run_is_not_whole_where_texts_beside_it_cannot_be_read(tmp_path: Path) -> None:
    journal = Journal("run-1").begin()
    lines = [encode_record(value) for value in journal.values]
    (tmp_path / "torn.jsonl").write_bytes(b"\n".join([*lines, b'{"torn']))
    for source in (tmp_path, tmp_path / "torn.jsonl"):
        validation = safepoint.validate(source, run="run-1")
        assert [finding.code for finding in validation] == ["SP113"]
    journal.write(tmp_path / "store")
    (tmp_path / "store/safepoint.json").write_text(
        '{"recordType": "store", "schemaVersion": "v3", "layout": 9}'
    )
    assert [f.code for f in safepoint.validate(tmp_path / "store", run="run-1")] == ["SP209"]


def test_a_linked_folder_of_runs_is_read_once_by_any_number_of_processes(store: Path) -> None:
    (store / "runs").rename(store / "real")
    (store / "runs").symlink_to("real")
    counts = []
    for jobs in (1, 2):
        validation = safepoint.validate(store, jobs=jobs)
        list(validation)
        counts.append(validation.summary())
    assert counts[0] == counts[1]


def test_a_process_that_is_killed_is_no_pass(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    from safepoint.validation import sharing

    monkeypatch.setattr(sharing, "scan_folder", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    validation = safepoint.validate(store, jobs=2)
    assert "SP002" in [finding.code for finding in validation]
    assert not validation.evaluated


def test_artifacts_of_loose_records_are_not_looked_for_and_that_is_said(tmp_path: Path) -> None:
    journal = Journal().begin()
    plan = {"artifactId": "plan", "uri": "artifacts/plan", "digest": None, "size": 3, "mediaType": None}
    journal.checkpoint(2, artifactRefs=[plan])
    lines = tmp_path / "run.jsonl"
    lines.write_bytes(b"".join(encode_record(value) + b"\n" for value in journal.values))
    asked = safepoint.validate(lines, artifacts=True)
    assert list(asked) == []
    assert {skipped.code for skipped in asked.skipped} == {"SP515", "SP516", "SP517"}
    silent = safepoint.validate(lines)
    assert list(silent) == []
    assert not silent.skipped
