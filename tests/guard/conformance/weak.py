"""Records without an order, and journals that are JSON Lines only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from journals import Journal, at, digest
from questions import NATURAL, facts, started

from conformance.case import DEAD, Case, policy
from safepoint.core.digest import digest_bytes, encode_record


def cases() -> Iterator[Case]:
    yield from without_order()
    yield from lines_only()


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


def without_order() -> Iterator[Case]:
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
    yield Case(
        "v2-natural-of-unknown-deadline",
        "Repeatable by the catalogue, but nothing says when an older attempt can no longer land.",
        Journal(),
        "reconcile",
        ["SP723", "SP773"],
        files={**saved, ledger: _v2("ledger", status="started") + b"\n"},
        facts=facts(ledgerComplete=True),
        policy=policy(actions={"send": NATURAL}),
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
