"""A decision as a human reads it: every verdict says what to do next, and no more than the document says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from safepoint.guard import EXIT_CODES
from safepoint.render.decision import VERDICTS, decision_text
from safepoint.render.terminal import Screen

PIPE = Screen()


def document(verdict: str, **members: Any) -> dict[str, Any]:
    return {
        "recordType": "decision",
        "schemaVersion": "v3",
        "runId": "run 1",
        "evaluatedAt": "2026-05-07T10:00:00Z",
        "goal": "continue",
        "verdict": verdict,
        "checkpointId": "cp_1",
        "plan": [],
        "reasons": [],
        "notChecked": [],
        "missingEvidence": [],
        "notBefore": None,
        "validUntil": None,
        "basis": {
            "journal": {"sequence": 7, "digest": "sha256:" + "ab" * 32},
            "leaseEpoch": 2,
            "policyDigest": "sha256:" + "00" * 32,
            "factsDigest": None,
        },
        **members,
    }


def text(verdict: str, **members: Any) -> str:
    return decision_text(document(verdict, **members), "my store", PIPE)


def skeleton(shown: str) -> Any:
    return json.loads(shown[shown.index("       {") : shown.index("     and ask again")])


def need(kind: str, subject: str) -> dict[str, str]:
    return {"kind": kind, "subject": subject, "message": "because"}


def test_every_verdict_of_the_guard_has_words() -> None:
    assert VERDICTS.keys() == EXIT_CODES.keys()


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_says_what_to_do_next(verdict: str) -> None:
    shown = text(verdict)
    assert shown.startswith(f"{verdict}: ")
    assert "\nwhat to do next\n  1. " in shown
    assert "stands on journal record 7 (sha256:abababababab…), epoch 2" in shown


def test_commands_can_be_copied_as_they_stand() -> None:
    assert "       safepoint show 'my store' --run 'run 1'\n" in text("hand_over")


def test_a_wait_names_its_end_in_both_ways() -> None:
    shown = text("wait", notBefore="2026-05-07T10:02:00Z")
    assert shown.startswith("wait: not yet before 2026-05-07T10:02:00Z\n")
    assert "ask again in 2 min, at 2026-05-07T10:02:00Z:\n       safepoint guard 'my store'" in shown
    assert "ask again later:" in text("wait")


def test_the_reason_that_decided_comes_first_and_shows_its_evidence() -> None:
    reasons = [
        {
            "code": "SP721",
            "layer": "ownership",
            "verdict": "wait",
            "message": "m1",
            "key": None,
            "pointer": None,
        },
        {
            "code": "SP766",
            "layer": "effects",
            "verdict": "hand_over",
            "message": "m2",
            "key": "a.json",
            "pointer": "/status",
        },
    ]
    why = text("hand_over", reasons=reasons).partition("why\n")[2]
    assert why.splitlines()[:3] == [
        "  SP766 effects: m2",
        "        see a.json#/status",
        "  SP721 ownership: m1",
    ]


def test_missing_evidence_becomes_a_facts_file_to_fill_in() -> None:
    wanted = [
        need("probe", "pay_1"),
        need("owner", "epoch 2"),
        need("approval", "ap_1"),
        need("fact", "guardContext.tool.mail"),
        need("fact", "ledgerComplete"),
        need("human", "run 1"),
    ]
    shown = text("reconcile", missingEvidence=wanted)
    facts = skeleton(shown)
    assert facts["runId"] == "run 1"
    assert facts["probes"].keys() == {"pay_1"}
    assert facts["owners"][0]["leaseEpoch"] == 2
    assert facts["approvals"].keys() == {"ap_1"}
    assert facts["guardContext"] == {"tool.mail": "FILL IN"}
    assert facts["ledgerComplete"] == "FILL IN"
    assert "run 1" not in facts["probes"]
    assert "safepoint guard 'my store' --run 'run 1' --facts facts.json" in shown


def test_an_owner_without_an_epoch_is_asked_for_by_name() -> None:
    basis = {
        "journal": {"sequence": None, "digest": None},
        "leaseEpoch": 0,
        "policyDigest": "",
        "factsDigest": None,
    }
    shown = text("hand_over", missingEvidence=[need("owner", "run 1")], basis=basis)
    assert skeleton(shown)["owners"][0]["holder"].startswith("FILL IN")
    assert "stands on records without order, no lease" in shown


def test_what_only_a_human_can_settle_asks_for_no_facts() -> None:
    shown = text("hand_over", missingEvidence=[need("human", "run 1")])
    assert "facts.json" not in shown
    assert "When that is settled, ask again:" in shown


def test_the_plan_says_for_each_action_and_step_what_to_do() -> None:
    plan = [
        {"actionId": "send", "do": "skip", "key": "k1", "reason": "SP760"},
        {"stepName": "update", "do": "run", "key": None, "reason": "SP761"},
    ]
    rows = text("resume", plan=plan).partition("plan\n")[2].splitlines()
    assert rows[1].split() == [
        "action",
        "send",
        "skip",
        "k1",
        "SP760",
        *["do", "not", "do", "it", "again;", "take", "the", "recorded", "result"],
    ]
    assert rows[2].split()[:5] == ["step", "update", "run", "-", "SP761"]


def test_names_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in text("resume", checkpointId="\x1b[2J", notChecked=["\x1b[2J"])


def test_colour_is_painted_on_a_terminal_only() -> None:
    assert "\x1b[1;32mresume\x1b[0m" in decision_text(document("resume"), "s", Screen(colour=True, width=100))
    assert "\x1b" not in text("resume")
