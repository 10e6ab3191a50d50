"""Approvals: asking a human, the human's answer, and spending it (SPEC.md#approvals).

These records need no owner, so that a human can answer from anywhere while the worker waits or is dead.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from safepoint.core.timestamp import SECOND, format_time
from safepoint.model.approvals import Approval
from safepoint.model.record import Record
from safepoint.recorder.answering import require_filled_in
from safepoint.recorder.errors import IllegalRecord, NotApproved, RecorderError
from safepoint.recorder.journal import Journal
from safepoint.recorder.log import Clock, StoreAt, new_nonce, open_at

DONE = frozenset({"committed", "compensating", "compensated", "cancelled", "abandoned"})
"""Statuses of an action that nobody can begin any more."""


def request_approval(
    store: StoreAt,
    run_id: str,
    approval_id: str,
    *,
    content_digest: str,
    action_id: str | None = None,
    checkpoint_id: str | None = None,
    expires_seconds: int | None = None,
    actor: str | None = None,
    reason: str | None = None,
    clock: Clock = time.time_ns,
) -> None:
    """Ask a human to approve what `content_digest` names, for an action or for a checkpoint.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        approval_id: the question's id, unique in the run.
        content_digest: digest of what will be executed; for an effect the digest of its request.
        action_id: the action that waits for it.
        checkpoint_id: or the checkpoint that does.
        expires_seconds: for how long the question and its answer stand; None: for ever.
        actor: who is asked.
        reason: what to tell them.
        clock: nanoseconds since the Unix epoch.
    """
    journal = open_unowned(store, run_id, clock)
    append_request(
        journal,
        approval_id,
        content_digest=content_digest,
        action_id=action_id,
        checkpoint_id=checkpoint_id,
        expires_seconds=expires_seconds,
        actor=actor,
        reason=reason,
    )


def append_request(
    journal: Journal,
    approval_id: str,
    *,
    content_digest: str,
    action_id: str | None,
    checkpoint_id: str | None,
    expires_seconds: int | None,
    actor: str | None,
    reason: str | None,
    branch: str | None = None,
) -> None:
    """`request_approval` in a journal that is open; `branch`: of a fork that has not begun yet.

    Raises:
        IllegalRecord: the action was done, or given up for good, so that there is nothing left to approve.
    """
    action = journal.actions.get(action_id) if action_id is not None else None
    if action is not None and action.status in DONE:
        raise IllegalRecord(f"action {action_id!r} is {action.status}: there is nothing left to approve")
    expires = None if expires_seconds is None else format_time(journal.clock() + expires_seconds * SECOND)
    optional = {
        "actionId": action_id,
        "checkpointId": checkpoint_id,
        "expiresAt": expires,
        "actor": actor,
        "reason": reason,
        "branch": branch or journal.branch,
    }
    journal.append_unowned(
        {
            "recordType": "approval",
            "approvalId": approval_id,
            "event": "requested",
            "contentDigest": content_digest,
            **{name: value for name, value in optional.items() if value is not None},
        }
    )


def grant_approval(
    store: StoreAt,
    run_id: str,
    approval_id: str,
    *,
    actor: str,
    content_digest: str | None = None,
    reason: str | None = None,
    clock: Clock = time.time_ns,
) -> None:
    """Say yes, as `actor`.

    Args:
        store: where the run is: an open store, or its path or URL.
        run_id: the run.
        approval_id: the question.
        actor: the human who answers.
        content_digest: digest of what the human saw; another one than was asked about is refused.
        reason: why, for other humans.
        clock: nanoseconds since the Unix epoch.

    Raises:
        NotApproved: nobody asked, somebody else was asked, or the question has expired.
        IllegalRecord: it was answered already, or is about another content.
    """
    require_filled_in(actor=actor, reason=reason)
    journal = open_unowned(store, run_id, clock)
    append_answer(journal, approval_id, "granted", actor, reason=reason, content_digest=content_digest)


def reject_approval(
    store: StoreAt,
    run_id: str,
    approval_id: str,
    *,
    actor: str,
    reason: str | None = None,
    clock: Clock = time.time_ns,
) -> None:
    """Say no, as `actor`: anybody may, also where somebody else was asked."""
    require_filled_in(actor=actor, reason=reason)
    append_answer(open_unowned(store, run_id, clock), approval_id, "rejected", actor, reason=reason)


def revoke_approval(
    store: StoreAt,
    run_id: str,
    approval_id: str,
    *,
    actor: str,
    reason: str | None = None,
    clock: Clock = time.time_ns,
) -> None:
    """Take a yes back, as `actor`; refused once the yes is spent."""
    require_filled_in(actor=actor, reason=reason)
    append_answer(open_unowned(store, run_id, clock), approval_id, "revoked", actor, reason=reason)


def request_cancel(
    store: StoreAt, run_id: str, *, by: str, reason: str | None = None, clock: Clock = time.time_ns
) -> None:
    """Ask for the run to stop: its worker attempts nothing new, settles what is open and ends the run.

    Raises:
        RunEnded: it has ended already.
    """
    require_filled_in(by=by, reason=reason)
    open_unowned(store, run_id, clock).append_unowned(wish_to_stop(by, reason))


def wish_to_stop(by: str, reason: str | None) -> dict[str, str]:
    """The members of the record that asks a run to stop."""
    members = {"recordType": "run", "status": "cancelRequested", "by": by}
    return members if reason is None else {**members, "reason": reason}


def consume(journal: Journal, approval_id: str, *, action_id: str, content_digest: str) -> None:
    """Spend the approval on one action, or find it already spent on the same.

    Where it permits nothing, and a human was asked anew about the same since, that later question counts.

    Raises:
        NotApproved: it does not permit this action with this content now.
    """

    def build() -> Mapping[str, Any]:
        journal.require_owner()
        approval = _permitting(journal, approval_id, action_id, content_digest)
        if approval.event == "consumed":
            raise _SpentOnThisError
        return {
            "recordType": "approval",
            "approvalId": approval.approval_id,
            **_subject(approval, action_id),
            "event": "consumed",
            "contentDigest": content_digest,
            "leaseEpoch": 0,
        }

    journal.read_on()
    try:
        journal.append(build)
    except _SpentOnThisError:
        return


def _permitting(journal: Journal, approval_id: str, action_id: str, content_digest: str) -> Approval:
    try:
        return _require_valid(journal, approval_id, action_id, content_digest)
    except NotApproved:
        anew = asked_anew(journal.approvals, approval_id)
        if anew is None:
            raise
        return _require_valid(journal, anew.approval_id, action_id, content_digest)


def asked_anew(approvals: Mapping[str, Approval], approval_id: str) -> Approval | None:
    """The last question about what `approval_id` is about, where it was asked after anything became of that one."""
    named = approvals.get(approval_id)
    if named is None:
        return None
    later = [a for a in about(approvals, *subject_of(named)) if _at(a.asked) > _at(named.record)]
    return later[-1] if later else None


def about(
    approvals: Mapping[str, Approval], action_id: str | None, checkpoint_id: str | None
) -> list[Approval]:
    """The questions about one action or one checkpoint, in the order in which the last was said of each."""
    found = [a for a in approvals.values() if subject_of(a) == (action_id, checkpoint_id)]
    return sorted(found, key=lambda approval: _at(approval.record))


def subject_of(approval: Approval) -> tuple[str | None, str | None]:
    """The action, or else the checkpoint, that a human was asked about."""
    action_id = approval.asked.value.get("actionId")
    return (action_id, None) if action_id is not None else (None, approval.checkpoint_id)


def _at(record: Record) -> int:
    return record.sequence or 0


def _require_valid(journal: Journal, approval_id: str, action_id: str, content_digest: str) -> Approval:
    approval = journal.approvals.get(approval_id)
    if approval is None:
        raise NotApproved(f"approval {approval_id} was never asked for")
    if approval.branch != journal.branch:
        raise NotApproved(f"approval {approval_id} is for another branch; ask again")
    if approval.content_digest != content_digest:
        raise NotApproved(
            f"approval {approval_id} is for another content than {action_id} would execute; ask again"
        )
    if approval.action_id not in {None, action_id}:
        raise NotApproved(f"approval {approval_id} is for action {approval.action_id}, not for {action_id}")
    if approval.event == "consumed" and approval.action_id == action_id:
        return approval
    if approval.event != "granted":
        raise NotApproved(f"approval {approval_id} is {approval.event}, not granted")
    _require_asked(approval, approval.granted_by)
    if approval.expires is not None and journal.clock() >= approval.expires:
        raise NotApproved(f"approval {approval_id} has expired; ask again")
    return approval


def _require_asked(approval: Approval, actor: str | None) -> None:
    """Raise where somebody else than `actor` was asked: only that one's yes counts."""
    asked = approval.asked.value.get("actor")
    if asked not in {None, actor}:
        raise NotApproved(
            f"approval {approval.approval_id} asks {asked}, and {actor or 'somebody else'} says yes: let {asked} "
            "answer, or ask somebody else in a new question (request_approval with actor=)"
        )


def append_answer(
    journal: Journal,
    approval_id: str,
    event: str,
    actor: str,
    *,
    reason: str | None,
    content_digest: str | None = None,
    expires_at: str | None = None,
) -> None:
    """A human's answer in a journal that is open."""

    def build() -> Mapping[str, Any]:
        approval = journal.approvals.get(approval_id)
        if approval is None:
            there = ", ".join(journal.approvals) or "none"
            raise NotApproved(
                f"run {journal.run_id} asks for no approval {approval_id}; its approvals are: {there}"
            )
        if event == "granted" and approval.event == "requested":
            _require_asked(approval, actor)
            if approval.expires is not None and journal.clock() >= approval.expires:
                raise NotApproved(f"approval {approval_id} has expired, and nobody waits for it; ask again")
        optional = {
            "contentDigest": content_digest or approval.content_digest,
            "expiresAt": expires_at,
            "reason": reason,
        }
        return {
            "recordType": "approval",
            "approvalId": approval_id,
            **_subject(approval, approval.action_id),
            "event": event,
            "actor": actor,
            **{name: value for name, value in optional.items() if value is not None},
            "leaseEpoch": 0,
        }

    journal.append(build)


def _subject(approval: Approval, action_id: str | None) -> dict[str, str]:
    pairs = {"actionId": action_id, "checkpointId": approval.checkpoint_id, "branch": approval.branch}
    return {name: value for name, value in pairs.items() if value is not None}


def open_unowned(store: StoreAt, run_id: str, clock: Clock) -> Journal:
    """The journal of a run that exists, read to its head, for records that need no owner."""
    opened = open_at(store)
    journal = Journal(opened, run_id, nonce=new_nonce(), clock=clock)
    journal.read_on()
    if not journal.sequence:
        raise RecorderError(
            f"{opened.url} holds no journal of a run {run_id}; list its runs: safepoint runs {opened.url}"
        )
    return journal


class _SpentOnThisError(Exception):
    """The approval is already spent on this very action: a resumed run need not ask twice."""
