"""What a human can do about what is handed over: each reason names its command, and none that would be refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decided import HANDED, need, reason, text

from safepoint.render.asked import Asked, Question

ASK = Question("--action", "pay", pending=True)
REFUSED = Question("--action", "pay", pending=False)
YOU = "--by 'FILL IN: you'"
WHY = "--reason 'FILL IN: why'"


def test_a_question_that_waits_is_answered_with_one_of_two_commands() -> None:
    asked = Asked("s", questions={"ap": ASK})
    shown = text("wait", asked, missingEvidence=[need("approval", "ap")], reasons=[reason("SP780", "wait")])
    assert f"       safepoint approve s --run 'run 1' --approval ap {YOU}\n" in shown
    assert f"       safepoint reject s --run 'run 1' --approval ap {YOU} {WHY}\n" in shown
    assert "facts.json" not in shown


def test_a_question_that_gives_no_leave_is_asked_anew_or_its_action_is_given_up() -> None:
    wanted = [need("approval", "ap")]
    asked = Asked("s", questions={"ap": REFUSED}, outcomes={"pay": ("cancelled",)})
    shown = text("hand_over", asked, missingEvidence=wanted)
    assert f"       safepoint approve s --run 'run 1' --action pay {YOU}\n" in shown
    assert f" --action pay --as cancelled {YOU} {WHY}\n" in shown
    before = text("hand_over", replace(asked, elsewhere=True), missingEvidence=wanted)
    assert f"       safepoint approve s --run 'run 1' --action pay --roll-back-to cp_1 {YOU}\n" in before


def test_in_records_that_take_no_answer_none_is_offered() -> None:
    asked = Asked("s", questions={"ap": REFUSED}, writable=False)
    wanted = [need("approval", "ap"), need("outcome", "send")]
    shown = text("hand_over", asked, missingEvidence=wanted, plan=[HANDED])
    assert shown.count("Nothing can be recorded in this run") == 2
    assert not {"approve", "resolve", "cancel"} & set(shown.split())


def test_what_a_human_may_say_follows_from_what_is_recorded() -> None:
    wanted = [need("outcome", "send")]
    held = Asked("s", outcomes={"send": ("committed", "failed")})
    shown = text("hand_over", held, missingEvidence=wanted, plan=[HANDED])
    assert "--as 'FILL IN: committed or failed'" in shown
    assert "abandoned" not in shown
    nothing = text("hand_over", Asked("s", outcomes={"send": ()}), missingEvidence=wanted)
    assert "safepoint resolve" not in nothing


def test_how_an_effect_is_resolved_is_told_once_however_often_it_is_asked_for() -> None:
    wanted = [need("outcome", "send", "settle this"), need("outcome", "send", "find out")]
    shown = text("hand_over", missingEvidence=wanted, plan=[HANDED])
    assert "A human, about send: find out.\n" in shown
    assert shown.count("safepoint resolve ") == 1


def test_what_was_proven_never_to_have_happened_is_recorded_before_it_is_given_up() -> None:
    plan = [{"actionId": "send", "do": "handOver", "key": "k", "reason": "SP767"}]
    asked = Asked("s", outcomes={"send": ("committed", "failed", "abandoned")}, facts_file="f.json")
    shown = text("hand_over", asked, plan=plan, reasons=[reason("SP767", "hand_over")])
    assert (
        "--as failed --by 'FILL IN: you' --evidence 'FILL IN: where to look it up' --facts f.json\n" in shown
    )


@pytest.mark.parametrize(
    ("code", "layer", "line"),
    [
        ("SP301", "integrity", "safepoint repair s --dry-run"),
        ("SP011", "integrity", "safepoint validate s --run 'run 1'"),
        ("SP216", "integrity", "python -m pip install --upgrade safepoint"),
        ("SP329", "integrity", f"safepoint anchor s --output place --accept 'FILL IN: why' {YOU}"),
        ("SP709", "integrity", "safepoint validate s --run 'run 1' --anchor place"),
        ("SP704", "integrity", "--checkpoint 'FILL IN: one of cp_1, cp_0'"),
        ("SP724", "ownership", "safepoint guard s --run 'run 1' --anchor place"),
        (
            "SP733",
            "compatibility",
            "--payload agent/state@5 --output 'FILL IN: a new place' --seal --by 'FILL IN: you'",
        ),
        ("SP735", "compatibility", "--goal retry_step --step 'FILL IN: one of a, b'"),
        (
            "SP787",
            "world",
            "safepoint guard s --run 'run 1' --anchor place --goal roll_back --checkpoint cp_0",
        ),
    ],
)
def test_each_reason_names_what_a_human_can_do(code: str, layer: str, line: str) -> None:
    asked = Asked(
        "s",
        options=("--epoch", "9", "--anchor", "place"),
        facts={"knownPayloadSchemas": ["agent/state@5"]},
        checkpoints=("cp_0",),
        steps=("a", "b"),
    )
    shown = text("hand_over", asked, reasons=[{**reason(code, "hand_over"), "layer": layer}])
    assert f"{line}\n" in shown
    damaged = layer == "integrity" and code != "SP704"
    assert ("safepoint cancel" in shown) is not damaged


def test_a_run_that_is_over_can_be_ended_where_its_journal_does_not_say_so() -> None:
    assert f"       safepoint cancel 'my store' --run 'run 1' {YOU}" in text("give_up")
    assert "safepoint cancel" not in text("give_up", Asked("s", endable=False))


def test_a_copy_is_given_its_authority_by_the_migration_that_made_it() -> None:
    asked = Asked("my copy", source="s3://agents/safepoint", storage_words=("--storage-option", "profile=x"))
    made = "safepoint migrate s3://agents/safepoint --to v3 --output 'my copy'"
    needs = [need("human", "the original")]
    shown = text("reconcile", asked, reasons=[reason("SP726", "reconcile")], missingEvidence=needs)
    sealing = f"safepoint migrate s3://agents/safepoint --output 'my copy' --seal {YOU}"
    assert f"A human, about the original: because.\n       {sealing} --storage-option profile=x\n" in shown
    assert shown.count("seal") == 1
    shown = text("hand_over", asked, reasons=[reason("SP330", "hand_over")])
    assert f"  {made} --storage-option profile=x\n" in shown
    assert "repair" not in shown
    other = [{**reason("SP331", "hand_over"), "layer": "integrity"}, reason("SP726", "reconcile")]
    shown = text("hand_over", asked, reasons=other, missingEvidence=needs)
    assert f"--output 'FILL IN: a new place' --seal {YOU}" in shown
    assert sealing not in shown, "no seal can be for what is there"
    shown = text("hand_over", Asked("s"), reasons=[reason("SP331", "hand_over")])
    assert "'FILL IN: the store that it was copied from'" in shown
