"""Whether a stored decision still stands (SPEC.md#decision).

Decided here: what a decision is compared with, and that it is void as soon as one comparison differs, or where nothing
ties it to the records at all. Pure, as all of the guard: the present is handed in as a decision that was made now.
Not decided here: whether the run may go on; that is what the decision says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from safepoint.core.timestamp import format_time, parse_time
from safepoint.guard.decision import Decision

Outcome = Literal["same", "differs", "notCompared"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One thing that was looked at."""

    what: str
    """``runId``, ``goal``, ``evaluatedAt``, ``validUntil``, ``notBefore``, ``requires``, ``basis``, ``journal``,
    ``leaseEpoch``, ``policy``, ``facts``, ``anchor`` or ``judgement``."""
    outcome: Outcome
    decided: str | None
    """As the decision has it."""
    now: str | None
    message: str
    """What a difference means, or why nothing was compared; empty where all is well."""

    def document(self) -> dict[str, Any]:
        """The comparison as a member of ``compared[]``."""
        return {
            "what": self.what,
            "outcome": self.outcome,
            "decided": self.decided,
            "now": self.now,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of a decision."""

    decision: Mapping[str, Any]
    """The stored one."""
    checked_at: int
    """Nanoseconds since the Unix epoch."""
    compared: tuple[Comparison, ...]
    would_say: Decision | None
    """What the guard says now, where it could be asked the same question."""

    @property
    def stands(self) -> bool:
        """Whether nothing differs. What it says is another matter: a ``hand_over`` may stand as well."""
        return all(comparison.outcome != "differs" for comparison in self.compared)

    @property
    def differences(self) -> tuple[Comparison, ...]:
        """Why it is void."""
        return tuple(comparison for comparison in self.compared if comparison.outcome == "differs")

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "standing": "stands" if self.stands else "void",
            "runId": self.decision["runId"],
            "verdict": self.decision["verdict"],
            "checkedAt": format_time(self.checked_at),
            "compared": [comparison.document() for comparison in self.compared],
            "wouldSay": None if self.would_say is None else self.would_say.verdict,
        }


def request_of(decision: Mapping[str, Any], *, named: bool = False) -> dict[str, Any]:
    """The request that a decision answered, as far as it tells: goal, and the checkpoint where it was named.

    Args:
        decision: a ``decision`` document.
        named: whether the request named the checkpoint; for a roll-back it must have.
    """
    request = {"recordType": "request", "schemaVersion": "v3", "goal": decision["goal"]}
    if named or decision["goal"] == "roll_back":
        request["checkpointId"] = decision["checkpointId"]
    return request


def standing(decision: Mapping[str, Any], present: Decision, skew: int) -> Standing:
    """Whether `decision` still stands.

    Args:
        decision: a sound ``decision`` document.
        present: what the guard says now to the same request, from what is at hand now.
        skew: largest difference between two clocks, in nanoseconds.
    """
    basis, now = decision["basis"], present.evaluated_at
    compared = [
        _equal("runId", decision["runId"], present.run_id, "it is about another run"),
        _equal("goal", decision["goal"], present.goal, "another request is asked now"),
        *_unknown(decision),
        *_times(decision, now, skew),
        *_journal(basis, present),
        _equal("policy", basis["policyDigest"], present.policy_digest, "the settings in force are others"),
        _given("facts", basis["factsDigest"], present.facts_digest),
        _given("anchor", basis.get("anchorDigest"), present.anchor_digest),
    ]
    comparable = basis["factsDigest"] is None or present.facts_digest is not None
    compared.append(
        _judgement(decision, present)
        if comparable
        else Comparison(
            "judgement",
            "notCompared",
            str(decision["verdict"]),
            None,
            "without the facts the question is another: artifacts and other recoveries were not looked at",
        )
    )
    tied = any(c.outcome == "same" and c.what in {"journal", "judgement"} for c in compared)
    if not tied and not comparable:
        words = "nothing ties it to the records as they are now: give the facts that it was made with"
        compared.append(Comparison("basis", "differs", None, None, words))
    return Standing(decision, now, tuple(compared), present if comparable else None)


def _equal(what: str, decided: object, now: object, message: str) -> Comparison:
    same = decided == now
    return Comparison(
        what, "same" if same else "differs", _text(decided), _text(now), "" if same else message
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_BASIS = frozenset({"journal", "leaseEpoch", "policyDigest", "factsDigest", "anchorDigest"})


def _unknown(decision: Mapping[str, Any]) -> Iterator[Comparison]:
    """What a newer writer rests its decision on, and this version cannot compare."""
    requires = (decision.get("requires") or {}).get("resume") or ()
    if requires:
        words = "it requires what this version does not know"
        yield Comparison("requires", "differs", ", ".join(requires), None, words)
    more = sorted(name for name in set(decision["basis"]) - _BASIS if not name.startswith("x-"))
    if more:
        words = "it rests on what this version cannot compare"
        yield Comparison("basis", "differs", ", ".join(more), None, words)


def _times(decision: Mapping[str, Any], now: int, skew: int) -> Iterator[Comparison]:
    made, moment = str(decision["evaluatedAt"]), format_time(now)
    early = parse_time(made) > now + skew
    words = "it was made in the future of this clock" if early else ""
    yield Comparison("evaluatedAt", "differs" if early else "same", made, moment, words)
    for name, message in (
        ("validUntil", "the time is over for which it was made"),
        ("notBefore", "what it waits for is over"),
    ):
        limit = decision[name]
        if limit is not None:
            over = now >= parse_time(limit)
            yield Comparison(name, "differs" if over else "same", limit, moment, message if over else "")


def _journal(basis: Mapping[str, Any], present: Decision) -> Iterator[Comparison]:
    head = basis["journal"]
    then, now = (
        (head["sequence"], head["digest"]),
        (present.head_sequence, present.head_digest),
    )
    if then == now and head["digest"] is None:
        words = "the records are not numbered: a new one would not show"
        yield Comparison("journal", "notCompared", None, None, words)
    else:
        before, after = (
            None if sequence is None else f"{sequence} {digest}" for sequence, digest in (then, now)
        )
        words = "" if then == now else "the journal's newest record is another one"
        yield Comparison("journal", "same" if then == now else "differs", before, after, words)
    yield _equal("leaseEpoch", basis["leaseEpoch"], present.lease_epoch, "the run was claimed since")


def _given(what: str, decided: str | None, now: str | None) -> Comparison:
    if decided is not None and now is None:
        none = "none was" if what == "anchor" else "none were"
        words = f"it was made with {'an ' if what == 'anchor' else ''}{what}, and {none} given now"
        return Comparison(what, "notCompared", decided, None, words)
    one = what == "anchor"
    words = (
        f"it was made without {'an ' if one else ''}{what}, and {'one was' if one else 'some were'} given now"
        if decided is None
        else f"the {what} given now {'is not the one' if one else 'are not those'} that it was made with"
    )
    return _equal(what, decided, now, words)


def _judgement(decision: Mapping[str, Any], present: Decision) -> Comparison:
    """The whole question once more: the basis holds no artifacts, no recovery log and no other episode."""
    again = present.document()
    for name in ("verdict", "checkpointId", "plan"):
        if decision[name] != again[name]:
            words = _change(name, decision, present, again)
            return Comparison("judgement", "differs", str(decision["verdict"]), again["verdict"], words)
    return Comparison("judgement", "same", str(decision["verdict"]), again["verdict"], "")


def _change(name: str, decision: Mapping[str, Any], present: Decision, again: Mapping[str, Any]) -> str:
    """What became of a member of the decision, in words."""
    if name == "verdict":
        codes = dict.fromkeys(r.code for r in present.reasons if r.verdict == present.verdict)
        return f"it said {decision['verdict']}, and would now say {again['verdict']} ({', '.join(codes)})"
    if name == "checkpointId":
        was, now = (value or "none" for value in (decision[name], again[name]))
        return f"it went on from checkpoint {was}, and would now go on from {now}"
    before, after = (
        {item.get("actionId") or item.get("stepName"): item for item in plan}
        for plan in (decision["plan"], again["plan"])
    )
    others = [str(subject) for subject in {**before, **after} if before.get(subject) != after.get(subject)]
    where = f"for {', '.join(others)}" if others else "in its order"
    return f"its plan would now be another, {where}"
