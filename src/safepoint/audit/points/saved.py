"""Point 2: schema version and side-effect status saved."""

from __future__ import annotations

from collections.abc import Iterator

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.core.fault import Fault
from safepoint.model.record import Record

_RULES = ("SP214", "SP215", "SP502", "SP512")

_STATUS = (
    "write sideEffectStatus into each checkpoint: writePerformed and externalMessageSent, true or false; "
    "in a journal lastLedgerSequence as well"
)


def judge(case: Case) -> Answer:
    """Every checkpoint that does not say what was done, or says it wrong, and every record without its version."""
    notes = Notes(case)
    notes.break_of(_RULES)
    for fault in _left_out(case):
        notes.fail_by(fault)
    checkpoints = (*case.run.checkpoints, *case.run.retracted)
    for record in checkpoints:
        if why := _unsaid(record):
            notes.fail(why, _STATUS, record.place, "/sideEffectStatus" if record.version.major > 1 else "")
    if not checkpoints:
        notes.unless_whole("no checkpoint is there")
        return notes.answer("nothing to save: no checkpoint was taken")
    notes.unless_whole()
    return notes.answer("each checkpoint has its schemaVersion and says what was done to the world")


def _left_out(case: Case) -> Iterator[Fault]:
    """Checkpoints that no reader accepts because they do not say it."""
    for code in ("SP201", "SP202"):
        yield from (fault for fault in case.faults.get(code, ()) if "sideEffectStatus" in fault.pointer)


def _unsaid(record: Record) -> str | None:
    if record.version.major < 2:
        return "a checkpoint of version 1, which has no place for the side-effect status"
    said = record.value.get("sideEffectStatus") or {}
    unknown = [name for name in ("writePerformed", "externalMessageSent") if said.get(name) is None]
    # what a checkpoint in a journal leaves open, the ledger up to that number answers
    if not unknown or record.value.get("lastLedgerSequence") is not None:
        return None
    return f"{' and '.join(unknown)} is null, and no lastLedgerSequence says where the answer lies"
