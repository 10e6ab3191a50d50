"""The facts that a decision misses, as a document with gaps that only the reader can fill (SPEC.md#the-facts-document).

Decided here: which needs facts can answer, what is asked for in which shape, and the hint in each gap. No gap validates
before it is filled, so that a document that was only copied is refused. Not decided here: which evidence is missing
(``guard``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from safepoint.render.overview import short

FILL_IN = "FILL IN"
"""How a value that only the reader can know begins."""

_SEEN_DEAD = f"{FILL_IN}: when it was seen dead; do not change it later"
_BOTH_WAYS = frozenset({"external", "outbox", "guardContext", "artifacts", "approvals", "heads"})
"""Members of facts whose parts can be asked for one by one."""


def facts_to_fill_in(
    document: Mapping[str, Any],
    needs: Sequence[Mapping[str, Any]],
    given: Mapping[str, Any] | None,
    epochs: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """What answers `needs`: a whole document, or only what has to be added to the one that was `given`.

    Args:
        document: the decision.
        needs: those of its ``missingEvidence`` that facts can answer.
        given: the facts that it was made with, if any.
        epochs: action to the epochs of its attempts whose worker is not proven dead.
    """
    when = f"{FILL_IN}: when you looked, such as {short(document['evaluatedAt'])}"
    facts: dict[str, Any] = {}
    if given is None:
        facts = {
            "recordType": "facts",
            "schemaVersion": "v3",
            "runId": document["runId"],
            "observedAt": when,
        }
    for need in needs:
        subject = str(need["subject"])
        if need["kind"] in {"probe", "outcome"}:
            known = ((given or {}).get("probes") or {}).get(subject)
            facts.setdefault("probes", {})[subject] = _probe(need["kind"], known, when)
        elif need["kind"] == "owner":
            owners = facts.setdefault("owners", [])
            own = [f"epoch {epoch}" for epoch in (epochs or {}).get(subject, ())]
            named = map(_owner, own or [subject])
            owners += [owner for owner in named if owner not in owners]
        elif need["kind"] == "approval":
            facts.setdefault("approvals", {})[subject] = _approval(when)
        else:
            _add_fact(facts, subject, document, when)
    return facts


def template(
    document: Mapping[str, Any],
    needs: Sequence[Mapping[str, Any]],
    given: Mapping[str, Any] | None,
    *,
    kept: Mapping[str, Any] | None = None,
    steps: Sequence[str] = (),
    epochs: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any] | None:
    """A facts document of its own with a gap for each fact that is asked for; None where none is.

    Args:
        document: the decision.
        needs: evidence that is missing and that facts can answer.
        given: the facts that are known already, and are not repeated.
        kept: known facts that it takes over, even where it asks for nothing else.
        steps: next steps of which nobody has said whether today's code knows them.
        epochs: action to the epochs of its attempts whose worker is not proven dead.
    """
    found = facts_to_fill_in(document, needs, given or {}, epochs)
    if steps:
        known = ", ".join(steps)
        found["knownSteps"] = f"{FILL_IN}: a list of the steps that today's code knows; next here: {known}"
    if not found and kept is None:
        return None
    return {**facts_to_fill_in(document, [], None), **(kept or {}), **found}


def facts_are_idle(document: Mapping[str, Any], given: Mapping[str, Any] | None) -> bool:
    """Whether no further fact counts: something is broken, nobody could claim the run, or its ledger has gaps.

    Args:
        document: the decision.
        given: the facts that it was made with, if any.
    """
    return has_gaps(document, given) or any(
        reason["verdict"] == "hand_over" and reason["layer"] in {"integrity", "ownership"}
        for reason in document["reasons"]
    )


def has_gaps(document: Mapping[str, Any], given: Mapping[str, Any] | None) -> bool:
    """Whether the facts say that the ledger is not complete, where the decision rests on that.

    Args:
        document: the decision.
        given: the facts that it was made with, if any.
    """
    asks = any(reason["code"] == "SP705" for reason in document["reasons"])
    return asks and (given or {}).get("ledgerComplete") is False


def facts_can_answer(
    document: Mapping[str, Any], need: Mapping[str, Any], given: Mapping[str, Any] | None
) -> bool:
    """Whether a fact can answer one of a decision's needs.

    Args:
        document: the decision.
        need: one of its ``missingEvidence``.
        given: the facts that it was made with, if any.
    """
    kind, subject = need["kind"], need["subject"]
    if kind == "approval":
        # Only a question that is still open is answered by facts; another one has to be asked in the run.
        return any(reason["code"] == "SP780" for reason in document["reasons"])
    if kind == "outcome":
        # A human's no changes nothing as a fact; once it was given, only the record is left.
        handed = {item.get("actionId") for item in document["plan"] if item["do"] == "handOver"}
        said = ((given or {}).get("probes") or {}).get(subject) or {}
        return subject in handed and said.get("result") is None
    return kind != "human" and (kind != "fact" or _is_a_fact(need))


def _is_a_fact(need: Mapping[str, Any]) -> bool:
    """Whether a need of kind ``fact`` names a member that facts have."""
    first, dot, _ = str(need["subject"]).partition(".")
    return first in _BOTH_WAYS if dot else first in {"observedAt", "ledgerComplete"}


def _probe(kind: str, known: Mapping[str, Any] | None, when: str) -> dict[str, Any]:
    if kind == "outcome":
        return {
            "result": f"{FILL_IN}: applied; no other answer changes anything here",
            "consistency": "strong",
            "observedAt": when,
        }
    probe: dict[str, Any] = {
        "result": f"{FILL_IN}: applied, notApplied or unknown",
        "consistency": f"{FILL_IN}: strong (the answer covers all that was applied before you asked) or eventual",
        "observedAt": when,
    }
    if known is not None:
        probe["attempts"] = int(known.get("attempts") or 1) + 1
    return probe


def _owner(subject: str) -> dict[str, Any]:
    epoch = re.fullmatch(r"epoch ([1-9][0-9]*)", subject)
    who = {"leaseEpoch": int(epoch[1])} if epoch else {"holder": f"{FILL_IN}: who ran it"}
    proof = f"{FILL_IN}: how you know, such as: the node agent reports exit by signal 9"
    return {**who, "state": "dead", "proof": proof, "observedAt": _SEEN_DEAD}


def _approval(when: str) -> dict[str, Any]:
    return {"state": f"{FILL_IN}: granted, pending, rejected, revoked or expired", "observedAt": when}


def _add_fact(facts: dict[str, Any], subject: str, document: Mapping[str, Any], when: str) -> None:
    first, _, rest = subject.partition(".")
    if subject == "observedAt":
        facts["observedAt"] = when
    elif subject == "ledgerComplete":
        effects = len({item["actionId"] for item in document["plan"] if item.get("actionId") is not None})
        facts["ledgerComplete"] = (
            f"{FILL_IN}: true only if every effect that was ever begun has a ledger record here "
            f"(this store holds {effects} of this run)"
        )
    elif first == "heads":
        facts.setdefault("heads", {})[rest] = {
            "sequence": f"{FILL_IN}: number of the newest record, as somebody else knows it",
            "digest": f"{FILL_IN}: sha256:… of its stored bytes",
        }
    elif first == "external":
        name, _, member = rest.rpartition(".")
        said = facts.setdefault("external", {}).setdefault(name, {})
        said |= {member: f"{FILL_IN}: its {member} as it is now", "observedAt": when}
    elif first == "approvals":
        facts.setdefault("approvals", {})[rest] = _approval(when)
    elif first == "artifacts":
        state = f"{FILL_IN}: present, missing or damaged"
        facts.setdefault("artifacts", {})[rest] = {"state": state, "observedAt": when}
    elif first == "outbox":
        facts.setdefault("outbox", {})[rest] = f"{FILL_IN}: pending, already_sent, delivered or bounced"
    else:
        facts.setdefault(first, {})[rest] = f"{FILL_IN}: sha256:… of it as it is now"
