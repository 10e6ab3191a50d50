"""Questions to the guard, as tests put them."""

from __future__ import annotations

from typing import Any

from journals import START, Journal, at, declares

from safepoint.core.timestamp import SECOND
from safepoint.guard import Decision, evaluate
from safepoint.model.run import Run
from safepoint.policy import parse_policy

KEYED = declares(idempotency="keyed", dedupeWindowSeconds=86_400)
PROBED = declares(probe="byQuery", probeSettleSeconds=30)
NATURAL = declares(effect="write", idempotency="natural", probeSettleSeconds=10)
PAY = declares(effect="payment", reversibility="compensatable", compensation="refund")


def started(**members: Any) -> Journal:
    """A run with a lease of 60 s and one checkpoint, `members` in it."""
    return Journal().begin().checkpoint(2, **members)


def facts(observed: float = 190, **members: Any) -> dict[str, Any]:
    """A facts document of ``run-1``, observed so many seconds after the start."""
    return {
        "recordType": "facts",
        "schemaVersion": "v3",
        "runId": "run-1",
        "observedAt": at(observed),
        **members,
    }


def request(goal: str, **members: Any) -> dict[str, Any]:
    """A request document."""
    return {"recordType": "request", "schemaVersion": "v3", "goal": goal, **members}


def dead(epoch: int = 1, seen: float = 10, state: str = "dead") -> dict[str, Any]:
    """A member of ``owners``."""
    return {"leaseEpoch": epoch, "state": state, "proof": "exit status -9", "observedAt": at(seen)}


def not_found(seen: float, consistency: str = "strong") -> dict[str, Any]:
    """``probes``: the one for ``send`` found nothing."""
    answer = {"result": "notApplied", "consistency": consistency, "observedAt": at(seen), "externalRef": None}
    return {"send": answer}


def judge(
    run: Journal | Run,
    now: float = 200,
    known: dict[str, Any] | None = None,
    asked: dict[str, Any] | None = None,
    **policy: Any,
) -> Decision:
    """The guard's answer, so many seconds after the start, under a policy of these members."""
    folded = run.fold() if isinstance(run, Journal) else run
    settings = parse_policy(policy, workflow="publish")
    return evaluate(folded, known, settings, asked, START + int(now * SECOND))
