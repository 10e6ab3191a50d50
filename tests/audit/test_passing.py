"""A pass over many runs: what is folded, what is kept, and where the evidence lies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checklists import NAIVE, POLICY, ROOT, begun, recovered, sent
from journals import Journal

import safepoint
from safepoint.audit import Audit
from safepoint.audit.document import answers, document
from safepoint.audit.passing import KEPT
from safepoint.reader.stores import UnknownRunError


def run(name: str, journal: Journal, store: Path) -> None:
    """The same run under another id."""
    again = Journal(name)
    for log, values in ((again.values, journal.values), (again.recovery, journal.recovery)):
        for value in values:
            own = {"recordType", "schemaVersion", "runId", "createdAt", "sequence", "previousDigest", "nonce"}
            members = {n: v for n, v in value.items() if n not in own}
            made = again._chained(log, value["recordType"], 0, members.pop("leaseEpoch") or 0, members)
            made.update(createdAt=value["createdAt"], nonce=value["nonce"])
            made["leaseEpoch"] = value["leaseEpoch"]
            log.append(made)
    again.write(store)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two runs that pass, one that was tried before any checkpoint."""
    run("run-a", sent(), tmp_path)
    run("run-b", recovered(), tmp_path)
    run("run-c", Journal().begin().ledger(3, "attempting").ledger(4, "committed"), tmp_path)
    return tmp_path


def test_a_point_that_fails_in_one_run_fails_as_a_whole_with_counts(store: Path) -> None:
    audit = safepoint.audit(str(store), policy=POLICY)
    assert [(one.run_id, one.result) for one in audit] == [
        ("run-a", "passed"),
        ("run-b", "passed"),
        ("run-c", "failed"),
    ]
    first, *others = audit.verdicts
    assert first.result == audit.result == "failed"
    assert dict(first.runs) == {"passed": 2, "failed": 1}
    assert [run_id for run_id, _ in first.evidence] == ["run-c"]
    assert {verdict.result for verdict in others} == {"passed"}


def test_one_run_can_be_looked_at_alone(store: Path) -> None:
    audit = safepoint.audit(str(store), run="run-b", policy=POLICY)
    list(audit)
    assert (audit.runs, audit.result) == (1, "passed")
    with pytest.raises(UnknownRunError, match="did you mean"):
        safepoint.audit(str(store), run="run-bb")


def test_evidence_points_to_the_line_and_a_doubt_is_a_warning(store: Path) -> None:
    audit = safepoint.audit(str(store), run="run-c")
    (one,) = audit
    finding = one.findings[0][0]
    assert (finding.code, finding.severity, finding.pointer) == ("SP801", "error", "/status")
    assert finding.key == "runs/run-c/journal/0000000003.json"
    assert [f.severity for f in one.findings[7]] == ["warning"]
    assert [f.url for f in one.findings[7]] == [""], "no record can say what a policy should"


def test_a_policy_that_fails_is_accused_where_it_says_so(store: Path, tmp_path: Path) -> None:
    toml = tmp_path / "policy.toml"
    toml.write_text('attemptsInLife = 3\nonBudgetReached = "give_up"\n')
    plain = tmp_path / "policy.json"
    plain.write_text(json.dumps({**POLICY, "onBudgetReached": "give_up"}, indent=1))
    for path, line in ((toml, 2), (plain, 7)):
        (one,) = safepoint.audit(str(store), run="run-a", policy=path)
        (finding,) = one.findings[9]
        assert (finding.url, finding.line, finding.pointer) == (str(path), line, "/onBudgetReached")


def test_only_the_first_places_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        run(f"run-{number}", begun().claim(100), tmp_path)
    audit = safepoint.audit(str(tmp_path))
    list(audit)
    guarded = audit.verdicts[3]
    assert (len(guarded.evidence), guarded.evidence_count) == (KEPT, KEPT + 3)
    assert len(guarded.remedies) == 1


def test_places_of_doubt_are_no_evidence_once_a_run_fails(tmp_path: Path) -> None:
    (tmp_path / "checkpoints.jsonl").write_bytes(NAIVE["checkpoints.jsonl"].replace(b"run-1", b"run-x"))
    run("run-c", Journal().begin().ledger(3, "attempting").ledger(4, "committed"), tmp_path)
    for order in (1, -1):
        audit = safepoint.audit(str(tmp_path))
        again = Audit(list(safepoint.api.scan_store(safepoint.open_store(str(tmp_path))))[::order])
        list(audit)
        list(again)
        for one in (audit, again):
            assert one.verdicts[0].result == "failed"
            assert {run_id for run_id, _ in one.verdicts[0].evidence} == {"run-c"}


def test_a_deleted_run_is_counted_and_not_asked(store: Path) -> None:
    folder = store / "runs/run-c"
    for path in folder.glob("*/*"):
        path.unlink()
    marker = (ROOT.parent / "good/v3-deleted/input.json").read_text()
    (folder / "deleted.json").write_text(marker.replace('"run-1"', '"run-c"'))
    audit = safepoint.audit(str(store), policy=POLICY)
    list(audit)
    assert (audit.runs, audit.deleted, audit.result) == (2, 1, "passed")


def test_a_run_of_which_nothing_can_be_read_leaves_all_ten_open(tmp_path: Path) -> None:
    path = tmp_path / "runs/run-1/journal/0000000001.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"recordType": "ru')
    (one,) = safepoint.audit(str(tmp_path), policy=POLICY)
    assert {answer.result for answer in one.answers} == {"cannot tell"}


def test_commands_among_the_remedies_can_be_copied(store: Path) -> None:
    audit = safepoint.audit(str(store))
    one = next(audit)
    words = ["--storage-option", "anon=true"]
    (limits,) = (a for a in answers(one, "my store", words) if a["code"] == "SP808")
    assert limits["remedies"] == [
        "name the policy that the guard is given: safepoint audit 'my store' --storage-option anon=true --policy FILE"
    ]
    list(audit)
    whole = document(audit, "my store", None)
    assert json.loads(json.dumps(whole)) == whole


def test_values_of_payloads_are_in_no_answer(tmp_path: Path) -> None:
    secret = {"inputSnapshot": {"token": "s3cret"}, "stateSnapshot": "s3cret"}
    run("run-a", begun().checkpoint(3, "cp-2", replaySafeActions=["send"], **secret).claim(9), tmp_path)
    audit = safepoint.audit(str(tmp_path))
    for one in audit:
        assert "s3cret" not in repr(one)
