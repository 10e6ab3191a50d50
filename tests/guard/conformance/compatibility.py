"""Layer 3, compatibility: whether today's code understands what was saved."""

from __future__ import annotations

from collections.abc import Iterator

from journals import digest
from questions import facts, request, started

from conformance.case import Case, policy


def cases() -> Iterator[Case]:
    saved = started(guardContext={"model": digest("a"), "workflow": digest("b")})
    now_equal = {"guardContext": {"model": digest("a"), "workflow": digest("b")}}
    now_other = {"guardContext": {"model": digest("c"), "workflow": digest("b")}}
    yield Case(
        "context-equal",
        "Nothing that the run depends on has moved.",
        saved,
        "resume",
        ["SP799"],
        facts=facts(**now_equal),
    )
    yield Case(
        "context-moved", "The model is another one.", saved, "hand_over", ["SP730"], facts=facts(**now_other)
    )
    yield Case(
        "context-unknown", "Nobody says what the parts are now.", saved, "reconcile", ["SP732", "SP732"]
    )
    yield Case(
        "context-moved-warned",
        "The policy only warns when the model moves.",
        saved,
        "resume",
        ["SP731"],
        facts=facts(**now_other),
        policy=policy(guardContext={"model": "warn"}),
    )
    yield Case(
        "context-ignored",
        "The policy does not care about the model.",
        started(guardContext={"model": digest("a")}),
        "resume",
        ["SP799"],
        policy=policy(guardContext={"model": "ignore"}),
    )
    typed = started(payloadSchema="agent/state@4", stateSnapshot={"step": 1})
    yield Case(
        "payload-schema-not-read",
        "Today's code reads only a newer payload than the saved one.",
        typed,
        "hand_over",
        ["SP733"],
        facts=facts(knownPayloadSchemas=["agent/state@5"]),
    )
    yield Case(
        "payload-schema-read",
        "Today's code reads the payload that was saved, beside a newer one.",
        typed,
        "resume",
        ["SP799"],
        facts=facts(knownPayloadSchemas=["agent/state@5", "agent/state@4"]),
    )
    yield Case(
        "payload-schema-unnamed",
        "The checkpoint names no payload schema, and the facts say which ones are read.",
        started(stateSnapshot={"step": 1}),
        "resume",
        ["SP799"],
        facts=facts(knownPayloadSchemas=[]),
    )
    yield Case(
        "payload-schema-unasked",
        "Nobody says which payload schemas today's code reads; that is not checked, and the decision says so.",
        typed,
        "resume",
        ["SP799"],
    )
    yield Case(
        "unfinished-action-of-an-unknown-step",
        "An action is unfinished, and its step is not in today's code.",
        started().ledger(3, "planned", stepName="gone"),
        "hand_over",
        ["SP734", "SP761"],
        facts=facts(knownSteps=["notify", "update_status"]),
    )
    yield Case(
        "context-moved-listed",
        "The policy lists the change as compatible.",
        saved,
        "resume",
        ["SP799"],
        facts=facts(**now_other),
        policy=policy(compatibleWith=[{"part": "model", "from": digest("a"), "to": digest("c")}]),
    )
    yield Case(
        "retry-a-step-that-is-not-next",
        "The request names a step that the checkpoint does not lead to.",
        started(),
        "hand_over",
        ["SP735"],
        request=request("retry_step", stepName="draft"),
    )
    yield Case(
        "retry-step",
        "The request names one of the steps that come next.",
        started(),
        "resume",
        ["SP799"],
        request=request("retry_step", stepName="notify"),
    )
    yield Case(
        "next-step-unknown",
        "The step that comes next is not in today's code.",
        started(),
        "hand_over",
        ["SP734"],
        facts=facts(knownSteps=["notify"]),
    )
