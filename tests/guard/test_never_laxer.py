"""Readings of a run that were once too lax, or could be: each must not give leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from journals import Journal, at, declares, digest, nonce
from questions import KEYED, NATURAL, PAY, PROBED, dead, facts, judge, not_found, request, started


def asked(journal: Journal, seconds: float, *events: str, name: str = "ap-1", **members: Any) -> Journal:
    for number, event in enumerate(events):
        value = {
            "approvalId": name,
            "event": event,
            "contentDigest": digest("f"),
            "actor": "eve",
            "expiresAt": at(3600),
        }
        if "checkpointId" not in members:
            value["actionId"] = "send"
        journal.add("approval", seconds + number / 10, **{**value, **members})
    return journal


def resolved_too_early() -> Journal:
    evidence = {"kind": "probe", "ref": None, "by": None, "observedAt": at(4)}
    error = {"class": "Refused", "message": None, "retryable": True, "sent": "unknown"}
    return started().ledger(3, "attempting").ledger(4, "failed", evidence=evidence, error=error)


def stretched() -> Journal:
    attempt = {"number": 1, "startedAt": at(100_000), "deadline": at(100_030)}
    window = declares(idempotency="keyed", dedupeWindowSeconds=100)
    return started().ledger(3, "attempting", declares=window, attempt=attempt)


def interleaved_without_leases() -> Journal:
    journal = Journal().add("run", 0, status="started", workflow="publish").checkpoint(1, epoch=1)
    journal.ledger(2, "attempting", epoch=2).ledger(3, "committed", epoch=2)
    return journal.ledger(4, "planned", "other", epoch=1)


def foreign_outcome() -> Journal:
    journal = (
        started().ledger(3, "attempting").claim(100, purpose="recovery").ledger(101, "committed", epoch=1)
    )
    journal.values[-1]["nonce"] = nonce(77)
    return journal


def failed(error: str) -> Journal:
    detail = {"class": error, "message": None, "retryable": True, "sent": "yes"}
    return started().ledger(3, "attempting").ledger(4, "failed", error=detail)


JOURNALS: dict[str, tuple[Callable[[], Journal], str]] = {
    "a probe that was made before the deadline": (resolved_too_early, "SP405"),
    "a start in the future does not stretch the cut-off": (stretched, "SP767"),
    "a wish to stop outlives a failure": (
        lambda: started().add("run", 5, status="cancelRequested").add("run", 6, status="failed"),
        "SP714",
    ),
    "a wish to stop a failed run": (
        lambda: started().add("run", 5, status="failed").add("run", 6, status="cancelRequested"),
        "SP714",
    ),
    "a gate is not passed by another question": (
        lambda: asked(
            started().ledger(3, "attempting").ledger(4, "committed"), 5, "requested", "granted"
        ).checkpoint(7, "cp-2", reason="humanGate"),
        "SP784",
    ),
    "an approval does not carry over to a fork": (
        lambda: (
            asked(started(), 3, "requested", "granted")
            .checkpoint(5, "cp-2")
            .claim(100, purpose="recovery", forkFrom={"checkpointId": "cp-1"}, branch="b")
            .ledger(101, "planned")
        ),
        "SP785",
    ),
    "an approval for another branch": (
        lambda: asked(started(), 3, "requested", "granted", branch="other").ledger(5, "planned"),
        "SP785",
    ),
    "an approval without a recorded request to compare": (
        lambda: asked(started(), 3, "requested", "granted").ledger(6, "planned", requestFingerprint=None),
        "SP783",
    ),
    "an answer about another action": (
        lambda: asked(asked(started(), 3, "requested"), 4, "granted", actionId="other").ledger(6, "planned"),
        "SP505",
    ),
    "the last word on an action is a refusal": (
        lambda: asked(
            asked(
                asked(started().ledger(3, "planned"), 4, "requested"), 5, "requested", "granted", name="ap-2"
            ),
            7,
            "rejected",
        ),
        "SP781",
    ),
    "a checkpoint on an undeclared branch": (lambda: started().checkpoint(3, "cp-2", branch="b"), "SP310"),
    "a fork from nowhere": (
        lambda: started().claim(100, purpose="recovery", forkFrom={"checkpointId": "nope"}, branch="b"),
        "SP308",
    ),
    "a lease on an undeclared branch": (
        lambda: started().claim(100, purpose="recovery", branch="typo"),
        "SP310",
    ),
    "a writer that had released its lease": (
        lambda: started().add("lease", 3, event="released").ledger(4, "attempting", declares=KEYED),
        "SP306",
    ),
    "another recovery by its own time to live": (
        lambda: started().recover(100, "detected", ttlSeconds=600),
        "SP722",
    ),
    "a roll-back over an effect that cannot be undone": (
        lambda: (
            started()
            .ledger(3, "attempting", "pay", declares=PAY)
            .ledger(4, "committed", "pay")
            .ledger(5, "attempting")
            .ledger(6, "committed")
            .ledger(7, "compensating", "pay")
        ),
        "SP743",
    ),
    "a doubt is not compensated without using up the key": (
        lambda: started().ledger(3, "attempting").ledger(4, "inDoubt").ledger(5, "compensating"),
        "SP401",
    ),
    "compensated without a compensation": (
        lambda: (
            started()
            .ledger(3, "attempting", declares=PAY)
            .ledger(4, "committed")
            .ledger(5, "compensating")
            .ledger(6, "compensated")
        ),
        "SP401",
    ),
    "a second compensation of one effect": (
        lambda: (
            started()
            .ledger(3, "attempting", "pay", declares=PAY)
            .ledger(4, "committed", "pay")
            .ledger(5, "compensating", "pay")
            .ledger(6, "attempting", "refund", compensates="pay")
            .ledger(7, "committed", "refund", compensates="pay")
            .ledger(8, "attempting", "again", compensates="pay", declares=KEYED)
        ),
        "SP410",
    ),
    "a declaration that comes after the attempt": (
        lambda: started().ledger(3, "attempting", declares=None).ledger(4, "inDoubt", declares=NATURAL),
        "SP766",
    ),
    "a fingerprint that comes after the attempt": (
        lambda: (
            started()
            .ledger(3, "attempting", requestFingerprint=None, declares=KEYED)
            .claim(100, purpose="recovery")
            .ledger(101, "attempting")
        ),
        "SP767",
    ),
    "one key for two actions": (
        lambda: (
            started()
            .ledger(3, "attempting", "a", idempotencyKey="k", declares=KEYED)
            .ledger(4, "committed", "a", idempotencyKey="k")
            .ledger(5, "planned", "b", idempotencyKey="k", declares=KEYED)
        ),
        "SP402",
    ),
    "an outcome by a stranger": (foreign_outcome, "SP306"),
    "an epoch before any lease": (
        lambda: Journal().add("run", 0, status="started", workflow="publish").checkpoint(1, epoch=5).claim(2),
        "SP305",
    ),
    "epochs that fall without leases": (interleaved_without_leases, "SP304"),
    "an undeclared effect that the checkpoint denies": (
        lambda: (
            started()
            .ledger(3, "attempting", declares=None)
            .ledger(4, "committed")
            .checkpoint(5, "cp-2", sideEffectStatus={"writePerformed": False, "externalMessageSent": False})
        ),
        "SP502",
    ),
} | {
    f"no answer by the name of {name}": (lambda name=name: failed(name), "SP766")  # type: ignore[misc]  # a lambda's default has no type
    for name in (
        "ECONNABORTED",
        "socket hang up",
        "EPIPE",
        "EOF",
        "Internal Server Error",
        "NetworkError",
        "no answer",
        "Busy",
    )
}


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_does_not_give_leave(name: str) -> None:
    make, code = JOURNALS[name]
    journal = make()
    decision = judge(journal, 400, None if journal.epoch else facts(390, owners=[dead(1), dead(2)]))
    seen = {reason.code for reason in decision.reasons} | {fault.code for fault in journal.fold().faults}
    assert decision.verdict != "resume", [item.document() for item in decision.plan]
    assert code in seen


@pytest.mark.parametrize(
    ("owners", "now"),
    [
        ([dead(1, 10)], 120),  # it wrote a record after that
        ([dead(1, 110), dead(1, 118, "alive")], 120),
        ([dead(1, 9999)], 120),
    ],
)
def test_a_death_that_is_contradicted_is_no_proof(owners: list[dict[str, Any]], now: float) -> None:
    journal = Journal().begin(ttl=600).checkpoint(2).checkpoint(100, "cp-2")
    assert judge(journal, now, facts(now - 1, owners=owners)).verdict == "wait"
    assert judge(journal, now, facts(now - 1, owners=[dead(1, 110)])).verdict == "resume"


@pytest.mark.parametrize("seen", [20, 5000])
def test_a_probe_too_early_or_from_the_future_proves_nothing(seen: float) -> None:
    journal = started().ledger(3, "attempting", declares=PROBED)
    assert judge(journal, 200, facts(owners=[dead()], probes=not_found(seen))).verdict == "reconcile"
    assert judge(journal, 200, facts(owners=[dead()], probes=not_found(180))).verdict == "resume"


def test_absence_does_not_bring_a_lapsed_key_back() -> None:
    window = declares(idempotency="keyed", dedupeWindowSeconds=100, probe="byKey")
    decision = judge(
        started().ledger(3, "attempting", declares=window),
        300,
        facts(290, owners=[dead()], probes=not_found(280)),
    )
    assert (decision.verdict, decision.plan[0].reason) == ("hand_over", "SP767")


@pytest.mark.parametrize("how", [KEYED, NATURAL, PROBED])
def test_a_run_that_goes_backwards_sends_nothing_forward(how: dict[str, Any]) -> None:
    unwind = request("unwind")
    decision = judge(started().ledger(3, "attempting", declares=how), 300, asked=unwind)
    assert decision.verdict in {"reconcile", "hand_over"}
    begun = started().ledger(3, "attempting", "pay", declares=PAY).ledger(4, "committed", "pay")
    begun.ledger(5, "compensating", "pay").ledger(6, "planned").ledger(7, "attempting", "x", declares=how)
    plan = judge(begun, 300).plan
    assert {item.do for item in plan} <= {"compensate", "skip", "handOver", "reconcile"}


def test_a_named_older_checkpoint_is_a_fork_and_needs_new_approvals() -> None:
    journal = asked(started(), 3, "requested", "granted").checkpoint(5, "cp-2").ledger(6, "planned")
    older = request("continue", checkpointId="cp-1")
    assert judge(journal, 200, asked=older).verdict == "hand_over"
    assert judge(journal, 200).verdict == "resume"


@pytest.mark.parametrize(
    ("events", "expires", "said"),
    [
        (("requested", "granted"), 50, None),
        (("requested", "granted"), 3600, "revoked"),
        (("requested", "rejected"), 3600, "granted"),
        (("requested", "granted", "consumed"), 3600, None),
    ],
)
def test_a_precondition_on_an_approval_asks_as_much_as_the_approval_itself(
    events: tuple[str, ...], expires: float, said: str | None
) -> None:
    journal = Journal().begin().checkpoint(1, "cp-0")
    asked(journal, 2, *events, checkpointId="cp-0", expiresAt=at(expires))
    journal.checkpoint(
        4, resumePreconditions=[{"type": "approvalGranted", "subject": "ap-1", "expected": True}]
    )
    known = facts(approvals={"ap-1": {"state": said}}) if said else None
    assert judge(journal, 200, known).verdict == "hand_over"


def test_json_values_are_compared_as_json() -> None:
    journal = started(resumePreconditions=[{"type": "externalEquals", "subject": "d", "expected": 1}])
    assert judge(journal, 200, facts(external={"d": {"value": True}})).verdict == "hand_over"
    assert judge(journal, 200, facts(external={"d": {"value": 1.0}})).verdict == "resume"


@pytest.mark.parametrize("fact", [{"version": None}, {"version": "7", "observedAt": at(-5000)}])
def test_an_unknown_or_old_external_version_is_asked_for(fact: dict[str, Any]) -> None:
    journal = started(resumePreconditions=[{"type": "externalVersion", "subject": "d", "expected": "7"}])
    assert (
        judge(journal, 200, facts(external={"d": fact}), externalMoved="rerun_reads").verdict == "reconcile"
    )


def test_going_back_gives_no_money_back() -> None:
    journal = started(usage={"costMicros": 1000}).checkpoint(5, "cp-2", usage={"costMicros": 5000})
    back = request("roll_back", checkpointId="cp-1")
    assert judge(journal, 200, asked=back, runBudgetCostMicros=5000).verdict == "hand_over"


def test_attempts_that_fork_back_and_save_once_make_no_progress() -> None:
    journal = started()
    for number in range(3):
        branch = f"b{number}"
        fork = {"checkpointId": "cp-1"}
        journal.claim(1000 * (number + 1), purpose="recovery", forkFrom=fork, branch=branch)
        journal.checkpoint(1000 * (number + 1) + 1, f"cp-b{number}", parentCheckpointId="cp-1", branch=branch)
    back = request("roll_back", checkpointId="cp-1")
    decision = judge(journal, 50_000, asked=back)
    assert decision.verdict == "hand_over"
    assert "SP752" in {reason.code for reason in decision.reasons}


def test_a_takeover_counts_whatever_it_calls_itself() -> None:
    journal = started()
    for seconds in (1000, 2000, 3000):
        journal.claim(seconds, purpose="run")
    assert "SP752" in {reason.code for reason in judge(journal, 50_000).reasons}


def refund_abandoned() -> Journal:
    closed = {"class": "Closed", "message": None, "retryable": False, "sent": "yes"}
    evidence = {"kind": "human", "ref": "t", "by": "ops", "observedAt": at(201)}
    journal = started().ledger(3, "attempting", "pay", declares=PAY).ledger(4, "committed", "pay")
    journal.ledger(5, "compensating", "pay").ledger(6, "attempting", "refund", compensates="pay")
    journal.ledger(7, "failed", "refund", compensates="pay", error=closed).ledger(
        8, "compensationFailed", "pay"
    )
    return journal.claim(200, purpose="resolution").ledger(201, "abandoned", "pay", evidence=evidence)


def test_a_refund_that_was_given_up_is_not_forgotten() -> None:
    journal = refund_abandoned().add("lease", 202, event="released")
    assert journal.fold().actions["pay"].status == "abandoned"
    assert judge(journal, 300).verdict == "hand_over"


def test_evidence_behind_a_withdrawal_counts() -> None:
    journal = started().ledger(3, "attempting", declares=PAY).ledger(4, "failed").ledger(5, "cancelled")
    found = {"actionId": "send", "attemptNumber": 1, "result": "applied", "kind": "human", "by": "ops"}
    journal.add("evidence", 6, **found, observedAt=at(6))
    assert journal.fold().actions["send"].status == "committed"
    assert judge(journal, 200, asked=request("unwind")).verdict == "compensate"


APPLIED = {"send": {"result": "applied", "consistency": "strong", "observedAt": at(195), "externalRef": None}}


@pytest.mark.parametrize("probes", [APPLIED, not_found(195)])
@pytest.mark.parametrize("how", [declares(effect="read"), {**PAY, "probe": "byQuery"}])
def test_a_run_that_goes_backwards_never_resumes(how: dict[str, Any], probes: dict[str, Any]) -> None:
    journal = started().ledger(3, "attempting", declares=how)
    decision = judge(journal, 200, facts(199, owners=[dead()], probes=probes), request("unwind"))
    assert decision.verdict != "resume"


def test_a_compensation_that_failed_for_good_is_not_compensated() -> None:
    closed = {"class": "Closed", "message": None, "retryable": False, "sent": "yes"}
    journal = started().ledger(3, "attempting", "pay", declares=PAY).ledger(4, "committed", "pay")
    journal.ledger(5, "compensating", "pay").ledger(6, "attempting", "refund", compensates="pay")
    journal.ledger(7, "failed", "refund", compensates="pay", error=closed)
    assert judge(journal, 300).verdict == "hand_over"


def test_contradicting_declarations_declare_nothing() -> None:
    journal = started().ledger(3, "planned", declares=declares(effect="read"))
    assert judge(journal.ledger(4, "attempting", declares=declares()), 200).verdict == "hand_over"


def test_an_empty_entry_of_the_catalogue_is_an_entry() -> None:
    journal = started().ledger(3, "attempting", declares=None)
    assert judge(journal, 200, actions={"notify": KEYED}).verdict == "resume"
    assert judge(journal, 200, actions={"notify": KEYED, "send": {}}).verdict == "hand_over"


def test_an_unrelated_grant_does_not_open_a_gate() -> None:
    journal = asked(Journal().begin(), 2, "requested", "granted", actionId="other", name="o")
    assert judge(journal.checkpoint(5, reason="humanGate"), 200).verdict == "wait"


def test_what_must_be_undone_first_was_done_last() -> None:
    release = declares(reversibility="compensatable", compensation="release", compensationConsumesKey=True)
    journal = started().ledger(3, "attempting", "pay", declares=PAY).ledger(4, "committed", "pay")
    journal.ledger(5, "attempting", "hold", declares=release)
    assert [item.action_id for item in judge(journal, 200).plan] == ["hold", "pay"]
    journal = started().ledger(3, "attempting", "mail").ledger(4, "committed", "mail")
    assert judge(journal.ledger(5, "attempting", "hold", declares=release), 200).verdict == "hand_over"
