"""Point 7: human gates can be gone on from, and are never passed or asked twice."""

from __future__ import annotations

from collections.abc import Iterator

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.core.timestamp import parse_time
from safepoint.model.record import Record
from safepoint.model.run import Run

_RULES = ("SP504", "SP505", "SP506", "SP518", "SP519", "SP520", "SP521", "SP525", "SP526")

_ONCE = "use the yes that was given: look at run.approval_state(...) after a restart, and ask only where there is none"


def judge(case: Case) -> Answer:
    """By the rules of approvals, and every question that a human had already said yes to."""
    notes = Notes(case)
    notes.break_of(_RULES)
    if case.ordered:
        for record in _asked_again(case.run):
            message = "asked again for exactly what had been approved, while that yes still stood or was already spent"
            notes.fail(message, _ONCE, record.place, "/approvalId")
    if not case.run.approvals:
        notes.unless_whole("no question to a human is there")
        return notes.answer("nothing to ask: the journal is whole, and no human was asked for anything")
    notes.unless_whole()
    return notes.answer(
        "each approval is bound to its content, expires, is spent once, and has its checkpoint"
    )


def _asked_again(run: Run) -> Iterator[Record]:
    """Questions about the same content, for the same purpose and on the same branch, behind a yes."""
    about: dict[str, tuple[object, ...]] = {}
    agreed: dict[tuple[object, ...], int | None] = {}
    """What was said yes to, and until when (nanoseconds) that holds; None: for good, or it was spent."""
    for record in run.records:
        if record.kind != "approval":
            continue
        value, name = record.value, str(record.value["approvalId"])
        event = value["event"]
        if event == "requested":
            subject = tuple(
                value.get(member) for member in ("actionId", "checkpointId", "contentDigest", "branch")
            )
            if subject in agreed and subject[2] is not None:
                until = agreed[subject]
                if until is None or record.created is None or record.created < until:
                    yield record
            about[name] = subject
        elif name in about and event in {"granted", "consumed"}:
            expires = value.get("expiresAt") or _expiry(run, name)
            agreed[about[name]] = parse_time(expires) if expires and event == "granted" else None
        elif name in about:
            agreed.pop(about[name], None)


def _expiry(run: Run, name: str) -> str | None:
    approval = run.approvals.get(name)
    expires: str | None = approval.asked.value.get("expiresAt") if approval else None
    return expires
