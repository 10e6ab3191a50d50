"""Layer 0, integrity: what cannot be read, or is not what somebody else has seen."""

from __future__ import annotations

from collections.abc import Iterator

from journals import Journal, digest
from questions import facts, request, started

from conformance.case import DESCRIPTION, JOURNAL_4, Case, newest
from safepoint.core.digest import digest_bytes, encode_record


def cases() -> Iterator[Case]:
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
    yield Case(
        "roll-back",
        "A fork from an earlier checkpoint keeps the effects that were done.",
        started().ledger(3, "attempting").ledger(4, "committed").checkpoint(5, "cp-2"),
        "resume",
        ["SP760"],
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
