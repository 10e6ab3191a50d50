"""Layer 0: is the record itself whole? What cannot be read may hide an effect (SPEC.md#guard-integrity)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from safepoint.core.fault import Fault
from safepoint.guard.case import Anchored, Case, Opinion
from safepoint.guard.decision import Reason
from safepoint.model.checkpoints import claims_without_effect, orphans
from safepoint.model.journal import Level, Unread
from safepoint.model.record import Record

TOLERATED = frozenset({"SP312", "SP405", "SP406", "SP407"})
"""Faults that the fold has already read the careful way; every other one, also a future one, stops the run."""

_SOUND_ITSELF = {
    "SP011": "what was set aside may hide an attempted effect",
    "SP314": "not what a run is judged by",
}
"""Texts that can be read, and by which no run goes on."""

_COPIES: Mapping[str, str] = {
    "origin": "cannot be read, so that nobody knows whether this copy is whole, or may go on",
    "seal": "cannot be read, so that nobody knows whether the original of this copy was sealed",
}
"""Documents of a copy that cannot be read."""

_REMEDY: Mapping[str, str] = {
    "SP330": "finish the migration that makes this copy, or restore what is missing; then ask again",
    "SP331": "restore origin.json and seal.json as the migration wrote them, or copy the run to a new place",
    "SP011": "settle what was set aside, or restore it from another copy of the store; then ask again",
    "SP502": "find out from whoever received it what was done: the ledger lacks it",
    "SP329": "restore the safepoint.json that was anchored; or anchor the store as it is, and say with --accept why",
}
"""What a human does about a run against which one code alone speaks; else something is mended."""

_MEND = "repair or restore the damaged record, then ask again"


def judge(case: Case, opinion: Opinion) -> None:
    """Every fault and unreadable text that may hide an effect."""
    run = case.run
    for fault in run.faults:
        if fault.code not in TOLERATED:
            _fault(opinion, fault)
    if run.level is Level.RECORDS:
        _weak_checkpoints(case, opinion)
    lost = [unread for unread in run.unread if not _hides_nothing(unread)]
    lost_checkpoint = any(unread.only_checkpoints and not unread.newer_version for unread in lost)
    for unread in lost:
        if unread.newer_version:
            _unread(
                opinion,
                unread,
                "written by a newer version of the format, or with a requirement we do not know",
            )
        elif unread.log in _COPIES:
            _unread(opinion, unread, _COPIES[unread.log])
        elif unread.faults[0].code in _SOUND_ITSELF:
            _unread(opinion, unread, _SOUND_ITSELF[unread.faults[0].code])
        elif not unread.only_checkpoints:
            _unread(opinion, unread, "cannot be read, and may hide an attempted effect")
        elif not run.checkpoints:
            _unread(opinion, unread, "the only checkpoint cannot be read")
    _heads(case, opinion)
    if case.anchored is not None:
        _anchored(case, case.anchored, opinion)
    if opinion.reasons:
        opinion.decisive = "hand_over"
        first, *others = {reason.code for reason in opinion.reasons}
        opinion.need("human", run.run_id, _MEND if others else _REMEDY.get(first, _MEND))
    for record in run.records:
        required = (record.value.get("requires") or {}).get("resume") or ()
        if required:
            opinion.say(
                "SP218",
                "hand_over",
                f"resuming requires {', '.join(map(repr, required))}, which this version does not know",
                evidence=record,
                pointer="/requires/resume",
                decisive=True,
            )
            opinion.need("human", run.run_id, "resume it with a version that knows what is required")
    _start(case, opinion, lost_checkpoint=lost_checkpoint)
    if run.level is not Level.RECORDS and not run.claimable:
        _not_claimable(case, opinion)


def _fault(opinion: Opinion, fault: Fault) -> None:
    key = fault.place.key if fault.place else None
    opinion.reasons.append(
        Reason(fault.code, opinion.layer, "hand_over", fault.message, key, fault.pointer or None)
    )


def _hides_nothing(unread: Unread) -> bool:
    """A heartbeat is a hint that only delays, and the one object that is rewritten: it may be torn, or missing."""
    return unread.log == "heartbeat" and not unread.newer_version


def _weak_checkpoints(case: Case, opinion: Opinion) -> None:
    """What a journal's chain shows by itself has to be asked of records that have none."""
    run = case.run
    everything = {str(c.value["checkpointId"]): c for c in (*run.checkpoints, *run.retracted)}
    if not run.unread:
        for fault in orphans(everything):
            _fault(opinion, fault)
    for record in run.checkpoints:
        if claims_without_effect(record, run.actions):
            message = "the checkpoint says that something was done, and the ledger holds nothing that can have been it"
            opinion.say("SP502", "hand_over", message, evidence=record, pointer="/sideEffectStatus")


def _heads(case: Case, opinion: Opinion) -> None:
    """Heads known from elsewhere show a tail that was cut, and a store that was rolled back or replaced."""
    run = case.run
    for log, records in (("journal", run.records), ("recovery", run.recovery)):
        for known in _known(case, log):
            ours = next((record for record in records if record.sequence == known["sequence"]), None)
            if ours is None:
                what = f"record {known['sequence']} of the {log}"
                opinion.say(
                    "SP708", "hand_over", f"{what} is known elsewhere and is not here: its tail was cut"
                )
            elif ours.digest != known.get("digest"):
                message = f"record {known['sequence']} of the {log} is not the one that is known elsewhere"
                opinion.say("SP709", "hand_over", message, evidence=ours)


def _anchored(case: Case, anchored: Anchored, opinion: Opinion) -> None:
    """What else anchors have seen of the run and of its store: all of it must still be so."""
    run = case.run
    everything = (*run.records, *run.recovery)
    lost = set(anchored.heads.get("records") or ()).difference(record.digest for record in everything)
    if lost:
        message = (
            f"{len(lost)} records without sequence are known to an anchor and are not here, or are others now"
        )
        opinion.say("SP708", "hand_over", message)
    vanished = anchored.vanished(
        max((record.sequence or 0 for record in run.records), default=0),
        max((record.sequence or 0 for record in run.recovery), default=0),
        {record.digest for record in everything if record.sequence is None},
        sum(unread.of_a_log for unread in run.unread),
    )
    if vanished:
        what = "a text" if vanished == 1 else f"{vanished} texts"
        message = (
            f"an anchor has seen {what} that could not be read and may have hidden an attempt; that is gone"
        )
        opinion.say("SP708", "hand_over", message)
    if anchored.heads.get("deleted"):
        opinion.say("SP709", "hand_over", "an anchor knows the run as deleted, and it is here again")
    for fault in anchored.faults:
        _fault(opinion, fault)
    if not anchored.heads:
        opinion.unchecked.append("anchor: it knows nothing of this run")


def _known(case: Case, log: str) -> list[Mapping[str, Any]]:
    """The heads of a log that somebody else knows: a fact, and an anchor. All of them must hold, each told once."""
    sources = (case.facts.part("heads"), case.anchored.heads if case.anchored else {})
    heads = [head for source in sources if (head := source.get(log)) and head.get("sequence")]
    return [head for index, head in enumerate(heads) if head not in heads[:index]]


def _start(case: Case, opinion: Opinion, *, lost_checkpoint: bool) -> None:
    """Is it certain from where the run would go on?"""
    run, named = case.run, case.request.get("checkpointId") is not None
    if case.goal == "roll_back" and not named:
        message = "the request asks to roll back, and does not say to which checkpoint"
        opinion.say("SP718", "hand_over", message, decisive=True)
        opinion.need("human", run.run_id, "name the checkpoint to roll back to: safepoint show lists them")
    elif len(run.newest_checkpoints) > 1 and not named:
        message = f"{len(run.newest_checkpoints)} checkpoints may be the newest, and no order tells which"
        opinion.say("SP704", "hand_over", message, evidence=case.checkpoint, decisive=True)
        opinion.need("human", run.run_id, "name the checkpoint to go on from in the request")
    elif case.checkpoint is not None:
        if lost_checkpoint or (not named and _newer_was_retracted(case)):
            opinion.say("SP703", "resume", _loss(case, case.checkpoint), evidence=case.checkpoint)
    elif named:
        opinion.say(
            "SP706", "hand_over", "the run has no checkpoint of the id that the request names", decisive=True
        )
        opinion.need("human", run.run_id, "name a checkpoint that exists: safepoint show lists them")
    elif run.checkpoints or run.retracted:
        message = "no checkpoint is left on the branch that the newest lease works on"
        opinion.say(
            "SP701", "hand_over", message, evidence=(*run.checkpoints, *run.retracted)[-1], decisive=True
        )
        opinion.need("human", run.run_id, "name the checkpoint to go on from in the request")
    elif not run.unread and (run.records or run.origin is None):
        opinion.say(
            "SP702",
            "resume",
            "no checkpoint was written: the run starts from its beginning, and the ledger still counts",
        )


def _newer_was_retracted(case: Case) -> bool:
    return bool(_retracted_since(case, case.checkpoint))


def _retracted_since(case: Case, checkpoint: Record | None) -> list[Record]:
    here = checkpoint.sequence or 0 if checkpoint else 0
    return [record for record in case.run.retracted if (record.sequence or 0) > here or here == 0]


def _loss(case: Case, checkpoint: Record) -> str:
    """What is lost by going on from an older `checkpoint`, by name."""
    unread = [u for u in case.run.unread if u.only_checkpoints and not u.newer_version]
    lost = [f"{_where(u)} cannot be read" for u in unread]
    lost += [f"{r.value['checkpointId']!r} was retracted" for r in _retracted_since(case, checkpoint)]
    here = checkpoint.sequence
    later = [r for r in case.run.records if here is not None and (r.sequence or 0) > here]
    kept = f"; the {len(later)} journal records since then still count" if later else ""
    return (
        f"newer checkpoints are lost ({_listed(lost)}); going on from {checkpoint.value['checkpointId']!r} loses "
        f"the state saved since, and the ledger decides what must not be done again{kept}"
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


_NAMED = 3
"""How much of what is lost a message names."""


def _unread(opinion: Opinion, unread: Unread, why: str) -> None:
    fault = unread.faults[0]
    key = fault.place.key if fault.place else unread.name
    message = f"{_where(unread)}: {why} ({fault.message})"
    opinion.reasons.append(
        Reason(fault.code, opinion.layer, "hand_over", message, key, fault.pointer or None)
    )


def _where(unread: Unread) -> str:
    """The text's name, and the line in a file of many."""
    place = unread.faults[0].place
    return f"{unread.name}, line {place.line}" if place and place.key.endswith(".jsonl") else unread.name


def _not_claimable(case: Case, opinion: Opinion) -> None:
    """A JSON Lines journal cut at a line end looks whole, and nobody can win or lose a place in it."""
    head = {"sequence": case.run.head.sequence, "digest": case.run.head.digest}
    # an anchor is as old as it is, and says nothing of what came after it: only a fact is of now
    known = case.facts.part("heads").get("journal") or {}
    is_whole = {name: known.get(name) for name in head} == head
    if not is_whole or case.owner_death is None:
        opinion.say(
            "SP707",
            "reconcile",
            "this journal does not lie as numbered objects in a store: a cut tail would not show, so its head and "
            "its owner's death need proof",
        )
        if not is_whole:
            message = "the journal's head as it is known elsewhere (sequence and digest)"
            if case.anchored is not None:
                message += ", and as of now: an anchor does not know what came after it"
            opinion.need("fact", "heads.journal", message)
        if case.owner_death is None:
            owner = case.run.ownership
            opinion.need(
                "owner", case.owner_named(owner.epoch if owner else 0), "proof that the owner is dead"
            )
