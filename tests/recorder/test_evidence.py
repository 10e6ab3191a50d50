"""A human's answer: the way out of a doubt that neither a key nor a probe can end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import safepoint
from safepoint import rules
from safepoint.core.timestamp import SECOND, format_time
from safepoint.guard import Decision
from safepoint.model.journal import Ownership
from safepoint.model.run import Run
from safepoint.reader import load_run
from safepoint.recorder import (
    Declares,
    IllegalRecord,
    RecordedRun,
    RecorderError,
    ResolutionRefused,
    ResumeRefused,
    RunEnded,
    StaleDecision,
    resolve_action,
    resume_run,
    start_run,
)
from safepoint.recorder.journal import Journal
from safepoint.store import AbsentError, Store

RUN = "run-1"
LAPSED = 21
"""Seconds: the lease of 10 s and twice the skew of 5 s are over."""


@pytest.fixture
def crashed(store: Store, clock: Any) -> RecordedRun:
    """An unkeyed, unprobed mail was attempted, and its worker was never heard of again."""
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    run.checkpoint("cp-1", state="s", step_name="begin", next_steps=["notify"])
    with pytest.raises(KeyboardInterrupt):
        mail(run, lambda: raise_(KeyboardInterrupt()))
    return run


def mail(run: RecordedRun, function: Any) -> Any:
    declares = Declares(effect="message")
    with run.effect("mail", step_name="notify", request={"to": "x"}, declares=declares) as effect:
        return effect.call(function)


def raise_(error: BaseException) -> None:
    raise error


def answer(store: Store, clock: Any, outcome: Any, **options: Any) -> None:
    resolve_action(
        store,
        RUN,
        "mail",
        **{"outcome": outcome, "by": "ann", "evidence": "ticket 7", **options},
        clock=clock,
    )


def judged(store: Store, clock: Any, **options: Any) -> Decision:
    return safepoint.guard(store, RUN, now=clock(), **options)


def sound(store: Store) -> Run:
    scan = load_run(store, RUN)
    assert scan.run is not None
    found = [fault.code for fault in (*scan.faults, *rules.check(scan.run))]
    # SP524: where a checkpoint is due is the agent's business, and these agents take few.
    assert [code for code in found if code != "SP524"] == []
    return scan.run


def plan(decision: Decision) -> dict[str, str]:
    return {item.action_id: item.do for item in decision.plan if item.action_id}


def dead(clock: Any, **more: Any) -> dict[str, Any]:
    now = format_time(clock())
    owner = {"leaseEpoch": 1, "state": "dead", "proof": "waitpid", "observedAt": now}
    common = {"recordType": "facts", "schemaVersion": "v3", "runId": RUN, "observedAt": now}
    return {**common, "owners": [owner], **more}


@pytest.mark.usefixtures("crashed")
def test_what_a_human_says_did_not_happen_is_replayed(store: Store, clock: Any) -> None:
    clock.sleep(LAPSED)
    assert judged(store, clock).verdict == "hand_over"
    answer(store, clock, "failed", reason="their log has no such mail", facts=dead(clock))
    lease, said, released = (record.value for record in sound(store).records[-3:])
    assert (lease["event"], lease["purpose"], lease["holder"]) == ("claimed", "resolution", "ann")
    assert (said["status"], said["leaseEpoch"], said["attempt"]["number"]) == ("failed", 2, 1)
    assert said["evidence"] | {"observedAt": ""} == {
        "kind": "human",
        "ref": "ticket 7",
        "by": "ann",
        "observedAt": "",
    }
    assert said["error"]["message"] == "their log has no such mail"
    assert released["event"] == "released"
    decision = judged(store, clock)
    assert (decision.verdict, plan(decision)) == ("resume", {"mail": "replay"})
    run = resume_run(store, RUN, holder="w2", clock=clock)
    assert run.next_steps == ("notify",)
    assert mail(run, lambda: "sent") == "sent"
    run.complete()
    assert sound(store).status == "completed"


@pytest.mark.usefixtures("crashed")
def test_what_a_human_says_happened_is_skipped(store: Store, clock: Any) -> None:
    answer(store, clock, "committed")  # a positive answer disturbs no owner, so that it need not wait for one
    said = sound(store).records[-1].value
    assert (said["recordType"], said["leaseEpoch"], said["kind"], said["by"]) == (
        "evidence",
        0,
        "human",
        "ann",
    )
    clock.sleep(LAPSED)
    decision = judged(store, clock)
    assert (decision.verdict, plan(decision)) == ("resume", {"mail": "skip"})
    run = resume_run(store, RUN, holder="w2", clock=clock)
    assert mail(run, lambda: pytest.fail("sent twice")) is None


@pytest.mark.usefixtures("crashed")
def test_what_a_human_gave_up_on_stops_the_run_unless_the_policy_lets_it_pass(
    store: Store, clock: Any
) -> None:
    clock.sleep(LAPSED)
    answer(store, clock, "abandoned", reason="the provider is gone")
    said = sound(store).records[-2].value
    assert (said["status"], said["evidence"]["by"]) == ("abandoned", "ann")
    assert judged(store, clock).verdict == "hand_over"
    policy = {"abandonedMaySkip": True}
    decision = judged(store, clock, policy=policy)
    assert (decision.verdict, plan(decision)) == ("resume", {"mail": "skip"})
    run = resume_run(store, RUN, holder="w2", policy=policy, clock=clock)
    assert mail(run, lambda: pytest.fail("sent")) is None


@pytest.mark.usefixtures("crashed")
def test_who_gave_up_may_still_learn_that_it_happened(store: Store, clock: Any) -> None:
    clock.sleep(LAPSED)
    answer(store, clock, "abandoned")
    answer(store, clock, "committed")
    assert sound(store).actions["mail"].status == "committed"
    with pytest.raises(IllegalRecord, match=r"mail is committed, as ann said at .*: there is no doubt"):
        answer(store, clock, "committed")


@pytest.mark.usefixtures("crashed")
@pytest.mark.parametrize("outcome", ["failed", "abandoned"])
def test_an_answer_that_a_living_owner_could_contradict_waits(store: Store, clock: Any, outcome: str) -> None:
    before = list(store.list())
    with pytest.raises(ResolutionRefused, match=r"SP721 .*prove it dead") as refused:
        answer(store, clock, outcome)
    assert refused.value.decision.not_before is not None
    assert list(store.list()) == before
    answer(store, clock, outcome, facts=dead(clock))
    assert sound(store).actions["mail"].status == outcome


def test_a_lapsed_lease_does_not_prove_that_a_call_is_over(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    applied: list[str] = []

    def slow() -> None:
        applied.append("the provider has it")
        clock.sleep(100)
        with pytest.raises(ResolutionRefused, match="a lapsed lease is no proof"):
            answer(store, clock, "failed")
        resume_run(store, RUN, holder="w2", clock=clock)

    with pytest.raises(ResumeRefused, match="SP766"):
        mail(run, slow)
    assert applied
    assert sound(store).actions["mail"].status == "inDoubt"


def test_who_said_itself_that_its_call_is_over_need_not_be_proven_dead(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    with pytest.raises(OSError, match="lost"):
        mail(run, lambda: raise_(OSError("lost")))
    clock.sleep(LAPSED)
    answer(store, clock, "failed")
    assert sound(store).actions["mail"].status == "failed"


def test_an_answer_that_no_record_can_hold_costs_no_epoch(store: Store, clock: Any, crashed: Any) -> None:
    clock.sleep(LAPSED)
    length = len(sound(store).records)
    for bad in ({"reason": "x" * 9000}, {"by": ""}):
        with pytest.raises(IllegalRecord, match="does not fit the format"):
            answer(store, clock, "failed", facts=dead(clock), **bad)
    assert len(sound(store).records) == length
    assert crashed.epoch == 1


def test_an_answer_while_the_worker_is_at_it_does_not_disturb_the_worker(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)

    def answered() -> str:
        answer(store, clock, "committed")
        return "sent"

    assert mail(run, answered) == "sent"
    run.complete()
    assert sound(store).actions["mail"].status == "committed"


def test_a_lost_answer_behind_a_humans_yes_leaves_no_doubt(store: Store, clock: Any) -> None:
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)

    def answered() -> None:
        answer(store, clock, "committed")
        raise OSError("lost")

    with pytest.raises(OSError, match="lost") as error:
        mail(run, answered)
    assert not hasattr(error.value, "__notes__")
    assert sound(store).actions["mail"].status == "committed"


def test_every_attempt_in_doubt_is_answered(store: Store, clock: Any) -> None:
    keyed = Declares(effect="payment", idempotency="keyed", dedupe_window_seconds=1000)
    run = start_run(store, RUN, workflow="w", holder="w1", ttl_seconds=10, clock=clock)
    for _ in range(2):
        with pytest.raises(OSError, match="lost"):
            run.effect("mail", step_name="s", request=1, key="k", declares=keyed).call(
                raise_, OSError("lost")
            )
    clock.sleep(LAPSED)
    answer(store, clock, "failed")
    action = sound(store).actions["mail"]
    assert [attempt.status for attempt in action.attempts] == ["failed", "failed"]
    assert judged(store, clock).verdict == "resume"


def test_what_is_open_behind_the_end_of_a_run_can_be_resolved(
    store: Store, clock: Any, crashed: RecordedRun
) -> None:
    crashed.fail(reason="gave up")
    clock.sleep(LAPSED)
    answer(store, clock, "failed", facts=dead(clock))
    run = sound(store)
    assert (run.status, run.actions["mail"].status) == ("failed", "failed")


def test_a_completed_run_with_a_doubt_is_done_once_the_doubt_is_resolved(
    store: Store, clock: Any, crashed: RecordedRun
) -> None:
    crashed.complete()
    clock.sleep(LAPSED)
    answer(store, clock, "failed", facts=dead(clock))
    assert sound(store).status == "completed"
    assert judged(store, clock).verdict == "no_op"


@pytest.mark.usefixtures("crashed")
def test_a_resolution_is_no_recovery(store: Store, clock: Any) -> None:
    clock.sleep(LAPSED)
    answer(store, clock, "failed", facts=dead(clock))
    owner = sound(store).ownership
    assert owner is not None
    assert (owner.epoch, owner.recoveries, owner.released) == (2, (), True)


def test_a_resolution_stays_on_the_branch(store: Store, clock: Any, crashed: RecordedRun) -> None:
    crashed.checkpoint("cp-2", state="s", step_name="notify", next_steps=[])
    clock.sleep(LAPSED)
    answer(store, clock, "committed")
    request = {"recordType": "request", "schemaVersion": "v3", "goal": "continue", "checkpointId": "cp-1"}
    run = resume_run(store, RUN, holder="w2", ttl_seconds=10, request=request, clock=clock)
    with pytest.raises(OSError, match="lost"), run.effect("post", step_name="notify", request=1) as effect:
        effect.call(raise_, OSError("lost"))
    clock.sleep(LAPSED)
    resolve_action(store, RUN, "post", outcome="failed", by="ann", clock=clock)
    after = sound(store)
    assert after.branch == "branch-2"
    assert after.newest_checkpoint is not None
    assert after.newest_checkpoint.value["checkpointId"] == "cp-1"


@pytest.mark.usefixtures("crashed")
def test_only_what_is_in_doubt_can_be_resolved(store: Store, clock: Any) -> None:
    clock.sleep(LAPSED)
    with pytest.raises(RecorderError, match="no effect mial; its effects are: mail"):
        resolve_action(store, RUN, "mial", outcome="failed", by="ann", clock=clock)
    with pytest.raises(AbsentError):
        resolve_action(store, "run-2", "mail", outcome="failed", by="ann", clock=clock)
    answer(store, clock, "committed")
    length = len(sound(store).records)
    with pytest.raises(IllegalRecord, match="no doubt to resolve as failed"):
        answer(store, clock, "failed")
    assert len(sound(store).records) == length


def test_a_sealed_run_is_resolved_where_it_went(store: Store, clock: Any, crashed: RecordedRun) -> None:
    seal = {
        "recordType": "run",
        "status": "sealed",
        "successor": {"uri": "s3://elsewhere/runs", "runId": RUN},
    }
    crashed._journal.append_owned(lambda: seal)
    with pytest.raises(RunEnded, match="another copy"):
        answer(store, clock, "committed")


@pytest.mark.usefixtures("crashed")
def test_a_damaged_journal_is_not_added_to(world: Any, store: Store, clock: Any) -> None:
    clock.sleep(LAPSED)
    damaged = world.MemoryStore()
    damaged.objects = {key: data for key, data in store.objects.items() if "0003.json" not in key}  # type: ignore[attr-defined]  # the stand-in has it
    with pytest.raises(ResolutionRefused, match=r"SP301 .*repair"):
        answer(damaged, clock, "committed")
    packed = world.MemoryStore()
    lines = [store.get(entry.key) for entry in store.list("runs/run-1/journal/")]
    packed.put_if_absent("runs/run-1/journal.jsonl", b"".join(line + b"\n" for line in lines))
    with pytest.raises(ResolutionRefused, match="SP707"):
        answer(packed, clock, "failed")
    head = sound(store).head
    facts = dead(clock, heads={"journal": {"sequence": head.sequence, "digest": head.digest}})
    with pytest.raises(RecorderError, match="one object a record"):
        answer(packed, clock, "failed", facts=facts)


@pytest.mark.usefixtures("crashed")
def test_who_loses_the_claim_looks_again(world: Any, store: Store, clock: Any) -> None:
    clock.sleep(LAPSED)
    winners: list[RecordedRun] = []

    def hook(moment: str) -> None:
        if moment == "before put" and not winners:
            answer(store, clock, "failed", facts=dead(clock))
            winners.append(resume_run(store, RUN, holder="w2", clock=clock))

    with pytest.raises(StaleDecision):
        answer(world.HookedStore(store, hook), clock, "abandoned")
    assert sound(store).actions["mail"].status == "failed"


@pytest.mark.usefixtures("crashed")
def test_facts_and_policy_of_a_resolution_pass_the_gate(store: Store, clock: Any, tmp_path: Path) -> None:
    facts = dead(clock)
    del facts["owners"][0]["proof"]
    with pytest.raises(safepoint.InputRefusedError, match="SP202"):
        answer(store, clock, "failed", facts=facts)
    (tmp_path / "policy.toml").write_text("leaseSeconds = 7\n")
    clock.sleep(LAPSED)
    answer(store, clock, "failed", facts=dead(clock), policy=tmp_path / "policy.toml")
    lease = next(r.value for r in reversed(sound(store).records) if r.value.get("purpose") == "resolution")
    assert lease["ttlSeconds"] * SECOND == 7 * SECOND


def test_a_run_without_leases_is_claimed_behind_its_last_epoch(store: Store, clock: Any) -> None:
    journal = Journal(store, RUN, nonce="0" * 32, clock=clock)
    journal.append_unowned({"recordType": "run", "status": "started"})
    start, end = format_time(clock()), format_time(clock() + SECOND)
    begun = {
        "recordType": "ledger",
        "leaseEpoch": 1,
        "status": "attempting",
        "actionId": "mail",
        "stepName": "notify",
        "idempotencyKey": None,
        "attempt": {"number": 1, "startedAt": start, "deadline": end},
        "declares": Declares(effect="message").document(),
    }
    journal.append(lambda: begun)
    clock.sleep(LAPSED)
    answer(store, clock, "failed", facts=dead(clock))
    assert [(lease.epoch, lease.value["purpose"]) for lease in owned(store).leases] == [(2, "resolution")]
    run = resume_run(store, RUN, holder="w2", clock=clock)
    assert run.epoch == 3
    assert sound(store).actions["mail"].status == "failed"


def owned(store: Store) -> Ownership:
    found = sound(store).ownership
    assert found is not None
    return found
