"""Runs and questions about them as hypothesis draws them: mostly legal journals, some of them a little wrong.

What is drawn comes from few values that mean something to the guard, so that conditions meet each other often.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from generated_facts import facts_of, policies, requests
from hypothesis import strategies as st
from journals import START, Journal, as_record, at, declares, digest
from questions import KEYED, NATURAL, PAY, PROBED

from safepoint.core.digest import encode_record
from safepoint.core.kind import Identity
from safepoint.core.timestamp import SECOND
from safepoint.core.version import V3
from safepoint.guard import Decision, evaluate
from safepoint.model.record import Record
from safepoint.model.run import Run, fold
from safepoint.policy import parse_policy
from safepoint.schemas import check
from safepoint.store.layout import journal_key, recovery_key

CHAIN = ("sequence", "previousDigest", "nonce", "leaseEpoch")
DECLARATIONS = (
    declares(),
    KEYED,
    declares(idempotency="keyed", dedupeWindowSeconds=200, probe="byKey"),
    declares(idempotency="keyed"),
    NATURAL,
    PROBED,
    PAY,
    {**PAY, "probe": "byQuery"},
    declares(reversibility="compensatable", compensation="release", compensationConsumesKey=True),
    declares(effect="read"),
    None,
)
NEXT: Mapping[str | None, tuple[str, ...]] = {
    None: ("planned", "attempting", "attempting"),
    "planned": ("attempting", "cancelled"),
    "attempting": ("committed", "failed", "refused", "timedOut", "prepared", "inDoubt"),
    "inDoubt": ("attempting", "abandoned", "committed"),
    "prepared": ("attempting", "failed"),
    "failed": ("attempting", "cancelled"),
    "committed": ("compensating",),
    "compensating": ("compensationFailed", "undo"),
    "compensationFailed": ("abandoned",),
}
"""What may follow in the ledger; ``refused`` and ``timedOut`` are kinds of ``failed``, ``undo`` is another action."""

FOLLOWS: Mapping[str | None, tuple[str, ...]] = {
    None: ("requested",),
    "requested": ("granted", "granted", "rejected", "expired"),
    "granted": ("consumed", "revoked", "expired"),
}
PRECONDITIONS = (
    {"type": "externalVersion", "subject": "doc", "expected": "7"},
    {"type": "externalEquals", "subject": "price", "expected": {"eur": 5}},
    {"type": "approvalGranted", "subject": "ap-1", "expected": True},
    {"type": "artifactPresent", "subject": "plan", "expected": True},
    {"type": "notAfter", "subject": "offer", "expected": at(5000)},
    {"type": "outboxState", "subject": "m-1", "expected": "pending"},
    {"type": "moonPhase", "subject": "moon", "expected": "full"},
)


@dataclass(frozen=True)
class Question:
    """A run and all that the guard is handed with it."""

    journal: Journal
    now: float
    facts: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)
    request: Mapping[str, Any] | None = None
    artifacts: Mapping[str, str] = field(default_factory=dict)
    beats: tuple[tuple[int, str, int], ...] = ()
    ordered: bool = True
    """Whether the records are a journal; without, they are what is left when nothing numbers them."""

    def records(self) -> list[Record]:
        """What the reader would hand to the fold."""
        if self.ordered:
            return [as_record(value, journal_key) for value in self.journal.values]
        kept = [value for value in self.journal.values if value["recordType"] != "lease"]
        return [as_record({k: v for k, v in value.items() if k not in CHAIN}) for value in kept]

    def run(self, records: list[Record] | None = None) -> Run:
        """The run, folded from these records where they are given."""
        return fold(
            self.journal.run_id,
            self.records() if records is None else records,
            recovery=[as_record(value, recovery_key) for value in self.journal.recovery],
            beats=self.beats,
            claimable=self.ordered,
        )

    def ask(self, run: Run | None = None) -> Decision:
        """The guard's answer."""
        return evaluate(
            run or self.run(),
            self.facts,
            parse_policy(self.policy, workflow="publish"),
            self.request,
            START + int(self.now * SECOND),
            artifacts=self.artifacts,
        )

    def but(self, **changes: Any) -> Question:
        """The same question with something else in it."""
        return replace(self, **changes)


def answer(question: Question) -> bytes:
    """The stored bytes of the guard's decision."""
    return encode_record(question.ask().document())


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """A question to the guard."""
    writer = _Writer(draw)
    for _ in range(draw(st.integers(0, 8))):
        writer.step()
    if draw(st.sampled_from([False, False, False, False, False, True])):
        writer.last()
    journal, after = writer.journal, draw(st.sampled_from([3, 20, *[400] * 6, 3000, 100_000, 2_000_000]))
    now = writer.seconds + after
    ordered = draw(st.integers(0, 9)) > 0
    beats = ((journal.epoch, f"{journal.epoch:032x}", START + int((now - 30) * SECOND)),)
    statuses = st.sampled_from(["present", "present", "missing", "damaged", "unknown"])
    return Question(
        journal,
        now,
        facts=draw(facts_of(journal, now, ordered=ordered)),
        policy=draw(policies()),
        request=draw(requests),
        artifacts=draw(st.fixed_dictionaries({}, optional={"plan": statuses})),
        beats=beats if draw(st.integers(0, 7)) == 0 else (),
        ordered=ordered,
    )


class _Writer:
    """Writes a journal step by step, each chosen from what may follow; now and then from what may not."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.journal = Journal().begin(ttl=self.pick(60, 60, 600))
        self.seconds = 1.0
        self.actions: dict[str, str] = {}
        self.approvals: dict[str, str] = {}
        self.saved = 0
        if self.often(3, 4):
            self.checkpoint()

    def pick(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def often(self, times: int, of: int) -> bool:
        """True so many times of so many."""
        return self.draw(st.integers(1, of)) > of - times

    def step(self) -> None:
        self.seconds += self.pick(1, 1, 1, 50, 300)
        steps = ("effect", "effect", "effect", "effect", "checkpoint", "checkpoint", "approval", "owner")
        getattr(self, self.pick(*steps))()

    def effect(self) -> None:
        name = self.pick("send", "pay", "hold")
        before = self.actions.get(name)
        wrong = self.often(1, 30)
        choices = ("planned", "attempting", "committed", "compensated") if wrong else NEXT.get(before, ())
        if not choices:
            return
        status = self.pick(*choices)
        members: dict[str, Any] = {
            "stepName": {"send": "notify", "pay": "update_status", "hold": "draft"}[name]
        }
        if before is None:
            members["declares"] = self.pick(*DECLARATIONS)
            members["requestFingerprint"] = self.pick(digest("f"), digest("f"), digest("f"), None)
        self.ledger(status, name, members)

    def ledger(self, status: str, name: str, members: dict[str, Any]) -> None:
        journal, seconds = self.journal, self.seconds
        human = {"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(seconds)}
        if status == "undo":
            for number, word in enumerate(self.pick(("attempting",), ("attempting", "committed"))):
                how = {"declares": KEYED} if word == "attempting" else {}
                journal.ledger(seconds + number / 10, word, f"undo-{name}", **how, compensates=name)
                self.actions[f"undo-{name}"] = word
            if self.actions[f"undo-{name}"] == "committed" and self.often(1, 2):
                journal.ledger(seconds + 0.5, "compensated", name)
                self.actions[name] = "compensated"
            return
        if status in {"failed", "refused", "timedOut"}:
            error = {"class": "ConnectionRefused", "message": None, "retryable": True, "sent": "no"}
            error |= {"refused": {"class": "InvalidRecipient", "retryable": False, "sent": "yes"}}.get(
                status, {}
            )
            error |= {"timedOut": {"class": "read_timeout", "sent": "yes"}}.get(status, {})
            members["error"], status = error, "failed"
        elif status == "prepared":
            members["reservation"] = {"ref": "r-1", "expiresAt": self.pick(None, at(seconds + 100), at(9000))}
        elif status == "abandoned":
            members["evidence"] = human
        journal.ledger(seconds, status, name, **members)
        self.actions[name] = status

    def checkpoint(self) -> None:
        self.saved += 1
        possible = (
            ("resumePreconditions", [self.pick(*PRECONDITIONS) for _ in range(self.pick(1, 2))]),
            ("artifactRefs", [self.artifact()]),
            ("guardContext", {"model": digest("a"), "workflow": digest("b")}),
            ("reason", "humanGate"),
            ("usage", {"seconds": 1, "tokens": 1, "costMicros": 100 * self.saved, "attempts": 1}),
            ("nextSteps", self.pick([], ["update_status"], ["draft", "notify"])),
            ("replaySafeActions", ["send"]),
            ("payloadSchema", "agent/state@4"),
            ("requires", {"resume": ["saga"]}),
        )
        members = {n: value for n, value in possible if self.often(1, 60 if n == "requires" else 5)}
        if "guardContext" in members:
            members["guardHash"] = None
        self.journal.checkpoint(self.seconds, f"cp-{self.saved}", **self.branch(), **members)

    def artifact(self) -> dict[str, Any]:
        found = {"artifactId": "plan", "digest": digest("e"), "size": 7, "mediaType": "text/markdown"}
        return {
            **found,
            "uri": self.pick(None, "s3://bucket/plan"),
            "producedBy": self.pick(None, "draft", "look"),
        }

    def branch(self) -> dict[str, Any]:
        """The branch that the newest lease works on, and the parent that is its own."""
        leases = [v for v in self.journal.values if v["recordType"] == "lease" and v["event"] == "claimed"]
        branch = leases[-1].get("branch")
        own = [
            v for v in self.journal.values if v["recordType"] == "checkpoint" and v.get("branch") == branch
        ]
        if own:
            parent = own[-1]["checkpointId"]
        else:
            parent = leases[-1]["forkFrom"]["checkpointId"] if leases[-1].get("forkFrom") else None
        return {"parentCheckpointId": parent, **({"branch": branch} if branch else {})}

    def approval(self) -> None:
        name = self.pick("ap-1", "ap-2")
        before = self.approvals.get(name)
        wrong = self.often(1, 20)
        events = ("granted", "consumed") if wrong else FOLLOWS.get(before, ())
        if not events:
            return
        asked = next((v for v in self.journal.values if v.get("approvalId") == name), None)
        about = self.pick("send", "pay", None) if self.saved else "send"
        members = {
            "contentDigest": self.pick(digest("f"), digest("f"), digest("f"), digest("a")),
            "expiresAt": self.pick(at(self.seconds + 100), at(2_100_000), at(2_100_000), None),
            **({"actionId": about} if about else {"checkpointId": f"cp-{self.saved}"}),
        }
        if asked is not None:
            bound = ("contentDigest", "expiresAt", "actionId", "checkpointId")
            members = {member: asked[member] for member in bound if member in asked}
        self.approvals[name] = self.pick(*events)
        actor = self.pick("eve", "eve", "eve", "eve", "mallory")
        self.journal.add(
            "approval", self.seconds, approvalId=name, event=self.approvals[name], actor=actor, **members
        )

    def owner(self) -> None:
        kind = self.pick("recovery", "recovery", "fork", "resolution", "released", "episode")
        if kind == "released":
            self.journal.add("lease", self.seconds, event="released")
            kind = "recovery"
            self.seconds += 1
            if self.often(1, 2):
                return
        if kind == "episode":
            number = len({v["episodeId"] for v in self.journal.recovery}) + 1
            self.journal.recover(self.seconds, "detected", episodeId=f"ep-{number}", trigger="leaseLapsed")
            if self.often(1, 2):
                self.journal.recover(self.seconds + 1, "superseded", episodeId=f"ep-{number}")
            return
        members: dict[str, Any] = {"purpose": "resolution" if kind == "resolution" else "recovery"}
        branch = self.branch().get("branch")
        if kind == "fork" and self.saved and self.branch()["parentCheckpointId"]:
            branch = f"b{self.journal.epoch}"
            members["forkFrom"] = {"checkpointId": self.branch()["parentCheckpointId"]}
        if branch:
            members["branch"] = branch
        self.journal.claim(self.seconds, **members)

    def last(self) -> None:
        ends = ("failed", "cancelRequested", "completed", "cancelled", "sealed")
        kind = self.pick(*ends, "evidence", "retract", "stale")
        open_actions = [
            n for n, s in self.actions.items() if s in {"attempting", "inDoubt", "failed", "abandoned"}
        ]
        if kind == "evidence" and open_actions:
            found = {"actionId": self.pick(*open_actions), "attemptNumber": 1, "result": "applied"}
            found |= {"kind": "human", "by": "ops", "ref": "t-1", "observedAt": at(self.seconds)}
            self.journal.add("evidence", self.seconds, **found)
            self.actions[found["actionId"]] = "committed"
        elif kind == "retract" and self.saved:
            targets = [self.pick(f"cp-{self.saved}", "plan")]
            self.journal.add("retract", self.seconds, targets=targets, reason="erasure", by="ops")
        elif kind == "stale" and self.journal.epoch > 1:
            self.journal.ledger(self.seconds, "planned", "late", epoch=1)
        elif kind == "sealed":
            successor = {"uri": "s3://bucket/new", "runId": "run-1"}
            self.journal.add("run", self.seconds, status="sealed", successor=successor)
        elif kind in ends:
            self.journal.add("run", self.seconds, status=kind)


def faults_of(value: Mapping[str, Any]) -> list[str]:
    """What a record or document of the newest version breaks of its schema."""
    identity = Identity(str(value["recordType"]), V3)
    return [f"{fault.code} {fault.pointer}: {fault.message}" for fault in check(identity, dict(value))]
