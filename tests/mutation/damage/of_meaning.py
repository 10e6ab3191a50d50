"""Damages of what one record means beside the others: it says something else that it might well say.

Each time the log is chained anew, as a wrong writer would have written it: a broken digest must not be all that gives
the damage away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from damage.store import Damage, Good, Log, Text, encode, rewrite

Edits = Iterator[tuple[str, dict[str, Any]]]
"""Kinds, each with the members that it changes."""

OTHER_DIGEST = "sha256:" + "0123456789abcdef" * 4
OTHER_NONCE = "deadbeef" * 4
LATE, EARLY = "2099-01-01T00:00:00Z", "1999-01-01T00:00:00Z"

STATUSES = {
    ("run", "status"): ("started", "completed", "failed", "cancelled", "cancelRequested", "sealed"),
    ("ledger", "status"): (
        "planned", "attempting", "inDoubt", "prepared", "committed", "failed", "compensating", "compensated",
        "compensationFailed", "cancelled", "abandoned",
    ),
    ("approval", "event"): ("requested", "granted", "rejected", "expired", "revoked", "consumed"),
    ("lease", "event"): ("claimed", "released"),
    ("recovery", "state"): (
        "detected", "assessing", "notNeeded", "waiting", "reconciling", "compensating", "awaitingHuman", "authorized",
        "gaveUp", "claimed", "resuming", "probation", "recovered", "failedAttempt", "compensated", "superseded",
    ),
}  # fmt: skip

PROOFS: dict[str, Any] = {
    "attempt": {"number": 1, "startedAt": "2026-05-07T10:00:30Z", "deadline": "2026-05-07T10:01:00Z"},
    "evidence": {"kind": "human", "ref": None, "by": "m.moreau", "observedAt": "2026-05-07T10:30:00Z"},
    "error": {"class": "Refused", "message": None, "retryable": False, "sent": "no"},
    "reservation": {"ref": "res-1", "expiresAt": None},
    "actor": "m.moreau",
    "successor": {"uri": "https://elsewhere.example/store", "runId": "run-2"},
}
"""Members that make a record of any status whole, so that only its place among the others is wrong."""


def of_meaning(good: Good, log: Log) -> Iterator[Damage]:
    """One member says something else that it might well say, and the log is chained anew."""
    for text in log.texts:
        for kind, members in _edits(log, text):
            if "episodeId" in members and not any(other.name == "recovery" for other in good.logs):
                continue  # whoever keeps no recovery log may name episodes as he likes
            value = {**text.value, **members}
            value = {name: item for name, item in value.items() if item is not ...}
            if value != text.value:
                changed = ",".join(name for name in members if text.value.get(name, ...) != members[name])
                yield kind, text, f"/{changed}", rewrite(good, text, encode(value))


def _edits(log: Log, text: Text) -> Edits:
    value = text.value
    kind = value["recordType"]
    for (of_kind, member), statuses in STATUSES.items():
        if of_kind == kind:
            for status in statuses:
                yield f"{member} {status}", {member: status, **_proofs(kind, value, status)}
    epoch = value.get("leaseEpoch") or 0
    for other in (epoch + 1, epoch - 1, 0, epoch + 50):
        if other != epoch and other >= 0:
            yield "another epoch", {"leaseEpoch": other}
    yield "another writer's nonce", {"nonce": OTHER_NONCE}
    for claim in log.texts:
        if claim.value["recordType"] == "lease" and claim.value["nonce"] != value["nonce"]:
            yield "another lease's nonce", {"nonce": claim.value["nonce"]}
            yield "another lease's nonce and epoch", {m: claim.value[m] for m in ("nonce", "leaseEpoch")}
    yield "another run", {"runId": value["runId"] + "x"}
    yield "made earlier", {"createdAt": EARLY}
    yield "made later", {"createdAt": LATE}
    yield from _OF_KIND.get(kind, lambda *_: iter(()))(log, value)


def _proofs(kind: str, value: dict[str, Any], status: str) -> dict[str, Any]:
    wanted = {
        ("ledger", "attempting"): "attempt", ("ledger", "prepared"): "reservation", ("ledger", "committed"): "evidence",
        ("ledger", "failed"): "error", ("ledger", "abandoned"): "evidence", ("run", "sealed"): "successor",
        ("approval", "granted"): "actor", ("approval", "rejected"): "actor", ("approval", "revoked"): "actor",
    }.get((kind, status))  # fmt: skip
    proofs = {wanted: value.get(wanted) or PROOFS[wanted]} if wanted else {}
    if status == "abandoned":
        proofs["evidence"] = PROOFS["evidence"]
    if (kind, status) == ("recovery", "claimed") and not value.get("leaseEpoch"):
        proofs["leaseEpoch"] = 1
    return proofs


def _of_a_checkpoint(log: Log, value: dict[str, Any]) -> Edits:
    ids = [text.value["checkpointId"] for text in log.texts if text.value["recordType"] == "checkpoint"]
    own = value["checkpointId"]
    yield "its own parent", {"parentCheckpointId": own}
    yield "parent that was never written", {"parentCheckpointId": "cp-never"}
    yield "no parent", {"parentCheckpointId": None}
    for other in ids:
        if other != own:
            yield "another's checkpointId", {"checkpointId": other}
            if ids.index(other) > ids.index(own):
                yield "parent written later", {"parentCheckpointId": other}
            elif other != value.get("parentCheckpointId"):
                yield "grandparent for parent", {"parentCheckpointId": other}
    if any(text.value.get("parentCheckpointId") == own for text in log.texts):
        yield "checkpointId changed", {"checkpointId": "cp-other"}
    numbers = [t.value["sequence"] for t in log.texts if t.value["recordType"] == "ledger"]
    before = [number for number in numbers if number < value["sequence"]]
    yield "ahead of the ledger", {"lastLedgerSequence": value["sequence"]}
    yield "far ahead of the ledger", {"lastLedgerSequence": value["sequence"] + 1000}
    for number in before[:-1]:
        yield "behind the ledger", {"lastLedgerSequence": number}
    if before:
        yield "as if there were no ledger", {"lastLedgerSequence": 0}
    others = [t.value["sequence"] for t in log.texts if t.value["recordType"] != "ledger"]
    for number in [n for n in others if n < value["sequence"]][:1]:
        yield "names what is no ledger record", {"lastLedgerSequence": number}
    said = value["sideEffectStatus"]
    for member in ("writePerformed", "externalMessageSent"):
        if said[member] is False:
            yield f"{member} claimed", {"sideEffectStatus": {**said, member: True}}
        # without such an effect it would be the truth, or its writer's word
        if said[member] and _was_applied(log, value, *_PROVE[member]):
            yield f"{member} denied", {"sideEffectStatus": {**said, member: False}}
    if _was_applied(log, value, "write", "payment", "message", "other"):
        yield "both effects denied", {"sideEffectStatus": dict.fromkeys(said, False)}
    usage = value.get("usage") or {}
    for counter in ("seconds", "tokens", "costMicros", "attempts"):
        if any((v.get("usage") or {}).get(counter) for v in _checkpoints(log, until=value)):
            yield f"{counter} back at zero", {"usage": {**usage, counter: 0}}
        if any((v.get("usage") or {}).get(counter) is not None for v in _checkpoints(log, behind=value)):
            yield f"{counter} far too high", {"usage": {**usage, counter: 10**12}}
    yield "undeclared branch", {"branch": "elsewhere"}
    if value.get("guardHash"):
        yield "another guardHash", {"guardHash": OTHER_DIGEST}
        yield "another guardContext", {"guardContext": {**value["guardContext"], "model": OTHER_DIGEST}}
        yield (
            "part of the guardContext added",
            {"guardContext": {**value["guardContext"], "tool.x": OTHER_DIGEST}},
        )
    for member in ("artifactRefs",):
        if value.get(member):
            first = value[member][0]
            for kind, uri in (
                ("artifact that climbs", "../../../etc/passwd"), ("artifact on this machine", "file:///etc/hostname"),
                ("artifact at a root", "/etc/hostname"),
                ("artifact that climbs, encoded", "artifacts/%2e%2e/%2e%2e/%2e%2e/x"),
            ):  # fmt: skip
                yield kind, {member: [{**first, "uri": uri}]}
            yield "another artifact's digest", {member: [{**first, "digest": OTHER_DIGEST}]}
            yield "another size", {member: [{**first, "size": 999}]}
            twice = {**first, "digest": OTHER_DIGEST}
            yield "one artifact with two digests", {member: [first, twice]}
    yield "gate that nobody was asked at", {"reason": "humanGate"}


_PROVE = {"writePerformed": ("write", "payment"), "externalMessageSent": ("message",)}
"""The effects of which a member of ``sideEffectStatus`` cannot be false."""


def _was_applied(log: Log, checkpoint: dict[str, Any], *effects: str) -> bool:
    """Whether one of those effects was committed before the checkpoint."""
    ledger = [t.value for t in log.texts if t.value["recordType"] == "ledger"]
    actions = {v["actionId"] for v in ledger if (v.get("declares") or {}).get("effect") in effects}
    return any(
        v["status"] == "committed" and v["actionId"] in actions and v["sequence"] < checkpoint["sequence"]
        for v in ledger
    )


def _checkpoints(
    log: Log, *, until: dict[str, Any] | None = None, behind: dict[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """The checkpoints before or behind a record, of the main line alone."""
    for text in log.texts:
        if text.value["recordType"] == "checkpoint" and not text.value.get("branch"):
            number = text.value["sequence"]
            if (until and number < until["sequence"]) or (behind and number > behind["sequence"]):
                yield text.value


def _of_the_ledger(log: Log, value: dict[str, Any]) -> Edits:
    ledger = [t.value for t in log.texts if t.value["recordType"] == "ledger"]
    if sum(r["actionId"] == value["actionId"] for r in ledger) > 1:
        yield "another key", {"idempotencyKey": "another-key"}
        yield "no key", {"idempotencyKey": None}
        yield "another request", {"requestFingerprint": OTHER_DIGEST}
        yield "another step", {"stepName": "another_step"}
        yield "another action", {"actionId": "another-action"}
    for key in {r["idempotencyKey"] for r in ledger} - {value["idempotencyKey"], None}:
        yield "another action's key", {"idempotencyKey": key}
    yield "no fingerprint", {"requestFingerprint": None}
    for other in {r["actionId"] for r in ledger} - {value["actionId"]}:
        yield "other action of the run", {"actionId": other}
    attempt = value.get("attempt")
    if attempt:
        for kind, members in (
            ("attempt number higher", {"number": attempt["number"] + 1}),
            ("attempt number far off", {"number": 99}),
            ("attempt number of the first", {"number": 1}),
            ("attempt begun earlier", {"startedAt": EARLY}),
            ("attempt begun later than its record", {"startedAt": LATE}),
            ("deadline before the start", {"deadline": EARLY}),
            ("deadline far off", {"deadline": LATE}),
            ("started after sendBefore", {"sendBefore": EARLY}),
            ("sendBefore lost", {"sendBefore": None}),
        ):
            yield kind, {"attempt": {**attempt, **members}}
        if attempt.get("sendBefore"):  # else no window need be declared, and nothing can measure it
            yield "sendBefore far off", {"attempt": {**attempt, "sendBefore": LATE}}
        yield "attempt lost", {"attempt": None}
    evidence = value.get("evidence")
    if evidence:
        yield "evidence lost", {"evidence": None}
        yield "evidence from before the attempt", {"evidence": {**evidence, "observedAt": EARLY}}
        yield "evidence from the future", {"evidence": {**evidence, "observedAt": LATE}}
        for other in ("response", "probe", "human"):
            yield f"evidence of a {other}", {"evidence": {**evidence, "kind": other}}
    error = value.get("error")
    if error:
        yield "error lost", {"error": None}
        for kind, members in (
            ("failed by timeout", {"class": "read_timeout", "sent": "yes"}),
            ("failed, perhaps sent", {"sent": "unknown"}),
            ("retryable flipped", {"retryable": not error["retryable"]}),
        ):
            yield kind, {"error": {**error, **members}}
    if value.get("reservation"):
        yield "reservation lost", {"reservation": None}
    declares = value.get("declares")
    if declares:
        yield "declaration lost", {"declares": None}
        for effect in ("read", "write", "message", "payment", "other"):
            yield "another effect declared", {"declares": {**declares, "effect": effect}}
        for how in ("natural", "keyed", "none"):
            yield "another idempotency declared", {"declares": {**declares, "idempotency": how}}
        yield "window lost", {"declares": {**declares, "dedupeWindowSeconds": None}}
    else:
        yield "declared late", {"declares": {"effect": "read", "idempotency": "natural"}}
    yield "compensates itself", {"compensates": value["actionId"]}
    yield "compensates what nobody did", {"compensates": "never-done"}
    if value.get("compensates"):
        yield "compensates nothing", {"compensates": None}


def _of_an_approval(log: Log, value: dict[str, Any]) -> Edits:
    if value["event"] != "requested":
        yield "another approval", {"approvalId": "another-approval"}
        yield "content changed", {"contentDigest": OTHER_DIGEST}
    yield "content lost", {"contentDigest": None}
    yield "for an action that is not there", {"actionId": "never-planned"}
    yield "for a checkpoint that is not there", {"checkpointId": "cp-never"}
    yield "for nothing", {"actionId": None, "checkpointId": None}
    yield "actor lost", {"actor": None}
    yield "expiry removed", {"expiresAt": None}
    yield "expired before it was made", {"expiresAt": EARLY}
    yield "expiry far off", {"expiresAt": LATE}
    yield "another branch", {"branch": "elsewhere"}


def _of_a_lease(log: Log, value: dict[str, Any]) -> Edits:
    for purpose in ("run", "recovery", "resolution", None):
        yield f"purpose {purpose}", {"purpose": purpose}
    yield "holder lost", {"holder": None}
    yield "ttl lost", {"ttlSeconds": None}
    yield "ttl of zero", {"ttlSeconds": 0}
    yield "episode that is not there", {"episodeId": "ep-never"}
    yield "undeclared branch", {"branch": "elsewhere"}
    yield "fork from nowhere", {"branch": "elsewhere", "forkFrom": {"checkpointId": "cp-never"}}
    yield "fork without a branch", {"forkFrom": {"checkpointId": "cp-1"}, "branch": None}
    if value.get("forkFrom"):
        yield "fork undeclared", {"forkFrom": None}


def _of_evidence(log: Log, value: dict[str, Any]) -> Edits:
    yield "for an action that is not there", {"actionId": "never-planned"}
    yield "for an attempt that is not there", {"attemptNumber": 99}
    yield "for any attempt", {"attemptNumber": None}
    yield "of a nameless human", {"kind": "human", "by": None}
    yield "evidence from before the attempt", {"observedAt": EARLY}
    yield "another effect seen", {"externalRef": "another-message"}


def _of_a_retraction(log: Log, value: dict[str, Any]) -> Edits:
    yield "of what is not there", {"targets": ["cp-never"]}
    yield "of nothing", {"targets": []}


def _of_a_recovery(log: Log, value: dict[str, Any]) -> Edits:
    yield "another episode", {"episodeId": "ep-other"}
    yield "epoch of the episode lost", {"leaseEpoch": None}
    yield "epoch that nobody claimed", {"leaseEpoch": 77}
    yield "from a checkpoint that is not there", {"fromCheckpointId": "cp-never"}
    yield "attempt number far off", {"attemptNumber": 99}


def _of_the_run(log: Log, value: dict[str, Any]) -> Edits:
    yield "its own parent", {"parentRunId": value["runId"]}
    if value.get("successor"):
        yield "successor lost", {"successor": None}
        yield "its own successor", {"successor": {"uri": ".", "runId": value["runId"]}}


_OF_KIND: dict[str, Callable[[Log, dict[str, Any]], Edits]] = {
    "checkpoint": _of_a_checkpoint,
    "ledger": _of_the_ledger,
    "approval": _of_an_approval,
    "lease": _of_a_lease,
    "evidence": _of_evidence,
    "retract": _of_a_retraction,
    "recovery": _of_a_recovery,
    "run": _of_the_run,
}
