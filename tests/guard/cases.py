"""The guard's conformance cases as they are made: ``python tests/guard/cases.py`` writes ``fixtures/guard/``.

Each case says beforehand which verdict and which codes must come out; the stored decision is only written when they do.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journals import START, Journal, at, declares, digest
from questions import KEYED, NATURAL, PAY, PROBED, facts, not_found, request, started

from safepoint.core.digest import digest_bytes, encode_record
from safepoint.core.timestamp import SECOND
from safepoint.guard import EXIT_CODES, evaluate
from safepoint.guard.case import Claims
from safepoint.policy import parse_policy
from safepoint.reader import gather_artifacts, load_run
from safepoint.reader.comparing import load_anchored
from safepoint.store import open_store

ROOT = Path(__file__).parents[2] / "fixtures" / "guard"
LATER = 200.0
"""Seconds after the start: the lease of epoch 1 (60 s, skew 5 s) has lapsed."""


@dataclass(frozen=True)
class Case:
    name: str
    summary: str
    journal: Journal
    verdict: str
    codes: Sequence[str]
    """The codes of all reasons, in order."""
    now: float = LATER
    facts: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    request: Mapping[str, Any] | None = None
    source: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Objects laid over the journal's, by key; empty bytes stay empty."""
    without: Sequence[str] = ()
    """Keys that are taken away."""
    anchor: Mapping[str, Any] | None = None
    """What an anchor says of the run."""
    anchored_document: str | None = None
    """What it says of the store's description."""
    claims: Claims = "enforced"
    """What keeps two claims apart in the store; `write` only says so, whoever runs the case sees to it."""


def anchor(heads: Mapping[str, Any], document: str | None) -> dict[str, Any]:
    """The first anchor of a store of one run."""
    return {
        "recordType": "anchor",
        "schemaVersion": "v3",
        "createdAt": at(100),
        "sequence": 1,
        "previousDigest": None,
        "nonce": "0" * 32,
        "store": "store",
        "storeDocument": document,
        "counts": {"runs": 1, "records": 3},
        "runs": {"run-1": heads} if heads else {},
    }


def newest(journal: Journal) -> dict[str, Any]:
    """The journal's head, as an anchor says it."""
    data = encode_record(journal.values[-1])
    return {"sequence": len(journal.values), "digest": digest_bytes(data)}


def policy(**members: Any) -> dict[str, Any]:
    return {"recordType": "policy", "schemaVersion": "v3", **members}


DEAD = {"owners": [{"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": at(10)}]}
DESCRIPTION = encode_record({"recordType": "store", "schemaVersion": "v3", "layout": 1, "features": []})
JOURNAL_4 = "runs/run-1/journal/0000000004.json"


def cases() -> Iterator[Case]:
    yield from integrity()
    yield from terminal()
    yield from ownership()
    yield from compatibility()
    yield from compensation()
    yield from budget()
    yield from effects()
    yield from world()
    yield from weak_levels()
    yield from lines_only()


def integrity() -> Iterator[Case]:
    yield Case(
        "only-checkpoint-unreadable",
        "The only checkpoint is damaged, which is not the same as having none.",
        started(),
        "hand_over",
        ["SP103"],
        files={"runs/run-1/journal/0000000003.json": b'{"recordType":"checkpoint","runId":"run-1","checkpo'},
        source="hive#7263",
    )
    yield Case(
        "no-checkpoint-yet",
        "No checkpoint was written yet, so the run starts from its beginning.",
        Journal().begin(),
        "resume",
        ["SP702"],
        source="hive#7263",
    )
    yield Case(
        "attempt-unreadable",
        "The last journal object is empty and may hide an attempt.",
        started().ledger(3, "attempting"),
        "hand_over",
        ["SP111"],
        files={JOURNAL_4: b""},
        source="claude-code#52387",
    )
    quarantine = {
        "recordType": "quarantine",
        "schemaVersion": "v3",
        "runId": "run-1",
        "objects": [
            {
                "key": JOURNAL_4,
                "fate": "setAside",
                "size": 0,
                "digest": digest("e"),
                "quarantine": f"quarantine/{JOURNAL_4}.aside",
                "texts": [{"code": "SP111"}],
            }
        ],
    }
    yield Case(
        "set-aside-by-a-repair",
        "What is left of the run is sound, and a repair has set aside what may have been an attempt.",
        started(),
        "hand_over",
        ["SP011"],
        files={"runs/run-1/quarantine.json": encode_record(quarantine)},
        source="SPEC.md#repair",
    )
    yield Case(
        "sequence-missing",
        "A record in the middle of the journal is gone, and with it perhaps an attempt.",
        started().ledger(3, "attempting").ledger(4, "committed").checkpoint(5, "cp-2"),
        "hand_over",
        ["SP301", "SP760"],
        without=["runs/run-1/journal/0000000003.json"],
        source="SPEC.md#guard-integrity",
    )
    edited = started().ledger(3, "attempting")
    edited.values[2]["state"] = "edited"
    yield Case(
        "chain-broken", "A record was edited after it was written.", edited, "hand_over", ["SP303", "SP766"]
    )
    yield Case(
        "written-by-a-newer-version",
        "A record of a newer major version is refused, not guessed at.",
        started(),
        "hand_over",
        ["SP216"],
        files={JOURNAL_4: b'{"recordType":"checkpoint","schemaVersion":"v4","runId":"run-1","saga":true}'},
        source="openai-agents PR#2502",
    )
    yield Case(
        "tail-cut",
        "A record that is known elsewhere is not here.",
        started(),
        "hand_over",
        ["SP708"],
        facts=facts(heads={"journal": {"sequence": 9, "digest": digest("a")}}),
    )
    yield Case(
        "head-differs",
        "The newest record is not the one that is known elsewhere.",
        started(),
        "hand_over",
        ["SP709"],
        facts=facts(heads={"journal": {"sequence": 3, "digest": digest("a")}}),
    )
    yield Case(
        "anchored-head-differs",
        "The newest record is not the one that an anchor has seen: the journal was written anew, digests and all.",
        started(),
        "hand_over",
        ["SP709"],
        anchor={"journal": {"sequence": 3, "digest": digest("a")}},
        source="SPEC.md#anchors",
    )
    yield Case(
        "anchored-text-gone",
        "An anchor has seen a text of the run that nobody could read: it may have been an attempt, and is gone.",
        started(),
        "hand_over",
        ["SP708"],
        anchor={"journal": newest(started()), "unread": 1},
        source="SPEC.md#anchors",
    )
    yield Case(
        "anchored-text-mended",
        "An anchor has seen a text of the run that nobody could read: it was restored since, and is a record.",
        started(),
        "resume",
        ["SP799"],
        anchor={"journal": newest(Journal().begin()), "unread": 1},
        source="SPEC.md#anchors",
    )
    yield Case(
        "anchored-description-differs",
        "The store's description demands nothing, and is not the one that an anchor has seen.",
        started(),
        "hand_over",
        ["SP329"],
        files={"safepoint.json": DESCRIPTION},
        anchor={"journal": newest(started())},
        anchored_document=digest("d"),
        source="SPEC.md#anchors",
    )
    yield Case(
        "anchored-description",
        "The store's description and the newest record are the ones that an anchor has seen.",
        started(),
        "resume",
        ["SP799"],
        files={"safepoint.json": DESCRIPTION},
        anchor={"journal": newest(started())},
        anchored_document=digest_bytes(DESCRIPTION),
        source="SPEC.md#anchors",
    )
    yield Case(
        "begun-after-the-anchor",
        "The anchor knows nothing of the run, which is said.",
        started(),
        "resume",
        ["SP799"],
        anchor={},
        source="SPEC.md#anchors",
    )
    yield Case(
        "claims-an-effect-without-record",
        "The checkpoint says that a message was sent, and the ledger holds none.",
        started(sideEffectStatus={"writePerformed": False, "externalMessageSent": True}),
        "hand_over",
        ["SP502"],
        source="SPEC.md#checkpoints",
    )
    yield Case(
        "newest-checkpoint-retracted",
        "The newest checkpoint was retracted, and the one before is proposed.",
        started().checkpoint(4, "cp-2").add("retract", 5, targets=["cp-2"], reason="erasure", by="ops"),
        "resume",
        ["SP703"],
    )
    yield Case(
        "every-checkpoint-retracted",
        "No checkpoint is left, which is not the same as none having been written.",
        started().add("retract", 5, targets=["cp-1"], reason="erasure", by="ops"),
        "hand_over",
        ["SP701"],
    )
    yield Case(
        "resume-requirement-unknown",
        "The checkpoint requires something for resuming that this version does not know.",
        started(requires={"resume": ["saga"]}),
        "hand_over",
        ["SP218"],
    )
    yield Case(
        "checkpoint-ahead-of-ledger",
        "The checkpoint counts on ledger records that the journal does not hold.",
        started(lastLedgerSequence=12),
        "hand_over",
        ["SP501"],
        source="langgraph#8039",
    )
    yield Case(
        "ledger-ahead-of-checkpoint",
        "Effects behind the last checkpoint are in the ledger, and are reused.",
        started()
        .ledger(3, "attempting", "a")
        .ledger(4, "committed", "a")
        .ledger(5, "attempting", "b")
        .ledger(6, "committed", "b"),
        "resume",
        ["SP760", "SP760"],
        source="langgraph#8039",
    )
    yield Case(
        "only-the-writers-version-differs",
        "Another version of the library wrote the run, which is no reason at all.",
        started(**{"x-writer": "0.0.1"}),
        "resume",
        ["SP799"],
        source="agent-framework#6466",
    )


def terminal() -> Iterator[Case]:
    done = started().ledger(3, "attempting").ledger(4, "committed").add("run", 5, status="completed")
    yield Case("completed", "The run is completed and nothing is open.", done, "no_op", ["SP710", "SP760"])
    yield Case(
        "completed-with-an-open-effect",
        "The run was completed over an effect that nobody can vouch for.",
        started().ledger(3, "attempting").add("run", 5, status="completed"),
        "hand_over",
        ["SP712", "SP766"],
    )
    yield Case(
        "deleted",
        "The run was completed, and then deleted but for its last record.",
        done,
        "no_op",
        ["SP717"],
        source="SPEC.md#pruning",
        files={
            "runs/run-1/deleted.json": encode_record(
                {
                    "recordType": "deleted",
                    "schemaVersion": "v3",
                    "runId": "run-1",
                    "deletedAt": at(100),
                    "by": "ops",
                    "status": "completed",
                    "endedAt": at(5),
                    "heads": {
                        "journal": {"sequence": 6, "digest": digest("e")},
                        "recovery": {"sequence": 0, "digest": None},
                    },
                    "counts": {"records": 6, "checkpoints": 1, "actions": 1, "artifacts": 0},
                }
            )
        },
        without=[f"runs/run-1/journal/{number:010}.json" for number in range(1, 6)],
    )
    yield Case(
        "cancelled",
        "The run was cancelled.",
        started().add("run", 5, status="cancelled"),
        "give_up",
        ["SP711"],
    )
    yield Case(
        "asked-to-stop",
        "Somebody asked the run to stop before its worker died.",
        started().add("run", 5, status="cancelRequested"),
        "give_up",
        ["SP714"],
    )
    yield Case(
        "failed-run",
        "A failed run is judged like an interrupted one.",
        started().add("run", 5, status="failed"),
        "resume",
        ["SP715"],
    )
    yield Case(
        "sealed",
        "This copy handed its authority to another.",
        started().add("run", 5, status="sealed", successor={"uri": "s3://bucket/new", "runId": "run-1"}),
        "no_op",
        ["SP713"],
    )
    yield Case(
        "inspect",
        "A request that only looks never gives leave to act.",
        started(),
        "no_op",
        ["SP716"],
        request=request("inspect"),
    )


def ownership() -> Iterator[Case]:
    yield Case(
        "epoch-from-nowhere",
        "The caller names an epoch that the journal does not hold: records may be lost.",
        started(),
        "hand_over",
        ["SP724"],
        request=request("continue", epoch=2),
    )
    yield from unfenced()
    yield Case(
        "attempt-under-way",
        "The owner itself asks while its own call is still running.",
        started().ledger(3, "attempting"),
        "wait",
        ["SP764"],
        now=20,
        request=request("continue", epoch=1),
    )
    yield Case("lease-live", "The worker may only be slow.", started(), "wait", ["SP721"], now=30)
    yield Case(
        "lease-lapsed-within-the-skew",
        "The lease lapsed three seconds ago by this clock, which may be off by five.",
        started(),
        "wait",
        ["SP721"],
        now=2 + 60 + 3,
        source="occurrent#659",
    )
    yield Case(
        "lease-live-owner-dead",
        "The lease is live, but its owner is proven dead.",
        started(),
        "resume",
        ["SP799"],
        now=30,
        facts=facts(29, **DEAD),
    )
    yield Case(
        "caller-fenced",
        "The caller's epoch is older than the newest one.",
        started().claim(100, purpose="recovery"),
        "no_op",
        ["SP720"],
        now=LATER,
        request=request("continue", epoch=1),
    )
    yield Case(
        "two-recoveries-at-once",
        "Another recovery of this run is still deciding.",
        started().recover(190, "detected", trigger="leaseLapsed"),
        "wait",
        ["SP722"],
    )
    released = started().add("lease", 3, event="released", purpose="run", holder="worker-1", ttlSeconds=60)
    yield Case("lease-released", "The worker gave the run back.", released, "resume", ["SP799"], now=5)
    interleaved = started().claim(100, purpose="recovery").ledger(101, "attempting", epoch=1)
    yield Case(
        "stale-writer",
        "A worker of an older epoch wrote behind the fence.",
        interleaved,
        "hand_over",
        ["SP304", "SP766"],
        now=400,
        source="claude-code#39151",
    )


def unfenced() -> Iterator[Case]:
    paid = started().ledger(3, "attempting", declares=PAY).ledger(4, "committed")
    yield Case(
        "store-cannot-fence",
        "Nothing stands against going on, but nothing would keep two from doing so.",
        started(),
        "hand_over",
        ["SP725"],
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-unwind",
        "What was paid could be undone, and by two at once.",
        paid,
        "hand_over",
        ["SP725", "SP742", "SP760"],
        request=request("unwind"),
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-lease-live",
        "Another's lease is live, which comes first.",
        started(),
        "wait",
        ["SP721", "SP725"],
        now=20,
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-completed",
        "A run that is over is claimed by nobody, wherever it lies.",
        started().ledger(3, "attempting").ledger(4, "committed").add("run", 5, status="completed"),
        "no_op",
        ["SP710", "SP760"],
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-completed-with-an-open-effect",
        "Whoever settles what is open has to claim the run for it.",
        started().ledger(3, "attempting").add("run", 5, status="completed"),
        "hand_over",
        ["SP712", "SP725", "SP766"],
        claims="impossible",
    )
    yield Case(
        "store-cannot-fence-inspect",
        "Whoever only looks claims nothing.",
        started(),
        "no_op",
        ["SP716"],
        request=request("inspect"),
        claims="impossible",
    )
    yield Case(
        "store-fenced-by-word",
        "Somebody promised to be the only writer, and the decision says that it rests on that.",
        started(),
        "resume",
        ["SP799"],
        claims="assumed",
    )


def compatibility() -> Iterator[Case]:
    saved = started(guardContext={"model": digest("a"), "workflow": digest("b")})
    now_equal = {"guardContext": {"model": digest("a"), "workflow": digest("b")}}
    now_other = {"guardContext": {"model": digest("c"), "workflow": digest("b")}}
    yield Case(
        "context-equal",
        "Nothing that the run depends on has moved.",
        saved,
        "resume",
        ["SP799"],
        facts=facts(**now_equal),
    )
    yield Case(
        "context-moved", "The model is another one.", saved, "hand_over", ["SP730"], facts=facts(**now_other)
    )
    yield Case(
        "context-unknown", "Nobody says what the parts are now.", saved, "reconcile", ["SP732", "SP732"]
    )
    yield Case(
        "context-moved-warned",
        "The policy only warns when the model moves.",
        saved,
        "resume",
        ["SP731"],
        facts=facts(**now_other),
        policy=policy(guardContext={"model": "warn"}),
    )
    yield Case(
        "context-ignored",
        "The policy does not care about the model.",
        started(guardContext={"model": digest("a")}),
        "resume",
        ["SP799"],
        policy=policy(guardContext={"model": "ignore"}),
    )
    yield Case(
        "unfinished-action-of-an-unknown-step",
        "An action is unfinished, and its step is not in today's code.",
        started().ledger(3, "planned", stepName="gone"),
        "hand_over",
        ["SP734", "SP761"],
        facts=facts(knownSteps=["notify", "update_status"]),
    )
    yield Case(
        "context-moved-listed",
        "The policy lists the change as compatible.",
        saved,
        "resume",
        ["SP799"],
        facts=facts(**now_other),
        policy=policy(compatibleWith=[{"part": "model", "from": digest("a"), "to": digest("c")}]),
    )
    yield Case(
        "retry-a-step-that-is-not-next",
        "The request names a step that the checkpoint does not lead to.",
        started(),
        "hand_over",
        ["SP735"],
        request=request("retry_step", stepName="draft"),
    )
    yield Case(
        "retry-step",
        "The request names one of the steps that come next.",
        started(),
        "resume",
        ["SP799"],
        request=request("retry_step", stepName="notify"),
    )
    yield Case(
        "next-step-unknown",
        "The step that comes next is not in today's code.",
        started(),
        "hand_over",
        ["SP734"],
        facts=facts(knownSteps=["notify"]),
    )


def compensation() -> Iterator[Case]:
    undoable = declares(reversibility="compensatable", compensation="refund", effect="payment")
    paid = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
    begun = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
    begun.ledger(5, "compensating", "pay")
    yield Case(
        "roll-back-begun",
        "A run that is half undone is undone to the end.",
        begun,
        "compensate",
        ["SP741", "SP741"],
    )
    failed = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
    failed.ledger(5, "compensating", "pay").ledger(6, "compensationFailed", "pay")
    yield Case("compensation-failed", "The refund failed.", failed, "hand_over", ["SP740", "SP740"])
    yield Case(
        "unwind",
        "The request asks to undo what was done.",
        paid,
        "compensate",
        ["SP742", "SP760"],
        request=request("unwind"),
    )
    sent = started().ledger(3, "attempting").ledger(4, "committed")
    yield Case(
        "unwind-the-irreversible",
        "A sent message cannot be undone.",
        sent,
        "hand_over",
        ["SP743", "SP742", "SP760"],
        request=request("unwind"),
    )
    yield Case(
        "unwind-with-an-effect-in-doubt",
        "A run that goes backwards sends nothing again, also not with its key.",
        started().ledger(3, "attempting", declares=KEYED),
        "hand_over",
        ["SP766"],
        request=request("unwind"),
    )
    yield Case(
        "unwind-what-was-found-absent",
        "The probe proves that nothing happened; only that has to be recorded.",
        started().ledger(3, "attempting", declares=PROBED),
        "compensate",
        ["SP745", "SP747"],
        facts=facts(probes=not_found(190), **DEAD),
        request=request("unwind"),
    )
    yield Case(
        "unwind-what-was-not-begun",
        "What was only planned is not begun.",
        started().ledger(3, "planned"),
        "give_up",
        ["SP744", "SP745"],
        request=request("unwind"),
    )

    def refunded() -> Journal:
        journal = started().ledger(3, "attempting", "pay", declares=undoable).ledger(4, "committed", "pay")
        journal.ledger(5, "compensating", "pay")
        for seconds, status in ((6, "attempting"), (7, "committed")):
            journal.ledger(seconds, status, "refund", compensates="pay")
        return journal

    yield Case(
        "refund-done-not-recorded",
        "The refund is committed; only the record of the refunded payment is missing.",
        refunded(),
        "compensate",
        ["SP741", "SP741", "SP760"],
    )
    yield Case(
        "rolled-back",
        "Everything is undone.",
        refunded().ledger(8, "compensated", "pay"),
        "give_up",
        ["SP746", "SP760", "SP760"],
    )
    yield Case(
        "unwind-nothing",
        "There is nothing to undo.",
        started(),
        "give_up",
        ["SP744"],
        request=request("unwind"),
    )


def budget() -> Iterator[Case]:
    once = started().claim(100, purpose="recovery")
    recovering = started(usage={"seconds": 1, "tokens": 1, "costMicros": 100, "attempts": 1}).claim(
        100, purpose="recovery"
    )
    recovering.recover(101, "detected", trigger="crash", cost={"costMicros": 60}).recover(102, "superseded")
    yield Case(
        "recovery-too-dear",
        "Recovery has cost more than half of what the run did.",
        recovering,
        "hand_over",
        ["SP755"],
        now=1000,
    )
    yield Case(
        "cooling-down",
        "The last attempt was moments ago.",
        once,
        "wait",
        ["SP750"],
        now=120,
        facts=facts(119, owners=[{"leaseEpoch": 2, "state": "dead", "proof": "exit status 1"}]),
    )
    thrice = started()
    for seconds in (100, 1000, 2000):
        thrice.claim(seconds, purpose="recovery")
    yield Case(
        "no-progress",
        "Three recoveries in a row made no new checkpoint.",
        thrice,
        "hand_over",
        ["SP752"],
        now=5000,
        source="fabrik#1414",
    )
    yield Case(
        "no-progress-given-up",
        "The policy gives such a run up.",
        thrice,
        "give_up",
        ["SP752"],
        now=5000,
        policy=policy(onBudgetReached="give_up"),
    )
    yield Case(
        "no-progress-with-an-open-effect",
        "A run with an open effect is never given up.",
        started()
        .ledger(3, "attempting", declares=PROBED)
        .claim(100, purpose="recovery")
        .claim(1000, purpose="recovery")
        .claim(2000, purpose="recovery"),
        "reconcile",
        ["SP752", "SP765"],
        now=5000,
        policy=policy(onBudgetReached="give_up"),
    )
    often = started()
    for number in range(10):
        often.claim(1000 * (number + 1), purpose="recovery").checkpoint(
            1000 * (number + 1) + 700, f"cp-{number + 2}"
        )
    yield Case(
        "attempts-spent", "The tenth recovery was the last.", often, "hand_over", ["SP753"], now=20_000
    )
    yield Case(
        "lain-too-long", "After a day a human decides.", started(), "hand_over", ["SP754"], now=100_000
    )
    yield Case(
        "beyond-the-hard-limit",
        "After a fortnight nothing holds any more.",
        started(),
        "hand_over",
        ["SP757"],
        now=2_000_000,
    )
    spent = started(usage={"seconds": 10, "tokens": 10, "costMicros": 1000, "attempts": 1})
    yield Case(
        "budget-spent",
        "The run has no money left.",
        spent,
        "hand_over",
        ["SP755"],
        policy=policy(runBudgetCostMicros=1000),
    )
    yield Case(
        "cost-unknown",
        "The policy sets a budget, and the run does not say what it has spent.",
        started(),
        "hand_over",
        ["SP756"],
        policy=policy(runBudgetCostMicros=1000),
    )
    yield Case(
        "fleet-recovering",
        "More than a tenth of the fleet is recovering.",
        started(),
        "wait",
        ["SP758"],
        facts=facts(fleet={"recoveriesLastHour": 20, "startsLastHour": 100, "recoveriesLastTenMinutes": 9}),
    )
    yield Case(
        "breaker-open",
        "Recoveries of this workflow fail at the moment.",
        started(),
        "wait",
        ["SP751"],
        facts=facts(fleet={"breakers": [{"workflow": "publish", "state": "open", "until": at(900)}]}),
    )


def effects() -> Iterator[Case]:
    sent = started().ledger(3, "attempting").ledger(4, "committed")
    yield Case(
        "committed",
        "The message was sent and the status was not updated: the send is skipped.",
        sent,
        "resume",
        ["SP760"],
        source="SPEC.md#guard-effects",
    )
    yield Case("planned", "Planned and never tried.", started().ledger(3, "planned"), "resume", ["SP761"])
    open_send = started().ledger(3, "attempting")
    yield Case(
        "lost-answer-unkeyed",
        "The answer is lost, and neither a key nor a probe can tell.",
        open_send,
        "hand_over",
        ["SP766"],
        source="crewAI#5802",
    )
    open_keyed = started().ledger(3, "attempting", declares=KEYED)
    yield Case(
        "lost-answer-keyed",
        "The answer is lost, and the provider honours the key.",
        open_keyed,
        "resume",
        ["SP763"],
        source="crewAI#5802",
    )
    yield Case(
        "lost-answer-probe",
        "The answer is lost, and a probe can tell.",
        started().ledger(3, "attempting", declares=PROBED),
        "reconcile",
        ["SP765"],
        source="crewAI#5802",
    )
    timed_out = started().ledger(3, "attempting")
    timed_out.ledger(
        4, "failed", error={"class": "read_timeout", "message": None, "retryable": True, "sent": "yes"}
    )
    yield Case(
        "failed-by-timeout",
        "A timeout is recorded as failed, and is read as in doubt.",
        timed_out,
        "hand_over",
        ["SP766"],
        source="trading-gpt#94",
    )
    long_call = Journal().begin(ttl=180).checkpoint(2).ledger(3, "attempting")
    yield Case(
        "long-call-lease-live",
        "A long call is not a lost call.",
        long_call,
        "wait",
        ["SP721", "SP766"],
        now=100,
        source="langgraph#7417",
    )
    yield Case(
        "long-call-lease-lapsed",
        "The lease has lapsed without a proof of death; the call is never made again.",
        long_call,
        "hand_over",
        ["SP766"],
        now=203,
        source="langgraph#7417",
    )
    yield Case(
        "key-lapsed",
        "The provider's window is over.",
        started().ledger(3, "attempting", declares=declares(idempotency="keyed", dedupeWindowSeconds=100)),
        "hand_over",
        ["SP767"],
        now=300,
    )
    yield Case(
        "key-lapsed-probe",
        "The provider's window is over, but it can be asked by the key.",
        started().ledger(
            3, "attempting", declares=declares(idempotency="keyed", dedupeWindowSeconds=100, probe="byKey")
        ),
        "reconcile",
        ["SP765"],
        now=300,
    )
    undone = declares(reversibility="compensatable", compensation="release", compensationConsumesKey=True)
    yield Case(
        "undo-is-harmless",
        "Nobody can tell, but taking it back does no harm where nothing happened.",
        started().ledger(3, "attempting", declares=undone),
        "compensate",
        ["SP772"],
    )
    read = started().ledger(3, "attempting", "look", declares=declares(effect="read"))
    yield Case("read-in-doubt", "A read may be done again.", read, "resume", ["SP762"])
    write = started().ledger(3, "attempting", "put", declares=NATURAL)
    yield Case(
        "natural-in-doubt", "Repeatable, and no older attempt can land any more.", write, "resume", ["SP762"]
    )
    yield Case(
        "natural-too-early",
        "Repeatable, but the older attempt may still land.",
        write,
        "wait",
        ["SP773"],
        now=45,
        facts=facts(
            44, owners=[{"leaseEpoch": 1, "state": "dead", "proof": "exit status -9", "observedAt": at(40)}]
        ),
    )
    probed = started().ledger(3, "attempting", declares=PROBED)
    found = {
        "probes": {
            "send": {"result": "applied", "consistency": "strong", "observedAt": at(190), "externalRef": "m"}
        }
    }
    yield Case("probe-applied", "The probe found it.", probed, "resume", ["SP776"], facts=facts(**found))

    yield Case(
        "probe-not-found-owner-unknown",
        "Not found proves nothing while its writer may still live.",
        probed,
        "reconcile",
        ["SP775"],
        facts=facts(probes=not_found(190)),
    )
    yield Case(
        "probe-not-found-too-early",
        "Not found proves nothing while the request may still arrive.",
        probed,
        "reconcile",
        ["SP775"],
        facts=facts(probes=not_found(60), **DEAD),
    )
    yield Case(
        "probe-not-found-eventual",
        "Not found proves nothing where answers may be stale.",
        probed,
        "reconcile",
        ["SP775"],
        facts=facts(probes=not_found(190, "eventual"), **DEAD),
    )
    yield Case(
        "probe-not-found-proven",
        "A strong and late probe, and every writer dead: it never happened.",
        probed,
        "resume",
        ["SP777"],
        facts=facts(probes=not_found(190), **DEAD),
    )
    unsure = {
        "result": "unknown",
        "consistency": "strong",
        "observedAt": at(190),
        "externalRef": None,
        "attempts": 3,
    }
    yield Case(
        "probes-spent",
        "The provider could not tell three times.",
        probed,
        "hand_over",
        ["SP774"],
        facts=facts(probes={"send": unsure}),
    )
    retry = started().ledger(3, "attempting").ledger(4, "failed")
    yield Case(
        "failed-retryable", "Refused before it was sent, and may be tried again.", retry, "resume", ["SP768"]
    )
    final = started().ledger(3, "attempting")
    final.ledger(
        4, "failed", error={"class": "InvalidRecipient", "message": None, "retryable": False, "sent": "yes"}
    )
    refundable = declares(effect="payment", reversibility="compensatable", compensation="refund")
    paid = started().ledger(3, "attempting", "pay", declares=refundable).ledger(4, "committed", "pay")
    paid.ledger(5, "attempting")
    paid.ledger(
        6, "failed", error={"class": "InvalidRecipient", "message": None, "retryable": False, "sent": "yes"}
    )
    yield Case(
        "failed-for-good-undoable",
        "Refused for good, and what was done before can be undone.",
        paid,
        "compensate",
        ["SP760", "SP769"],
    )
    yield Case("failed-for-good", "Refused for good.", final, "hand_over", ["SP769"])
    held = (
        started()
        .ledger(3, "attempting", "seat")
        .ledger(4, "prepared", "seat", reservation={"ref": "r-1", "expiresAt": at(900)})
    )

    def reserved(expires: float | None, **members: Any) -> Journal:
        journal = started().ledger(3, "attempting", "seat", declares=declares(**members))
        reservation = {"ref": "r-1", "expiresAt": None if expires is None else at(expires)}
        return journal.ledger(4, "prepared", "seat", reservation=reservation)

    yield Case("reservation-expired", "The reservation has run out.", reserved(100), "resume", ["SP770"])
    yield Case(
        "reservation-of-unknown-expiry",
        "Nobody knows how long it is held.",
        reserved(None),
        "hand_over",
        ["SP770"],
    )
    yield Case(
        "reservation-can-be-probed",
        "Nobody knows how long it is held, but one can ask.",
        reserved(None, probe="byQuery"),
        "reconcile",
        ["SP770"],
    )
    yield Case(
        "reservation-rolling-back",
        "A run that is undone gives its reservation back.",
        reserved(900),
        "compensate",
        ["SP770"],
        request=request("unwind"),
    )
    tried = (
        started()
        .ledger(3, "attempting", declares=declares(idempotency="keyed", dedupeWindowSeconds=100))
        .ledger(4, "failed")
    )
    yield Case(
        "failed-retryable-key-lapsed",
        "It may be tried again, but its key is no longer honoured.",
        tried,
        "hand_over",
        ["SP767"],
        now=300,
    )
    yield Case("reservation-held", "The provider holds a reservation.", held, "resume", ["SP770"])
    given_up = started().ledger(3, "attempting").claim(100, purpose="resolution")
    given_up.ledger(
        101, "abandoned", evidence={"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(101)}
    )
    yield Case("abandoned", "A human accepted not to know.", given_up, "hand_over", ["SP771"])
    yield Case(
        "abandoned-may-skip",
        "The policy lets a run pass what a human abandoned.",
        given_up,
        "resume",
        ["SP771"],
        policy=policy(abandonedMaySkip=True),
    )


def world() -> Iterator[Case]:
    def asked(*events: str, shown: str = digest("f"), expires: float | None = 3600) -> Journal:
        journal = started()
        for number, event in enumerate(("requested", *events)):
            journal.add(
                "approval",
                3 + number,
                approvalId="ap-1",
                actionId="send",
                event=event,
                contentDigest=shown,
                actor="eve",
                expiresAt=None if expires is None else at(expires),
            )
        return journal

    yield Case("approval-pending", "A human has not answered yet.", asked(), "wait", ["SP780"])
    yield Case("approval-granted", "A human said yes.", asked("granted"), "resume", ["SP799"])
    yield Case(
        "approval-rejected",
        "A human said no.",
        asked("rejected"),
        "hand_over",
        ["SP781"],
        source="mastra PR#20487",
    )
    yield Case(
        "approval-expired",
        "The yes has expired, which is not the same as pending.",
        asked("granted", expires=100),
        "hand_over",
        ["SP782"],
        source="octos#1451",
    )
    yield Case(
        "approval-for-other-content",
        "The arguments were changed after the approval.",
        asked("granted", shown=digest("a")).ledger(6, "planned"),
        "hand_over",
        ["SP761", "SP783"],
        source="extra-org/extra#139",
    )
    yield Case(
        "approval-consumed-by-the-same-action",
        "The approval was used by this very action, which may be sent again with its key.",
        asked("granted", "consumed").ledger(6, "attempting", declares=KEYED),
        "resume",
        ["SP763"],
    )
    used = started(reason="humanGate")
    for number, event in enumerate(("requested", "granted", "consumed")):
        used.add(
            "approval",
            3 + number,
            approvalId="ap-1",
            checkpointId="cp-1",
            event=event,
            actor="eve",
            contentDigest=digest("f"),
            expiresAt=at(3600),
        )
    yield Case("gate-passed-before", "The gate's approval was used up.", used, "hand_over", ["SP794"])
    yield Case(
        "gate-unasked",
        "The run stands at a human gate, and nobody was asked.",
        started(reason="humanGate"),
        "wait",
        ["SP784"],
    )
    moved = started(resumePreconditions=[{"type": "externalVersion", "subject": "doc", "expected": "7"}])
    seen = {"external": {"doc": {"version": "7", "value": None, "observedAt": at(190)}}}
    other = {"external": {"doc": {"version": "8", "value": None, "observedAt": at(190)}}}
    yield Case(
        "external-equal",
        "The document is the one that was read.",
        moved,
        "resume",
        ["SP799"],
        facts=facts(**seen),
    )
    yield Case(
        "external-moved",
        "The document was changed meanwhile.",
        moved,
        "hand_over",
        ["SP791"],
        facts=facts(**other),
    )
    yield Case("external-unknown", "Nobody looked at the document.", moved, "reconcile", ["SP789"])
    yield Case(
        "external-moved-rerun",
        "The policy runs the reads again when the data moved.",
        Journal()
        .begin()
        .ledger(2, "attempting", "look", declares=declares(effect="read"))
        .ledger(3, "committed", "look")
        .checkpoint(4, resumePreconditions=[{"type": "externalVersion", "subject": "doc", "expected": "7"}]),
        "resume",
        ["SP762", "SP792"],
        facts=facts(**other),
        policy=policy(externalMoved="rerun_reads"),
    )
    waits_for = [{"type": "approvalGranted", "subject": "ap-1", "expected": True}]

    def waiting(*events: str) -> Journal:
        journal = Journal().begin().checkpoint(1, "cp-0")
        for number, event in enumerate(events):
            journal.add(
                "approval",
                2 + number / 10,
                approvalId="ap-1",
                checkpointId="cp-0",
                event=event,
                contentDigest=digest("f"),
                actor="eve",
                expiresAt=at(3600),
            )
        return journal.checkpoint(4, resumePreconditions=waits_for)

    yield Case(
        "needs-approval-granted",
        "What the run waits for was granted.",
        waiting("requested", "granted"),
        "resume",
        ["SP799"],
    )
    yield Case(
        "needs-approval-pending",
        "What the run waits for is pending.",
        waiting("requested"),
        "wait",
        ["SP780"],
    )
    yield Case(
        "needs-approval-rejected",
        "What the run waits for was rejected.",
        waiting("requested", "rejected"),
        "hand_over",
        ["SP791"],
    )
    yield Case("needs-approval-unknown", "Nobody knows of the approval.", waiting(), "reconcile", ["SP789"])
    yield Case(
        "needs-approval-elsewhere",
        "The approval is kept elsewhere, and a fact says that it was granted.",
        waiting(),
        "resume",
        ["SP799"],
        facts=facts(approvals={"ap-1": {"state": "granted"}}),
    )
    equals = started(
        resumePreconditions=[{"type": "externalEquals", "subject": "price", "expected": {"eur": 5}}]
    )
    yield Case(
        "external-value-equal",
        "The price is the one that was shown.",
        equals,
        "resume",
        ["SP799"],
        facts=facts(external={"price": {"value": {"eur": 5}}}),
    )
    yield Case(
        "external-value-other",
        "The price is another one.",
        equals,
        "hand_over",
        ["SP791"],
        facts=facts(external={"price": {"value": {"eur": 6}}}),
    )
    yield Case("external-value-unknown", "Nobody looked at the price.", equals, "reconcile", ["SP789"])
    yield Case(
        "precondition-of-unknown-type",
        "What cannot be checked does not hold.",
        started(resumePreconditions=[{"type": "moonPhase", "subject": "moon", "expected": "full"}]),
        "hand_over",
        ["SP788"],
    )

    def not_after(expected: str) -> Journal:
        return started(resumePreconditions=[{"type": "notAfter", "subject": "offer", "expected": expected}])

    yield Case(
        "not-after-ahead", "The offer stands for another hour.", not_after(at(3600)), "resume", ["SP799"]
    )
    yield Case("not-after-unreadable", "The limit is no time.", not_after("soon"), "hand_over", ["SP791"])
    yield Case(
        "not-after-passed",
        "The offer ran out.",
        started(resumePreconditions=[{"type": "notAfter", "subject": "offer", "expected": at(100)}]),
        "hand_over",
        ["SP791"],
    )
    outbox = started(resumePreconditions=[{"type": "outboxState", "subject": "m-1", "expected": "pending"}])
    yield Case(
        "outbox-as-expected",
        "The outbox still holds the message, as the run expects.",
        outbox,
        "resume",
        ["SP799"],
        facts=facts(outbox={"m-1": "pending"}),
    )
    yield Case("outbox-unknown", "Nobody looked into the outbox.", outbox, "reconcile", ["SP789"])
    yield Case(
        "outbox-already-sent",
        "The outbox says that the message has gone out.",
        outbox,
        "hand_over",
        ["SP791"],
        facts=facts(outbox={"m-1": "already_sent"}),
    )
    yield Case(
        "external-moved-nothing-to-rerun",
        "The policy would run the reads again, but the ledger holds none.",
        moved,
        "hand_over",
        ["SP791"],
        facts=facts(**other),
        policy=policy(externalMoved="rerun_reads"),
    )
    yield Case(
        "facts-stale",
        "The facts are half an hour old.",
        started(),
        "reconcile",
        ["SP790"],
        now=3000,
        facts=facts(100),
    )
    plan = b"# plan\n"
    name = f"runs/run-1/artifacts/sha256/{digest_bytes(plan)[7:]}"
    reference = {
        "artifactId": "plan",
        "uri": None,
        "digest": digest_bytes(plan),
        "size": len(plan),
        "mediaType": "text/markdown",
    }
    kept = started(artifactRefs=[reference])
    elsewhere = started(artifactRefs=[{**reference, "uri": "s3://bucket/plan"}])
    yield Case(
        "artifact-elsewhere",
        "The artifact lies outside the store, and nobody says that it is there.",
        elsewhere,
        "reconcile",
        ["SP793"],
    )
    yield Case(
        "artifact-elsewhere-vouched-for",
        "Somebody looked at the artifact outside the store.",
        elsewhere,
        "resume",
        ["SP799"],
        facts=facts(artifacts={"plan": {"state": "present"}}),
    )

    def needs_plan(**members: Any) -> Journal:
        condition = {"type": "artifactPresent", "subject": "plan", "expected": True}
        return started(resumePreconditions=[condition], **members)

    yield Case(
        "artifact-needed-and-present",
        "The plan that the run needs is whole.",
        needs_plan(artifactRefs=[reference]),
        "resume",
        ["SP799"],
        files={name: plan},
    )
    yield Case(
        "artifact-needed-and-missing",
        "The plan that the run needs is gone.",
        needs_plan(artifactRefs=[reference]),
        "hand_over",
        ["SP791", "SP786"],
    )
    yield Case(
        "artifact-needed-and-unknown",
        "Nobody knows of the plan that the run needs.",
        needs_plan(),
        "reconcile",
        ["SP789"],
    )
    yield Case(
        "artifact-present", "The plan is there and whole.", kept, "resume", ["SP799"], files={name: plan}
    )
    yield Case("artifact-missing", "The plan is gone.", kept, "hand_over", ["SP786"])
    yield Case(
        "artifact-damaged", "The plan was changed.", kept, "hand_over", ["SP787"], files={name: b"# plot\n"}
    )
    yield Case(
        "roll-back",
        "A fork from an earlier checkpoint keeps the effects that were done.",
        started().ledger(3, "attempting").ledger(4, "committed").checkpoint(5, "cp-2"),
        "resume",
        ["SP760"],
        request=request("roll_back", checkpointId="cp-1"),
    )
    yield Case(
        "roll-back-behind-an-approval",
        "What was approved before the fork has to be approved again.",
        asked("granted"),
        "hand_over",
        ["SP785"],
        request=request("roll_back", checkpointId="cp-1"),
    )
    yield Case(
        "roll-back-to-nowhere",
        "The request names a checkpoint that does not exist.",
        started(),
        "hand_over",
        ["SP706"],
        request=request("roll_back", checkpointId="cp-9"),
    )


def _v2(kind: str, **members: Any) -> bytes:
    base: dict[str, Any] = {"schemaVersion": "v2", "runId": "run-1", "createdAt": at(2)}
    if kind == "checkpoint":
        base |= {
            "checkpointId": "cp-1",
            "state": "approved",
            "stepName": "approve",
            "inputSnapshot": {},
            "artifactRefs": [],
            "sideEffectStatus": {"writePerformed": False, "externalMessageSent": False},
        }
    else:
        base |= {"actionId": "send", "stepName": "notify", "idempotencyKey": "k", "status": "committed"}
    return json.dumps({**base, **members}, separators=(",", ":")).encode()


def weak_levels() -> Iterator[Case]:
    checkpoints = "runs/run-1/checkpoints.jsonl"
    ledger = "runs/run-1/ledger.jsonl"
    saved = {checkpoints: _v2("checkpoint") + b"\n", ledger: _v2("ledger", externalRef="m-1") + b"\n"}
    vouched = facts(
        ledgerComplete=True, owners=[{"holder": "worker", "state": "dead", "proof": "exit status -9"}]
    )
    yield Case(
        "v2-absence-proves-nothing",
        "Records without an order cannot prove that nothing is missing.",
        Journal(),
        "reconcile",
        ["SP723", "SP705", "SP760"],
        files=saved,
    )
    yield Case(
        "v2-vouched-for",
        "Somebody knows that the worker is dead and that the ledger is complete.",
        Journal(),
        "resume",
        ["SP760"],
        files=saved,
        facts=vouched,
    )
    yield Case(
        "v2-committed-without-reference",
        "An old ledger says committed and refers to nothing.",
        Journal(),
        "hand_over",
        ["SP766"],
        files={**saved, ledger: _v2("ledger") + b"\n"},
        facts=vouched,
    )
    twins = _v2("checkpoint") + b"\n" + _v2("checkpoint", checkpointId="cp-2", state="sent") + b"\n"
    yield Case(
        "v2-two-newest-checkpoints",
        "Two checkpoints of the same time, and nothing tells which is newer.",
        Journal(),
        "hand_over",
        ["SP704", "SP760"],
        files={**saved, checkpoints: twins},
        facts=vouched,
    )
    kept = {"sequence": 5, "previousDigest": digest("a"), "nonce": "0" * 32, "leaseEpoch": 1}
    residue = {"recordType": "ledger", "schemaVersion": "v3", **kept}
    yield Case(
        "v2-lowered-from-a-journal",
        "A copy that was lowered from a journal says less than the journal.",
        Journal(),
        "hand_over",
        ["SP314", "SP760"],
        files={**saved, ledger: _v2("ledger", externalRef="m-1", **{"x-v3": residue}) + b"\n"},
        facts=vouched,
    )
    torn = _v2("checkpoint") + b"\n" + _v2("checkpoint", checkpointId="cp-2")[:60]
    yield Case(
        "newest-checkpoint-torn",
        "The newest checkpoint is torn; the ledger covers what was done since.",
        Journal(),
        "resume",
        ["SP703", "SP760"],
        files={**saved, checkpoints: torn},
        facts=vouched,
        source="Lightning#19970",
    )
    yield Case(
        "ledger-torn",
        "The torn tail of a ledger may hide an attempt.",
        Journal(),
        "hand_over",
        ["SP113", "SP760"],
        files={**saved, ledger: _v2("ledger", externalRef="m-1") + b"\n" + _v2("ledger")[:40]},
        facts=vouched,
        source="claude-code#52387",
    )


def lines_only() -> Iterator[Case]:
    data = b"".join(encode_record(value) + b"\n" for value in started().values)
    head = {"sequence": 3, "digest": digest_bytes(data.splitlines()[-1])}
    files = {"runs/run-1/journal.jsonl": data}
    yield Case(
        "lines-unanchored",
        "A journal that is JSON Lines only may have lost its tail.",
        Journal(),
        "reconcile",
        ["SP707"],
        files=files,
    )
    yield Case(
        "lines-anchored",
        "Its head is known from elsewhere, as of now, and its owner is proven dead.",
        Journal(),
        "resume",
        ["SP799"],
        files=files,
        facts=facts(heads={"journal": head}, **DEAD),
    )
    yield Case(
        "lines-behind-an-anchor",
        "An anchor has seen this head, and the owner is dead: what came after the anchor may still have been cut.",
        Journal(),
        "reconcile",
        ["SP707"],
        files=files,
        facts=facts(**DEAD),
        anchor={"journal": head},
        source="SPEC.md#anchors",
    )
    yield Case(
        "lines-cut-since-the-anchor",
        "A fact names the head, and an anchor has seen the journal longer: both have to hold.",
        Journal(),
        "hand_over",
        ["SP708"],
        files=files,
        facts=facts(heads={"journal": head}, **DEAD),
        anchor={"journal": {"sequence": 4, "digest": digest("a")}},
        source="SPEC.md#anchors",
    )


def write(case: Case, folder: Path) -> None:
    """Lay the case down, judge it, and keep the decision if it is the one that the case promises."""
    shutil.rmtree(folder, ignore_errors=True)
    store = folder / "store"
    store.mkdir(parents=True)
    case.journal.write(store)
    for key in case.without:
        (store / key).unlink()
    for key, data in case.files.items():
        (store / key).parent.mkdir(parents=True, exist_ok=True)
        (store / key).write_bytes(data)
    expect: dict[str, Any] = {"command": "guard", "summary": case.summary}
    expect["source"] = case.source or "SPEC.md#guard"
    expect |= {"store": "store", "run": "run-1", "now": at(case.now)}
    if case.claims != "enforced":
        expect["claims"] = case.claims
    for name in ("facts", "policy", "request"):
        document = getattr(case, name)
        if document is not None:
            expect[name] = f"{name}.json"
            _dump(folder / f"{name}.json", document)
    if case.anchor is not None:
        expect["anchor"] = "place"
        (folder / "place/anchors").mkdir(parents=True)
        (folder / "place/anchors/0000000001.json").write_bytes(
            encode_record(anchor(case.anchor, case.anchored_document))
        )
    opened, anchored = open_store(str(store)), None
    if case.anchor is not None:
        anchored = load_anchored(str(folder / "place"), {}, "run-1", opened)
    run = load_run(opened, "run-1").run
    assert run is not None
    decision = evaluate(
        run,
        case.facts,
        parse_policy(case.policy, workflow="publish"),
        case.request,
        START + int(case.now * SECOND),
        artifacts=gather_artifacts(opened, run),
        claims=case.claims,
        anchored=anchored,
    )
    got = (decision.verdict, [reason.code for reason in decision.reasons])
    if got != (case.verdict, list(case.codes)):
        sys.exit(
            f"{case.name}: expected {(case.verdict, list(case.codes))}, got {got}\n{decision.document()}"
        )
    _dump(folder / "decision.json", decision.document())
    expect |= {"exit": EXIT_CODES[case.verdict], "decision": "decision.json"}
    _dump(folder / "expect.json", expect)


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    shutil.rmtree(ROOT, ignore_errors=True)
    for each in cases():
        write(each, ROOT / each.name)
