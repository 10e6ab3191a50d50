"""Going on with a run: the guard is asked, one claim wins, the old owner is fenced, and the recovery log tells."""

from __future__ import annotations

from threading import Barrier, Thread
from types import ModuleType
from typing import Any

import pytest
from resumed import RUN, dead, folded, resume, start

from safepoint.core.digest import digest_value
from safepoint.core.timestamp import format_time
from safepoint.recorder import (
    Declares,
    Fenced,
    InDoubt,
    RecordedRun,
    RecorderError,
    ResumeRefused,
    RunEnded,
    StaleDecision,
    TooLate,
    start_run,
)
from safepoint.store import AbsentError, Store, open_store

PROBED = Declares(effect="payment", probe="byQuery")
KEYED = Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=86_400)


def states(store: Store) -> list[str]:
    return [str(record.value["state"]) for record in folded(store).recovery]


def test_a_live_owner_is_not_disturbed_and_nothing_is_written(store: Store, clock: Any) -> None:
    start(store, clock)
    before = list(store.list())
    with pytest.raises(ResumeRefused, match="wait") as refused:
        resume(store, clock, facts=None)
    assert refused.value.decision.not_before is not None
    assert list(store.list()) == before


def test_a_lapsed_lease_needs_no_facts(store: Store, clock: Any) -> None:
    start(store, clock)
    clock.sleep(21)
    assert resume(store, clock, facts=None).epoch == 2


def test_an_absent_run_is_said_to_be_absent(store: Store, clock: Any) -> None:
    with pytest.raises(AbsentError):
        resume(store, clock)


def test_the_claim_names_the_decision_that_it_acts_on(store: Store, clock: Any) -> None:
    start(store, clock)
    run = resume(store, clock)
    assert run.decision is not None
    lease = folded(store).records[-1]
    assert lease.sequence == (run.decision.head_sequence or 0) + 1
    assert lease.value["authorization"] == digest_value(run.decision.document())
    assert lease.value["purpose"] == "recovery"
    assert (run.epoch, run.input, run.next_steps) == (2, {"n": 1}, ("pay",))


def test_the_old_owner_wakes_up_fenced_and_sends_nothing(store: Store, clock: Any) -> None:
    old = start(store, clock)
    resume(store, clock)
    length = len(folded(store).records)
    with pytest.raises(Fenced), old.effect("pay", step_name="pay", request={}) as effect:
        effect.call(lambda: pytest.fail("sent by a fenced owner"))
    for write in (old.complete, old.release, old.beat, old.fail):
        with pytest.raises(Fenced):
            write()
    assert len(folded(store).records) == length


def test_an_answer_that_comes_behind_the_fence_is_recorded_as_evidence(store: Store, clock: Any) -> None:
    old = start(store, clock)

    def overtaken() -> None:
        clock.sleep(60)
        resume(store, clock, facts=dead(clock, 1), policy={"leaseSeconds": 10})

    with (
        pytest.raises(Fenced) as fenced,
        old.effect("pay", step_name="pay", request={}, key="k", declares=KEYED) as e,
    ):
        e.call(overtaken)
    assert "was applied all the same" in fenced.value.__notes__[0]
    assert folded(store).records[-1].kind == "evidence"
    assert folded(store).actions["pay"].status == "committed"


def test_of_two_that_judge_the_same_journal_one_claims_it(
    world: ModuleType, store: Store, clock: Any
) -> None:
    start(store, clock)
    winners: list[RecordedRun] = []
    puts = [0]

    def hook(moment: str) -> None:
        puts[0] += moment == "before put"
        # the second put is the first record of its episode: it has judged, and not claimed yet
        if puts[0] == 2 and not winners:
            winners.append(resume(store, clock, holder="w3"))

    with pytest.raises(StaleDecision):
        resume(world.HookedStore(store, hook), clock)
    run = folded(store)
    assert winners[0].epoch == 2
    assert [lease.value["holder"] for lease in run.ownership.leases] == ["w1", "w3"]  # type: ignore[union-attr]  # None fails as well
    loser = next(episode for episode in run.episodes.values() if episode.writer != winners[0]._journal.nonce)
    assert loser.state == "superseded"


def test_threads_that_race_on_disk_have_one_winner(clock: Any, tmp_path: Any) -> None:
    store = open_store(str(tmp_path))
    start(store, clock)
    facts = dead(clock, 1)
    gate, winners, losers = Barrier(4), [], []

    def race(name: int) -> None:
        gate.wait()
        try:
            winners.append(resume(store, clock, holder=f"w{name}", facts=facts))
        except (StaleDecision, ResumeRefused) as lost:
            losers.append(lost)

    threads = [Thread(target=race, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(winners), len(losers)) == (1, 3)
    assert len(folded(store).ownership.leases) == 2  # type: ignore[union-attr]  # None fails as well


def test_a_decision_is_void_when_its_time_is_over(world: ModuleType, store: Store, clock: Any) -> None:
    start(store, clock)

    def hook(moment: str) -> None:
        puts.append(moment == "after put")
        if sum(puts) == 2 and puts[-1]:  # the first record of its episode: it has judged, and not claimed yet
            clock.sleep(1000)  # beyond the age of facts

    puts: list[bool] = []
    with pytest.raises(StaleDecision, match="no longer valid"):
        resume(world.HookedStore(store, hook), clock)
    assert states(store)[-1] == "superseded"


def test_a_replay_that_comes_after_the_decisions_time_is_not_sent(store: Store, clock: Any) -> None:
    old = start(store, clock)
    with pytest.raises(OSError, match="lost"):
        pay(old, lambda: raise_(OSError("lost")), KEYED)
    run = resume(store, clock)
    clock.sleep(1000)
    with pytest.raises(TooLate):
        pay(run, lambda: pytest.fail("sent"), KEYED)


def test_an_effect_of_an_earlier_owner_is_answered_from_the_ledger(store: Store, clock: Any) -> None:
    pay(start(store, clock), lambda: {"paid": 5}, PROBED)
    assert pay(resume(store, clock), lambda: pytest.fail("paid twice"), PROBED) == {"paid": 5}


def test_a_keyed_doubt_is_replayed_with_the_cut_off_of_its_first_attempt(store: Store, clock: Any) -> None:
    old = start(store, clock)
    with pytest.raises(OSError, match="lost"):
        pay(old, lambda: raise_(OSError("lost")), KEYED)
    run = resume(store, clock)
    assert pay(run, lambda: "paid", KEYED) == "paid"
    first, second = folded(store).actions["pay"].attempts
    assert (second.number, second.epoch, second.send_before) == (2, 2, first.send_before)


def test_a_doubt_that_the_plan_does_not_replay_is_not_sent(store: Store, clock: Any) -> None:
    old = start(store, clock)
    with pytest.raises(OSError, match="lost"):
        pay(old, lambda: raise_(OSError("lost")), KEYED)
    run = resume(store, clock)
    run._plan = type(run._plan)({}, None)
    with pytest.raises(InDoubt, match="nothing for it"):
        pay(run, lambda: pytest.fail("sent"), KEYED)


def test_a_probe_that_found_it_becomes_evidence(store: Store, clock: Any) -> None:
    old = start(store, clock)
    with pytest.raises(OSError, match="lost"):
        pay(old, lambda: raise_(OSError("lost")), PROBED)
    now = format_time(clock())
    found = {"result": "applied", "consistency": "strong", "observedAt": now, "externalRef": "p-1"}
    run = resume(store, clock, facts=dead(clock, 1, probes={"pay": found}))
    assert folded(store).records[-1].kind == "evidence"
    assert pay(run, lambda: pytest.fail("paid twice"), PROBED) is None
    assert folded(store).actions["pay"].external_ref in {None, "p-1"}


def test_a_probe_that_proves_absence_ends_the_attempt_before_another_begins(store: Store, clock: Any) -> None:
    old = start(store, clock)
    with pytest.raises(OSError, match="lost"):
        pay(old, lambda: raise_(OSError("lost")), PROBED)
    facts = dead(clock, 1)
    clock.sleep(60)
    now = format_time(clock())
    probe = {"result": "notApplied", "consistency": "strong", "observedAt": now}
    facts |= {"observedAt": now, "probes": {"pay": probe}}
    run = resume(store, clock, facts=facts)
    assert pay(run, lambda: "paid", PROBED) == "paid"
    assert [attempt.status for attempt in folded(store).actions["pay"].attempts] == ["failed", "committed"]


def test_the_recovery_log_tells_of_a_recovery_that_held(store: Store, clock: Any) -> None:
    start(store, clock)
    with resume(store, clock) as run:
        run.checkpoint("cp_02", state="s", step_name="pay", next_steps=[])
        assert states(store)[-1] == "probation"
        run.complete()
    assert states(store) == [
        *("detected", "assessing", "authorized", "claimed", "resuming", "probation", "recovered"),
    ]
    last = folded(store).recovery[-1].value
    assert (last["attemptNumber"], last["failureOf"], last["leaseEpoch"]) == (1, "step", 2)
    assert last["fromCheckpointId"] == "cp_01"


def test_a_long_probation_ends_with_a_stable_checkpoint(store: Store, clock: Any) -> None:
    start(store, clock)
    run = resume(store, clock)
    run.checkpoint("cp_02", state="s", step_name="pay")
    clock.sleep(601)
    run.checkpoint("cp_03", state="s", step_name="pay")
    assert states(store)[-1] == "recovered"
    run.fail(reason="a later failure is another story")
    assert states(store)[-1] == "recovered"


def test_an_exception_ends_the_attempt_and_gives_the_lease_back(store: Store, clock: Any) -> None:
    start(store, clock)
    with pytest.raises(ValueError, match="broken"), resume(store, clock):
        raise ValueError("broken")
    run = folded(store)
    assert states(store)[-1] == "failedAttempt"
    assert run.ownership is not None
    assert run.ownership.released
    clock.sleep(60)
    again = resume(store, clock, holder="w3")
    assert again.epoch == 3
    assert folded(store).recovery[-1].value["failureOf"] == "recovery"


def test_an_episode_that_never_claimed_is_superseded_by_the_next(
    world: ModuleType, store: Store, clock: Any
) -> None:
    start(store, clock)
    puts = world.Countdown(3, lambda: raise_(world.CrashError()))

    def hook(moment: str) -> None:
        if moment == "before put":
            puts(moment)

    with pytest.raises(world.CrashError):
        resume(world.HookedStore(store, hook), clock)
    assert states(store) == ["detected"]
    clock.sleep(100)
    resume(store, clock)
    assert {episode.state for episode in folded(store).episodes.values()} == {"superseded", "resuming"}


def test_a_failed_run_may_be_taken_up_again(store: Store, clock: Any) -> None:
    old = start(store, clock)
    old.fail(ValueError("bad input"), reason="the customer is gone")
    with pytest.raises(RunEnded):
        old.checkpoint("cp_02", state="s", step_name="s")
    assert folded(store).status == "failed"
    run = resume(store, clock)
    assert folded(store).recovery[0].value["trigger"] == "runFailed"
    run.complete()
    assert folded(store).status == "completed"


def test_a_completed_run_is_not_resumed(store: Store, clock: Any) -> None:
    start(store, clock).complete()
    with pytest.raises(ResumeRefused, match="no_op"):
        resume(store, clock)


def test_going_on_from_an_older_checkpoint_is_a_declared_fork(store: Store, clock: Any) -> None:
    old = start(store, clock)
    old.checkpoint("cp_02", state="s", step_name="pay", next_steps=["note"])
    request = {"recordType": "request", "schemaVersion": "v3", "goal": "continue", "checkpointId": "cp_01"}
    run = resume(store, clock, request=request)
    assert run.next_steps == ("pay",)
    run.checkpoint("cp_02b", state="s", step_name="pay")
    newest = folded(store).newest_checkpoint
    assert newest is not None
    assert newest.value["parentCheckpointId"] == "cp_01"
    assert newest.value["branch"] == "branch-2"


def test_the_guard_context_is_recorded_with_every_checkpoint(store: Store, clock: Any) -> None:
    old_code, new_code = digest_value("code 1"), digest_value("code 2")
    run = start_run(store, RUN, workflow="w", holder="w1", guard_context={"workflow": old_code}, clock=clock)
    run.checkpoint("cp_01", state="s", step_name="a")
    with pytest.raises(ResumeRefused, match="SP730"):
        resume(store, clock, facts=dead(clock, 1, guardContext={"workflow": new_code}))
    policy = {"guardContext": {"workflow": "warn"}}
    again = resume(store, clock, facts=dead(clock, 1, guardContext={"workflow": new_code}), policy=policy)
    again.checkpoint("cp_02", state="s", step_name="b")
    first, second = folded(store).checkpoints
    assert first.value["guardHash"] == digest_value({"workflow": old_code})
    assert second.value["guardContext"] == {"workflow": new_code}


def test_a_journal_in_one_file_cannot_be_claimed(world: ModuleType, store: Store, clock: Any) -> None:
    start(store, clock)
    lines = [store.get(entry.key) for entry in store.list("runs/run-1/journal/")]
    packed = world.MemoryStore()
    packed.put_if_absent("runs/run-1/journal.jsonl", b"".join(line + b"\n" for line in lines))
    head = folded(store).head
    facts = dead(clock, 1, heads={"journal": {"sequence": head.sequence, "digest": head.digest}})
    with pytest.raises(RecorderError, match="one object a record"):
        resume(packed, clock, facts=facts)


def pay(run: RecordedRun, function: Any, declares: Declares) -> Any:
    key = "k" if declares.idempotency == "keyed" else None
    with run.effect("pay", step_name="pay", request={"amount": 5}, key=key, declares=declares) as effect:
        return effect.call(function)


def raise_(error: BaseException) -> None:
    raise error


def test_a_read_is_done_again_where_the_world_moved_and_the_policy_says_so(store: Store, clock: Any) -> None:
    read = Declares(effect="read")
    old = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, input={}, clock=clock)
    with old.effect("look", step_name="look", request={"of": "doc"}, key=None, declares=read) as effect:
        assert effect.call(lambda: "seven") == "seven"
    moved = {"type": "externalVersion", "subject": "doc", "expected": "7"}
    old.checkpoint("cp_01", state="s", step_name="look", next_steps=["use"], resume_preconditions=[moved])
    seen = {"doc": {"version": "8", "value": None, "observedAt": format_time(clock())}}
    policy = {"recordType": "policy", "schemaVersion": "v3", "externalMoved": "rerun_reads"}
    run = resume(store, clock, facts=dead(clock, 1, external=seen), policy=policy)
    for _ in range(2):
        with run.effect("look", step_name="look", request={"of": "doc"}, key=None, declares=read) as effect:
            assert effect.call(lambda: "eight") == "eight"
    action = folded(store).actions["look"]
    assert [(attempt.epoch, attempt.status) for attempt in action.attempts] == [
        (1, "committed"),
        (2, "committed"),
    ]
