"""The records of one made-up run, as an agent at a support desk would leave them: values, not yet chained or stored.

Decided here: what happens in a run and when, so that SPEC.md finds no fault with it. Each run is made from the
corpus's seed and its own number alone, so that a smaller corpus is the beginning of a larger one.
Not decided here: bytes and names (``corpus``), damage (``faults``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import orjson

from benchmarks.scenes import CHECKPOINTS, LEDGER_RECORDS, PROVES, TOOLS, Scene, scenes_of
from benchmarks.words import CITIES, NAMES, READS, SENTENCES, STEPS, STREETS

CHECKPOINT_BYTES = 2700
"""What a checkpoint is filled up to, more or less. Ledger records are as small as the format lets them be."""

_START = datetime(2026, 5, 7, 6, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Story:
    """One run's records in order; their `previousDigest` is still null."""

    run_id: str
    journal: list[dict[str, Any]]
    recovery: list[dict[str, Any]]
    heartbeat: dict[str, Any] | None


def tell(seed: int, number: int) -> Story:
    """Run `number` of the corpus that `seed` stands for."""
    # text, since tuples are no seeds, and hash() of one differs between processes for some
    rng = Random(f"{seed}/{number}")  # noqa: S311 - reproducible on purpose
    teller = _Teller(rng, f"run-{number:06d}", _START + timedelta(seconds=97 * number))
    scenes = scenes_of(rng)
    reads = [0] * CHECKPOINTS
    for _ in range((LEDGER_RECORDS - sum(scene.records for scene in scenes)) // 2):
        reads[rng.randrange(CHECKPOINTS)] += 1
    teller.begin()
    for step in range(CHECKPOINTS):
        for _ in range(reads[step]):
            teller.read()
        scene = scenes[step] if step < len(scenes) else None
        teller.checkpoint(step, scene)
        if scene:
            teller.effect(scene)
    teller.end()
    return Story(
        teller.run_id, teller.journal, teller.recovery, teller.beat() if rng.random() < 0.1 else None
    )


@dataclass(slots=True)
class _Teller:
    """A run in the making."""

    rng: Random
    run_id: str
    now: datetime
    journal: list[dict[str, Any]] = field(default_factory=list)
    recovery: list[dict[str, Any]] = field(default_factory=list)
    nonce: str = ""
    epoch: int = 0
    actions: int = 0
    last_ledger: int = 0
    last_checkpoint: str | None = None
    workflow: str = ""
    guard: dict[str, Any] = field(default_factory=dict)
    done: dict[str, bool] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    # what every record needs

    def at(self, seconds: int = 0) -> str:
        return (self.now + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def wait(self, least: int, most: int) -> None:
        self.now += timedelta(seconds=self.rng.randint(least, most))

    def hex(self, digits: int) -> str:
        return f"{self.rng.getrandbits(4 * digits):0{digits}x}"

    def add(self, kind: str, /, *, nonce: str = "", unowned: bool = False, **members: Any) -> None:
        self.journal.append(
            {
                "recordType": kind,
                "schemaVersion": "v3",
                "runId": self.run_id,
                "createdAt": self.at(),
                "sequence": len(self.journal) + 1,
                "previousDigest": None,
                "nonce": nonce or self.nonce,
                "leaseEpoch": 0 if unowned else self.epoch,
                **members,
            }
        )

    # the run from its start to its end

    def begin(self) -> None:
        rng = self.rng
        self.workflow, version = rng.choice(("support", "returns", "billing")), rng.randint(1, 12)
        code = Random(f"{self.workflow} {version}")  # noqa: S311 - the same code has the same digests in every run
        parts = ("model", "policy", "prompt.plan", "tool.search_mail", "tool.send_mail", "workflow")
        context = {part: f"sha256:{code.getrandbits(256):064x}" for part in parts}
        context["input.request"] = "sha256:" + self.hex(64)
        canonical = orjson.dumps(context, option=orjson.OPT_SORT_KEYS)
        self.guard = {
            "guardContext": context,
            "guardHash": "sha256:" + hashlib.sha256(canonical).hexdigest(),
        }
        self.done = {"writePerformed": False, "externalMessageSent": False}
        self.usage = {"seconds": 0, "tokens": 0, "costMicros": 0, "currency": "EUR", "attempts": 0}
        self.nonce = self.hex(32)
        self.add(
            "run",
            status="started",
            workflow=self.workflow,
            input={"ticket": f"T-{rng.randint(10**5, 10**6)}", "text": rng.choice(SENTENCES), "priority": 2},
            definition={"workflow": context["workflow"]},
            labels={"team": rng.choice(("Nord", "Süd")), "channel": "mail"},
        )
        self.claim("run")

    def claim(self, purpose: str, **members: Any) -> None:
        self.nonce, self.epoch = self.hex(32), self.epoch + 1
        holder = f"worker-{self.rng.randint(1, 40):02d}"
        self.add("lease", event="claimed", purpose=purpose, holder=holder, ttlSeconds=900, **members)

    def end(self) -> None:
        self.wait(1, 5)
        if self.recovery:
            self.recover("recovered", outcome="went on from its checkpoint, nothing sent twice")
        if self.rng.random() < 0.02:
            artifact = str(self.journal[-1]["artifactRefs"][0]["artifactId"])
            reason = "Löschantrag des Kunden"
            self.add(
                "retract",
                unowned=True,
                nonce=self.hex(32),
                targets=[artifact],
                reason=reason,
                by="privacy-office",
            )
        self.add("run", status="completed")

    def beat(self) -> dict[str, Any]:
        """The heartbeat that the last owner left behind."""
        return {
            "recordType": "heartbeat",
            "schemaVersion": "v3",
            "runId": self.run_id,
            "leaseEpoch": self.epoch,
            "nonce": self.nonce,
            "beatAt": self.at(),
        }

    # checkpoints

    def checkpoint(self, step: int, scene: Scene | None) -> None:
        rng = self.rng
        self.wait(1, 6)
        self.usage["seconds"] = round(self.usage["seconds"] + rng.uniform(2, 40), 3)
        self.usage["tokens"] += rng.randint(300, 5000)
        self.usage["costMicros"] += rng.randint(900, 15000)
        gate = scene is not None and scene.asked
        subject, version = f"ticket.{rng.randint(10**5, 10**6)}", str(rng.randint(1, 90))
        conditions = [{"type": "externalVersion", "subject": subject, "expected": version}]
        if gate:
            conditions.append({"type": "approvalGranted", "subject": self.approval_id})
        state: dict[str, Any] = {
            "plan": STEPS[step : step + 4],
            "confidence": round(rng.random(), 4),
            "messages": [],
        }
        value: dict[str, Any] = {
            "checkpointId": f"cp-{step + 1:02d}",
            "parentCheckpointId": self.last_checkpoint,
            "state": "waiting_approval" if gate else "running",
            "stepName": STEPS[step],
            "nextSteps": STEPS[step + 1 : step + 3],
            "reason": "humanGate" if gate else "beforeEffect" if scene else "afterEffect",
            "inputSnapshot": self._request(),
            "stateSnapshot": state,
            "payloadSchema": f"{self.workflow}-agent/state@4",
            "artifactRefs": [self._artifact(f"artifact-{step + 1:02d}", STEPS[step])],
            "sideEffectStatus": dict(self.done),
            "lastLedgerSequence": self.last_ledger,
            "resumePreconditions": conditions,
            "replaySafeActions": [],
            **self.guard,
            "usage": dict(self.usage),
        }
        room = CHECKPOINT_BYTES - 350 - len(orjson.dumps(value)) + rng.randint(-300, 300)
        while room > 0:
            said = {
                "role": rng.choice(("user", "assistant", "tool")),
                "at": self.at(),
                "text": rng.choice(SENTENCES),
            }
            room -= len(orjson.dumps(said)) + 1
            state["messages"].append(said)
        self.add("checkpoint", **value)
        if self.recovery and self.recovery[-1]["state"] == "resuming":
            self.recover("probation")
        self.last_checkpoint = value["checkpointId"]

    def _request(self) -> dict[str, Any]:
        rng = self.rng
        address = {"street": f"{rng.choice(STREETS)} {rng.randint(1, 200)}", "city": rng.choice(CITIES)}
        lines = [
            {
                "sku": f"{rng.randint(10, 99)}-{rng.randint(1000, 9999)}",
                "price": round(rng.uniform(1, 400), 2),
            }
            for _ in range(rng.randint(1, 3))
        ]
        return {
            "customer": {
                "name": rng.choice(NAMES),
                "address": address,
                "vip": rng.random() < 0.1,
                "phone": None,
            },
            "order": {"id": rng.randint(10**7, 10**8), "lines": lines},
        }

    def _artifact(self, artifact_id: str, step: str) -> dict[str, Any]:
        name = self.hex(64)
        return {
            "artifactId": artifact_id,
            "uri": f"https://files.example.org/{name[:16]}",
            "digest": f"sha256:{name}",
            "size": self.rng.randint(200, 90000),
            "mediaType": "application/json",
            "producedBy": step,
        }

    # the ledger

    def ledger(self, action: Mapping[str, Any], status: str, **members: Any) -> None:
        self.add("ledger", **action, status=status, **members)
        self.last_ledger = len(self.journal)

    def attempt(self, number: int = 1) -> dict[str, Any]:
        self.usage["attempts"] += 1
        return {"number": number, "startedAt": self.at(), "deadline": self.at(30)}

    def read(self) -> None:
        """A call that changes nothing: the two smallest ledger records that there are."""
        self.actions += 1
        tool = self.rng.choice(READS)
        action = {"actionId": f"a{self.actions:02d}", "stepName": tool, "idempotencyKey": None}
        self.wait(0, 3)
        self.ledger(action, "attempting", attempt=self.attempt(), declares={"effect": "read"})
        self.wait(0, 4)
        self.ledger(action, "committed", evidence={"kind": "response", "observedAt": self.at()})

    def effect(self, scene: Scene) -> None:
        declares: dict[str, Any] = {"declares": TOOLS[scene.tool]}
        window = TOOLS[scene.tool].get("dedupeWindowSeconds")
        self.actions += 1
        action_id = f"a{self.actions:02d}"
        key = f"{self.run_id}/{self.actions:02d}"
        action = {"actionId": action_id, "stepName": scene.tool, "idempotencyKey": key}
        self.wait(0, 2)
        if scene.asked:
            self._ask(action_id)
        if scene.planned:
            self.ledger(action, "planned", **declares)
            declares = {}
        if scene.course == "withdrawn":
            self.ledger(action, "cancelled")
            return
        if scene.asked:
            self.add(
                "approval",
                unowned=True,
                approvalId=f"ok-{self.actions:02d}",
                actionId=action_id,
                event="consumed",
            )
        cut_off = {"sendBefore": self.at(window * 8 // 10 - 10)} if window else {}  # SPEC.md#cut-off
        self.ledger(action, "attempting", attempt={**self.attempt(), **cut_off}, **declares)
        if scene.course == "retried":
            self.wait(1, 9)
            error = {"class": "connect_refused", "retryable": True, "sent": "no"}
            self.ledger(action, "failed", error=error)
            self.wait(2, 20)
            self.ledger(action, "attempting", attempt={**self.attempt(2), **cut_off})
        if scene.course == "taken over":
            self._take_over(action)
        else:
            self.wait(0, 8)
            evidence = {"kind": "response", "observedAt": self.at()}
            self.ledger(action, "committed", evidence=evidence, externalRef=f"ref_{self.hex(8)}")
        self.done[PROVES[TOOLS[scene.tool]["effect"]]] = True

    @property
    def approval_id(self) -> str:
        """Of the approval that the next effect needs."""
        return f"ok-{self.actions + 1:02d}"

    def _ask(self, action_id: str) -> None:
        """A human is asked, and says yes after a while."""
        asked = {
            "approvalId": f"ok-{self.actions:02d}",
            "actionId": action_id,
            "event": "requested",
            "contentDigest": "sha256:" + self.hex(64),
            "actor": "on-call",
            "expiresAt": self.at(86400),
        }
        self.add("approval", unowned=True, **asked)
        self.wait(20, 400)
        answer = {"event": "granted", "actor": self.rng.choice(NAMES), "reason": "Text geprüft"}
        self.add("approval", unowned=True, nonce=self.hex(32), **{**asked, **answer})

    # recovery

    def recover(self, state: str, **members: Any) -> None:
        first = self.recovery[0] if self.recovery else {}
        self.recovery.append(
            {
                "recordType": "recovery",
                "schemaVersion": "v3",
                "runId": self.run_id,
                "createdAt": self.at(),
                "sequence": len(self.recovery) + 1,
                "previousDigest": None,
                "nonce": first.get("nonce") or self.hex(32),
                "leaseEpoch": self.epoch if self.epoch > 1 else None,
                "episodeId": "episode-1",
                "state": state,
                **members,
            }
        )

    def _take_over(self, action: Mapping[str, Any]) -> None:
        """The worker dies in the middle of a send; another claims the run, and a probe finds that it was sent."""
        self.wait(1200, 3000)
        self.recover(
            "detected",
            trigger="leaseLapsed",
            failureSignature=f"{action['stepName']}:leaseLapsed",
            failureOf="infrastructure",
            fromCheckpointId=self.last_checkpoint,
            holder="rescuer-1",
            ttlSeconds=60,
        )
        for state in ("assessing", "authorized"):
            self.wait(1, 3)
            self.recover(state, decisionDigest="sha256:" + self.hex(64) if state == "authorized" else None)
        self.claim("recovery", episodeId="episode-1", authorization=self.recovery[-1]["decisionDigest"])
        self.recover("claimed", attemptNumber=1)
        self.wait(1, 3)
        self.recover("resuming")
        found = {"kind": "probe", "by": "outbox-probe", "observedAt": self.at()}
        ref = f"ref_{self.hex(8)}"
        told = {"actionId": action["actionId"], "attemptNumber": 1, "result": "applied", **found}
        self.add("evidence", unowned=True, nonce=self.hex(32), **told, externalRef=ref)
        self.ledger(action, "committed", evidence=found, externalRef=ref)
