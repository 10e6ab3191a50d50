"""Where nothing can be recorded or claimed, no command that would be refused is printed, and it is said how it ends."""

from __future__ import annotations

import pytest
from decided import need, reason, text

from safepoint.render.asked import Asked

LOOSE = Asked("s", writable=False, endable=False, claimable=False)
LACKING = {**reason("SP502", "hand_over"), "layer": "integrity"}
UNNUMBERED = {**reason("SP705", "reconcile"), "layer": "ownership"}


def test_going_on_where_nothing_can_be_claimed_is_a_run_of_its_own() -> None:
    shown = text("resume", LOOSE)
    assert "resume_run" not in shown
    assert "These records cannot be claimed" in shown
    assert "it begins a run of its own, under a new id, from checkpoint cp_1" in shown


def test_an_effect_that_the_ledger_lacks_is_found_out_and_not_repaired() -> None:
    wanted = [need("owner", "run 1"), need("fact", "ledgerComplete")]
    shown = text("hand_over", LOOSE, reasons=[LACKING, UNNUMBERED], missingEvidence=wanted)
    assert "Find out from whoever received it what was sent." in shown
    assert "This stays the guard's answer: " in shown
    assert "start a new run under a new id" in shown
    for refused in ("safepoint repair", "safepoint cancel", "facts.json", "When that is settled"):
        assert refused not in shown


@pytest.mark.parametrize(("said", "ends"), [(False, True), (None, False)])
def test_a_ledger_that_is_said_to_have_gaps_is_not_asked_about_again(said: bool | None, ends: bool) -> None:
    facts = None if said is None else {"recordType": "facts", "ledgerComplete": said}
    asked = Asked("s", facts=facts, facts_file=facts and "f.json", writable=False, claimable=False)
    shown = text("reconcile", asked, reasons=[UNNUMBERED], missingEvidence=[need("fact", "ledgerComplete")])
    assert ("effects are missing in the ledger, so that this stays" in shown) is ends
    assert ("FILL IN" in shown) is not ends
    assert "start a new run under a new id" in shown


def test_a_stale_fleet_is_counted_again_or_left_out_by_commands_that_do_not_name_it() -> None:
    asked = Asked("s", options=("--fleet", "old.json"))
    wanted = [
        need("fact", "observedAt"),
        {
            **need("fact", "fleet"),
            "message": "newer",
        },
    ]
    shown = text("reconcile", asked, reasons=[reason("SP790", "reconcile")], missingEvidence=wanted)
    assert "STORE" not in shown
    assert "facts.json" not in shown
    assert "safepoint guard s --all --fleet-output old.json\n" in shown
    assert (
        "Or leave it out; the breakers and the ratio are not checked then:\n       safepoint guard s --run"
        in shown
    )


def test_the_same_facts_are_printed_once() -> None:
    asked = Asked("s", silent={"a": (1,), "b": (1,)})
    shown = text("hand_over", asked, missingEvidence=[need("outcome", "a"), need("outcome", "b")])
    assert shown.count('"leaseEpoch": 1') == 1
    assert "What to write into facts.json for that stands above" in shown
