"""What is refused before a run is opened: documents that are not sound, and ids that no reader accepts."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from safepoint.core.timestamp import format_time
from safepoint.reader import load_run
from safepoint.reader.documents import InputRefusedError
from safepoint.recorder import (
    IllegalRecord,
    RecordedRun,
    RecorderError,
    ResumeRefused,
    StaleDecision,
    grant_approval,
    request_cancel,
    resume_run,
    start_run,
)
from safepoint.recorder.approvals import open_unowned
from safepoint.store import AbsentError, Outcome, Store, open_store

RUN = "run-1"


def start(store: Store, clock: Any) -> RecordedRun:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"])
    return run


def dead(clock: Any) -> dict[str, Any]:
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    return {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": RUN,
        "observedAt": now,
        "owners": [owner],
    }


def resume(store: Store, clock: Any, **options: Any) -> RecordedRun:
    return resume_run(store, RUN, **{"holder": "w2", "facts": dead(clock), **options}, clock=clock)


def test_a_holder_that_is_still_to_be_filled_in_opens_nothing(store: Store, clock: Any) -> None:
    gap = "FILL IN: who you are"
    with pytest.raises(ValueError, match="holder is still 'FILL IN"):
        start_run(store, RUN, workflow="w", holder=gap, clock=clock)
    assert not list(store.list())
    start(store, clock)
    with pytest.raises(ValueError, match="holder is still 'FILL IN"):
        resume(store, clock, holder=gap)
    with pytest.raises(ValueError, match="failure_evidence is still 'FILL IN"):
        resume(store, clock, failure_of="infrastructure", failure_evidence=gap)
    run = load_run(store, RUN).run
    assert run is not None
    assert [(r.epoch, r.kind) for r in run.records if r.kind == "lease"] == [(1, "lease")]
    assert not run.recovery


def test_a_store_may_be_named_by_its_path_and_documents_by_theirs(clock: Any, tmp_path: Path) -> None:
    where = tmp_path / "store"
    start_run(str(where), RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    (tmp_path / "facts.json").write_text(json.dumps(dead(clock)))
    (tmp_path / "policy.toml").write_text("leaseSeconds = 7\n")
    run = resume_run(
        where,
        RUN,
        holder="w2",
        facts=str(tmp_path / "facts.json"),
        policy=tmp_path / "policy.toml",
        clock=clock,
    )
    run.request_approval("ask", request=1, action_id="pay")
    grant_approval(where, RUN, "ask", actor="boss", clock=clock)
    assert run.approval_state("ask") == "granted"
    found = load_run(open_store(str(where)), RUN).run
    assert found is not None
    assert found.ownership is not None
    assert (found.ownership.epoch, found.ownership.lease.value["ttlSeconds"]) == (2, 7)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"recordType": None}, "SP003"),
        ({"observedAt": "FILL IN"}, "SP207"),
        ({"knownStep": ["pay"]}, "SP203"),
        ({"owners": [{"leaseEpoch": 1, "state": "dead"}]}, "SP202"),
        ({"runId": "run-2"}, "about run 'run-2'"),
        ({"recordType": "policy", "owners": None}, "expected a facts document"),
        ({"external": {"doc": {"value": {1, 2}}}}, "JSON values only"),
    ],
)
def test_facts_that_are_not_sound_are_refused_before_anything_is_judged(
    store: Store, clock: Any, change: dict[str, Any], said: str
) -> None:
    start(store, clock)
    before = list(store.list())
    facts = {name: value for name, value in (dead(clock) | change).items() if value is not None}
    with pytest.raises(InputRefusedError, match=said):
        resume(store, clock, facts=facts)
    assert list(store.list()) == before


def test_a_policy_and_a_request_are_checked_too(store: Store, clock: Any) -> None:
    with pytest.raises(InputRefusedError, match="SP203"):
        start_run(store, RUN, workflow="w", holder="w1", policy={"leaseSecond": 7}, clock=clock)
    assert not list(store.list())
    start(store, clock)
    with pytest.raises(InputRefusedError, match="SP203"):
        resume(store, clock, policy={"leaseSecond": 7})
    with pytest.raises(InputRefusedError, match="SP209"):
        resume(store, clock, request={"recordType": "request", "schemaVersion": "v3", "goal": "go on"})


@pytest.mark.parametrize("run_id", ["../x", "a/../b", "..", "", "x" * 257, "a\nb", "\ud83d"])
def test_a_run_id_that_readers_refuse_is_refused_before_anything_is_written(
    store: Store, clock: Any, run_id: str
) -> None:
    with pytest.raises(IllegalRecord):
        start_run(store, run_id, workflow="w", holder="w1", clock=clock)
    assert not list(store.list())


@pytest.mark.parametrize("options", [{"holder": ""}, {"holder": "x" * 300}, {"ttl_seconds": -5}])
def test_a_lease_that_readers_refuse_does_not_use_up_the_run(
    store: Store, clock: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(IllegalRecord, match="lease"):
        start_run(store, RUN, workflow="w", **({"holder": "w1"} | options), clock=clock)
    assert not list(store.list())
    start(store, clock)
    before = list(store.list())
    with pytest.raises(IllegalRecord):
        resume(store, clock, **options)
    assert list(store.list()) == before
    assert resume(store, clock).epoch == 2


def test_who_asks_for_something_before_the_first_lease_does_not_keep_it_away(
    world: ModuleType, store: Store, clock: Any
) -> None:
    left = [lambda: request_cancel(store, RUN, by="boss", clock=clock)]

    def hook(moment: str) -> None:
        puts.append(moment == "before put")
        if sum(puts) == 3 and left:  # the layout, the run's first record, then its lease
            left.pop()()

    puts: list[bool] = []
    run = start_run(world.HookedStore(store, hook), RUN, workflow="w", holder="w1", clock=clock)
    assert run.epoch == 1
    found = load_run(store, RUN).run
    assert found is not None
    assert [record.kind for record in found.records] == ["run", "run", "lease"]


def test_an_owner_before_the_first_lease_is_not_overtaken(
    world: ModuleType, store: Store, clock: Any
) -> None:
    def hook(moment: str) -> None:
        puts.append(moment == "before put")
        if sum(puts) == 3 and puts[-1]:
            other = open_unowned(store, RUN, clock)
            other.claim({"purpose": "run", "holder": "w2", "ttlSeconds": 10}, at=2)

    puts: list[bool] = []
    with pytest.raises(StaleDecision):
        start_run(world.HookedStore(store, hook), RUN, workflow="w", holder="w1", clock=clock)


def test_a_run_goes_on_from_what_was_judged_and_not_from_what_was_retracted(store: Store, clock: Any) -> None:
    start(store, clock).checkpoint("cp_02", state="s", step_name="pay", next_steps=["note"])
    retract = {"recordType": "retract", "targets": ["cp_02"], "by": "boss", "reason": "wrong"}
    open_unowned(store, RUN, clock).append_unowned(retract)
    run = resume(store, clock)
    assert run.decision is not None
    assert run.last_checkpoint is not None
    assert run.decision.checkpoint_id == run.last_checkpoint["checkpointId"] == "cp_01"
    run.checkpoint("cp_03", state="s", step_name="pay")
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    assert found.checkpoints[-1].value["parentCheckpointId"] == "cp_01"


@pytest.mark.parametrize(
    "there", [b"", b'{"recordType":"store","schemaVersion":"v3","layout":1,"features":["x"]}']
)
def test_an_unclear_answer_about_the_layout_is_looked_into(
    world: ModuleType, store: Store, clock: Any, there: bytes
) -> None:
    class Silent(world.HookedStore):  # type: ignore[misc,name-defined]
        def put_if_absent(self, key: str, data: bytes) -> Outcome:
            if key == "safepoint.json":
                return Outcome.UNKNOWN
            return self.inner.put_if_absent(key, data)

    if there:
        store.put_if_absent("safepoint.json", there)
    with pytest.raises(RecorderError, match="features" if there else "did not say"):
        start(Silent(store, lambda moment: None), clock)


def test_what_readers_refuse_is_not_written_into_a_run_either(store: Store, clock: Any) -> None:
    run = start(store, clock)
    outside = {"artifactId": "a", "uri": "../../secret", "digest": None, "size": None, "mediaType": None}
    with pytest.raises(IllegalRecord, match="SP006"):
        run.checkpoint("cp_02", state="s", step_name="pay", artifact_refs=[outside])
    run.checkpoint("cp_02", state="s", step_name="pay")
    found = load_run(store, RUN).run
    assert found is not None
    assert (len(found.checkpoints), found.unread) == (2, ())


def test_resuming_a_run_that_is_not_there_makes_no_store(clock: Any, tmp_path: Path) -> None:
    with pytest.raises(AbsentError):
        resume_run(tmp_path / "store", RUN, holder="w2", clock=clock)
    assert not list(tmp_path.iterdir())


def test_a_program_that_repeats_what_is_done_is_told_where_it_was_resumed(store: Store, clock: Any) -> None:
    start(store, clock)
    said = r"resumed, behind cp_01: take only the steps in run\.next_steps"
    with pytest.raises(IllegalRecord, match=said), resume(store, clock) as again:
        again.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"])
    # It claimed the run, so that it counts, like every other claim that came to nothing.
    run = load_run(store, RUN).run
    assert run is not None
    assert run.ownership is not None
    assert ([e.state for e in run.episodes.values()], len(run.ownership.recoveries)) == (["failedAttempt"], 1)
    clock.sleep(60)
    third = resume(store, clock, holder="w3")
    third.checkpoint("cp_02", state="s", step_name="pay")
    with pytest.raises(IllegalRecord, match="an id of its own"):
        third.checkpoint("cp_02", state="s", step_name="pay")


def test_a_run_is_not_taken_over_while_the_breaker_of_its_fleet_is_open(store: Store, clock: Any) -> None:
    start_run(store, "run-1", workflow="w", holder="w1", ttl_seconds=10, clock=clock).release()
    seen = format_time(clock())
    breaker = {"workflow": "w", "state": "open", "until": format_time(clock() + 600 * 10**9)}
    with pytest.raises(ResumeRefused, match="SP751"):
        resume_run(
            store, "run-1", holder="w2", fleet={"observedAt": seen, "breakers": [breaker]}, clock=clock
        )
    resume_run(store, "run-1", holder="w2", fleet={"observedAt": seen, "breakers": []}, clock=clock)
