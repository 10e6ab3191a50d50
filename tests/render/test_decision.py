"""A decision as a human reads it: every verdict says what to do next, and no more than the document says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from decided import HANDED, document, need, reason, text

from safepoint import schemas
from safepoint.core.kind import Identity
from safepoint.core.version import V3
from safepoint.guard import EXIT_CODES
from safepoint.render.asked import Asked
from safepoint.render.decision import VERDICTS, decision_text
from safepoint.render.terminal import Screen


def given(**members: Any) -> Asked:
    """A question that was asked with facts."""
    facts = {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run 1",
        "observedAt": "2026-05-07T09:59:00Z",
    }
    return Asked("my store", facts={**facts, **members}, facts_file="my facts.json")


def skeleton(shown: str) -> Any:
    return json.loads(shown[shown.index("       {") : shown.index("     and ask again")])


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
        need("owner", "epoch 1"),
        need("owner", "epoch 2", "another reason for the same"),
        need("approval", "ap_1"),
        need("fact", "guardContext.tool.mail"),
        need("fact", "ledgerComplete"),
        need("fact", "heads.journal"),
        need("fact", "external.customer.c_4.version"),
        need("fact", "external.customer.c_4.value"),
        need("fact", "approvals.ap.2"),
        need("fact", "artifacts.plan.md"),
        need("fact", "outbox.<m.1@x>"),
        need("fact", "something else"),
        need("human", "run 1"),
    ]
    plan = [{"actionId": "pay_1", "do": "reconcile", "key": None, "reason": "SP765"}]
    shown = text("reconcile", missingEvidence=wanted, plan=plan, reasons=[reason("SP780", "wait")])
    facts = skeleton(shown)
    assert facts["runId"] == "run 1"
    assert facts["probes"].keys() == {"pay_1"}
    assert [owner["leaseEpoch"] for owner in facts["owners"]] == [2, 1]
    assert facts["owners"][0]["observedAt"] == "FILL IN: when it was seen dead; do not change it later"
    assert facts["approvals"].keys() == {"ap_1", "ap.2"}
    assert facts["guardContext"]["tool.mail"].startswith("FILL IN: sha256:")
    assert facts["ledgerComplete"].endswith("(this store holds 1 of this run)")
    assert facts["heads"]["journal"].keys() == {"sequence", "digest"}
    assert facts["external"]["customer.c_4"].keys() == {"version", "value", "observedAt"}
    assert facts["artifacts"]["plan.md"]["state"] == "FILL IN: present, missing or damaged"
    assert facts["outbox"]["<m.1@x>"].startswith("FILL IN: pending")
    assert not facts.keys() & {"something else", "run 1"}
    assert "safepoint guard 'my store' --run 'run 1' --facts facts.json" in shown


def test_no_gap_validates_before_it_is_filled() -> None:
    members = ["ledgerComplete", "heads.journal", "guardContext.x", "external.s.version", "approvals.a"]
    members += ["artifacts.a", "outbox.m"]
    for wanted in [need("probe", "p"), need("owner", "epoch 1"), *(need("fact", name) for name in members)]:
        facts = skeleton(text("reconcile", missingEvidence=[wanted])) | {"observedAt": "2026-05-07T10:00:00Z"}
        assert list(schemas.check(Identity("facts", V3), facts)), wanted


def test_facts_that_were_given_are_only_added_to() -> None:
    owners = [{"leaseEpoch": 2, "state": "dead", "proof": "p"}]
    probes = {"pay_1": {"result": "unknown", "attempts": 2}}
    shown = text(
        "reconcile", given(owners=owners, probes=probes), missingEvidence=[need("probe", "pay_1", "ask it")]
    )
    added = skeleton(shown)
    assert added.keys() == {"probes"}
    assert added["probes"]["pay_1"]["attempts"] == 3
    assert "Probe of pay_1: ask it." in shown
    assert "Add what you found to my facts.json" in shown
    assert "(leave owners as they are:" in shown
    assert "--facts 'my facts.json'" in shown


def test_a_probe_that_came_too_early_says_when_to_ask_again() -> None:
    early = need("probe", "pay_1", "it must be made after 2026-05-07T10:00:40Z")
    shown = text("reconcile", missingEvidence=[early])
    assert "Probe of pay_1: it must be made after 2026-05-07T10:00:40Z (in 40 s)." in shown
    assert "and ask again after 2026-05-07T10:00:40Z (in 40 s):" in shown


def test_stale_facts_are_observed_again_or_left_out() -> None:
    shown = text("reconcile", given(), missingEvidence=[need("fact", "observedAt")])
    assert skeleton(shown).keys() == {"observedAt"}
    left_out = shown.partition("Or leave them out")[2].splitlines()[1]
    assert left_out.strip() == "safepoint guard 'my store' --run 'run 1'"


def test_a_human_can_answer_in_the_facts_or_in_the_journal() -> None:
    wanted = [need("outcome", "send", "find out whether it was applied")]
    shown = text("hand_over", missingEvidence=wanted, plan=[HANDED])
    assert (
        "       safepoint resolve 'my store' --run 'run 1' --action send --as 'FILL IN: committed, " in shown
    )
    assert " --by 'FILL IN: you' --evidence 'FILL IN: where to look it up'\n" in shown
    assert "Or, only if it happened, write it into facts.json:" in shown
    assert skeleton(shown)["probes"]["send"]["result"].startswith("FILL IN: applied;")


def test_a_humans_no_is_acknowledged_and_the_way_out_is_named() -> None:
    wanted = [need("outcome", "send", "find out whether it was applied")]
    asked = given(probes={"send": {"result": "notApplied"}})
    shown = text("hand_over", asked, missingEvidence=wanted, plan=[HANDED])
    assert "The facts say notApplied. That settles nothing" in shown
    assert "--evidence 'FILL IN: where to look it up' --facts 'my facts.json'\n" in shown
    assert "FILL IN: applied" not in shown
    assert "When that is settled, ask again:" in shown


def test_the_same_need_is_said_once() -> None:
    twice = [need("human", "run 1", "decide"), need("human", "run 1", "decide")]
    assert text("hand_over", missingEvidence=twice).count("A human, about run 1: decide.") == 1


def test_a_command_asks_with_all_that_the_first_was_asked_with() -> None:
    asked = Asked("s", options=("--goal", "unwind"), policy_file="p.toml")
    assert "safepoint guard s --run 'run 1' --goal unwind --policy p.toml\n" in text("wait", asked)


@pytest.mark.parametrize("verdict", ["no_op", "give_up"])
def test_when_it_is_over_the_rest_is_noted_apart(verdict: str) -> None:
    reasons = [reason("SP721", "wait"), reason("SP710", verdict)]
    shown = text(verdict, reasons=reasons)
    assert shown.index("\nwhy\n  SP710") < shown.index("\nalso noted\n  SP721")


def test_a_plan_is_left_out_where_nothing_is_to_be_done() -> None:
    plan = [{"actionId": "send", "do": "skip", "key": None, "reason": "SP760"}]
    idle = text("no_op", plan=plan, notChecked=["fleet: no facts.fleet"])
    assert "plan\n" not in idle
    assert "not checked" not in idle
    assert "plan\n" in text("no_op", plan=plan, goal="inspect")


def test_what_was_not_checked_says_how_to_give_it() -> None:
    assert "safepoint schema facts --example" in text("resume", notChecked=["fleet: no facts.fleet"])
    assert "--example" not in text("resume", notChecked=["payloadSchema: not looked at"])


def test_a_claim_that_everything_rests_on_is_named() -> None:
    loose = {
        "journal": {"sequence": None, "digest": None},
        "leaseEpoch": 0,
        "policyDigest": "",
        "factsDigest": "",
    }
    assert "rests on the facts' word" in text("resume", given(ledgerComplete=True), basis=loose)
    assert "rests on the facts' word" not in text("resume", given(), basis=loose)


def test_what_a_probe_found_has_no_recorded_result() -> None:
    plan = [{"actionId": "send", "do": "skip", "key": None, "reason": "SP776"}]
    assert "call returns None" in text("resume", plan=plan)


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


def test_the_anchor_that_was_consulted_is_named() -> None:
    basis = document("resume")["basis"] | {"anchorDigest": "sha256:" + "cd" * 32}
    named = text("resume", Asked("s", anchor="anchor 3 of 2026-05-07T10:00:00Z"), basis=basis)
    assert "epoch 2, and anchor 3 of 2026-05-07T10:00:00Z (sha256:cdcdcdcdcdcd…)\n" in named
    assert "epoch 2, and an anchor (sha256:cdcdcdcdcdcd…)\n" in text("resume", basis=basis)
    assert "anchor" not in text("resume")


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
    assert "\x1b[1;32mresume\x1b[0m" in decision_text(
        document("resume"), Asked("s"), Screen(colour=True, width=100)
    )
    assert "\x1b" not in text("resume")


@pytest.mark.parametrize("verdict", ["wait", "reconcile", "hand_over"])
def test_a_plan_that_may_not_be_followed_yet_says_so(verdict: str) -> None:
    plan = [{"actionId": "send", "do": "replay", "key": None, "reason": "SP762"}]
    assert "\nplan, once the above is settled\n" in text(verdict, plan=plan)
    assert "\nplan\n" in text("resume", plan=plan)


def test_what_was_abandoned_has_no_result_to_take() -> None:
    plan = [{"actionId": "send", "do": "skip", "key": None, "reason": "SP771"}]
    shown = text("resume", plan=plan)
    assert "pass it without a result" in shown
    assert "recorded result" not in shown


def test_going_on_is_a_call_with_all_that_the_question_was_asked_with() -> None:
    request = {"recordType": "request", "schemaVersion": "v3", "goal": "retry_step"}
    asked = Asked("s", facts={}, facts_file="f.json", policy_file="p.toml", request=request)
    call = text("resume", asked).partition("run = ")[2].partition("\n\n")[0].partition("\n  2.")[0]
    assert "       from safepoint.recorder import resume_run\n" in text("resume", asked)
    given: dict[str, Any] = {}
    eval(call, {"resume_run": lambda *names, **options: given.update(options, names=names)})
    assert given["names"] == ("s", "run 1")
    assert given["request"] == request
    assert (given["facts"], given["policy"]) == ("f.json", "p.toml")


def test_a_limit_that_was_reached_prints_the_setting_and_the_command() -> None:
    decided = {**reason("SP752", "hand_over"), "message": "3 recovery attempts in a row"}
    shown = text("hand_over", reasons=[decided], missingEvidence=[need("human", "run 1")])
    assert "write into policy.json:\n       {\n" in shown
    assert '"attemptsWithoutProgress": "FILL IN: more than 3' in shown
    assert "and ask again:\n       safepoint guard 'my store' --run 'run 1' --policy policy.json\n" in shown
    assert "When that is settled" not in shown
    again = text("hand_over", Asked("s", policy_file="p.json"), reasons=[decided])
    assert "set in p.json:" in again
    assert "safepoint guard s --run 'run 1' --policy p.json\n" in again


def test_one_command_asks_with_the_policy_and_the_facts() -> None:
    wanted = [need("human", "run 1"), need("probe", "pay_1")]
    shown = text("hand_over", reasons=[reason("SP753", "hand_over")], missingEvidence=wanted)
    assert shown.count("ask again:") == 1
    assert "--policy policy.json --facts facts.json\n" in shown


def test_failed_is_offered_with_the_deaths_that_it_takes() -> None:
    wanted = [need("outcome", "send")]
    asked = Asked("s", silent={"send": (1, 2)})
    shown = text("hand_over", asked, missingEvidence=wanted, plan=[HANDED])
    assert "failed is taken only with --facts that prove the worker of epochs 1, 2 dead" in shown
    block = shown.partition("give the command --facts facts.json:\n")[2].partition("\n  3.")[0]
    assert [owner["leaseEpoch"] for owner in json.loads(block)["owners"]] == [1, 2]
    assert "taken only with" not in text("hand_over", missingEvidence=wanted, plan=[HANDED])


def test_a_death_that_the_facts_tell_is_not_asked_for_again() -> None:
    owners = [{"leaseEpoch": 2, "state": "dead", "proof": "p"}]
    asked = replace(given(owners=owners), silent={"send": (2,)})
    shown = text("hand_over", asked, missingEvidence=[need("outcome", "send")], plan=[HANDED])
    assert "prove the worker of epoch 2 dead" in shown
    assert "Only for failed" not in shown


def test_a_proof_of_death_promises_no_end_of_other_waits() -> None:
    wanted = [need("owner", "epoch 2", "this wait then ends at once")]
    reasons = [reason(code, "wait") for code in ("SP721", "SP750", "SP764")]
    assert "It ends no other wait: SP750.\n" in text("wait", reasons=reasons, missingEvidence=wanted)
    alone = [reason("SP721", "wait"), reason("SP764", "wait")]
    assert "no other wait" not in text("wait", reasons=alone, missingEvidence=wanted)
