"""Decisions in the recovery log: one round from the crash to the outcome, in which no recorder stands in the way."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from journals import Journal

from safepoint import api
from safepoint.core.timestamp import format_time
from safepoint.guard import Decision
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    IllegalRecord,
    RecordedDecision,
    RecordedRun,
    ResumeRefused,
    StaleDecision,
    record_decision,
    resolve_action,
    resume_run,
    start_run,
)
from safepoint.recorder.assessment import STATES
from safepoint.store import AbsentError, Store, UnsupportedError

RUN = "run-1"
PROBED = Declares(effect="payment", probe="byQuery")


def start(store: Store, clock: Any) -> RecordedRun:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"])
    return run


def doubt(run: RecordedRun, declares: Declares = PROBED) -> None:
    def lost() -> None:
        raise OSError("lost")

    with (
        pytest.raises(OSError, match="lost"),
        run.effect("pay", step_name="pay", request={}, declares=declares) as effect,
    ):
        effect.call(lost)


def known(clock: Any, **more: Any) -> dict[str, Any]:
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    document = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now}
    return {**document, "owners": [owner], **more}


def judge(store: Store, clock: Any, **question: Any) -> Decision:
    return api.guard(store, RUN, now=format_time(clock()), **question)


def record(store: Store, clock: Any, **question: Any) -> RecordedDecision:
    recorded = record_decision(store, judge(store, clock, **question), holder="nightly", clock=clock)
    assert recorded is not None
    return recorded


def folded(store: Store) -> Run:
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    return found


def states(store: Store) -> list[str]:
    return [str(record.value["state"]) for record in folded(store).recovery]


def wrong(store: Store) -> list[str]:
    """What the validator says of the run, warnings included."""
    return [f"{finding.code} {finding.message}" for finding in api.findings_of(api.load(store, RUN))]


def test_one_round_from_the_crash_to_the_outcome(store: Store, clock: Any) -> None:
    doubt(start(store, clock))
    waiting = record(store, clock)
    assert (waiting.state, len(waiting.written)) == ("waiting", 3)
    assert waiting.written[-1].value["notBefore"] == judge(store, clock).document()["notBefore"]
    clock.sleep(60)
    assert record(store, clock).state == "reconciling"
    now = format_time(clock())
    probe = {"result": "applied", "consistency": "strong", "observedAt": now, "externalRef": "p-1"}
    facts = known(clock, probes={"pay": probe})
    assert record(store, clock, facts=facts).state == "authorized"
    with resume_run(store, RUN, holder="w2", facts=facts, clock=clock) as run:
        run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
        run.complete()
    assert states(store) == [
        *("detected", "assessing", "waiting"),
        *("assessing", "reconciling"),
        *("assessing", "authorized"),
        *("assessing", "authorized", "claimed", "resuming", "probation", "recovered"),
    ]
    (episode,) = folded(store).episodes.values()
    assert (episode.episode_id, episode.state, episode.epoch) == (waiting.episode_id, "recovered", 2)
    assert wrong(store) == []


@pytest.mark.parametrize("verdict", STATES)
def test_every_verdict_has_its_state(store: Store, clock: Any, verdict: str) -> None:
    run = start(store, clock)
    question: dict[str, Any] = {}
    if verdict in {"reconcile", "hand_over"}:
        doubt(run, PROBED if verdict == "reconcile" else Declares(effect="payment"))
    if verdict == "compensate":
        able = Declares(effect="payment", reversibility="compensatable", compensation="refund")
        with run.effect("pay", step_name="pay", request={}, declares=able) as effect:
            effect.call(lambda: 1)
        run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
        question["request"] = {"recordType": "request", "schemaVersion": "v3", "goal": "unwind"}
    if verdict == "give_up":
        run.cancelled()
    if verdict == "no_op":
        run.complete()
    if verdict != "wait":
        clock.sleep(60)
    assert judge(store, clock, **question).verdict == verdict
    recorded = record(store, clock, **question)
    assert (recorded.state, states(store)[-1]) == (STATES[verdict], STATES[verdict])
    last = folded(store).recovery[-1].value
    assert last["decisionDigest"].startswith("sha256:")
    assert (last["holder"], last["released"], last["fromCheckpointId"]) == (
        "nightly",
        True,
        "cp_02" if verdict == "compensate" else "cp_01",
    )
    assert wrong(store) == []


def test_an_undoing_that_was_only_decided_goes_on_in_the_same_round(store: Store, clock: Any) -> None:
    run = start(store, clock)
    able = Declares(effect="payment", reversibility="compensatable", compensation="refund")
    with run.effect("pay", step_name="pay", request={}, declares=able) as effect:
        effect.call(lambda: 1)
    run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
    clock.sleep(60)
    question = {"request": {"recordType": "request", "schemaVersion": "v3", "goal": "unwind"}}
    record(store, clock, **question)
    assert record(store, clock, **question).written == ()  # it is there already
    with resume_run(store, RUN, holder="w2", clock=clock, **question) as undone:
        with undone.effect("refund", step_name="undo", request={}, compensates="pay") as effect:
            effect.call(lambda: 1)
        undone.cancelled()
    assert states(store) == ["detected", "assessing", "compensating", "compensated"]
    assert wrong(store) == []


def test_what_a_recorder_left_is_no_other_recovery_that_is_under_way(store: Store, clock: Any) -> None:
    doubt(start(store, clock), Declares(effect="payment"))
    clock.sleep(60)
    assert record(store, clock).state == "awaitingHuman"
    assert "SP722" not in {reason.code for reason in judge(store, clock).reasons}
    resolve_action(
        store, RUN, "pay", outcome="committed", by="ann", evidence="statement of May 7", clock=clock
    )
    assert wrong(store) == []  # a human's answer takes nothing over
    clock.sleep(60)
    assert record(store, clock).state == "authorized"
    resume_run(store, RUN, holder="w2", clock=clock).complete()
    (episode,) = folded(store).episodes.values()
    assert episode.state == "recovered"
    assert wrong(store) == []


def test_a_run_that_was_only_thought_dead_closes_the_round_with_its_end(store: Store, clock: Any) -> None:
    run = start(store, clock)
    assert record(store, clock).state == "waiting"
    run.complete()
    assert states(store)[-1] == "superseded"
    assert wrong(store) == []


def test_a_round_that_outlived_the_runs_end_is_closed_by_the_next_decision(store: Store, clock: Any) -> None:
    run = start(store, clock)
    record(store, clock)
    run._journal.append_owned(lambda: {"recordType": "run", "status": "completed"})  # its process dies here
    assert [finding[:5] for finding in wrong(store)] == ["SP522"]
    assert record(store, clock).state == "notNeeded"
    assert record(store, clock).written == ()  # nothing happened since
    assert wrong(store) == []


def test_a_process_that_is_about_to_claim_is_left_alone(world: ModuleType, store: Store, clock: Any) -> None:
    start(store, clock)
    clock.sleep(60)
    seen: list[RecordedDecision] = []

    def hook(moment: str) -> None:
        written = states(store) if moment == "before put" else []
        if written and written[-1] == "authorized" and not seen:
            seen.append(record(store, clock))

    run = resume_run(world.HookedStore(store, hook), RUN, holder="w2", clock=clock)
    assert seen[0].state == "waiting"
    assert [e.state for e in folded(store).episodes.values()] == ["resuming", "superseded"]
    run.complete()
    assert wrong(store) == []


def test_a_recorder_that_dies_on_the_way_is_followed_by_the_next(
    world: ModuleType, store: Store, clock: Any
) -> None:
    start(store, clock)
    clock.sleep(60)
    for at in (1, 2, 2):
        deaths = world.Countdown(at, lambda: (_ for _ in ()).throw(world.CrashError()))

        def hook(moment: str, deaths: Any = deaths) -> None:
            if moment == "before put":
                deaths(moment)

        with pytest.raises(world.CrashError):
            record_decision(world.HookedStore(store, hook), judge(store, clock), clock=clock)
    assert record(store, clock).state == "authorized"
    assert len(folded(store).episodes) == 1
    assert wrong(store) == []


def test_two_recorders_at_once_both_finish_and_leave_one_legal_round(world: ModuleType, clock: Any) -> None:
    for at in range(1, 12):
        store = world.MemoryStore()
        start(store, clock)
        clock.sleep(60)
        first, second = judge(store, clock), judge(store, clock)
        moments = [0]

        def hook(_moment: str, store: Any = store, moments: Any = moments, at: int = at) -> None:
            moments[0] += 1
            if moments[0] == at:
                assert record_decision(store, second, holder="b", clock=clock) is not None  # noqa: B023 - within the turn

        recorded = record_decision(world.HookedStore(store, hook), first, holder="a", clock=clock)
        assert recorded is not None
        assert recorded.state == "authorized"
        (episode,) = folded(store).episodes.values()
        assert episode.state == "authorized"
        assert wrong(store) == []
        resume_run(store, RUN, holder="w2", clock=clock).complete()
        assert wrong(store) == []


@pytest.mark.parametrize(
    "wishes", [{"goal": "inspect"}, {"goal": "continue", "epoch": 1}], ids=["a look", "a fenced caller"]
)
def test_an_answer_about_the_caller_alone_is_not_recorded(
    store: Store, clock: Any, wishes: dict[str, Any]
) -> None:
    start(store, clock)
    clock.sleep(60)
    resume_run(store, RUN, holder="w2", clock=clock)
    length = len(states(store))
    decision = judge(store, clock, request={"recordType": "request", "schemaVersion": "v3", **wishes})
    assert record_decision(store, decision, clock=clock) is None
    assert len(states(store)) == length


def test_a_decision_is_recorded_only_while_it_stands(store: Store, clock: Any) -> None:
    run = start(store, clock)
    decision = judge(store, clock)
    run.checkpoint("cp_02", state="s", step_name="pay")
    with pytest.raises(StaleDecision, match="judge again"):
        record_decision(store, decision, clock=clock)
    assert states(store) == []


def test_to_record_a_decision_does_not_void_it(store: Store, clock: Any) -> None:
    start(store, clock)
    clock.sleep(60)
    decision = judge(store, clock)
    now = format_time(decision.evaluated_at)
    record_decision(store, decision, clock=clock)
    assert api.guard(store, RUN, now=now).document() == decision.document()


def test_a_text_that_no_record_can_hold_is_refused_before_anything_is_written(
    store: Store, clock: Any
) -> None:
    start(store, clock)
    with pytest.raises(IllegalRecord):
        record_decision(store, judge(store, clock), holder="x" * 300, clock=clock)
    assert states(store) == []


def test_what_failed_is_kept_through_the_round_until_somebody_knows_better(store: Store, clock: Any) -> None:
    start(store, clock)
    clock.sleep(60)
    blame = {"failure_of": "infrastructure", "failure_evidence": "incident 7"}
    record_decision(store, judge(store, clock), clock=clock, **blame)  # type: ignore[arg-type]  # two texts
    record(store, clock)
    (episode,) = folded(store).episodes.values()
    assert (episode.failure_of, episode.excuses) == ("infrastructure", True)


def test_nothing_is_recorded_of_a_run_that_is_not_there(store: Store, clock: Any) -> None:
    start(store, clock)
    decision = judge(store, clock)
    for key in [entry.key for entry in store.list()]:
        store.delete(key)
    with pytest.raises(AbsentError):
        record_decision(store, decision, clock=clock)


def test_nothing_is_recorded_in_an_archive(archive: str, clock: Any) -> None:
    decision = api.guard(archive, RUN, now=format_time(clock()))
    with pytest.raises(UnsupportedError):
        record_decision(archive, decision, clock=clock)


@pytest.fixture
def archive(tmp_path: Path) -> str:
    Journal().begin().checkpoint(2).write(tmp_path / "store")
    shutil.make_archive(str(tmp_path / "archive"), "zip", tmp_path / "store")
    return f"zip://::{tmp_path / 'archive.zip'}"


def test_a_refused_resume_leaves_the_round_as_it_was(store: Store, clock: Any) -> None:
    doubt(start(store, clock))
    clock.sleep(60)
    record(store, clock)
    with pytest.raises(ResumeRefused):
        resume_run(store, RUN, holder="w2", clock=clock)
    assert states(store)[-1] == "reconciling"
