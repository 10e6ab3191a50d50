"""Layer 6, effects: actions of which nobody can say whether they were applied."""

from __future__ import annotations

from collections.abc import Iterator

from journals import Journal, at, declares
from questions import KEYED, NATURAL, PROBED, facts, not_found, started

from conformance.case import DEAD, Case


def cases() -> Iterator[Case]:
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
