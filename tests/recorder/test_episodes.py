"""The machine of a recovery episode: what may follow, through the log; and how an attempt ended that nobody ended."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from crashing import kills

from safepoint import api
from safepoint.core.timestamp import format_time
from safepoint.model.attempts import fold_attempts
from safepoint.model.episodes import TRANSITIONS
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    IllegalRecord,
    RecordedRun,
    StaleDecision,
    record_decision,
    resume_run,
    start_run,
)
from safepoint.recorder.episode import RecoveryLog
from safepoint.store import Store

RUN = "run-1"
SPEC = Path(__file__).parents[2] / "SPEC.md"
WITH_EPOCH = {"claimed", "resuming", "probation", "recovered", "failedAttempt"}


def documented() -> dict[str | None, set[str]]:
    """The machine as SPEC.md draws it."""
    text = SPEC.read_text(encoding="utf-8").partition('<a id="recovery"></a>')[2]
    moves: dict[str | None, set[str]] = {None: {"detected"}}
    states: set[str] = set()
    for line in text.split("```")[1].strip().splitlines():
        *befores, last = [part.strip() for part in line.split("→")]
        if befores == ["any state that is not final"]:
            continue
        chain = [*befores, last]
        for before, after in pairwise(chain):
            names = {name.strip(" *") for name in after.split("|")}
            for name in before.split("|"):
                moves.setdefault(name.strip(" *"), set()).update(names)
            states |= names
    open_states = {name for name in moves if name is not None}
    for name in open_states:
        moves[name].add("superseded")
    return moves | {name: set() for name in (states | {"superseded"}) - open_states}


def test_the_machine_is_the_one_that_the_specification_draws() -> None:
    assert documented() == {state: set(following) for state, following in TRANSITIONS.items()}


def way_to(target: str | None) -> tuple[str, ...]:
    """Some way of legal states that ends in `target`."""
    ways: list[tuple[str, ...]] = [()]
    for way in ways:
        if (way[-1] if way else None) == target:
            return way
        ways += [(*way, state) for state in sorted(TRANSITIONS[way[-1] if way else None]) if state not in way]
    raise AssertionError(target)


MOVES = [(before, after) for before in TRANSITIONS for after in TRANSITIONS if after is not None]


@pytest.mark.parametrize(("before", "after"), MOVES)
def test_the_log_takes_a_legal_move_and_refuses_every_other(
    store: Store, clock: Any, before: str | None, after: str
) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", clock=clock)
    log = RecoveryLog(run._journal)

    def enter(state: str) -> None:
        epoch = {"leaseEpoch": 1} if state in WITH_EPOCH else {}
        log.append(lambda: {"recordType": "recovery", "episodeId": "ep", "state": state, **epoch})

    for state in way_to(before):
        enter(state)
    length = log.sequence
    if after in TRANSITIONS[before]:
        enter(after)
        assert log.episodes["ep"].state == after
    else:
        with pytest.raises(IllegalRecord, match="SP507"):
            enter(after)
        assert log.sequence == length


# attempts and their outcomes


def started(store: Store, clock: Any, **usage: int) -> RecordedRun:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="begin", next_steps=["pay"], usage=usage or None)
    clock.sleep(30)
    return run


def resume(store: Store, clock: Any, **more: Any) -> RecordedRun:
    return resume_run(store, RUN, holder="w2", ttl_seconds=10, clock=clock, **more)


def folded(store: Store) -> Run:
    found = load_run(store, RUN).run
    assert found is not None
    assert not found.faults
    return found


def findings(store: Store) -> list[str]:
    return [f"{finding.code} {finding.message}" for finding in api.findings_of(api.load(store, RUN))]


def ended(store: Store) -> list[tuple[str, str | None]]:
    return [(episode.state, episode.failed_by) for episode in folded(store).episodes.values()]


def test_an_attempt_counts_from_its_claim_wherever_its_process_dies(
    world: ModuleType, store: Store, clock: Any
) -> None:
    started(store, clock)
    before = dict(store.objects)  # type: ignore[attr-defined]  # a store in memory

    def again() -> Store:
        fresh: Store = world.MemoryStore()
        fresh.objects.update(before)  # type: ignore[attr-defined]  # a store in memory
        return fresh

    claimed = 0
    for _, left in kills(again, lambda watched: resume(watched, clock)):
        owner = folded(left).ownership
        assert owner is not None
        attempts = fold_attempts(folded(left))
        assert len(attempts) == owner.epoch - 1
        claimed += bool(attempts)
        clock.sleep(200)
        run = resume(left, clock)
        assert len(fold_attempts(folded(left))) == len(attempts) + 1
        if attempts:
            assert ended(left)[0] == ("failedAttempt", "recovery")
        run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
        run.complete()
        assert ended(left)[-1] == ("recovered", None)
        assert all(episode.ended for episode in folded(left).episodes.values())
        assert findings(left) == []
    assert claimed


def test_three_claims_that_left_no_word_spend_the_budget_without_progress(store: Store, clock: Any) -> None:
    started(store, clock)
    for _ in range(3):
        resume(store, clock)
        clock.sleep(600)
    for key in [key for key in store.objects if "/recovery/" in key]:  # type: ignore[attr-defined]  # in memory
        store.delete(key)
    now = format_time(clock())
    codes = {reason.code for reason in api.guard(store, RUN, now=now).reasons}
    assert "SP752" in codes


def test_the_next_owner_says_what_failed(store: Store, clock: Any) -> None:
    started(store, clock)
    resume(store, clock)  # dies before it gets to work
    clock.sleep(200)
    resume(store, clock).checkpoint("cp_02", state="s", step_name="pay", next_steps=["pay"])
    clock.sleep(200)
    blamed = resume(store, clock)
    clock.sleep(200)
    resume(store, clock, failure_of="infrastructure", failure_evidence="incident 7")
    assert blamed.epoch == 4
    assert ended(store) == [
        ("failedAttempt", "recovery"),
        ("failedAttempt", "step"),
        ("failedAttempt", "infrastructure"),
        ("resuming", None),
    ]
    assert [attempt.excused for attempt in fold_attempts(folded(store))] == [False, False, True, False]
    assert findings(store) == []


def test_an_attempt_that_lasted_long_has_recovered_the_run_although_its_process_died_later(
    store: Store, clock: Any
) -> None:
    started(store, clock)
    run = resume(store, clock)
    run.checkpoint("cp_02", state="s", step_name="pay", next_steps=["pay"])
    clock.sleep(700)
    with run.effect("look", step_name="pay", request={}, declares=Declares(effect="read")) as effect:
        effect.call(lambda: 1)
    clock.sleep(100)
    resume(store, clock)
    assert ended(store)[0] == ("recovered", None)
    assert findings(store) == []


@pytest.mark.parametrize(
    ("work", "failed"),
    [
        (lambda _run: None, "recovery"),
        (lambda run: run.fail(ValueError("no")), "step"),
        (lambda run: run.checkpoint("cp_02", state="s", step_name="pay", next_steps=["pay"]), "step"),
    ],
    ids=["nothing done", "the run failed", "a checkpoint"],
)
def test_an_exception_ends_the_attempt_with_what_failed(
    store: Store, clock: Any, work: Any, failed: str
) -> None:
    started(store, clock)

    def work_and_break() -> None:
        with resume(store, clock) as run:
            work(run)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work_and_break()
    assert ended(store) == [("failedAttempt", failed)]
    assert findings(store) == []


def test_an_episode_costs_what_the_checkpoints_count_more(store: Store, clock: Any) -> None:
    started(store, clock, tokens=100, costMicros=1000)
    run = resume(store, clock)
    run.checkpoint("cp_02", state="s", step_name="pay", usage={"tokens": 150, "costMicros": 1300})
    run.checkpoint("cp_03", state="s", step_name="pay", usage={"tokens": 900, "costMicros": 9000})
    run.complete()
    costs = {r.value["state"]: r.value.get("cost") for r in folded(store).recovery}
    assert costs["probation"] == {"tokens": 50, "costMicros": 300}
    assert costs["recovered"] == {"tokens": 800, "costMicros": 8000}
    (episode,) = folded(store).episodes.values()
    assert episode.cost_micros == 300  # behind its first checkpoint it is the run that goes on


def test_a_dead_attempts_cost_is_told_by_the_next_owner(store: Store, clock: Any) -> None:
    started(store, clock, costMicros=1000)
    resume(store, clock).checkpoint("cp_02", state="s", step_name="pay", usage={"costMicros": 1400})
    clock.sleep(200)
    resume(store, clock)
    first = next(iter(folded(store).episodes.values()))
    assert (first.state, first.cost_micros) == ("failedAttempt", 400)


def test_usage_in_another_currency_or_that_nobody_measured_is_no_cost(store: Store, clock: Any) -> None:
    started(store, clock)
    run = resume(store, clock)
    run.checkpoint("cp_02", state="s", step_name="pay", usage={"costMicros": 1400, "currency": "EUR"})
    run.complete()
    assert all("cost" not in record.value for record in folded(store).recovery)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"failure_of": "infrastructure"}, "failure_evidence"),
        ({"failure_of": "weather"}, "expected one of step, recovery, infrastructure"),
        ({"failure_evidence": "incident 7"}, "say with failure_of"),
    ],
)
def test_nobody_is_blamed_without_evidence(
    store: Store, clock: Any, said: dict[str, str], wrong: str
) -> None:
    started(store, clock)
    with pytest.raises(ValueError, match=wrong):
        resume(store, clock, **said)
    assert not folded(store).recovery


def test_the_proof_of_a_death_is_evidence_for_the_infrastructures_failure(store: Store, clock: Any) -> None:
    started(store, clock)
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "node host-a was lost", "observedAt": now}
    facts = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now, "owners": [owner]}
    resume(store, clock, facts=facts, failure_of="infrastructure")
    assert folded(store).recovery[-1].value["failureEvidence"] == "node host-a was lost"


def test_two_that_take_up_the_same_round_have_one_winner(world: ModuleType, store: Store, clock: Any) -> None:
    started(store, clock)
    record_decision(store, api.guard(store, RUN, now=format_time(clock())), clock=clock)
    winners: list[RecordedRun] = []
    puts = [0]

    def hook(moment: str) -> None:
        puts[0] += moment == "before put"
        if puts[0] == 2 and not winners:
            winners.append(resume(store, clock))

    with pytest.raises(StaleDecision, match="judge again"):
        resume(world.HookedStore(store, hook), clock)
    (episode,) = folded(store).episodes.values()
    assert (episode.state, episode.epoch) == ("resuming", 2)
    winners[0].complete()
    assert findings(store) == []
