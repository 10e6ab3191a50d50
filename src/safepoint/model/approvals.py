"""Approvals: what a human was asked, and what became of it (SPEC.md#approvals)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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

_BINDS = ("actionId", "checkpointId", "contentDigest", "branch")
"""What a question is about; an answer repeats it or is silent, and never changes it."""

_RANK = ("requested", "granted", "consumed", "expired", "rejected", "revoked")


@dataclass(frozen=True, slots=True)
class Approval:
    """One question to a human and its answer."""

    approval_id: str
    event: str
    """The last legal event: one of the keys of `TRANSITIONS`."""
    action_id: str | None
    """What it is about; of a question about a checkpoint, once it is consumed, what it was spent on."""
    checkpoint_id: str | None
    content_digest: str | None
    """Digest of what was shown and will be executed."""
    expires: int | None
    """Nanoseconds; None: never."""
    branch: str | None
    granted_by: str | None
    """Who said yes; None: nobody did, or it was not recorded who."""
    asked: Record
    record: Record
    """The record of `event`."""


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
        changed = _changed(before, value) if before else None
        if changed:
            message = f"{event} for another {changed} than was asked about"
            faults.append(Fault("SP505", message, f"/{changed}", place=record.place))
            continue
        expires = value.get("expiresAt")
        asked = before.asked if before else record
        approvals[name] = Approval(
            approval_id=name,
            event=event,
            action_id=asked.value.get("actionId") or (value.get("actionId") if event == "consumed" else None),
            checkpoint_id=asked.value.get("checkpointId"),
            content_digest=value.get("contentDigest") or (before.content_digest if before else None),
            expires=_earlier(parse_time(expires) if expires else None, before.expires if before else None),
            branch=asked.value.get("branch"),
            granted_by=value.get("actor") if event == "granted" else (before.granted_by if before else None),
            asked=asked,
            record=record,
        )
    return approvals


def _earlier(one: int | None, other: int | None) -> int | None:
    """Whoever answers may shorten what the question allows, and never lengthen it."""
    return min((time for time in (one, other) if time is not None), default=None)


def _changed(before: Approval, value: Mapping[str, Any]) -> str | None:
    for member in _BINDS:
        was = before.content_digest if member == "contentDigest" else before.asked.value.get(member)
        says = value.get(member)
        spent_on = member == "actionId" and value.get("event") == "consumed"
        if says is not None and says != was and not (was is None and (member == "contentDigest" or spent_on)):
            return member
    return None


def gravest_last(record: Record) -> tuple[int, int, str]:
    """Orders approval records without a sequence: by time, and where times tie a refusal counts last."""
    event = str(record.value.get("event"))
    return (record.created or 0, _RANK.index(event) if event in _RANK else 0, record.digest)
