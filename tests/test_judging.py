"""Every run of a store judged in one pass: the same decisions as one by one, whatever lies in the store."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from journals import START, Journal, at, digest

import safepoint
from safepoint.core.digest import digest_stored, encode_record
from safepoint.core.timestamp import SECOND
from safepoint.judging import fleet
from safepoint.judging.fleet import Judged, Judging
from safepoint.reader.fleets import facts_of, with_fleet

FIXTURES = Path(__file__).parents[1] / "fixtures" / "guard"
CASES = sorted(path for path in FIXTURES.iterdir() if (path / "expect.json").exists())
POLICY = {"breaker": {"minimum": 3}, "workflows": {"publish": {"attemptsInLife": 4}}}


def told(store: Path, **question: Any) -> tuple[dict[str, Judged], Judging]:
    every = safepoint.guard_all(store, **question)
    return {judged.run_id: judged for judged in every}, every


def assert_as_one_by_one(store: Path, now: str, facts: list[dict[str, Any]], **question: Any) -> int:
    """Each decision is the one that a question about its run alone gets, with the fleet that was told of."""
    runs, every = told(store, now=now, facts=facts, **question)
    assert every.fleet is not None
    known = {document["runId"]: document for document in facts}
    for run_id, judged in runs.items():
        if judged.decision is None:
            with pytest.raises(safepoint.UnknownRunError):
                safepoint.guard(store, run_id, now=now)
            continue
        mine = facts_of(run_id, known.get(run_id), START)
        if run_id not in known:
            mine["observedAt"] = every.fleet["observedAt"]
        if "fleet" not in mine:
            mine = with_fleet(mine, every.fleet)
        alone = safepoint.guard(store, run_id, now=now, facts=mine, **question)
        assert orjson.dumps(judged.decision.document()) == orjson.dumps(alone.document()), run_id
    return len(runs)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_conformance_case_is_decided_as_by_itself(case: Path) -> None:
    expect = json.loads((case / "expect.json").read_bytes())
    facts = [json.loads((case / expect["facts"]).read_bytes())] if "facts" in expect else []
    policy = {"policy": str(case / expect["policy"])} if "policy" in expect else {}
    assert assert_as_one_by_one(case / expect["store"], expect["now"], facts, **policy) == 1


def moved(case: Path, target: Path) -> None:
    """The run of a case under the case's own name, its chain made anew where it is one."""
    folder = case / "store/runs/run-1"
    logs = {log: sorted((folder / log).glob("*.json")) for log in ("journal", "recovery")}
    try:
        logs_values = {log: [json.loads(path.read_bytes()) for path in paths] for log, paths in logs.items()}
    except ValueError:
        shutil.copytree(folder, target)  # what cannot be read names another run as well
        return
    shutil.copytree(folder, target)
    for log, values in logs_values.items():
        before = None
        for path, value in zip(logs[log], values, strict=True):
            value["runId"] = target.name
            if "previousDigest" in value and value["previousDigest"] is not None and before is not None:
                value["previousDigest"] = before
            data = encode_record(value)
            before = digest_stored(data)
            (target / log / path.name).write_bytes(data)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All cases in one store, recoveries that failed, a loose run, and a folder of no run."""
    store = tmp_path_factory.mktemp("crowd")
    for case in CASES:
        if (case / "store/runs/run-1").is_dir():
            moved(case, store / "runs" / case.name)
    for number in range(5):
        failed(f"failed-{number}", 20 + 10 * number).write(store)
    lines = b"".join(encode_record(value) + b"\n" for value in Journal("loose").begin().checkpoint(2).values)
    (store / "loose.jsonl").write_bytes(lines)
    (store / "runs/nothing/artifacts/sha256").mkdir(parents=True)
    (store / f"runs/nothing/artifacts/sha256/{'a' * 64}").write_bytes(b"")
    return store


def failed(name: str, seconds: float) -> Journal:
    """A run whose recovery failed, and which another one may try again."""
    journal = Journal(name).begin(ttl=1).checkpoint(2)
    journal.claim(seconds, ttl=1, purpose="recovery", episodeId="ep-1", authorization=digest("d"))
    for state in ("detected", "assessing", "authorized"):
        journal.recover(seconds - 1, state, failureSignature="sig")
    for state in ("claimed", "resuming", "failedAttempt"):
        journal.recover(seconds, state, leaseEpoch=2)
    return journal


@pytest.mark.parametrize("now", [200, 1000, 3000])
def test_a_crowd_is_decided_as_one_by_one(crowd: Path, now: float) -> None:
    known = json.loads((FIXTURES / "context-equal/facts.json").read_bytes()) | {"runId": "context-equal"}
    own = {**known, "runId": "committed", "fleet": {"recoveriesLastHour": 0}}
    count = assert_as_one_by_one(crowd, at(now), [known, own], policy=POLICY)
    assert count > len(CASES)
    _, every = told(crowd, now=at(now), policy=POLICY)
    assert every.fleet is not None
    assert any(breaker["failureSignature"] == "sig" for breaker in every.fleet["breakers"])


def test_what_does_not_fit_into_memory_waits_in_a_file(crowd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, _ = told(crowd, now=at(200))
    monkeypatch.setattr(fleet, "HELD", 30)
    spooled, _ = told(crowd, now=at(200))
    assert list(spooled) == list(usual)
    assert spooled == usual


def test_with_a_known_fleet_decisions_come_at_once(crowd: Path) -> None:
    waiting = safepoint.guard_all(crowd, now=at(200))
    next(waiting)
    assert waiting.seen_fleet is not None
    at_once = safepoint.guard_all(crowd, now=at(200), fleet=waiting.seen_fleet)
    next(at_once)
    assert (at_once.runs, at_once.seen_fleet) == (1, None)
    usual, _ = told(crowd, now=at(200))
    again, every = told(crowd, now=at(200), fleet=waiting.seen_fleet)
    assert again == usual
    assert every.seen_fleet == waiting.seen_fleet


def test_runs_come_as_the_store_lists_them(crowd: Path) -> None:
    runs, _ = told(crowd, now=at(200))
    folders = [name for name in runs if (crowd / "runs" / name).is_dir()]
    assert folders == sorted(folders, key="{}/".format)
    # records that lie in a case's folder and name another run are that run's, as `safepoint.guard` finds them
    assert set(list(runs)[len(folders) :]) == {"loose", "run-1"}


def test_the_filters_leave_the_fleet_that_of_all_runs(crowd: Path) -> None:
    everybody, whole = told(crowd, now=at(200))
    waiting, every = told(crowd, now=at(200), states=["waiting"])
    assert {judged.state for judged in waiting.values()} == {"waiting"}
    assert set(waiting) == {name for name, judged in everybody.items() if judged.state == "waiting"}
    assert every.fleet == whole.fleet
    assert every.runs == whole.runs == len(everybody)
    none, _ = told(crowd, now=at(200), workflows=["another"])
    assert none == {}
    over, counted = told(crowd, now=at(200), verdicts=["no_op"])
    assert {judged.decision.verdict for judged in over.values() if judged.decision} == {"no_op"}
    assert dict(counted.verdicts) == {"no_op": len(over)}


def test_a_run_that_cannot_be_read_does_not_stop_the_rest(crowd: Path) -> None:
    runs, every = told(crowd, now=at(200))
    assert runs["nothing"].decision is None
    assert "nothing of a run can be read" in runs["nothing"].problem
    assert every.unreadable >= 1


def test_a_store_that_this_version_does_not_know_stops_every_run(tmp_path: Path) -> None:
    Journal().begin().checkpoint(2).write(tmp_path)
    store = {"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": ["sharding"]}
    (tmp_path / "safepoint.json").write_bytes(encode_record(store))
    runs, _ = told(tmp_path, now=at(200))
    assert runs["run-1"].decision is not None
    assert runs["run-1"].decision.verdict == "hand_over"
    assert_as_one_by_one(tmp_path, at(200), [])


def test_facts_of_a_run_that_is_not_there_are_told_of(crowd: Path) -> None:
    _, every = told(crowd, now=at(200), facts=facts_of("typo", None, START))
    assert every.unmet == {"typo"}


def test_a_fleet_beside_the_facts_own_is_refused(crowd: Path) -> None:
    known = {**facts_of("committed", None, START), "fleet": {}}
    with pytest.raises(safepoint.InputRefusedError, match="leave one out"):
        safepoint.guard_all(crowd, facts=known, fleet={"observedAt": at(1)})


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('{"breakers": [{"state": "ajar"}], "observedAt": "2026-05-07T10:00:00Z"}', "1:25: SP209"),
        ('{"breakers": []}', "1:1: SP202 it does not say when the fleet was looked at"),
        (
            '{"observedAt": "2026-05-07T10:00:00Z", "recordType": "facts"}',
            "SP203 a record: expected what facts",
        ),
        ("[]", "1:1: SP201"),
        ("{", "SP103"),
    ],
)
def test_a_fleet_that_is_not_sound_is_refused(crowd: Path, tmp_path: Path, document: str, said: str) -> None:
    file = tmp_path / "fleet.json"
    file.write_text(document)
    with pytest.raises(safepoint.InputRefusedError) as refused:
        safepoint.guard_all(crowd, fleet=file)
    assert said in str(refused.value)


def test_a_folder_of_stores_is_no_store(tmp_path: Path) -> None:
    store = {"recordType": "store", "schemaVersion": "v3", "layout": 1}
    for name in ("one", "two"):
        Journal().begin().write(tmp_path / name)
        (tmp_path / name / "safepoint.json").write_bytes(encode_record(store))
    with pytest.raises(safepoint.SeveralStoresError):
        list(safepoint.guard_all(tmp_path))


def test_a_breaker_that_opened_holds_up_the_runs_of_its_kind(tmp_path: Path) -> None:
    for number in range(3):
        failed(f"failed-{number}", 20 + 10 * number).write(tmp_path)
    Journal("fresh").begin().checkpoint(2).write(tmp_path)
    now = START + 200 * SECOND
    runs, every = told(tmp_path, now=now, policy=POLICY)
    fresh = runs["fresh"].decision
    assert fresh is not None
    assert (fresh.verdict, fresh.not_before) == ("wait", START + 940 * SECOND)
    assert every.room == 0
    runs, every = told(tmp_path, now=START + 1000 * SECOND, policy=POLICY)
    verdicts = {name: judged.decision.verdict for name, judged in runs.items() if judged.decision}
    assert verdicts == {"failed-0": "wait", "failed-1": "wait", "failed-2": "wait", "fresh": "resume"}
