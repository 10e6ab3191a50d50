"""Layer 0: is the record itself whole? What cannot be read may hide an effect (SPEC.md#guard-integrity)."""

from __future__ import annotations

from safepoint.guard.case import Case, Opinion
from safepoint.guard.decision import Reason
from safepoint.model.journal import Level, Unread

TOLERATED = frozenset({"SP312", "SP405", "SP406", "SP407"})
"""Faults that the fold has already read the careful way; every other one, also a future one, stops the run."""


def judge(case: Case, opinion: Opinion) -> None:
    """Every fault and unreadable text that may hide an effect."""
    run = case.run
    for fault in run.faults:
        if fault.code not in TOLERATED:
            place = fault.place
            opinion.reasons.append(
                Reason(
                    fault.code,
                    opinion.layer,
                    "hand_over",
                    fault.message,
                    place.key if place else None,
                    fault.pointer or None,
                )
            )
    lost_checkpoint = False
    for unread in run.unread:
        if unread.newer_version:
            _unread(
                opinion,
                unread,
                "written by a newer version of the format, or with a requirement we do not know",
            )
        elif unread.hides_effects:
            _unread(opinion, unread, "cannot be read, and may hide an attempted effect")
        else:
            lost_checkpoint = True
            if not run.checkpoints:
                _unread(opinion, unread, "the only checkpoint cannot be read")
    if opinion.reasons:
        opinion.decisive = "hand_over"
        opinion.need("human", run.run_id, "repair or restore the damaged record, then ask again")
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
    if lost_checkpoint and run.checkpoints:
        _older_checkpoint(case, opinion)
    if case.checkpoint is None and not lost_checkpoint and not run.unread:
        _no_checkpoint(case, opinion)
    if run.level is not Level.RECORDS and not run.claimable:
        _not_claimable(case, opinion)


def _unread(opinion: Opinion, unread: Unread, why: str) -> None:
    fault = unread.faults[0]
    key = fault.place.key if fault.place else unread.name
    line = f", line {fault.place.line}" if fault.place and key.endswith(".jsonl") else ""
    opinion.reasons.append(
        Reason(
            fault.code,
            opinion.layer,
            "hand_over",
            f"{unread.name}{line}: {why} ({fault.message})",
            key,
            fault.pointer or None,
        )
    )


def _older_checkpoint(case: Case, opinion: Opinion) -> None:
    """The newest checkpoint is lost, and its file holds nothing else: the one before is a proposal, with its price."""
    older = case.checkpoint
    opinion.say(
        "SP703",
        "resume",
        "a newer checkpoint cannot be read; going on from the one before loses the state saved since, "
        "and the ledger decides what must not be done again",
        evidence=older,
    )


def _no_checkpoint(case: Case, opinion: Opinion) -> None:
    if case.request.get("checkpointId") is not None:
        opinion.say(
            "SP706",
            "hand_over",
            "the run has no checkpoint of the id that the request names",
            decisive=True,
        )
        opinion.need("human", case.run.run_id, "name a checkpoint that exists: safepoint show lists them")
    else:
        opinion.say(
            "SP702",
            "resume",
            "no checkpoint was written: the run starts from its beginning, and the ledger still counts",
        )


def _not_claimable(case: Case, opinion: Opinion) -> None:
    """A JSON Lines journal cut at a line end looks whole, and nobody can win or lose a place in it."""
    anchored = (case.facts.part("heads").get("journal") or {}) == {
        "sequence": case.run.head.sequence,
        "digest": case.run.head.digest,
    }
    if not anchored or case.owner_death is None:
        opinion.say(
            "SP707",
            "reconcile",
            "this journal is JSON Lines: a cut tail would not show, so its head and the owner's death need proof",
        )
        if not anchored:
            opinion.need(
                "fact", "heads.journal", "the journal's head as it is known elsewhere (sequence and digest)"
            )
        if case.owner_death is None:
            opinion.need("owner", case.run.run_id, "proof that the owner is dead")
