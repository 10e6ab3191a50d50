"""A question with one piece of evidence less, for each piece whose loss must never give leave (SPEC.md#decision).

What SPEC.md excepts is left out here, each with its reason. Nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from generated_facts import newest
from generated_runs import Question

from safepoint.core.timestamp import parse_time
from safepoint.policy import parse_policy

REFUSALS = frozenset({"rejected", "revoked", "expired"})
QUALIFIERS = frozenset({"observedAt", "attempts", "firstObservedAt"})
"""Not evidence, but what an entry says of itself: without it another value counts, so that it says something else."""


def less(question: Question) -> Iterator[tuple[str, Question]]:
    """Each question that knows one thing less, with what that is."""
    known = question.facts
    if known is not None:
        if not refuses(question):
            yield "all facts", question.but(facts=None)
        for where, smaller in _smaller(question, known):
            yield where, question.but(facts=smaller)
    for name, status in question.artifacts.items():
        said = ((known or {}).get("artifacts") or {}).get(name, {}).get("state")
        # the store's own look at a lost artifact is a refusal: a fact counts only where the store cannot tell
        if said != "present" or status not in {"missing", "damaged"}:
            rest = {other: value for other, value in question.artifacts.items() if other != name}
            yield f"artifact {name}", question.but(artifacts=rest)
    skew = int(question.policy.get("clockSkewSeconds", 5))
    for more in (1, 20, 3000):
        yield f"skew + {more}", question.but(policy={**question.policy, "clockSkewSeconds": skew + more})


def fewer_records(question: Question) -> Iterator[tuple[str, Question]]:
    """Each question without one record that is not the tail: of a journal, since nothing else shows that it is gone."""
    if question.ordered:
        for index in range(len(question.journal.values) - 1):
            journal = _copy(question)
            gone = journal.values.pop(index)
            yield f"{gone['recordType']} {gone['sequence']}", question.but(journal=journal)
    for index in range(len(question.journal.recovery) - 1):
        journal = _copy(question)
        gone = journal.recovery.pop(index)
        yield f"recovery {gone['sequence']}", question.but(journal=journal)


def _copy(question: Question) -> Any:
    journal = type(question.journal)(question.journal.run_id)
    journal.values, journal.recovery = [*question.journal.values], [*question.journal.recovery]
    return journal


def _smaller(question: Question, known: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in sorted(set(known) - {"recordType", "schemaVersion", "runId", "observedAt"}):
        value = known[name]
        if not _refuses(question, name, value):
            yield name, {other: said for other, said in known.items() if other != name}
        if name == "owners":
            for index, owner in enumerate(value):
                rest = [*value[:index], *value[index + 1 :]]
                if not _refuses(question, name, [owner]):
                    yield f"owners {index}", {**known, name: rest}
        elif name in {"knownSteps", "knownPayloadSchemas"}:
            for one in value:
                yield f"{name} {one}", {**known, name: [other for other in value if other != one]}
        elif isinstance(value, Mapping) and name not in {"fleet", "heads"}:
            for entry, said in value.items():
                if not _refuses(question, name, {entry: said}):
                    rest_of = {other: it for other, it in value.items() if other != entry}
                    yield f"{name} {entry}", {**known, name: rest_of}
                for member in sorted(set(said) - QUALIFIERS) if isinstance(said, Mapping) else ():
                    if name == "external":
                        part = {other: it for other, it in said.items() if other != member}
                        yield f"{name} {entry} {member}", {**known, name: {**value, entry: part}}


def refuses(question: Question) -> bool:
    """Whether the facts report a refusal: without them nothing would ask for it."""
    known = question.facts or {}
    policy = parse_policy(question.policy)
    now, observed = _nanoseconds(question), parse_time(known["observedAt"])
    # facts that are stale as a whole are asked for again, or left out
    stale = not now - policy.max_fact_age_seconds * 10**9 < observed <= now
    return stale or any(_refuses(question, name, value) for name, value in known.items())


def _nanoseconds(question: Question) -> int:
    return question.ask().evaluated_at


def _refuses(question: Question, name: str, value: Any) -> bool:
    """Whether a member of the facts says no to something that nobody else asks about."""
    if name == "owners":
        # without leases nothing but the facts tells how many owners there were
        return not question.ordered or any(owner["state"] == "alive" for owner in value)
    if name == "approvals":
        return any(said["state"] in REFUSALS for said in value.values())
    if name == "probes":
        # a probe that found what the ledger knows no attempt of: something is not recorded
        attempted = {v["actionId"] for v in question.journal.values if v.get("status") == "attempting"}
        return any(said["result"] == "applied" and action not in attempted for action, said in value.items())
    if name == "heads":
        return not question.ordered or bool(value != newest(question.journal))
    if name == "knownSteps":
        return not steps_of(question) <= set(value)
    if name == "knownPayloadSchemas":
        return not payload_schemas_of(question) <= set(value)
    return name == "fleet"


def payload_schemas_of(question: Question) -> set[str]:
    """Every payload schema that a checkpoint names."""
    return {name for value in question.journal.values if (name := value.get("payloadSchema"))}


def steps_of(question: Question) -> set[str]:
    """Every step that a record names."""
    found: set[str] = set()
    for value in question.journal.values:
        found.update(value.get("nextSteps") or ())
        made = (reference["producedBy"] for reference in value.get("artifactRefs") or ())
        found.update(step for step in made if step)
        if value["recordType"] == "ledger":
            found.add(value["stepName"])
    return found
