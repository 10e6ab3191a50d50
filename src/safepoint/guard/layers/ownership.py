"""Layer 2: is the run anybody's? (SPEC.md#guard-ownership).

Time alone never proves a death; a lease only says when to stop waiting.
"""

from __future__ import annotations

from safepoint.core.timestamp import SECOND, format_time
from safepoint.guard.case import Case, Opinion, in_words
from safepoint.model.episodes import Episode
from safepoint.model.journal import Level, Ownership
from safepoint.model.record import Record


def judge(case: Case, opinion: Opinion) -> None:
    """The caller's epoch, the present lease, other recoveries, runs without a lease, and stores without a fence."""
    run, owner = case.run, case.run.ownership
    newest = owner.epoch if owner else 0
    if case.caller_epoch is not None and owner and case.caller_epoch < newest:
        opinion.say(
            "SP720",
            "no_op",
            f"the caller's epoch {case.caller_epoch} is fenced: epoch {newest} was claimed since",
            evidence=owner.lease,
            pointer="/leaseEpoch",
            decisive=True,
        )
    elif case.caller_epoch is not None and case.caller_epoch > newest and run.level is Level.FENCED:
        opinion.say(
            "SP724",
            "hand_over",
            f"the caller names epoch {case.caller_epoch}, but the journal ends at epoch {newest}: records may be lost",
            evidence=owner.lease if owner else None,
            decisive=True,
        )
        opinion.need("human", run.run_id, "find the missing records, or the caller's true epoch")
    ends = case.lease_ends
    if owner and ends is not None and case.now < ends and case.owner_death is None and not case.caller_owns:
        message = f"the lease of epoch {owner.epoch} is live for another {in_words(ends - case.now)}"
        if deaths := [death for times in case.facts.deaths(owner.epoch) for death in times]:
            message += f"; {_why_no_proof(case, owner, max(deaths))}"
        opinion.say(
            "SP721",
            "wait",
            message,
            evidence=owner.lease,
            pointer="/ttlSeconds",
            until=ends,
            decisive=True,
        )
        opinion.need(
            "owner", f"epoch {owner.epoch}", "proof that the owner is dead; this wait then ends at once"
        )
    _episodes(case, opinion)
    if owner is None:
        _unleased(case, opinion)
    if case.claims != "enforced" and _may_be_claimed(case):
        _unfenced(case, opinion)
    if run.origin is not None and _may_be_claimed(case):
        _copied(case, run.origin, opinion)


def _why_no_proof(case: Case, owner: Ownership, death: int) -> str:
    if death > case.now:
        return "the death in the facts lies in the future"
    alive = max(case.last_written.get(owner.epoch, 0), *owner.beats, 0)
    return f"the facts say dead at {format_time(death)}, but its last sign of life is of {format_time(alive)}"


def _episodes(case: Case, opinion: Opinion) -> None:
    """Another recovery that may be about to claim goes first, the one that began first before all.

    What was only recorded and released waits for nobody: whoever judges next goes on with it.
    """

    def until(episode: Episode) -> int:
        ttl = case.policy.lease_seconds * SECOND if episode.ttl is None else episode.ttl
        return (episode.record.created or 0) + ttl + 2 * case.policy.skew

    live = [e for e in case.run.episodes.values() if e.deciding and case.now < until(e)]
    if live:
        first = min(live, key=lambda episode: episode.number)
        opinion.say(
            "SP722",
            "wait",
            f"another recovery of this run is under way ({first.state})",
            evidence=first.record,
            pointer="/state",
            until=until(first),
            decisive=True,
        )


def _unleased(case: Case, opinion: Opinion) -> None:
    if case.owner_death is None:
        opinion.say(
            "SP723",
            "reconcile",
            "no lease says who owns this run, and no fact proves that its worker is dead",
        )
        opinion.need("owner", case.run.run_id, "proof that the worker is dead")
    if case.run.level is Level.RECORDS and case.facts.ledger_complete:
        opinion.unchecked.append(
            "ledger: that no effect lacks its record rests on facts.ledgerComplete alone"
        )
    elif case.run.level is Level.RECORDS:
        opinion.say(
            "SP705",
            "reconcile",
            "these records are not numbered: an effect without a record may have happened all the same",
        )
        opinion.need("fact", "ledgerComplete", "somebody who knows must say that the ledger is complete")


def _may_be_claimed(case: Case) -> bool:
    """Whether anybody may still want to write to the run: to go on, to undo, or to settle what is open."""
    ended = case.run.status in {"completed", "cancelled"} and not case.open_effects
    return case.goal != "inspect" and case.run.status != "sealed" and not ended


def _copied(case: Case, origin: Record, opinion: Opinion) -> None:
    """A copy takes no authority from its original: that is given to it by a seal, or left by somebody proven dead.

    A lapsed lease is no proof here, since the original may have been claimed again where this store cannot see it.
    A death is one, but the same facts would let the original go on as well: the decision says that it rests on them.
    """
    run, owner = case.run, case.run.ownership
    copied = origin.value["heads"].get("journal")
    if copied is None or run.seal is not None:
        return  # without numbers nobody can claim the copy
    if owner is not None and (owner.lease.sequence or 0) > copied["sequence"]:
        return  # it was claimed here, so that this was settled
    source = origin.value["source"]
    if case.owner_death is not None:
        opinion.unchecked.append(
            f"original: that nobody goes on with it in {source} rests on the facts alone, until it is sealed "
            "(safepoint migrate SOURCE --output COPY --seal --by WHO)"
        )
        return
    opinion.say(
        "SP726",
        "reconcile",
        f"this is a copy from {source}, and nothing says that the original was sealed: it may be "
        "claimed there, and go on twice",
        evidence=origin,
        pointer="/source",
        decisive=True,
    )
    opinion.need(
        "human",
        "the original",
        "seal it, once its worker is gone, by the migration that made this copy (--seal)",
    )
    dead = "" if any(need.kind == "owner" for need in opinion.missing) else "it is dead, and that "
    opinion.need(
        "owner",
        case.owner_named(owner.epoch if owner else 0),
        f"where the original cannot be sealed, proof that {dead}nobody took the original over",
    )


def _unfenced(case: Case, opinion: Opinion) -> None:
    """Where two could both claim the run, the right to go on cannot be given to one of them."""
    if case.claims == "assumed":
        opinion.unchecked.append("store: that nobody else claims the run rests on assume_one_writer alone")
        return
    opinion.say(
        "SP725",
        "hand_over",
        "nothing keeps two claims apart in a store that is opened like this: two workers could both go on",
        decisive=True,
    )
    opinion.need(
        "human",
        case.run.run_id,
        "open the store by the URL that its records were written to: a path, s3://, gs:// or az://, and no cache, "
        "archive or web server before it",
    )
