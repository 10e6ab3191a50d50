"""Answers every question of the guard as favourably as the world could, and asks again.

What a decision names under ``missingEvidence`` is supplied: the probe finds the effect, the owner is dead, the fact is
what the run expects, the human says yes. Where it names nothing but time, time passes. What only a human can decide is
left to a human.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from generated_facts import newest
from generated_runs import PRECONDITIONS, Question
from journals import START, Journal, at
from questions import facts

from safepoint.core.timestamp import SECOND
from safepoint.guard import Decision, Missing
from safepoint.guard.case import ask
from safepoint.model.run import Run
from safepoint.policy import parse_policy

DONE = frozenset({"resume", "no_op", "give_up", "compensate"})


def rounds(question: Question, most: int) -> Iterator[tuple[Question, Decision]]:
    """The question and its decision, round after round, until nothing that could be supplied is missing."""
    for _ in range(most):
        decision = question.ask()
        yield question, decision
        if decision.verdict in DONE:
            return
        wanted = [need for need in decision.missing_evidence if answerable(question, need)]
        if wanted:
            for need in wanted:
                question = supplied(question, need)
        elif decision.not_before is not None:
            question = _later(question, decision.not_before)
        else:
            return


def answerable(question: Question, need: Missing) -> bool:
    """Whether it can be supplied: not what a human decides, nor word of an action without any attempt to speak of."""
    return need.kind not in {"human", "outcome"} or (
        need.kind == "outcome" and bool(question.run().actions[need.subject].attempts)
    )


def _later(question: Question, time: int) -> Question:
    """The same question when that time (nanoseconds) has come, and the fleet has recovered."""
    known = question.facts and {name: said for name, said in question.facts.items() if name != "fleet"}
    return question.but(now=-(-(time - START) // SECOND), facts=known)


def supplied(question: Question, need: Missing) -> Question:
    """The same question, with this evidence."""
    return _SUPPLIERS[need.kind](question, need)


def _known(question: Question, **members: Any) -> Question:
    """Facts of this moment, which say this too."""
    old = dict(question.facts or facts(question.now))
    return question.but(facts={**old, **members, "observedAt": at(question.now)})


def _probe(question: Question, need: Missing) -> Question:
    found = {
        "result": "applied",
        "consistency": "strong",
        "observedAt": at(question.now),
        "externalRef": "m-1",
    }
    return _known(question, probes={**((question.facts or {}).get("probes") or {}), need.subject: found})


def _owner(question: Question, need: Missing) -> Question:
    dead = {"state": "dead", "proof": "exit status -9", "observedAt": at(question.now)}
    if not question.ordered:
        return _known(question, owners=[{"holder": "w", **dead}])
    epochs = (
        [int(need.subject[6:])] if need.subject.startswith("epoch ") else range(1, question.journal.epoch + 1)
    )
    others = [o for o in (question.facts or {}).get("owners") or () if o["leaseEpoch"] not in epochs]
    return _known(question, owners=[*others, *({"leaseEpoch": epoch, **dead} for epoch in epochs)])


def _fact(question: Question, need: Missing) -> Question:
    part, _, name = need.subject.partition(".")
    if part in {"observedAt", "ledgerComplete"}:
        return _known(question, **({part: True} if part == "ledgerComplete" else {}))
    if part == "heads":
        return _known(question, heads=newest(question.journal))
    old: Mapping[str, Any] = (question.facts or {}).get(part) or {}
    if part == "external":
        name, _, member = name.rpartition(".")
        expected = next(p["expected"] for p in PRECONDITIONS if p["subject"] == name)
        said: Any = {member: expected, "observedAt": at(question.now)}
    else:
        contexts = [v["guardContext"] for v in question.journal.values if v.get("guardContext")]
        said = {
            "guardContext": lambda: contexts[-1][name],
            "artifacts": lambda: {"state": "present"},
            "approvals": lambda: {"state": "granted"},
            "outbox": lambda: "pending",
        }[part]()
    return _known(question, **{part: {**old, name: said}})


def _approval(question: Question, need: Missing) -> Question:
    """The answer that is waited for; else a new question about what will be executed, and a yes to it."""
    question = question.but(now=question.now + 1)
    journal = extended(question.journal)
    asked = next((v for v in journal.values if v.get("approvalId") == need.subject), None)
    if asked is None and need.message != ASK:
        return _known(question, approvals={**_approvals(question), need.subject: {"state": "granted"}})
    run = question.run()
    members = {"contentDigest": None, "actor": "eve", "expiresAt": None}
    if asked is None:
        members |= {"approvalId": f"new-{len(journal.values)}", "checkpointId": need.subject}
    else:
        members |= {
            name: asked[name]
            for name in ("actionId", "checkpointId", "contentDigest", "actor", "branch")
            if name in asked
        }
        members["approvalId"] = need.subject
    if need.message != WAITED_FOR:
        action = run.actions.get(str(members.get("actionId")))
        members |= {"approvalId": f"new-{len(journal.values)}"}
        members |= {"contentDigest": action.fingerprint} if action else {}
        branch = _branch(question, run)
        members |= {"branch": branch} if branch else {}
        journal.add("approval", question.now, event="requested", **members)
    journal.add("approval", question.now, event="granted", **members)
    # whoever answers in the journal no longer says something else outside it
    said = {name: state for name, state in _approvals(question).items() if name != need.subject}
    grown = question.but(journal=journal)
    return _known(grown, approvals=said) if said != _approvals(question) else grown


def _branch(question: Question, run: Run) -> str | None:
    """Where the run would go on: an answer for another branch does not carry over."""
    policy = parse_policy(question.policy)
    return ask(run, question.facts, policy, question.request, START).forks_to or run.branch


def _approvals(question: Question) -> dict[str, Any]:
    return dict((question.facts or {}).get("approvals") or {})


WAITED_FOR = "a human's answer"
ASK = "ask for the approval that this gate waits for"


def _outcome(question: Question, need: Missing) -> Question:
    """A human found out that it was applied, and recorded that; what was half undone is settled as such."""
    journal = extended(question.journal)
    action = question.run().actions[need.subject]
    if action.status == "compensating":
        human = {"kind": "human", "ref": "t-1", "by": "ops", "observedAt": at(question.now)}
        journal.claim(question.now, purpose="resolution")
        journal.ledger(question.now, "compensationFailed", need.subject)
        journal.ledger(question.now, "abandoned", need.subject, evidence=human)
        return question.but(journal=journal)
    number = action.open_attempts[-1].number if action.open_attempts else len(action.attempts)
    found = {
        "actionId": need.subject,
        "attemptNumber": number,
        "result": "applied",
        "kind": "human",
        "by": "ops",
    }
    journal.add("evidence", question.now, **found, ref="t-1", observedAt=at(question.now))
    return question.but(journal=journal)


def extended(journal: Journal) -> Journal:
    """A copy that records may be added to."""
    grown = Journal(journal.run_id)
    grown.values, grown.recovery = [*journal.values], [*journal.recovery]
    return grown


_SUPPLIERS = {
    "probe": _probe,
    "owner": _owner,
    "fact": _fact,
    "approval": _approval,
    "outcome": _outcome,
}
