"""Layer 7, world: the artifacts that a run needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from journals import Journal
from questions import facts, started

from conformance.case import Case
from safepoint.core.digest import digest_bytes


def cases() -> Iterator[Case]:
    plan = b"# plan\n"
    name = f"runs/run-1/artifacts/sha256/{digest_bytes(plan)[7:]}"
    reference = {
        "artifactId": "plan",
        "uri": None,
        "digest": digest_bytes(plan),
        "size": len(plan),
        "mediaType": "text/markdown",
    }
    kept = started(artifactRefs=[reference])
    elsewhere = started(artifactRefs=[{**reference, "uri": "s3://bucket/plan"}])
    yield Case(
        "artifact-elsewhere",
        "The artifact lies outside the store, and nobody says that it is there.",
        elsewhere,
        "reconcile",
        ["SP793"],
    )
    yield Case(
        "artifact-elsewhere-vouched-for",
        "Somebody looked at the artifact outside the store.",
        elsewhere,
        "resume",
        ["SP799"],
        facts=facts(artifacts={"plan": {"state": "present"}}),
    )

    def needs_plan(**members: Any) -> Journal:
        condition = {"type": "artifactPresent", "subject": "plan", "expected": True}
        return started(resumePreconditions=[condition], **members)

    yield Case(
        "artifact-needed-and-present",
        "The plan that the run needs is whole.",
        needs_plan(artifactRefs=[reference]),
        "resume",
        ["SP799"],
        files={name: plan},
    )
    yield Case(
        "artifact-needed-and-missing",
        "The plan that the run needs is gone.",
        needs_plan(artifactRefs=[reference]),
        "hand_over",
        ["SP791", "SP786"],
    )
    yield Case(
        "artifact-needed-and-unknown",
        "Nobody knows of the plan that the run needs.",
        needs_plan(),
        "reconcile",
        ["SP789"],
    )
    yield Case(
        "artifact-present", "The plan is there and whole.", kept, "resume", ["SP799"], files={name: plan}
    )
    yield Case("artifact-missing", "The plan is gone.", kept, "hand_over", ["SP786"])
    yield Case(
        "artifact-damaged", "The plan was changed.", kept, "hand_over", ["SP787"], files={name: b"# plot\n"}
    )
