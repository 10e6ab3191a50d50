"""Odd but legal input is judged, and what is legal is not called wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from journals import Journal, at, declares
from questions import PROBED, dead, facts, judge, not_found, started

from safepoint.core.fault import Fault
from safepoint.model.journal import Unread

FAR = 2**53 - 1


@pytest.mark.parametrize(
    ("journal", "known", "policy"),
    [
        (started(), None, {"attemptsWithoutProgress": 0}),
        (started(), None, {"attemptsInLife": 0}),
        (Journal().begin(ttl=FAR).checkpoint(2), None, {}),
        (started().recover(190, "detected", createdAt="9999-12-31T23:59:59Z"), None, {}),
        (started(), None, {"clockSkewSeconds": FAR}),
        (started(), None, {"automaticResumeSeconds": FAR, "hardLimitSeconds": FAR}),
        (
            started(),
            facts(),
            {"maxFactAgeSeconds": FAR, "automaticResumeSeconds": FAR, "hardLimitSeconds": FAR},
        ),
        (started().claim(100, purpose="recovery"), None, {"cooldownSeconds": FAR, "cooldownCapSeconds": FAR}),
        (
            started().ledger(
                3, "attempting", declares=declares(idempotency="natural", probeSettleSeconds=FAR)
            ),
            None,
            {},
        ),
        (
            started().ledger(3, "attempting", declares=declares(probe="byQuery", probeSettleSeconds=FAR)),
            facts(owners=[dead()], probes=not_found(60)),
            {},
        ),
        (started(reason="humanGate"), None, {"maxFactAgeSeconds": 0}),
        (
            started(usage={"costMicros": FAR})
            .claim(100, purpose="recovery")
            .recover(101, "detected", cost={"costMicros": 5}),
            None,
            {"recoveryCostFraction": 1e308},
        ),
    ],
)
def test_extreme_values_are_judged_and_written(journal: Journal, known: Any, policy: dict[str, Any]) -> None:
    decision = judge(journal, 300, known, **policy)
    assert decision.document()["verdict"] == decision.verdict
    if decision.verdict == "wait":
        assert decision.not_before is not None
        assert decision.not_before > decision.evaluated_at


def test_a_heartbeat_that_is_torn_only_delays_nothing() -> None:
    torn = Unread("heartbeat", "0000000001.json", 1, (Fault("SP103", "torn"),))
    assert judge(started()).verdict == "resume"
    run = replace(started().fold(), unread=(torn,))
    assert judge(run).verdict == "resume"


def test_a_resolution_may_end_with_the_release_of_its_lease() -> None:
    journal = started().ledger(3, "attempting", declares=PROBED).add("run", 5, status="completed")
    journal.claim(100, purpose="resolution")
    journal.ledger(101, "committed", attempt={"number": 1, "startedAt": at(3), "deadline": at(33)})
    journal.add("lease", 102, event="released")
    assert judge(journal, 300).verdict == "no_op"


def test_somebody_knew_after_all() -> None:
    journal = started().ledger(3, "attempting").claim(100, purpose="resolution")
    journal.ledger(
        101, "abandoned", evidence={"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(101)}
    )
    journal.add(
        "evidence",
        102,
        actionId="send",
        attemptNumber=1,
        result="applied",
        kind="human",
        by="ops",
        observedAt=at(102),
    )
    assert journal.fold().actions["send"].status == "committed"
