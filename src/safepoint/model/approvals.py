"""Approvals: what a human was asked, and what became of it (SPEC.md#approvals)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from safepoint.core.fault import Fault
from safepoint.core.timestamp import parse_time
from safepoint.model.record import Record

TRANSITIONS: Mapping[str | None, frozenset[str]] = {
    None: frozenset({"requested"}),
    "requested": frozenset({"granted", "rejected", "expired"}),
    "granted": frozenset({"revoked", "consumed", "expired"}),
    "rejected": frozenset(),
    "expired": frozenset(),
    "revoked": frozenset(),
    "consumed": frozenset(),
}


@dataclass(frozen=True, slots=True)
class Approval:
    """One question to a human and its answer."""

    approval_id: str
    event: str
    """The last legal event: one of the keys of `TRANSITIONS`."""
    action_id: str | None
    checkpoint_id: str | None
    content_digest: str | None
    """Digest of what was shown and will be executed."""
    expires: int | None
    """Nanoseconds; None: never."""
    branch: str | None
    record: Record


def fold_approvals(records: Iterable[Record], faults: list[Fault]) -> dict[str, Approval]:
    """The run's approvals by id; an event that may not follow is a fault and changes nothing."""
    approvals: dict[str, Approval] = {}
    for record in records:
        value = record.value
        name, event = str(value["approvalId"]), str(value["event"])
        before = approvals.get(name)
        if event not in TRANSITIONS[before.event if before else None]:
            message = f"{event} after {before.event if before else 'nothing'}"
            faults.append(Fault("SP505", message, "/event", place=record.place))
            continue
        if (
            before
            and value.get("contentDigest") not in {None, before.content_digest}
            and before.content_digest
        ):
            message = f"{event} for another content than was requested"
            faults.append(Fault("SP505", message, "/contentDigest", place=record.place))
            continue
        expires = value.get("expiresAt")
        approvals[name] = Approval(
            approval_id=name,
            event=event,
            action_id=value.get("actionId") or (before.action_id if before else None),
            checkpoint_id=value.get("checkpointId") or (before.checkpoint_id if before else None),
            content_digest=value.get("contentDigest") or (before.content_digest if before else None),
            expires=parse_time(expires) if expires else (before.expires if before else None),
            branch=value.get("branch") or (before.branch if before else None),
            record=record,
        )
    return approvals
