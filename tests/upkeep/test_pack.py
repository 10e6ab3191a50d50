"""Packing and unpacking: nothing is lost at any moment, and nobody judges a run otherwise because of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from closed import LATER, filled, finished, fresh, objects
from crashing import Watched, objects_of
from journals import START, Journal, at

import safepoint
from safepoint import api
from safepoint.core.timestamp import SECOND, format_time
from safepoint.store import Outcome, Store, UnsupportedError, open_store
from safepoint.store.capabilities import capabilities_of
from safepoint.store.layout import journal_key, run_ids
from safepoint.upkeep import pack as module
from safepoint.upkeep.pack import pack, unpack
from safepoint.upkeep.runs import Change

FIXTURES = Path(__file__).parents[2] / "fixtures"
BOTH = pytest.mark.parametrize("kind", ["local", "memory"])
LINES = "runs/run-1/journal.jsonl"


def packed(store: Store, **options: Any) -> list[Change]:
    return list(pack(store, now=LATER, **options))


def outcomes(changes: list[Change]) -> dict[str, str]:
    return {change.run_id: change.outcome for change in changes}


def codes(store: Store, run_id: str = "run-1") -> list[str]:
    return [finding.code for finding in api.findings_of(api.load(store, run_id))]


def records(store: Store, run_id: str = "run-1") -> list[str]:
    run = api.load(store, run_id).run
    assert run is not None
    return [record.digest for record in (*run.records, *run.recovery)]


@BOTH
def test_a_packed_run_is_two_files_its_heartbeat_and_its_artifacts(kind: str, tmp_path: Path) -> None:
    content = objects(finished())
    store = filled(kind, tmp_path, content)
    [change] = packed(store)
    assert (change.outcome, change.counts) == ("done", {"records": 10, "objects": 10})
    left = objects_of(store)
    logs = {key for key in content if "/journal/" in key or "/recovery/" in key}
    assert left.keys() == (content.keys() - logs) | {LINES, "runs/run-1/recovery.jsonl"}
    journal = [data for key, data in sorted(content.items()) if "/journal/" in key]
    assert left[LINES] == b"".join(data + b"\n" for data in journal)


@BOTH
def test_unpacking_gives_back_every_object_byte_for_byte(kind: str, tmp_path: Path) -> None:
    content = objects(finished(), finished("run 2", "sealed"))
    store = filled(kind, tmp_path, content)
    assert outcomes(packed(store)) == {"run-1": "done", "run 2": "done"}
    changes = list(unpack(store, ["run-1", "run 2"], now=LATER))
    assert outcomes(changes) == {"run-1": "done", "run 2": "done"}
    assert changes[0].counts == {"records": 10, "objects": 10}
    assert objects_of(store) == content
    assert outcomes(list(unpack(store, ["run-1"], now=LATER))) == {"run-1": "already"}


@BOTH
def test_packing_twice_changes_nothing(kind: str, tmp_path: Path) -> None:
    store = filled(kind, tmp_path, objects(finished()))
    packed(store)
    before = objects_of(store)
    assert outcomes(packed(store)) == {"run-1": "already"}
    assert objects_of(store) == before


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    content = objects(finished())
    store = filled("local", tmp_path, content)
    [change] = packed(store, dry_run=True)
    assert (change.outcome, change.counts) == ("would", {"records": 10, "objects": 10})
    assert objects_of(store) == content
    packed(store)
    [back] = unpack(store, ["run-1"], now=LATER, dry_run=True)
    assert (back.outcome, back.counts) == ("would", {"records": 10, "objects": 10})


def test_the_objects_may_stay_beside_the_files(tmp_path: Path) -> None:
    content = objects(finished())
    store = filled("local", tmp_path, content)
    assert outcomes(packed(store, keep_objects=True)) == {"run-1": "done"}
    assert content.items() < objects_of(store).items()
    assert codes(store) == []
    assert outcomes(packed(store, keep_objects=True)) == {"run-1": "already"}
    # and later they may go
    assert outcomes(packed(store)) == {"run-1": "done"}
    assert journal_key("run-1", 1) not in objects_of(store)


# What is not packed


def ended(status: str = "completed") -> Journal:
    journal = Journal().begin().checkpoint(2)
    return journal if status == "started" else journal.add("run", 3, status=status)


OPEN = {
    "not ended": ended("started"),
    "failed": ended("failed"),
    "an effect in doubt": Journal()
    .begin()
    .checkpoint(2)
    .ledger(3, "attempting")
    .add("run", 4, status="completed"),
    "a question": Journal()
    .begin()
    .checkpoint(2)
    .add(
        "approval",
        3,
        approvalId="ap-1",
        checkpointId="cp-1",
        event="requested",
        contentDigest="sha256:" + "a" * 64,
        expiresAt=at(10_000),
    )
    .add("run", 4, status="completed"),
    "a recovery": ended().recover(3590, "detected"),
    "nothing numbered": None,
}


@pytest.mark.parametrize("why", OPEN)
def test_what_is_not_closed_is_left_where_it_was_named(why: str, tmp_path: Path) -> None:
    journal = OPEN[why]
    content = objects(journal, artifacts=False) if journal else {"runs/run-1/a.json": LOOSE}
    store = filled("memory", tmp_path, content)
    [change] = packed(store, runs=["run-1"])
    assert change.outcome == "left"
    assert change.message
    assert objects_of(store) == content


LOOSE = (
    b'{"recordType":"run","schemaVersion":"v3","runId":"run-1","createdAt":"2026-05-07T10:00:00Z",'
    b'"status":"completed"}'
)


@pytest.mark.parametrize("status", ["completed", "cancelled", "sealed"])
def test_an_owner_that_wrote_the_end_itself_need_not_be_waited_for(status: str, tmp_path: Path) -> None:
    store = filled("memory", tmp_path, objects(finished("run-1", status)))
    assert outcomes(list(pack(store, runs=["run-1"], now=START + 405 * SECOND))) == {"run-1": "done"}


def resolving() -> Journal:
    """A human's tool has claimed the run to settle what was open, and has settled it, but may go on."""
    journal = Journal().begin().ledger(2, "attempting").add("run", 3, status="completed")
    journal.claim(80, purpose="resolution")
    return journal.ledger(81, "committed")


def recovering() -> Journal:
    """A recovery has brought the run to its end, and has not said yet how it ended itself."""
    journal = Journal().begin().checkpoint(2)
    journal.recover(80, "detected").recover(80, "assessing").recover(80, "authorized")
    journal.claim(81, purpose="recovery", episodeId="ep-1").recover(81, "claimed", leaseEpoch=2)
    return journal.add("run", 82, status="completed")


ALIVE = {
    "another owner": resolving(),
    "the resolver's own seal": resolving().add(
        "run", 81, status="sealed", successor={"uri": "s3://bucket/new", "runId": "run-1"}
    ),
    "a recovery without its end": recovering(),
}


@pytest.mark.parametrize("why", ALIVE)
def test_a_lease_that_is_live_holds_a_run_where_more_may_follow_the_end(why: str, tmp_path: Path) -> None:
    journal, store = ALIVE[why], fresh("memory", tmp_path)
    for key, data in objects(journal, artifacts=False).items():
        if "/heartbeat/" not in key:
            store.put_if_absent(key, data)
    run = api.load(store, "run-1").run
    assert run is not None
    assert run.ownership is not None
    lapses = run.ownership.lapses_at(0, 5 * SECOND)
    [change] = pack(store, runs=["run-1"], now=lapses - 1)
    assert (change.outcome, change.brief) == ("left", "")
    assert change.message == f"the lease of epoch {run.ownership.epoch} is live until {format_time(lapses)}"
    [change] = pack(store, closed_before=lapses, now=lapses - 1)
    assert (change.outcome, change.brief) == ("passed", "with a live lease")
    [change] = pack(store, runs=["run-1"], now=lapses)
    assert change.outcome == "done"


@pytest.mark.parametrize("status", ["started", "failed", "completed"])
def test_what_was_never_packed_is_said_to_be_not_packed_whether_or_not_it_ended(
    status: str, tmp_path: Path
) -> None:
    store = filled("memory", tmp_path, objects(ended(status), artifacts=False))
    [change] = unpack(store, ["run-1"], now=START + 10 * SECOND)
    assert (change.outcome, change.message) == ("already", "it is not packed")


def test_a_sweep_passes_over_what_has_not_ended_or_is_too_young_and_names_what_is_damaged(
    tmp_path: Path,
) -> None:
    content = objects(finished("old"), finished("damaged"), artifacts=False)
    running = Journal("running").begin()
    content |= objects(running, artifacts=False)
    young = Journal("young").begin().add("run", 900, status="completed")
    content |= objects(young, artifacts=False)
    content[journal_key("damaged", 3)] = b"{"
    store = filled("memory", tmp_path, content)
    changes = packed(store, closed_before=START + 600 * SECOND)
    assert outcomes(changes) == {"damaged": "left", "old": "done", "running": "passed", "young": "passed"}
    assert "damaged" not in {key.split("/")[1] for key in objects_of(store) if key.endswith(".jsonl")}


def test_a_record_on_several_lines_cannot_be_a_line(tmp_path: Path) -> None:
    journal = ended()
    content = objects(journal, artifacts=False)
    last = journal_key("run-1", len(journal.values))
    content[last] = content[last].replace(b",", b",\n", 1)
    store = filled("memory", tmp_path, content)
    [change] = packed(store, runs=["run-1"])
    assert change.outcome == "left"
    assert "on several lines" in change.message
    assert objects_of(store) == content


def test_the_line_feed_behind_a_record_is_no_part_of_it(tmp_path: Path) -> None:
    plain = objects(finished())
    store = filled(
        "memory", tmp_path, {key: data + b"\n" if "/journal/" in key else data for key, data in plain.items()}
    )
    assert outcomes(packed(store)) == {"run-1": "done"}
    list(unpack(store, ["run-1"], now=LATER))
    assert objects_of(store) == plain


def test_a_log_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 1000)
    store = filled("memory", tmp_path, objects(finished()))
    [change] = packed(store)
    assert change.outcome == "left"
    assert "expected at most 1,000" in change.message


@pytest.mark.parametrize(
    ("numbers", "why"),
    [((1, 2, 3), "holds 3 of 7 records"), ((2, 1), "is not the beginning"), ((), "not sound")],
)
def test_a_file_that_is_no_whole_mirror_is_refused(
    numbers: tuple[int, ...], why: str, tmp_path: Path
) -> None:
    content = objects(finished())
    lines = [content[journal_key("run-1", number)] for number in numbers] or [b"{torn"]
    content[LINES] = b"".join(line + b"\n" for line in lines)
    store = filled("memory", tmp_path, content)
    [change] = packed(store)
    assert change.outcome == "left"
    assert why in change.message
    assert objects_of(store) == content


def test_what_was_added_after_packing_is_no_obstacle_for_the_way_back(tmp_path: Path) -> None:
    journal = finished()
    store = filled("memory", tmp_path, objects(journal))
    packed(store)
    journal.add(
        "evidence",
        500,
        actionId="send",
        attemptNumber=1,
        result="applied",
        kind="human",
        by="ann",
        observedAt=at(4),
    )
    late = objects(journal)[journal_key("run-1", 8)]
    assert store.put_if_absent(journal_key("run-1", 8), late) is Outcome.WON
    assert codes(store) == []
    [change] = packed(store, runs=["run-1"])
    assert "unpack the run first" in change.message
    assert outcomes(list(unpack(store, ["run-1"], now=LATER))) == {"run-1": "done"}
    assert objects_of(store) == objects(journal)
    assert outcomes(packed(store)) == {"run-1": "done"}


def test_a_store_that_cannot_claim_is_refused(tmp_path: Path) -> None:
    store = Watched(filled("memory", tmp_path, objects(finished())), lambda what, key: None)
    store.capabilities = capabilities_of("http")
    with pytest.raises(UnsupportedError):
        packed(store)
    with pytest.raises(UnsupportedError):
        list(unpack(store, ["run-1"], now=LATER))


def test_a_store_of_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    content = {
        **objects(finished()),
        "safepoint.json": b'{"recordType":"store","schemaVersion":"v3","layout":2}',
    }
    store = filled("memory", tmp_path, content)
    with pytest.raises(UnsupportedError):
        packed(store)
    assert objects_of(store) == content


# Equal answers


def closed_fixtures() -> Iterator[tuple[str, Path, str]]:
    for case in sorted((FIXTURES).rglob("store")):
        described = case.parent.name in {"store-of-a-newer-version", "store-with-an-unknown-feature"}
        if case.parent.parts[-2] in {"good", "near", "guard", "warn"} and case.is_dir() and not described:
            for run_id in run_ids(open_store(str(case))):
                yield f"{case.parent.parts[-2]}/{case.parent.name}/{run_id}", case, run_id


def years_later() -> int:
    return START + 3 * 365 * 86_400 * SECOND


def test_validation_and_guard_answer_as_before_on_every_fixture_that_is_closed(tmp_path: Path) -> None:
    compared = 0
    for name, case, run_id in closed_fixtures():
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(case, folder)
        store = open_store(str(folder))
        [change] = pack(store, runs=[run_id], now=years_later(), dry_run=True)
        if change.outcome != "would":
            continue
        before = answers(store, folder, run_id)
        [change] = pack(store, runs=[run_id], now=years_later())
        assert change.outcome == "done", name
        assert answers(store, folder, run_id) == before, name
        compared += 1
    assert compared >= 8


def answers(store: Store, folder: Path, run_id: str) -> Any:
    """Findings and decisions, without the places where they were found.

    What may differ beside those is SP707 and what it asks for: lines whose tail could be cut without a trace are never
    gone on with unproven, so that the guard says so also of a run that has ended; its verdict stays.
    """
    findings = sorted(
        (f.code, f.pointer, f.message) for f in safepoint.validate(str(folder), run=run_id, artifacts=True)
    )
    decisions = []
    for goal in ("continue", "unwind", "inspect"):
        request = {"recordType": "request", "schemaVersion": "v3", "goal": goal}
        decision = safepoint.guard(store, run_id, request=request, now=format_time(years_later()))
        reasons = tuple(replace(r, key=None) for r in decision.reasons if r.code != "SP707")
        missing = tuple(
            m
            for m in decision.missing_evidence
            if (m.kind, m.subject) != ("fact", "heads.journal") and m.kind != "owner"
        )
        decisions.append(replace(decision, reasons=reasons, missing_evidence=missing))
    return findings, decisions
