"""What every layer looks at (`Case`) and what it may say (`Opinion`)."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal

from safepoint.core.fault import Fault
from safepoint.core.timestamp import SECOND, parse_time
from safepoint.guard.decision import GRAVITY, Missing, PlanItem, Reason
from safepoint.model.action import Action, Declaration
from safepoint.model.attempts import last_written
from safepoint.model.origin import vanished
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.policy import Policy

FINDABLE = frozenset({"planned", "failed", "prepared", "abandoned"})
"""Statuses of an action that is not in doubt, and that a probe may have found applied all the same."""

Claims = Literal["enforced", "assumed", "impossible"]
"""What keeps two claims of one run apart where it lies: the storage, nothing but the user's word, or nothing."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """What anchors of the store say of the run."""

    digest: str
    """Of the newest anchor."""
    heads: Mapping[str, Any]
    """Members as an anchor has them for a run: ``journal``, ``recovery``, ``records``, ``unread``, ``deleted``.

    Empty: it knows nothing of the run.
    """
    faults: tuple[Fault, ...] = ()
    """What contradicts them in the store's own description."""
    name: str = ""
    """What a human calls the newest anchor."""

    def vanished(self, journal: int, recovery: int, records: AbstractSet[str], unread: int) -> int:
        """How many texts that could not be read are gone, and have not become records.

        Args:
            journal: the newest sequence there is now; 0: none.
            recovery: that of the recovery log.
            records: digests of the records without a sequence.
            unread: the texts that cannot be read now.
        """
        return vanished(self.heads, journal, recovery, records, unread)


@dataclass(frozen=True, slots=True)
class Facts:
    """A ``facts`` document (or none): what somebody observed in the world. What it does not say is unknown."""

    value: Mapping[str, Any]

    @property
    def observed(self) -> int | None:
        """Nanoseconds; None where there are no facts."""
        text = self.value.get("observedAt")
        return None if text is None else parse_time(text)

    @property
    def ledger_complete(self) -> bool:
        """Whether somebody vouches that no effect lacks its record."""
        return self.value.get("ledgerComplete") is True

    def part(self, name: str) -> Mapping[str, Any]:
        """One of the document's maps; empty where it is absent."""
        found: Mapping[str, Any] = self.value.get(name) or {}
        return found

    def deaths(self, epoch: int | None) -> tuple[tuple[int, ...], ...]:
        """For each owner that counts, the times (nanoseconds) at which it was seen dead; empty where one is alive.

        Only the epoch counts: a holder's name may be used again by a living worker. Runs without leases have no
        epochs to tell their owners apart: with `epoch` None all that are named count.
        """
        owners = [o for o in self.value.get("owners") or () if epoch is None or o.get("leaseEpoch") == epoch]
        if any(owner.get("state") != "dead" for owner in owners):
            return ()
        seen: dict[Any, list[int]] = {}
        for owner in owners:
            name = epoch if epoch is not None else (owner.get("leaseEpoch"), owner.get("holder"))
            seen.setdefault(name, []).append(parse_time(owner.get("observedAt") or self.value["observedAt"]))
        return tuple(tuple(times) for times in seen.values())


@dataclass(frozen=True, slots=True)
class Case:
    """One question to the guard."""

    run: Run
    facts: Facts
    policy: Policy
    request: Mapping[str, Any]
    now: int
    """Nanoseconds since the Unix epoch."""
    artifacts: Mapping[str, str]
    """Artifact id to ``present``, ``missing``, ``damaged`` or ``unknown``."""
    checkpoint: Record | None
    """Where the run would go on from."""
    last_written: Mapping[int, int]
    """Epoch to the time (nanoseconds) of its newest record."""
    undoing: bool
    """Whether the run goes backwards: asked to, or begun."""
    claims: Claims = "enforced"
    anchored: Anchored | None = None
    to_undo: tuple[Action, ...] = ()
    """What a roll-back still has to compensate, last in first out."""
    undoable: bool = True
    """Whether all of `to_undo` can be undone."""

    @property
    def goal(self) -> str:
        """What the request asks for; ``continue`` where it does not say."""
        return str(self.request.get("goal") or "continue")

    @property
    def step_to_retry(self) -> str | None:
        """The one step that the request asks for; of ``retry_step`` without a name the first of the next ones."""
        named = self.request.get("stepName")
        if named is None and self.goal == "retry_step" and self.checkpoint is not None:
            named = next(iter(self.checkpoint.value.get("nextSteps") or ()), None)
        return None if named is None else str(named)

    @property
    def forks_to(self) -> str | None:
        """The branch that a claim on this decision begins; None: it goes on where the run stands."""
        newest, named = self.run.newest_checkpoint, self.request.get("checkpointId")
        elsewhere = named is not None and (newest is None or newest.value["checkpointId"] != named)
        if not elsewhere and self.goal != "roll_back":
            return None
        return self.run.next_branch

    @property
    def caller_epoch(self) -> int | None:
        """The epoch that the caller claims to own."""
        epoch = self.request.get("epoch")
        return None if epoch is None else int(epoch)

    @property
    def caller_owns(self) -> bool:
        """Whether the caller holds the newest lease itself."""
        owner = self.run.ownership
        return owner is not None and not owner.released and self.caller_epoch == owner.epoch

    @property
    def owner_death(self) -> int | None:
        """When the present owner was seen dead (nanoseconds), or None."""
        owner = self.run.ownership
        return self.death_of(owner.epoch if owner else 0)

    def death_of(self, epoch: int) -> int | None:
        """When the owner of `epoch` was first seen dead (nanoseconds); None where that is not proven.

        A death in the future, or before something that the dead wrote, is no proof of anything. Without leases it is
        the time at which all owners that are named were dead.
        """
        owner = self.run.ownership
        deaths = self.facts.deaths(epoch if owner else None)
        signs = [self.last_written.get(epoch, 0)] if owner else list(self.last_written.values())
        if owner and owner.epoch == epoch:
            signs.extend(owner.beats)
        alive = max(signs, default=0)
        proofs = [[death for death in times if alive <= death <= self.now] for times in deaths]
        return max(min(times) for times in proofs) if proofs and all(proofs) else None

    def owner_named(self, epoch: int) -> str:
        """What evidence about the owner of `epoch` is asked for by: runs without leases have no epochs to tell."""
        return f"epoch {epoch}" if self.run.ownership else self.run.run_id

    @property
    def open_effects(self) -> tuple[Action, ...]:
        """Open actions that may have changed the world; a read in flight leaves nothing to be settled."""
        return tuple(action for action in self.run.open_actions if self.declares(action).effect != "read")

    @property
    def lease_ends(self) -> int | None:
        """When the present lease no longer protects its owner; None where no lease stands in the way."""
        owner = self.run.ownership
        if owner is None or owner.released:
            return None
        return owner.lapses_at(self.now, self.policy.skew)

    def declares(self, action: Action) -> Declaration:
        """What the action's own record declares, else the policy's catalogue, else the worst."""
        listed = self.policy.actions.get(action.action_id, self.policy.actions.get(action.step_name))
        if action.declares.declared or listed is None:
            return action.declares
        return Declaration.from_value(listed)

    def policy_for(self, action: Action) -> Policy:
        """The settings that count for `action`: those that it has for itself win."""
        return self.policy.for_action(action.action_id, action.step_name)

    def probe(self, action: Action) -> Mapping[str, Any] | None:
        """The fact about this action's probe, if there is one."""
        found: Mapping[str, Any] | None = self.facts.part("probes").get(action.action_id)
        return found

    def found_applied(self, action: Action) -> bool:
        """Whether a probe found the action applied."""
        return (self.probe(action) or {}).get("result") == "applied"

    @property
    def reads_again(self) -> bool:
        """Whether external data moved, and the policy answers that by doing the reads again."""
        if self.policy.external_moved != "rerun_reads" or self.checkpoint is None:
            return False
        seen = self.facts.part("external")
        return any(
            condition.get("type") == "externalVersion"
            and (seen.get(str(condition.get("subject"))) or {}).get("version")
            not in {None, condition.get("expected")}
            for condition in self.checkpoint.value.get("resumePreconditions") or ()
        )

    def stale(self, observed: int | None) -> bool:
        """Whether an observation of that time (nanoseconds) is too old, or from the future.

        No skew is granted to the future: a worse clock must never be a reason to go on.
        """
        return observed is not None and not (
            self.now - self.policy.max_fact_age_seconds * SECOND < observed <= self.now
        )

    def can_probe(self, action: Action) -> bool:
        """Whether a probe could still change what is known of `action`."""
        return self.declares(action).probe != "none"


def ask(
    run: Run,
    facts: Mapping[str, Any] | None,
    policy: Policy,
    request: Mapping[str, Any] | None,
    now: int,
    *,
    artifacts: Mapping[str, str] | None = None,
    claims: Claims = "enforced",
    anchored: Anchored | None = None,
) -> Case:
    """The question that these make: see `evaluate` for what they are."""
    request = request or {}
    return Case(
        run=run,
        facts=Facts(facts or {}),
        policy=policy,
        request=request,
        now=now,
        artifacts=artifacts or {},
        checkpoint=start_of(run, request),
        last_written=last_written(run),
        undoing=request.get("goal") == "unwind" or run.roll_back_begun,
        claims=claims,
        anchored=anchored,
    )


def start_of(run: Run, request: Mapping[str, Any]) -> Record | None:
    """The checkpoint to go on from: the one that the request names, else the newest."""
    wanted = request.get("checkpointId")
    return run.checkpoint(str(wanted)) if wanted is not None else run.newest_checkpoint


_LONGEST = 1000
"""Characters of a message; names in it may be long, and a decision must fit its schema."""


@dataclass(slots=True)
class Opinion:
    """What one layer says."""

    layer: str
    reasons: list[Reason] = field(default_factory=list)
    plan: list[PlanItem] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    not_before: list[int] = field(default_factory=list)
    """Times (nanoseconds) that the layer's ``wait`` reasons wait for."""
    valid_until: list[int] = field(default_factory=list)
    decisive: str | None = None
    """Layers 0 to 2: a verdict that no later layer changes."""

    def say(
        self,
        code: str,
        verdict: str,
        message: str,
        *,
        evidence: Record | None = None,
        pointer: str | None = None,
        until: int | None = None,
        decisive: bool = False,
    ) -> None:
        """Add a reason; `until` belongs to a ``wait``."""
        key = evidence.place.key if evidence else None
        if evidence and evidence.place.line > 1:
            key = f"{key}:{evidence.place.line}"
        if len(message) > _LONGEST:
            message = message[: _LONGEST - 1] + "…"
        self.reasons.append(Reason(code, self.layer, verdict, message, key, pointer))
        if until is not None:
            self.not_before.append(until)
        if decisive and self.decisive is None:
            self.decisive = verdict

    def decide(
        self,
        action: Action,
        do: str,
        code: str,
        verdict: str,
        message: str,
        *,
        pointer: str = "/status",
        until: int | None = None,
    ) -> None:
        """One reason and the one plan item of `action`."""
        said = f"{action.action_id}: {message}"
        self.say(code, verdict, said, evidence=action.record, pointer=pointer, until=until)
        self.plan.append(PlanItem(do, code, action_id=action.action_id, key=action.key))

    def need(self, kind: str, subject: str, message: str) -> None:
        """Name evidence that would change the answer."""
        self.missing.append(Missing(kind, subject, message))

    @property
    def gravest(self) -> str:
        """The gravest verdict among the reasons; ``resume`` where nothing stands against it."""
        return max(
            (reason.verdict for reason in self.reasons), key=lambda v: GRAVITY.get(v, 0), default="resume"
        )


def pause(case: Case) -> int:
    """When to look again for what nobody announces (nanoseconds): after the age at which facts are stale."""
    return case.now + max(1, case.policy.max_fact_age_seconds) * SECOND


def in_words(nanoseconds: int) -> str:
    """A duration as a human says it."""
    seconds = max(0, -(-nanoseconds // SECOND))
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
