"""Whether a run is of the ordinary kind, of which nothing can be said: decided in one pass, without folding it.

Most runs of a store are sound, and most sound runs look alike: one owner after the other, checkpoints in a row, each
effect announced and then committed. Such a run is recognised here at a fraction of what it costs to fold it and to
ask every rule.

Decided here: what certainly has no fault. This only ever says yes or "not certain": whatever is unusual (a branch, a
doubt, a compensation, a correction) is left to ``run.fold`` and to ``rules``, which alone say what is wrong. So a new
rule has to be looked at here as well; the tests compare both on every fixture and on every kind of damage.
Not decided here: that the values fit their schemas, and the digests of their bytes (``reader``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from safepoint.core.digest import digest_value
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.model import proof
from safepoint.model.approvals import TRANSITIONS as NEXT_EVENTS

Value = Mapping[str, Any]

_COUNTERS = ("seconds", "tokens", "costMicros", "attempts")
_ENDS = frozenset({"completed", "failed", "cancelled"})


class _Unusual(Exception):  # noqa: N818 - no error: the run is one for the thorough way
    """Something that takes more than a glance."""


class _Action:
    """What is remembered of an action between its records."""

    __slots__ = (
        "cut_off",
        "effect",
        "epoch",
        "fingerprint",
        "key",
        "lasting",
        "number",
        "retryable",
        "started",
        "status",
        "step",
    )

    def __init__(self, value: Value) -> None:
        declares = value.get("declares")
        if not declares:
            raise _Unusual
        self.status: str = ""
        self.step: str = value["stepName"]
        self.key: str | None = value["idempotencyKey"]
        self.fingerprint: str | None = value.get("requestFingerprint")
        self.effect: str = declares.get("effect") or "other"
        self.number = 0
        self.epoch = 0
        """The epoch of the last attempt."""
        self.retryable = False
        self.started: str | None = None
        """When the last attempt began."""
        self.cut_off: str | None = None
        self.lasting: tuple[int, int] | None = None
        """Seconds for which the provider knows the key, and until an effect shows; None where no key counts."""
        if declares.get("idempotency") == "keyed":
            window = declares.get("dedupeWindowSeconds")
            if self.key is None or (window is None and declares.get("probe") in {None, "none"}):
                raise _Unusual
            if window is not None:
                self.lasting = window, declares.get("probeSettleSeconds") or 0


class _Glance:
    """The state of a run while its records go by; every method raises `_Unusual` where it is not certain."""

    def __init__(self) -> None:
        self.epoch = 0
        self.nonce: str | None = None
        self.held = False
        self.nonces: set[str] = set()
        self.actions: dict[str, _Action] = {}
        self.owners: dict[str, str] = {}
        """To which action each idempotency key belongs."""
        self.last_ledger = 0
        self.wrote = self.told = False
        """Whether an effect was begun that can be the write, or the message, of which a checkpoint speaks."""
        self.done: set[str] = set()
        """The effects that were committed."""
        self.open: set[str] = set()
        """Actions, but for reads, with an open attempt."""
        self.seen = 0
        """Actions of which there is evidence, and no outcome yet."""
        self.saved = False
        """Whether a checkpoint lies behind the last effect that was applied."""
        self.checkpoint: Value | None = None
        self.checkpoints: set[str] = set()
        self.usage: dict[str, float] = {}
        """The counters as they were last known."""
        self.in_a_row = 0
        """Checkpoints directly behind one another, up to here."""
        self.guard: tuple[Any, Any] = (None, None)
        """A guard context and its digest."""
        self.artifacts: dict[str, str] = {}
        """Artifacts and their digests."""
        self.approvals: dict[str, tuple[str, Value]] = {}
        self.gates: dict[str, str] = {}
        """Actions and the approval that was spoken of last."""

    def lease(self, value: Value) -> None:
        purpose = value.get("purpose")
        if (
            value.get("branch") is not None
            or value.get("forkFrom") is not None
            or purpose == "resolution"
            or (purpose == "recovery" and value.get("authorization") is None)
        ):
            raise _Unusual
        self.in_a_row = 0
        if value["event"] == "claimed":
            nonce = value["nonce"]
            if value["leaseEpoch"] != self.epoch + 1 or nonce in self.nonces:
                raise _Unusual
            self.epoch, self.nonce, self.held = value["leaseEpoch"], nonce, True
            self.nonces.add(nonce)
        else:
            self.owned(value)
            self.held = value["event"] != "released"
            self.leave()

    def owned(self, value: Value) -> None:
        if value["nonce"] != self.nonce or value["leaseEpoch"] != self.epoch or not self.held:
            raise _Unusual

    def leave(self) -> None:
        """The owner stops here."""
        if not self.saved and not self.done <= {"read"}:
            raise _Unusual

    def ledger(self, value: Value) -> None:
        self.owned(value)
        name, status = value["actionId"], value["status"]
        action = self.actions.get(name)
        if action is None:
            action = self.actions[name] = _Action(value)
            if action.key is not None and self.owners.setdefault(action.key, name) != name:
                raise _Unusual
        elif (
            value["idempotencyKey"] != action.key
            or value.get("requestFingerprint", action.fingerprint) != action.fingerprint
            or value.get("declares") is not None
            or value["stepName"] != action.step
        ):
            raise _Unusual
        if value.get("compensates") is not None:
            raise _Unusual
        before, action.status = action.status, status
        if status == "attempting":
            if before not in {"", "planned"} and not (before == "failed" and action.retryable):
                raise _Unusual
            self.attempt(name, action, value)
        elif status == "committed":
            self.outcome(name, before, action, value)
            self.done.add(action.effect)
            self.saved = self.saved and action.effect == "read"
        elif status == "failed":
            self.outcome(name, before, action, value)
            error = value.get("error")
            if proof.error_leaves_open(error, repeatable=False):
                raise _Unusual
            action.retryable = bool(error and error.get("retryable"))
        elif (before, status) not in {("", "planned"), ("planned", "cancelled"), ("failed", "cancelled")} or (
            value.get("attempt") is not None
        ):
            raise _Unusual
        if status != "committed" and value.get("evidence") is not None:
            raise _Unusual
        if value.get("resultRef") is not None:
            if "result" in value:
                raise _Unusual
            self.artifact(value["resultRef"])
        self.last_ledger = value["sequence"]
        self.in_a_row = 0

    def attempt(self, name: str, action: _Action, value: Value) -> None:
        attempt = value["attempt"]
        action.number += 1
        action.started, action.epoch = attempt["startedAt"], self.epoch
        cut_off = attempt.get("sendBefore")
        if attempt["number"] != action.number or _before(attempt["deadline"], attempt["startedAt"]):
            raise _Unusual
        if action.number == 1:
            action.cut_off = cut_off
        elif cut_off != action.cut_off:
            raise _Unusual
        if cut_off is not None:
            limit, started = parse_time(cut_off), parse_time(attempt["startedAt"])
            if started >= limit:
                raise _Unusual
            if action.lasting is not None and action.number == 1:
                window, settle = action.lasting
                if limit > min(started, parse_time(value["createdAt"])) + (window - settle) * SECOND:
                    raise _Unusual
        elif action.lasting is not None:
            raise _Unusual
        if name in self.gates:
            self.pass_gate(self.gates[name], value)
        if action.effect != "read":
            if action.number == 1 and not self.saved and not self.open:
                raise _Unusual
            self.open.add(name)
            self.wrote = True
            self.told = self.told or action.effect not in {"write", "payment"}

    def pass_gate(self, approval_id: str, attempt: Value) -> None:
        event, asked = self.approvals[approval_id]
        if event == "granted" and parse_time(attempt["createdAt"]) >= parse_time(asked["expiresAt"]):
            raise _Unusual
        if event not in {"granted", "consumed"}:
            raise _Unusual

    def outcome(self, name: str, before: str, action: _Action, value: Value) -> None:
        named = value.get("attempt")
        seen = before == "seen" and value["status"] == "committed"
        self.seen -= seen
        settles = (
            before == "attempting" and action.epoch == self.epoch
        )  # of an earlier owner's it takes a proof
        if not (seen or settles) or (named and named["number"] != action.number):
            raise _Unusual
        if named and _before(named["deadline"], named["startedAt"]):
            raise _Unusual
        evidence = value.get("evidence")
        if evidence and action.started and _before(evidence["observedAt"], action.started):
            raise _Unusual  # clocks may differ, but by how much is not for a glance
        self.open.discard(name)

    def evidence(self, value: Value) -> None:
        """Somebody saw the effect of an attempt that its own writer did not settle; the ledger says so next."""
        self.in_a_row = 0
        action = self.actions[value["actionId"]]
        if (
            action.status != "attempting"
            or value["attemptNumber"] != action.number
            or not action.started
            or _before(value["observedAt"], action.started)
        ):
            raise _Unusual
        action.status = "seen"
        self.seen += 1
        self.open.discard(value["actionId"])

    def save(self, value: Value) -> None:
        """A checkpoint."""
        self.owned(value)
        if self.seen:
            raise _Unusual
        name, before = value["checkpointId"], self.checkpoint
        self.in_a_row += 1
        if (
            name in self.checkpoints
            or self.in_a_row > 2
            or value.get("branch") is not None
            or value.get("parentCheckpointId", "") != (before["checkpointId"] if before else None)
            or value.get("lastLedgerSequence") != self.last_ledger
        ):
            raise _Unusual
        self.side_effects(value["sideEffectStatus"])
        self.context(value)
        for reference in value["artifactRefs"] or ():
            self.artifact(reference)
        usage = value.get("usage")
        if usage:
            for counter in _COUNTERS:
                now = usage.get(counter)
                if now is not None:
                    if now < self.usage.get(counter, 0):
                        raise _Unusual
                    self.usage[counter] = now
        self.checkpoint = value
        self.checkpoints.add(name)
        self.saved = True

    def side_effects(self, said: Value) -> None:
        wrote, told = said["writePerformed"], said["externalMessageSent"]
        if (wrote and not self.wrote) or (told and not self.told):
            raise _Unusual
        if wrote is False or told is False:
            if self.open:
                raise _Unusual
            if wrote is False and not self.done.isdisjoint({"write", "payment"}):
                raise _Unusual
            if told is False and "message" in self.done:
                raise _Unusual
            if wrote is told is False and not self.done <= {"read", "write", "payment", "message"}:
                raise _Unusual

    def context(self, value: Value) -> None:
        context, stated = value.get("guardContext"), value.get("guardHash")
        if context is None or stated is None:
            return
        if self.guard != (context, stated):
            if digest_value(context) != stated:
                raise _Unusual
            self.guard = (context, stated)

    def artifact(self, reference: Value) -> None:
        digest = reference.get("digest")
        if digest is not None and self.artifacts.setdefault(reference["artifactId"], digest) != digest:
            raise _Unusual

    def approval(self, value: Value) -> None:
        self.in_a_row = 0
        name, event, action = value["approvalId"], value["event"], value.get("actionId")
        known = self.approvals.get(name)
        if known is None:
            if event != "requested" or value.get("branch") is not None or value.get("contentDigest") is None:
                raise _Unusual
            if value.get("expiresAt") is None or not _before(value["createdAt"], value["expiresAt"]):
                raise _Unusual
            if self.epoch and not self.saved:
                raise _Unusual  # a wait may outlast the process
            if action in self.actions and self.actions[action].status != "planned":
                raise _Unusual
            asked = value
        else:
            before, asked = known
            if event not in NEXT_EVENTS[before]:
                raise _Unusual
            if event == "granted" and not _before(value["createdAt"], asked["expiresAt"]):
                raise _Unusual
            for member in ("actionId", "checkpointId", "branch", "contentDigest", "expiresAt"):
                says = value.get(member)
                if says is not None and says != asked.get(member):
                    raise _Unusual
            action = asked.get("actionId")
            if event == "consumed" and (
                action is None or parse_time(value["createdAt"]) >= parse_time(asked["expiresAt"])
            ):
                raise _Unusual
        self.approvals[name] = (event, asked)
        if action is not None:
            self.gates[action] = name

    def end(self, value: Value) -> None:
        """The record that ends the run."""
        self.owned(value)
        if value.get("parentRunId") == value["runId"]:
            raise _Unusual
        if value["status"] == "failed":
            self.leave()
        elif value["status"] == "cancelled" and self.open:
            raise _Unusual

    def look_back(self) -> None:
        """What can only be seen once all records went by: that what was approved is what was done."""
        if self.seen:
            raise _Unusual
        for event, asked in self.approvals.values():
            if asked.get("checkpointId") is not None and asked["checkpointId"] not in self.checkpoints:
                raise _Unusual
            if event == "consumed":
                action = self.actions.get(asked["actionId"])
                if action is None or action.fingerprint not in {None, asked["contentDigest"]}:
                    raise _Unusual


def _before(one: str, other: str) -> bool:
    """Whether one time of the format lies before the other."""
    # of one length they are of one form, and sort like the moments that they name
    return one < other if len(one) == len(other) else parse_time(one) < parse_time(other)


def is_ordinary(values: Sequence[dict[str, Any]], digests: Sequence[str]) -> bool:
    """Whether the run certainly has no fault; False means that this takes more than a glance.

    Args:
        values: the whole journal, in the order in which it was stored; v3 records that fit their schemas.
        digests: of the stored bytes of each.
    """
    if [value["sequence"] for value in values] != list(range(1, len(values) + 1)):
        return False
    if [value["previousDigest"] for value in values] != [None, *digests[:-1]]:
        return False
    first, last = values[0], values[-1]
    if first["recordType"] != "run" or first["status"] != "started" or first["leaseEpoch"] != 0:
        return False
    if first.get("parentRunId") == first["runId"] or "successor" in first or "successor" in last:
        return False
    glance = _Glance()
    read = {
        "ledger": glance.ledger,
        "checkpoint": glance.save,
        "approval": glance.approval,
        "lease": glance.lease,
        "evidence": glance.evidence,
    }
    ended = last["recordType"] == "run" and last["status"] in _ENDS
    try:
        for value in values[1:-1] if ended else values[1:]:
            read[value["recordType"]](value)
        if ended:
            glance.end(last)
        glance.look_back()
    except (_Unusual, KeyError):  # KeyError: a kind, or an action, that needs the thorough way
        return False
    return True
