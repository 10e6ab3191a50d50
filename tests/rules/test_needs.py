"""A rule that cannot be checked is skipped and listed, not passed; one with nothing to look at is neither."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from journals import Journal, as_record, declares

from safepoint import rules
from safepoint.core.fault import Fault, Place
from safepoint.model.journal import Unread
from safepoint.model.run import Run, fold
from safepoint.rules.needs import WHY

UNREAD = Unread("journal", "0000000009.json", 9, (Fault("SP103", "torn", place=Place("f")),))
PLAN = {"artifactId": "plan", "uri": None, "digest": "sha256:" + "a" * 64, "size": 4, "mediaType": None}


def ordinary(**checkpoint: Any) -> Journal:
    journal = Journal().begin().checkpoint(2, **checkpoint).ledger(3, "attempting").ledger(4, "committed")
    return journal.checkpoint(5, "cp-2")


def loose(*kinds: str) -> Run:
    """The same records without their place in a journal."""
    chained = {"sequence", "previousDigest", "nonce", "leaseEpoch", "lastLedgerSequence"}
    values = [v for v in ordinary().values if v["recordType"] in kinds]
    return fold(
        "run-1", [as_record({k: v for k, v in value.items() if k not in chained}) for value in values]
    )


def skipped(run: Run, *, artifacts: bool | None = None) -> Mapping[str, str]:
    return {rule.code: rule.reason for rule in rules.skipped(run, artifacts=artifacts)}


def codes(run: Run) -> list[str]:
    return [fault.code for fault in rules.check(run)]


def test_an_ordinary_run_skips_nothing() -> None:
    assert skipped(ordinary().fold()) == {}
    assert codes(ordinary().fold()) == []


def test_without_an_order_every_rule_about_effects_that_needs_one_is_listed() -> None:
    run = loose("ledger")
    assert skipped(run).keys() == {"SP401", "SP404", "SP414", "SP524"}
    assert set(skipped(run).values()) == {WHY["order"]}


def test_rules_with_nothing_to_look_at_are_not_listed() -> None:
    assert not {"SP401", "SP505", "SP515", "SP523"} & skipped(loose("checkpoint")).keys()


def test_what_cannot_be_read_makes_rules_about_what_is_missing_guesses() -> None:
    run = Journal().begin().checkpoint(2).ledger(3, "committed", declares=declares()).fold()
    assert codes(run) == ["SP401"]
    torn = replace(run, unread=(UNREAD,))
    assert codes(torn) == []
    assert skipped(torn)["SP401"] == WHY["whole"]


def test_a_gap_in_the_recovery_log_leaves_the_journal_whole() -> None:
    journal = ordinary().recover(10, "detected").recover(11, "assessing").recover(12, "notNeeded")
    del journal.recovery[1]
    run = journal.fold()
    assert codes(run) == ["SP301"]
    assert skipped(run) == dict.fromkeys(("SP319", "SP322", "SP507", "SP522", "SP523"), WHY["recovery"])


def test_a_gap_in_the_journal_leaves_the_recovery_log_whole() -> None:
    journal = ordinary().recover(10, "detected").recover(11, "waiting")
    del journal.values[3]
    run = journal.fold()
    assert sorted(codes(run)) == ["SP301", "SP507"]
    assert skipped(run)["SP319"] == WHY["whole"]
    assert "SP507" not in skipped(run)


@pytest.mark.parametrize(("log", "name"), [("recovery", "0000000001.json"), ("lines", "recovery.jsonl")])
def test_an_unreadable_text_of_the_recovery_log_is_nothing_to_rely_on(log: str, name: str) -> None:
    run = ordinary().recover(10, "detected").fold()
    assert "SP507" in skipped(replace(run, unread=(replace(UNREAD, log=log, name=name),)))


def test_bytes_that_nobody_asked_for_were_not_skipped() -> None:
    run = ordinary(artifactRefs=[PLAN]).fold()
    assert skipped(run) == {}
    assert skipped(run, artifacts=True) == {}


def test_bytes_that_were_asked_for_without_a_store_are_listed() -> None:
    run = ordinary(artifactRefs=[PLAN]).fold()
    assert skipped(run, artifacts=False).keys() == {"SP515", "SP516", "SP517"}


@pytest.mark.parametrize("uri", ["https://example.org/plan", "urn:example:plan", "file:///etc/hostname"])
def test_artifacts_elsewhere_are_listed_although_they_were_asked_for(uri: str) -> None:
    run = ordinary(artifactRefs=[{**PLAN, "uri": uri}]).fold()
    assert skipped(run, artifacts=True).keys() == {"SP515", "SP516", "SP517"}


def test_an_artifact_without_a_digest_has_no_bytes_to_be_compared_with() -> None:
    run = ordinary(artifactRefs=[{**PLAN, "uri": "artifacts/plan.json", "digest": None}]).fold()
    assert skipped(run, artifacts=True).keys() == {"SP517"}


def test_asking_what_was_skipped_imports_no_rule() -> None:
    program = (
        "import sys; from safepoint.rules import skipped; from safepoint.model.run import fold; "
        "list(skipped(fold('r', []), artifacts=False)); "
        "print(*[name for name in sys.modules if name.startswith('safepoint.rules.sp')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
