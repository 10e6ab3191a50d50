"""A human's yes or no to what a run waits for, named by its question, its action or its checkpoint.

Decided here: which question an answer belongs to, and where one is asked anew because the old one can give no leave
any more. Not decided here: what a question binds to and who may answer it (``approvals``), and whether the run may then
go on (``guard``): it is asked before anything is written, so that no yes is recorded that would count for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from safepoint.core.timestamp import SECOND, format_time
from safepoint.core.version import CURRENT
from safepoint.model.action import Action
from safepoint.model.approvals import Approval
from safepoint.model.record import Record
from safepoint.model.run import Run
from safepoint.recorder.answering import Answers, Look, look, require_filled_in, require_sound
from safepoint.recorder.approvals import DONE, about, append_answer, append_request, subject_of
from safepoint.recorder.errors import IllegalRecord, NotApproved, RunEnded
from safepoint.recorder.log import Clock, StoreAt, new_nonce

HOLDS_FOR = 24 * 3600
"""Seconds for which a question that is asked anew, and its answer, stand where nobody says otherwise."""

_LONGEST = 200
"""Characters of an action's or a checkpoint's id that go into the id of a new question."""


@dataclass(frozen=True, slots=True)
class _Yes:
    """What is to be written: an answer to the question of that id, which may have to be asked first."""

    approval_id: str
    anew: bool
    subject: tuple[str | None, str | None]
    content_digest: str | None
    actor: str | None
    """Who is asked; None: nobody in particular."""
    expires: int | None = None
    """Until when the question stands, in nanoseconds; None: for ever, or it is still to be asked."""


def approve(
    store: StoreAt,
    run_id: str,
    *,
    by: str,
    approval_id: str | None = None,
    action_id: str | None = None,
    checkpoint_id: str | None = None,
    reason: str | None = None,
    expires_seconds: int | None = None,
    content_digest: str | None = None,
    roll_back_to: str | None = None,
    dry_run: bool = False,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> tuple[Record, ...]:
    """Say yes to a question, or to what is asked about an action or a checkpoint.

    Where the last question about it was refused, taken back or used up, has expired, or is for another content, branch
    or grantor, `action_id` and `checkpoint_id` ask anew, of whom was asked before, and answer at once. So they do at a
    human gate that nobody was asked about.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        by: the human who answers.
        approval_id: the question; give this, or `action_id`, or `checkpoint_id`.
        action_id: the action that waits for it.
        checkpoint_id: the checkpoint that does.
        reason: why, for other humans.
        expires_seconds: for how long the yes holds, but never longer than the question that it answers; None: as
            the question says, and a new one for `HOLDS_FOR`.
        content_digest: digest of what the human saw; another one than the yes would be bound to is refused.
        roll_back_to: the yes is for a roll-back to this checkpoint, whose branch has not begun yet; the next claim of
            anybody makes it worthless.
        dry_run: check everything, and write nothing.
        clock: nanoseconds since the Unix epoch.
        nonce: makes this writer's nonce.

    Returns:
        The records that were written; of a dry run those that would be.

    Raises:
        NotApproved: nobody waits for this yes, somebody else was asked, or it would count for nothing.
        IllegalRecord: what it is about is done or given up.
        RunEnded: the run is over.
        ResolutionRefused: the journal is damaged.
        ValueError: none or several of the three were named, or a text is still to be filled in.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    _require_one(approval_id, action_id, checkpoint_id)
    require_filled_in(by=by, reason=reason, content_digest=content_digest, roll_back_to=roll_back_to)
    seen = look(store, run_id, request=_roll_back(roll_back_to), clock=clock)
    if seen.run.status not in {"started", "failed"}:
        raise RunEnded(f"run {run_id} is {seen.run.status}: nothing in it waits for an approval")
    require_sound(seen.decision, owned=False)
    if roll_back_to is not None and seen.run.checkpoint(roll_back_to) is None:
        raise NotApproved(f"run {run_id} has no checkpoint {roll_back_to} to roll back to")
    yes = (
        _to_question(seen, approval_id, content_digest)
        if approval_id is not None
        else _to_subject(seen, (action_id, checkpoint_id), content_digest)
    )

    def write(journal: Answers) -> None:
        seconds = expires_seconds if not yes.anew or expires_seconds is not None else HOLDS_FOR
        if yes.anew:
            action, checkpoint = yes.subject
            append_request(
                journal,
                yes.approval_id,
                content_digest=str(yes.content_digest),
                action_id=action,
                checkpoint_id=checkpoint,
                expires_seconds=seconds,
                actor=yes.actor,
                reason=f"asked anew by {by}",
                branch=seen.case.forks_to,
            )
            seconds = None
        expires = None if seconds is None else journal.clock() + seconds * SECOND
        if expires is not None and yes.expires is not None:
            expires = min(
                expires, yes.expires
            )  # whoever asked has set a limit, and an answer does not lift it
        append_answer(
            journal,
            yes.approval_id,
            "granted",
            by,
            reason=reason,
            content_digest=yes.content_digest,
            expires_at=None if expires is None else format_time(expires),
        )

    # A yes that the guard would not take is not worth recording: somebody would rely on it.
    rehearsal = Answers(seen, nonce=nonce, clock=clock, rehearsed=True)
    write(rehearsal)
    _require_counts(seen, yes, tuple(rehearsal.written))
    if dry_run:
        return tuple(rehearsal.written)
    journal = Answers(seen, nonce=nonce, clock=clock, rehearsed=False)
    with journal.telling():
        write(journal)
    return tuple(journal.written)


def reject(
    store: StoreAt,
    run_id: str,
    *,
    by: str,
    approval_id: str | None = None,
    action_id: str | None = None,
    checkpoint_id: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    clock: Clock = time.time_ns,
    nonce: Callable[[], str] = new_nonce,
) -> tuple[Record, ...]:
    """Say no: a question that waits is ``rejected``, a yes that is not spent yet is taken back (``revoked``).

    Anybody may, whoever was asked, and also behind the end of a run. For the arguments see `approve`.

    Raises:
        NotApproved: there is no question, or nothing of it is left to refuse.
        RecorderError: nothing can be added to the run.
        ValueError: none or several of the three were named, or a text is still to be filled in.
        AbsentError: the store holds no such run.
        StoreError: the store cannot be read or written.
    """
    _require_one(approval_id, action_id, checkpoint_id)
    require_filled_in(by=by, reason=reason)
    seen = look(store, run_id, clock=clock)
    if approval_id is not None:
        question = _known(seen.run, approval_id)
    else:
        asked = about(seen.run.approvals, action_id, checkpoint_id)
        if not asked:
            what = _named(seen.run, (action_id, checkpoint_id))
            raise NotApproved(f"nobody was asked about {what}: there is nothing to refuse")
        question = next((a for a in reversed(asked) if a.event in _REFUSABLE), asked[-1])
    if question.event not in _REFUSABLE:
        raise NotApproved(
            f"approval {question.approval_id} is {_state(question)}: there is nothing left to refuse"
        )
    journal = Answers(seen, nonce=nonce, clock=clock, rehearsed=dry_run)
    append_answer(journal, question.approval_id, _REFUSABLE[question.event], by, reason=reason)
    return tuple(journal.written)


_REFUSABLE: Mapping[str, str] = {"requested": "rejected", "granted": "revoked"}
"""What a no makes of a question."""


def _roll_back(checkpoint_id: str | None) -> dict[str, Any] | None:
    """The request that a yes is for; None: to go on where the run stands."""
    if checkpoint_id is None:
        return None
    head = {"recordType": "request", "schemaVersion": str(CURRENT)}
    return {**head, "goal": "roll_back", "checkpointId": checkpoint_id}


def _require_one(*named: str | None) -> None:
    if sum(name is not None for name in named) != 1:
        raise ValueError("name one of: an approval, an action, a checkpoint")


def _to_question(seen: Look, approval_id: str, saw: str | None) -> _Yes:
    question = _known(seen.run, approval_id)
    subject = subject_of(question)
    action = _undone(seen.run, subject)
    why = "" if question.event == "requested" else f"is {_state(question)}"
    why = why or _void(seen, question, action)
    if why:
        raise NotApproved(f"approval {approval_id} {why}; ask anew by naming {_named(seen.run, subject)}")
    return _answering(question, action, saw)


def _to_subject(seen: Look, subject: tuple[str | None, str | None], saw: str | None) -> _Yes:
    run, what = seen.run, _named(seen.run, subject)
    action = _undone(run, subject)
    asked = about(run.approvals, *subject)
    last = asked[-1] if asked else None
    void = _void(seen, last, action) if last else ""
    if last and last.event == "requested" and not void:
        return _answering(last, action, saw)
    if last and not void and last.event in {"granted", "consumed"} and not _used_up(last):
        raise NotApproved(
            f"approval {last.approval_id} of {what} is {_state(last)}: there is nothing to approve"
        )
    if last is None and not _waits(seen, subject):
        raise NotApproved(f"nobody was asked about {what}, and the guard waits for no approval of it")
    bound = _content(run, subject, action, last, saw)
    return _Yes(
        _new_id(run, subject, len(asked)),
        anew=True,
        subject=subject,
        content_digest=_same(bound, saw),
        actor=last.asked.value.get("actor") if last else None,
    )


def _answering(question: Approval, action: Action | None, saw: str | None) -> _Yes:
    bound = question.content_digest or (action.fingerprint if action else None) or saw
    return _Yes(
        question.approval_id,
        anew=False,
        subject=subject_of(question),
        content_digest=_same(bound, saw),
        actor=question.asked.value.get("actor"),
        expires=question.expires,
    )


def _content(
    run: Run,
    subject: tuple[str | None, str | None],
    action: Action | None,
    last: Approval | None,
    saw: str | None,
) -> str:
    """What a new question is bound to: what the ledger says will be sent, else what the last one was bound to."""
    checkpoint = run.checkpoint(subject[1]) if subject[1] is not None else None
    if action is not None:
        bound = action.fingerprint
    else:
        bound = saw or (last.content_digest if last else None) or (checkpoint.digest if checkpoint else None)
    if bound is None:
        raise NotApproved(
            f"nothing says what {_named(run, subject)} would execute, so that a yes cannot be bound to it; resolve it "
            "as cancelled, or cancel the run"
        )
    return bound


def _same(bound: str | None, saw: str | None) -> str | None:
    if saw is not None and bound is not None and saw != bound:
        raise NotApproved(f"what would be executed is {bound}, and not {saw}, which you say you saw")
    return bound


def _known(run: Run, approval_id: str) -> Approval:
    if approval_id not in run.approvals:
        there = ", ".join(run.approvals) or "none"
        raise NotApproved(f"run {run.run_id} asks for no approval {approval_id}; its approvals are: {there}")
    return run.approvals[approval_id]


def _undone(run: Run, subject: tuple[str | None, str | None]) -> Action | None:
    """The action, if it is one; never one that is done."""
    action_id, checkpoint_id = subject
    action = run.actions.get(action_id or "")
    if action is not None and action.status in DONE:
        raise IllegalRecord(f"action {action_id} is {action.status}: there is nothing left to approve")
    if checkpoint_id is not None and run.checkpoint(checkpoint_id) is None:
        there = ", ".join(str(c.value["checkpointId"]) for c in run.checkpoints) or "none"
        raise NotApproved(f"run {run.run_id} has no checkpoint {checkpoint_id}; its checkpoints are: {there}")
    return action


def _void(seen: Look, question: Approval, action: Action | None) -> str:
    """Why a yes to `question` gives no leave now, or would give none; empty where it does."""
    run, asked = seen.run, question.asked.value.get("actor")
    yes = question.event == "granted"
    lapsed = question.expires is not None and seen.now + seen.settings.skew >= question.expires
    if question.event != "consumed" and lapsed:
        return "has expired"
    if action and question.content_digest is not None and question.content_digest != action.fingerprint:
        return "is for another content than the ledger records"
    if question.event != "consumed" and question.branch != (seen.case.forks_to or run.branch):
        return "is for another branch of the run"
    if (
        yes
        and question.branch is None
        and run.fork is not None
        and (question.record.sequence or 0) < (run.fork.sequence or 0)
    ):
        return "was given before the run forked"
    if question.event in {"granted", "consumed"} and asked not in {None, question.granted_by}:
        return f"asks {asked}, and {question.granted_by or 'somebody else'} granted it"
    return ""


def _used_up(question: Approval) -> bool:
    """Whether a yes to a checkpoint was spent: what an action has spent on itself still counts for it."""
    return question.event == "consumed" and subject_of(question)[0] is None


def _state(question: Approval) -> str:
    who = question.record.value.get("actor")
    return f"{question.event} by {who}" if who and question.event != "requested" else question.event


def _waits(seen: Look, subject: tuple[str | None, str | None]) -> bool:
    """Whether the guard asks for an approval of a checkpoint that nobody was asked about."""
    needs = seen.decision.missing_evidence
    return subject[1] is not None and any(n.kind == "approval" and n.subject == subject[1] for n in needs)


def _named(run: Run, subject: tuple[str | None, str | None]) -> str:
    action_id, checkpoint_id = subject
    if action_id is None:
        return f"checkpoint {checkpoint_id}"
    return f"action {action_id}" if action_id in run.actions else f"action {action_id} (not begun yet)"


def _new_id(run: Run, subject: tuple[str | None, str | None], asked: int) -> str:
    stem = str(subject[0] if subject[0] is not None else subject[1])[:_LONGEST]
    number = asked + 1
    while (name := f"{stem}-approval-{number}") in run.approvals:
        number += 1
    return name


def _require_counts(seen: Look, yes: _Yes, records: tuple[Record, ...]) -> None:
    """Raise where the guard, asked with the yes in the journal, would still ask for one."""
    decision = seen.judge(records)
    names = {yes.approval_id, yes.subject[1]}
    if not any(need.kind == "approval" and need.subject in names for need in decision.missing_evidence):
        return
    said = [f"{r.code} {r.message}" for r in decision.reasons if r.code in _OF_APPROVALS]
    raise NotApproved(f"this yes would not count: {'; '.join(said)}")


_OF_APPROVALS = frozenset({"SP780", "SP781", "SP782", "SP783", "SP784", "SP785", "SP794", "SP795"})
"""The guard's reasons that ask for an approval."""
