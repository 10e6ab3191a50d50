"""Point 4: the guard was run before every resume.

What can be seen is that a decision was named, and that the recovery log holds its digest. The decision itself is in no
store: whether it said *resume* is known to whoever keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator

from safepoint.audit.answer import Answer, Notes
from safepoint.audit.case import Case
from safepoint.model.record import Record

_RULES = ("SP317", "SP322")

_LEASES = "record the run with safepoint.recorder: start_run takes a lease, resume_run asks the guard before its own"
_ASK = (
    "ask safepoint guard (or resume_run) before the run goes on, and put the digest of its decision into the claim's "
    "authorization and the episode's decisionDigest"
)


def judge(case: Case) -> Answer:
    """Every claim to go on with the run names a decision that the recovery log knows."""
    notes = Notes(case)
    if case.run.ownership is None:
        notes.fail("no lease: a resume leaves no trace, and so no guard can have been asked for it", _LEASES)
        return notes.answer("")
    notes.break_of(_RULES)
    known = {record.value.get("decisionDigest") for record in case.run.recovery}
    resumes = list(_resumes(case))
    for claim in resumes:
        decision = claim.value.get("authorization")
        if decision is None:
            if claim.value.get("purpose") == "run":  # of one for recovery the rule has told
                message = f"epoch {claim.epoch} went on with the run, and names no decision"
                notes.fail(message, _ASK, claim.place, "/purpose")
        elif decision not in known and not case.log_whole:
            message = f"the decision of epoch {claim.epoch} is not to be seen: the recovery log cannot be read whole"
            notes.doubt(message, case.cure, case.hole)
        elif decision not in known and not _told(case, claim):
            message = f"epoch {claim.epoch} names a decision that the recovery log does not hold"
            notes.fail(message, _ASK, claim.place, "/authorization")
    if not resumes:
        notes.unless_whole("no resume is there")
        return notes.answer("nothing to guard: nobody went on with the run after its first owner")
    notes.unless_whole()
    return notes.answer(
        "each resume names the decision that allowed it, and the recovery log holds its digest"
    )


def _resumes(case: Case) -> Iterator[Record]:
    """Claims that go on with what another began; a human's answer (resolution) goes on with nothing."""
    leases = case.run.ownership.leases if case.run.ownership else ()
    for number, lease in enumerate(leases):
        purpose = lease.value.get("purpose")
        if purpose == "recovery" or (purpose == "run" and number > 0):
            yield lease


def _told(case: Case, claim: Record) -> bool:
    return any(fault.place == claim.place for fault in case.faults.get("SP322", ()))
