"""The checklist's conformance cases as they are made: ``python tests/support/checklists.py`` writes them.

In ``fixtures/audit``: for each point a store that passes it, one that fails it and one where nobody can tell. Each
says beforehand what must come out; the answers to the other points are only written down.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journals import Journal, at, digest

import safepoint
from safepoint.audit.document import RESULTS

ROOT = Path(__file__).parents[2] / "fixtures" / "audit"

DECISION = digest("a")
TORN = b'{"recordType": "le'
POLICY: Mapping[str, Any] = {
    "recordType": "policy",
    "schemaVersion": "v3",
    "attemptsInLife": 3,
    "attemptsWithoutProgress": 2,
    "cooldownSeconds": 30,
    "onBudgetReached": "hand_over",
    "breaker": {"window": 20, "minimum": 10, "failedFraction": 0.5, "openSeconds": 900},
}
NOTHING_DONE = {"writePerformed": False, "externalMessageSent": False}
SENT = {"writePerformed": False, "externalMessageSent": True}


@dataclass(frozen=True)
class Case:
    name: str
    summary: str
    point: int
    result: str
    """Of that point: ``passed``, ``failed`` or ``cannotTell``."""
    journal: Journal | None = None
    policy: Mapping[str, Any] | None = field(default_factory=lambda: POLICY)
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files laid over the journal's, by key."""


def begun() -> Journal:
    return Journal().begin().checkpoint(2, sideEffectStatus=NOTHING_DONE)


def sent(journal: Journal | None = None, **members: Any) -> Journal:
    """One effect, announced and settled, and saved before and after."""
    journal = journal or begun()
    journal.ledger(3, "attempting", **members).ledger(4, "committed")
    return journal.checkpoint(5, "cp-2", sideEffectStatus=SENT, reason="afterEffect")


def recovered(claim: Mapping[str, Any] | None = None, **episode: Any) -> Journal:
    """Taken over once, by a decision that the recovery log holds."""
    journal = begun()
    journal.recover(90, "detected", fromCheckpointId="cp-1").recover(91, "assessing")
    journal.recover(92, "authorized", **{"decisionDigest": DECISION, **episode})
    members = {"authorization": DECISION, "episodeId": "ep-1"} if claim is None else claim
    journal.claim(100, purpose="recovery", **members)
    for seconds, state in ((101, "claimed"), (102, "resuming"), (103, "probation")):
        journal.recover(seconds, state, leaseEpoch=2)
    journal.checkpoint(104, "cp-2", sideEffectStatus=NOTHING_DONE)
    return journal.recover(110, "recovered", leaseEpoch=2)


def ask(journal: Journal, seconds: float, event: str, name: str = "ap-1") -> Journal:
    members: dict[str, Any] = {"contentDigest": digest("f"), "actionId": "send"}
    if event == "requested":
        members["expiresAt"] = at(seconds + 600)
    if event == "granted":
        members["actor"] = "editor"
    return journal.add("approval", seconds, approvalId=name, event=event, **members)


def gated() -> Journal:
    """A human said yes, and that was done."""
    journal = ask(ask(ask(begun(), 2.2, "requested"), 2.4, "granted"), 2.6, "consumed")
    return sent(journal)


def lines(*records: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def old(version: str, checkpoint_id: str, state: str, **members: Any) -> dict[str, Any]:
    """A checkpoint as agents write it who have nothing else."""
    more = {"inputSnapshot": {"post": 42}, "createdAt": at(int(checkpoint_id[-1]))}
    record = {"checkpointId": checkpoint_id, "runId": "run-1", "state": state, "stepName": state}
    return {**record, "schemaVersion": version, **more, **members}


V2 = {"artifactRefs": [], "sideEffectStatus": NOTHING_DONE}
NAIVE = {"checkpoints.jsonl": lines(old("v2", "cp-1", "draft", **V2), old("v2", "cp-2", "approved", **V2))}
V1 = {"checkpoints.jsonl": lines(old("v1", "cp-1", "draft"))}


def unreadable(number: int, log: str = "journal") -> dict[str, bytes]:
    return {f"runs/run-1/{log}/{number:010}.json": TORN}


def cases() -> Iterator[Case]:
    yield from saving()
    yield from recovering()
    yield from acting()
    yield from limiting()


def saving() -> Iterator[Case]:
    yield Case("01-passed", "Before the effect lies a checkpoint, and after it another.", 1, "passed", sent())
    bare = Journal().begin()
    bare.ledger(3, "attempting").ledger(4, "committed")
    yield Case("01-failed", "The effect was tried before there was any checkpoint.", 1, "failed", bare)
    yield Case("01-cannot-tell", "Two checkpoints without numbers.", 1, "cannotTell", files=NAIVE)
    yield Case("02-passed", "Each checkpoint says what was done.", 2, "passed", sent())
    yield Case("02-failed", "A checkpoint of version 1 cannot say what was done.", 2, "failed", files=V1)
    yield Case("02-cannot-tell", "One record cannot be read.", 2, "cannotTell", sent(), files=unreadable(6))


def recovering() -> Iterator[Case]:
    yield Case("03-passed", "The recovery has its episode, to its outcome.", 3, "passed", recovered())
    lone = begun().claim(100, purpose="recovery", authorization=DECISION, episodeId="ep-1")
    yield Case("03-failed", "A claim for recovery, and no recovery log.", 3, "failed", lone)
    torn = unreadable(1, "recovery")
    yield Case(
        "03-cannot-tell", "The episode may be in what cannot be read.", 3, "cannotTell", lone, files=torn
    )
    yield Case("04-passed", "The claim names a decision that the log holds.", 4, "passed", recovered())
    silent = recovered({"episodeId": "ep-1"})
    yield Case("04-failed", "The claim names no decision.", 4, "failed", silent)
    torn = unreadable(3, "recovery")
    yield Case(
        "04-cannot-tell", "The decision's entry cannot be read.", 4, "cannotTell", recovered(), files=torn
    )


def acting() -> Iterator[Case]:
    yield Case("05-passed", "The action declares what its tool can do.", 5, "passed", sent())
    undeclared = sent(declares=None)
    yield Case("05-failed", "The action declares nothing.", 5, "failed", undeclared)
    yield Case("05-cannot-tell", "No action, among records without numbers.", 5, "cannotTell", files=NAIVE)
    yield Case("06-passed", "The effect was announced, and settled with evidence.", 6, "passed", sent())
    yield Case("06-failed", "Checkpoints, and not one ledger record.", 6, "failed", files=NAIVE)
    yield Case(
        "06-cannot-tell",
        "The only ledger record cannot be read.",
        6,
        "cannotTell",
        begun(),
        files=unreadable(4),
    )
    yield Case("07-passed", "Asked once, answered once, spent once.", 7, "passed", gated())
    twice = ask(gated(), 6, "requested", "ap-2")
    yield Case("07-failed", "A human is asked again for what was approved and done.", 7, "failed", twice)
    yield Case(
        "07-cannot-tell",
        "A question may be in what cannot be read.",
        7,
        "cannotTell",
        sent(),
        files=unreadable(7),
    )


def limiting() -> Iterator[Case]:
    yield Case("08-passed", "The policy sets all three.", 8, "passed", sent())
    without = {name: value for name, value in POLICY.items() if name != "breaker"}
    yield Case("08-failed", "The policy defines no breaker.", 8, "failed", sent(), policy=without)
    yield Case("08-cannot-tell", "There is no policy.", 8, "cannotTell", sent(), policy=None)
    yield Case("09-passed", "One recovery, where three are allowed.", 9, "passed", recovered())
    strict = {**POLICY, "attemptsInLife": 0}
    yield Case("09-failed", "One recovery, where none is allowed.", 9, "failed", recovered(), policy=strict)
    yield Case("09-cannot-tell", "There is no policy.", 9, "cannotTell", recovered(), policy=None)
    yield Case(
        "10-passed", "A human has answered, and is handed what cannot be decided.", 10, "passed", gated()
    )
    hasty = {**POLICY, "onBudgetReached": "give_up"}
    yield Case("10-failed", "A run out of budget gives up.", 10, "failed", gated(), policy=hasty)
    pending = ask(begun(), 3, "requested")
    yield Case("10-cannot-tell", "A human was asked, and has not answered.", 10, "cannotTell", pending)


def lay(case: Case, folder: Path) -> tuple[str, str | None]:
    """The store and the policy of a case, in `folder`."""
    store, policy = folder / "store", folder / "policy.json"
    store.mkdir(parents=True)
    if case.journal is not None:
        case.journal.write(store)
    for key, data in case.files.items():
        (store / key).parent.mkdir(parents=True, exist_ok=True)
        (store / key).write_bytes(data)
    if case.policy is not None:
        policy.write_text(json.dumps(case.policy, indent=2) + "\n")
    return str(store), None if case.policy is None else str(policy)


def results(store: str, policy: str | None) -> list[dict[str, str]]:
    """The ten answers of a store."""
    audit = safepoint.audit(store, policy=policy)
    assert sum(1 for _ in audit) == audit.runs
    return [{"code": v.point.code, "result": RESULTS[v.result]} for v in audit.verdicts]


def write(case: Case) -> None:
    folder = ROOT / case.name
    store, policy = lay(case, folder)
    found = results(store, policy)
    if found[case.point - 1]["result"] != case.result:
        raise SystemExit(f"{case.name}: {found[case.point - 1]}, expected {case.result}")
    expect: dict[str, Any] = {"command": "audit", "summary": case.summary, "store": "store"}
    if policy is not None:
        expect["policy"] = "policy.json"
    exit_status = int(any(answer["result"] == "failed" for answer in found))
    expect |= {"exit": exit_status, "points": found}
    (folder / "expect.json").write_text(json.dumps(expect, indent=2) + "\n")


def main(names: Sequence[str]) -> None:
    if not names:
        shutil.rmtree(ROOT, ignore_errors=True)
    for case in cases():
        if not names or case.name in names:
            shutil.rmtree(ROOT / case.name, ignore_errors=True)
            write(case)


if __name__ == "__main__":
    main(sys.argv[1:])
